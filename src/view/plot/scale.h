/* From numbers to places on paper, and which numbers are marked there. */
#ifndef VIEW_PLOT_SCALE_H
#define VIEW_PLOT_SCALE_H

#include <stdbool.h>

enum { PLOT_MAX_TICKS = 40, PLOT_MAX_MINORS = 200, PLOT_LABEL_BYTES = 32 };

typedef struct plot_scale {
    bool log;
    double low, high; /* numbers ... */
    double from, to;  /* ... and their places */
} plot_scale;

/* Too near each other to be told apart, or both next to nothing. */
bool plot_scale_narrow(double least, double most);
/* Ends that let numbers from `least` to `most` breathe; counts and sizes start at 0 if they come near it. */
plot_scale plot_scale_around(double least, double most, int log);
double plot_place(const plot_scale *scale, double value);
/* Has the number a place on such an axis? */
bool plot_has_place(double value, bool log);
/* As "%.*f", always with a point. */
void plot_print_number(double value, int decimals, char text[PLOT_LABEL_BYTES]);

/* A number is offset + 10^exponent * its label. */
typedef struct plot_ticks {
    int count, exponent, minors;
    double offset;
    double value[PLOT_MAX_TICKS], minor[PLOT_MAX_MINORS];
    char label[PLOT_MAX_TICKS][PLOT_LABEL_BYTES];
} plot_ticks;

/* About `wanted` ticks on round numbers. */
void plot_ticks_choose(const plot_scale *scale, int wanted, bool whole, plot_ticks *ticks);
/* "[10⁻⁶ J]", and the subtracted offset: " − 9.80665 [10⁻⁶ J]". */
void plot_unit_text(const plot_ticks *ticks, const char *unit, char *text, int size);

#endif
