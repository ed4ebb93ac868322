/* Elements of an SVG: texts, numbers, paths. */
#ifndef VIEW_PLOT_SVG_H
#define VIEW_PLOT_SVG_H

#include "view/plot/plot.h"
#include "view/plot/scale.h"
#include <stdio.h>

/* Escaped for XML; bytes that are no text become question marks. */
void ink_text(FILE *file, const char *text);
/* At least as wide as a browser will set it, in pixels, give or take a tenth. */
double ink_width(const char *text, double size);
/* One or two decimals at most, always with a point. */
void ink_number(FILE *file, double value);
void ink_line(FILE *file, const char *class, double x1, double y1, double x2, double y2);
/* The colours, light and dark. */
void ink_style(FILE *file);
void ink_class(FILE *file, int colour, int dash);

/* A curve as a path.  Where many numbers fall into one column of pixels, the first, least, greatest and last of them
 * give the same picture as all. */
void ink_curve(FILE *file, const plot_curve *curve, const plot_scale *x, const plot_scale *y);

#endif
