/* Elements of an SVG: texts, numbers, paths. */
#ifndef VIEW_PLOT_SVG_H
#define VIEW_PLOT_SVG_H

#include "view/plot/plot.h"
#include "view/plot/scale.h"
#include <stdio.h>

/* As printf, of %d, %s, %t and %f.  %t is a text escaped for XML, in which bytes that are no text become question marks.
 * %f is a number of at most one decimal, always with a point. */
void svg_print(FILE *file, const char *format, ...);
/* At least as wide as a browser will set it, in pixels, give or take a tenth. */
double svg_text_width(const char *text, double size);
/* The colours, light and dark. */
void svg_print_style(FILE *file);

/* The classes of a line or point of that look. */
typedef struct svg_class {
    char text[24];
} svg_class;
svg_class svg_class_of(plot_look look);

/* A curve as paths.  Where many numbers fall into one column of pixels, the first, least, greatest and last of them
 * give the same picture as all. */
void svg_print_curve(FILE *file, const plot_curve *curve, const plot_scale *x, const plot_scale *y);

#endif
