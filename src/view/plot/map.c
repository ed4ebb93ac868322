/* Maps: rectangles of one colour each, those of a colour as one path.
 *
 * Colours: 32 steps between nine stops of viridis (van der Walt, Smith 2015), which grow evenly in lightness.  They
 * suit light and dark pages, and eyes that see few colours. */
#include "view/plot/map.h"
#include "view/plot/svg.h"

#include <math.h>

enum { COLOURS = 32, STOPS = 9, BAR_WIDTH = 12, BAR_GAP = 12 };

typedef struct map_colour {
    char text[8];
} map_colour;

static map_colour colour_at(int step) {
    static const unsigned char stop[STOPS][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                                 {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                                 {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
    double at = (double)step * (STOPS - 1) / (COLOURS - 1);
    int low = at < STOPS - 1 ? (int)at : STOPS - 2;
    map_colour colour;
    int c[3];
    for (int k = 0; k < 3; k++) {
        c[k] = (int)lround(stop[low][k] + (at - low) * (stop[low + 1][k] - stop[low][k]));
    }
    snprintf(colour.text, sizeof colour.text, "#%02x%02x%02x", c[0] & 255, c[1] & 255, c[2] & 255);
    return colour;
}

/* -1: a gap. */
static int step_of(const plot_map *map, double value) {
    if (!isfinite(value)) {
        return -1;
    }
    double width = map->most - map->least, part = width > 0 ? (value - map->least) / width : 0.5;
    int step = (int)(part * COLOURS);
    return step < 0 ? 0 : step < COLOURS ? step : COLOURS - 1;
}

/* Runs of cells of one colour in a row are one rectangle. */
static void print_cells(FILE *file, const plot_map *map, int step, const plot_scale *x, const plot_scale *y) {
    bool any = false;
    for (int row = 0; row < map->rows; row++) {
        double bottom = plot_place(y, map->y_edge[row]), top = plot_place(y, map->y_edge[row + 1]);
        for (int column = 0; column < map->columns; column++) {
            int first = column;
            while (column < map->columns && step_of(map, map->value[row * map->columns + column]) == step) {
                column++;
            }
            if (column > first) {
                double left = plot_place(x, map->x_edge[first]), right = plot_place(x, map->x_edge[column]);
                if (!any) {
                    svg_print(file, "<path style=\"fill:%s\" d=\"", colour_at(step).text);
                }
                svg_print(file, "M%f %fH%fV%fH%fz", left, bottom, right, top, left);
                any = true;
            }
        }
    }
    if (any) {
        svg_print(file, "\"/>\n");
    }
}

void svg_print_map(FILE *file, const plot_map *map, const plot_scale *x, const plot_scale *y) {
    svg_print(file, "<g shape-rendering=\"crispEdges\">\n");
    for (int step = 0; step < COLOURS; step++) {
        print_cells(file, map, step, x, y);
    }
    svg_print(file, "</g>\n");
}

void svg_print_bar(FILE *file, const plot_map *map, double left, double top, double bottom) {
    /* colours, the least below */
    double height = (bottom - top) / COLOURS;
    left += BAR_GAP;
    svg_print(file, "<g shape-rendering=\"crispEdges\">\n");
    for (int step = 0; step < COLOURS; step++) {
        svg_print(file, "<rect style=\"fill:%s\" x=\"%f\" y=\"%f\" width=\"%d\" height=\"%f\"/>\n",
                  colour_at(step).text, left, bottom - (step + 1) * height, BAR_WIDTH, height + 0.5);
    }
    svg_print(file, "</g>\n");
    /* numbers */
    plot_ticks ticks;
    plot_scale scale = {.low = map->least, .high = map->most, .from = bottom, .to = top};
    if (!(map->most > map->least)) {
        scale.low = map->least - 0.5;
        scale.high = map->most + 0.5;
    }
    plot_ticks_choose(&scale, 6, false, &ticks);
    for (int k = 0; k < ticks.count; k++) {
        svg_print(file, "<text class=\"label\" x=\"%f\" y=\"%f\">%t</text>\n", left + BAR_WIDTH + 5,
                  plot_place(&scale, ticks.value[k]) + 4, ticks.label[k]);
    }
    char unit[64];
    plot_unit_text(&ticks, "", unit, sizeof unit);
    if (*unit) {
        svg_print(file, "<text class=\"label\" x=\"%f\" y=\"%f\">%t</text>\n", left, top - 7, unit);
    }
}
