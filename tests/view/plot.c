/* Contents of plots. */
#include "view/plot/plot.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 200000, MOST_POINTS = 10000 };

/* The points of the first curve, its steps added up; a lifted pen is a new start. */
typedef struct points {
    int count, starts;
    double x[MOST_POINTS], y[MOST_POINTS];
} points;

static void read_path(const char *svg, points *p) {
    const char *s = strstr(svg, "clip-path=");
    s = s ? strstr(s, " d=\"") : NULL;
    cr_assert_not_null(s);
    *p = (points){0};
    double x = 0, y = 0;
    char letter = 0;
    for (s += 4; *s != '"';) {
        char *end;
        letter = *s++;
        double a = strtod(s, &end), b;
        s = end;
        if (letter == 'h') {
            continue;
        }
        b = strtod(s, &end);
        s = end;
        x = letter == 'M' ? a : x + a;
        y = letter == 'M' ? b : y + b;
        p->starts += letter == 'M';
        cr_assert_lt(p->count, MOST_POINTS);
        p->x[p->count] = x;
        p->y[p->count++] = y;
    }
}

static char *drawn(const double *x, const double *y, ptrdiff_t count, int log) {
    plot_curve curve = {.count = count, .x = x, .y = y};
    plot_panel panel = {.x = {.name = "time", .unit = "s"},
                        .y = {.name = "height", .unit = "m", .log = log},
                        .curves = 1,
                        .curve = &curve};
    plot_page page = {.title = "", .width = 800, .panels = 1, .panel = &panel};
    sim_error error = {0};
    char *svg = plot_svg(&page, &error);
    cr_assert_not_null(svg, "%s", error.text);
    return svg;
}

Test(plot, a_straight_line_lands_on_a_straight_line) {
    double x[] = {0, 1, 2, 3, 4}, y[] = {-1, 0, 1, 2, 3};
    char *svg = drawn(x, y, 5, 0);
    static points p;
    read_path(svg, &p);
    cr_assert_eq(p.count, 5);
    for (int k = 1; k < 5; k++) {
        cr_assert_float_eq(p.x[k] - p.x[k - 1], (p.x[4] - p.x[0]) / 4, 0.11);
        cr_assert_float_eq(p.y[k] - p.y[k - 1], (p.y[4] - p.y[0]) / 4, 0.11);
    }
    cr_assert(p.x[4] > 700 && p.x[4] < 800 && p.y[4] < p.y[0], "up is more");
    cr_assert(strstr(svg, "height [m]") && strstr(svg, "time [s]"));
    free(svg);
}

Test(plot, powers_of_ten_are_equally_far_apart_on_a_log_axis) {
    double x[] = {0, 1, 2, 3}, y[] = {1, 1e-3, 1e-6, 1e-9};
    char *svg = drawn(x, y, 4, 1);
    static points p;
    read_path(svg, &p);
    for (int k = 1; k < 4; k++) {
        cr_assert_float_eq(p.y[k] - p.y[k - 1], (p.y[3] - p.y[0]) / 3, 0.11);
    }
    free(svg);
}

Test(plot, gaps_stay_gaps_and_lone_points_are_seen) {
    double x[] = {0, 1, 2, 3, 4, 5}, y[] = {1, 2, NAN, 3, INFINITY, 2};
    char *svg = drawn(x, y, 6, 0);
    static points p;
    read_path(svg, &p);
    cr_assert_eq(p.starts, 3);
    cr_assert_eq(p.count, 4);
    free(svg);
    y[2] = 0; /* no place on a log axis */
    y[4] = -1;
    svg = drawn(x, y, 6, 1);
    read_path(svg, &p);
    cr_assert_eq(p.starts, 3);
    free(svg);
}

Test(plot, a_long_run_becomes_a_short_path_that_keeps_every_peak) {
    double *x = calloc(MANY, sizeof *x), *y = calloc(MANY, sizeof *y);
    for (int k = 0; k < MANY; k++) {
        x[k] = k;
        y[k] = sin(0.01 * k) + (k == 123456 ? 5 : 0) - (k == 54321 ? 5 : 0);
    }
    char *svg = drawn(x, y, MANY, 0);
    cr_assert_lt(strlen(svg), 60000);
    static points p;
    read_path(svg, &p);
    double top = INFINITY, bottom = -INFINITY, left = p.x[0], right = p.x[p.count - 1];
    for (int k = 0; k < p.count; k++) {
        top = fmin(top, p.y[k]);
        bottom = fmax(bottom, p.y[k]);
        if (p.y[k] == top) {
            cr_assert(k == 0 || fabs(p.y[k] - top) < 1e-9);
        }
    }
    double metre = (bottom - top) / (5 + sin(1234.56) - (sin(543.21) - 5)); /* in pixels */
    cr_assert_gt(bottom - top, 200, "both peaks are there");
    cr_assert_gt(metre, 20);
    for (int k = 0; k < p.count; k++) {
        double number = (p.x[k] - left) / (right - left) * (MANY - 1);
        if (p.y[k] < top + 0.5) {
            cr_assert_float_eq(number, 123456, MANY / 500.0);
        }
        if (p.y[k] > bottom - 0.5) {
            cr_assert_float_eq(number, 54321, MANY / 500.0);
        }
    }
    free(svg);
    free(x);
    free(y);
}

Test(plot, nothing_to_draw_is_said) {
    double x[] = {0, 1}, y[] = {-1, 0};
    char *svg = drawn(x, y, 2, 1);
    cr_assert(strstr(svg, "no positive number"));
    free(svg);
    y[0] = y[1] = NAN;
    svg = drawn(x, y, 2, 0);
    cr_assert(strstr(svg, "no number to draw") && !strstr(svg, "nan"));
    free(svg);
}

Test(plot, hostile_numbers_stay_out_of_the_file) {
    static const double hard[] = {1.7e308, -1.7e308, 5e-324, 0, NAN, INFINITY, -INFINITY, 1e-300, 1};
    for (int a = 0; a < 9; a++) {
        for (int b = 0; b < 9; b++) {
            double x[] = {0, hard[a], hard[b]}, y[] = {hard[b], hard[a], 1};
            for (int log = 0; log < 2; log++) {
                char *svg = drawn(x, y, 3, log);
                cr_assert(!strstr(svg, "nan") && !strstr(svg, "inf"), "%g %g", hard[a], hard[b]);
                free(svg);
            }
        }
    }
}
