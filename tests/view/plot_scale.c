/* Scales and the numbers at axes. */
#include "view/plot/scale.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tick's label, read back with what the axis's name says, is the number itself. */
static double said(const plot_ticks *t, int k) {
    const char *text = t->label[k];
    double sign = 1;
    if (strncmp(text, "\u2212", 3) == 0) {
        sign = -1;
        text += 3;
    }
    return t->offset + sign * strtod(text, NULL) * pow(10, t->exponent);
}

static void check_linear(double low, double high, int wanted) {
    plot_scale s = {.low = low, .high = high, .from = 0, .to = 100};
    plot_ticks t;
    plot_ticks_choose(&s, wanted, 0, &t);
    double span = high - low;
    cr_assert(t.count >= 2 && t.count <= 2 * wanted + 2, "%g .. %g: %d ticks", low, high, t.count);
    for (int k = 0; k < t.count; k++) {
        cr_assert(t.value[k] >= low - 1e-6 * span && t.value[k] <= high + 1e-6 * span);
        cr_assert(fabs(said(&t, k) - t.value[k]) <= 1e-6 * span, "%s stands at %.17g", t.label[k], t.value[k]);
        cr_assert(k == 0 || strcmp(t.label[k], t.label[k - 1]) != 0, "twice %s", t.label[k]);
        cr_assert_lt(strlen(t.label[k]), 12, "%s is long", t.label[k]);
    }
}

Test(plot_scale, ends_and_middle_land_where_they_must) {
    plot_scale s = {.low = 2, .high = 10, .from = 300, .to = 100};
    cr_assert_eq(plot_place(&s, 2), 300);
    cr_assert_eq(plot_place(&s, 10), 100);
    cr_assert_eq(plot_place(&s, 6), 200);
    plot_scale l = {.log = 1, .low = 1e-8, .high = 1, .from = 0, .to = 80};
    cr_assert_float_eq(plot_place(&l, 1e-6), 20, 1e-9);
    plot_scale wide = {.low = -1e308, .high = 1e308, .from = 0, .to = 10};
    cr_assert_float_eq(plot_place(&wide, 0), 5, 1e-12);
}

Test(plot_scale, ticks_say_where_they_stand_over_thirty_decades) {
    for (int power = -150; power <= 150; power += 7) {
        for (double lead = 1; lead < 10; lead *= 1.37) {
            double size = lead * pow(10, power);
            check_linear(0, size, 5);
            check_linear(-size, 0.3 * size, 6);
            check_linear(size, 1.7 * size, 4);
        }
    }
}

Test(plot_scale, what_all_share_moves_into_the_name_of_the_axis) {
    plot_scale s = {.low = 9.80665, .high = 9.80665 + 4e-9};
    plot_ticks t;
    char text[100];
    check_linear(s.low, s.high, 4);
    plot_ticks_choose(&s, 4, 0, &t);
    plot_unit_text(&t, "J", text, sizeof text);
    cr_assert_str_eq(text, " \u2212 9.80665 [10\u207b\u2079 J]");
    s = (plot_scale){.low = 0, .high = 3e6};
    plot_ticks_choose(&s, 4, 0, &t);
    plot_unit_text(&t, "", text, sizeof text);
    cr_assert_str_eq(text, " [10\u2076]");
    cr_assert_str_eq(t.label[1], "1");
}

Test(plot_scale, counts_have_no_ticks_between_whole_numbers) {
    plot_scale s = {.low = 0, .high = 2.2};
    plot_ticks t;
    plot_ticks_choose(&s, 8, 1, &t);
    cr_assert_eq(t.count, 3);
    cr_assert_str_eq(t.label[2], "2");
}

Test(plot_scale, log_axes_are_marked_at_powers_of_ten) {
    plot_scale s = {.log = 1, .low = 0.5e-12, .high = 20};
    plot_ticks t;
    plot_ticks_choose(&s, 6, 0, &t);
    cr_assert(t.count >= 4 && t.count <= 8);
    for (int k = 0; k < t.count; k++) {
        double power = log10(t.value[k]);
        cr_assert_float_eq(power, round(power), 1e-9);
    }
    plot_scale near = {.log = 1, .low = 3.1, .high = 3.9};
    plot_ticks_choose(&near, 4, 0, &t);
    cr_assert(t.count >= 2 && t.value[0] >= 3.1 && t.value[t.count - 1] <= 3.9);
}

Test(plot_scale, any_finite_numbers_have_room) {
    static const double hard[][2] = {
        {0, 0},           {5, 5},   {-1e308, 1e308}, {1e308, 1.7e308},  {5e-324, 5e-324},    {0, 5e-324},
        {1, 1 + 2.3e-16}, {-3, -3}, {1e300, 1e300},  {-1e-310, 1e-310}, {-1.7e308, -1.7e308}};
    for (size_t k = 0; k < sizeof hard / sizeof hard[0]; k++) {
        for (int log = 0; log <= (hard[k][0] > 0); log++) {
            plot_scale s = plot_scale_around(hard[k][0], hard[k][1], log);
            plot_ticks t;
            s.to = 100;
            cr_assert(isfinite(s.low) && isfinite(s.high) && s.low < s.high, "%zu: %g .. %g", k, s.low, s.high);
            plot_ticks_choose(&s, 5, 0, &t);
            for (int i = 0; i < t.count; i++) {
                cr_assert(isfinite(plot_place(&s, t.value[i])), "%zu: %g", k, t.value[i]);
            }
        }
    }
}
