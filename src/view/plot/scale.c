/* Ticks of an axis.  Multiples of 1, 2 or 5 times a power of ten (of log axes the powers themselves), with as few
 * letters as tell neighbours apart.  Powers of ten common to all, and a part that all share, go into the axis's
 * name. */
#include "view/plot/scale.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MIN_RELATIVE_SPAN = 1e-13; /* of the largest number: below lies rounding */
static const double MIN_MEASURED = 1e-290;     /* numbers smaller than this lose digits */

bool plot_scale_narrow(double least, double most) {
    double size = fmax(fabs(least), fabs(most));
    return size < MIN_MEASURED || most / 2 - least / 2 < MIN_RELATIVE_SPAN * size;
}

plot_scale plot_scale_around(double least, double most, int log) {
    plot_scale s = {.log = log, .low = least, .high = most};
    if (log) {
        double decades = log10(most) - log10(least), air = fmax(0.05 * decades, 0.15);
        s.low = fmin(fmax(least * pow(10, -air), 1e-300), DBL_MAX / 10);
        s.high = fmin(fmax(most * pow(10, air), 2 * s.low), DBL_MAX);
        return s;
    }
    double size = fmax(fabs(least), fabs(most)), air = 0.1 * (most / 2 - least / 2);
    if (plot_scale_narrow(least, most)) {
        air = size < MIN_MEASURED ? 1 : 0.05 * size;
    }
    int near_zero = least >= 0 && least < 0.2 * most;
    s.low = near_zero ? 0 : fmax(least - air, -DBL_MAX);
    s.high = fmin(most + air, DBL_MAX);
    return s;
}

bool plot_has_place(double value, bool log) { return isfinite(value) && (!log || value > 0); }

double plot_place(const plot_scale *s, double value) {
    double part = s->log ? (log10(value) - log10(s->low)) / (log10(s->high) - log10(s->low))
                         : (value / 2 - s->low / 2) / (s->high / 2 - s->low / 2);
    return s->from + part * (s->to - s->from);
}

/* The nearest by ratio, or thereabouts. */
static double round_step(double rough) {
    double power = pow(10, floor(log10(rough))), lead = rough / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static int power_of(double value) { return (int)floor(log10(value) + 1e-9); }

void plot_print_number(double value, int decimals, char text[PLOT_LABEL_BYTES]) {
    snprintf(text, PLOT_LABEL_BYTES, "%.*f", decimals, value);
    char *comma = strchr(text, ','); /* the caller's locale may write one */
    if (comma) {
        *comma = '.';
    }
}

/* "−0.5": a minus as wide as a plus. */
static void number_label(double value, int decimals, char text[PLOT_LABEL_BYTES]) {
    char size[PLOT_LABEL_BYTES];
    plot_print_number(fabs(value), decimals, size);
    snprintf(text, PLOT_LABEL_BYTES, "%s%.28s", value < 0 ? "\u2212" : "", size);
}

static void linear_ticks(const plot_scale *s, int wanted, bool whole, plot_ticks *t) {
    double span = s->high - s->low, size = fmax(fabs(s->low), fabs(s->high));
    double step = round_step((isfinite(span) ? span : 1e308) / wanted);
    step = whole && step < 1 ? 1 : step;
    if (step < 1e-4 * size) {
        double grain = pow(10, ceil(log10(span)));
        t->offset = floor(s->low / grain + 1e-6) * grain;
    }
    double first = ceil((s->low - t->offset) / step - 1e-9), last = floor((s->high - t->offset) / step + 1e-9);
    first += s->log && t->offset + first * step <= 0; /* 0 has no place on a log axis */
    double largest = step * fmax(fabs(first), fabs(last));
    int power = largest > 0 ? power_of(largest) : 0;
    t->exponent = power >= 5 || power < -2 ? 3 * (int)floor(power / 3.0) : 0;
    int decimals = t->exponent - power_of(step);
    decimals = decimals < 0 ? 0 : decimals > 15 ? 15 : decimals;
    for (double k = first; k <= last && t->count < PLOT_MAX_TICKS; k++, t->count++) {
        t->value[t->count] = t->offset + k * step;
        number_label(k == 0 ? 0 : k * step * pow(10, -t->exponent), decimals, t->label[t->count]);
    }
}

/* "10⁻⁶" */
static void power_label(int power, char *text, int size) {
    static const char *const raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    char digits[16];
    if (power == 0 || power == 1) {
        snprintf(text, (size_t)size, power ? "10" : "1");
        return;
    }
    snprintf(digits, sizeof digits, "%d", power < 0 ? -power : power);
    int used = snprintf(text, (size_t)size, "10%s", power < 0 ? "\u207b" : "");
    for (const char *d = digits; *d && used < size; d++) {
        used += snprintf(text + used, (size_t)(size - used), "%s", raised[*d - '0']);
    }
}

/* Powers of ten; where fewer than two fit in between also 2 and 5 times them. */
static void log_ticks(const plot_scale *s, int wanted, plot_ticks *t) {
    /* powers within the scale, and how many of them */
    static const int lead[] = {1, 2, 5};
    int first = (int)ceil(log10(s->low) - 1e-9), last = (int)floor(log10(s->high) + 1e-9);
    int stride = (last - first) / wanted + 1, leads = last - first < 1 ? 3 : 1;
    first = (int)ceil((double)first / stride) * stride - (leads > 1);
    /* ticks with labels */
    for (int power = first; power <= last; power += stride) {
        for (int k = 0; k < leads; k++) {
            double value = lead[k] * pow(10, power);
            if (value < s->low || value > s->high || t->count == PLOT_MAX_TICKS) {
                continue;
            }
            t->value[t->count] = value;
            if (leads > 1) {
                number_label(value, power < 0 ? (-power > 15 ? 15 : -power) : 0, t->label[t->count]);
            } else {
                power_label(power, t->label[t->count], PLOT_LABEL_BYTES);
            }
            t->count++;
        }
    }
    /* minor ticks */
    for (int power = first - 1; stride == 1 && power <= last; power++) {
        for (int k = 2; k < 10; k++) {
            double value = k * pow(10, power);
            if (value > s->low && value < s->high && t->minors < PLOT_MAX_MINORS) {
                t->minor[t->minors++] = value;
            }
        }
    }
}

void plot_ticks_choose(const plot_scale *s, int wanted, bool whole, plot_ticks *t) {
    *t = (plot_ticks){0};
    if (s->log) {
        log_ticks(s, wanted, t);
    }
    if (t->count < 2) {
        *t = (plot_ticks){0};
        linear_ticks(s, wanted, whole, t);
    }
}

void plot_unit_text(const plot_ticks *t, const char *unit, char *text, int size) {
    char power[PLOT_LABEL_BYTES] = "", offset[PLOT_LABEL_BYTES] = "";
    if (t->offset != 0) {
        snprintf(offset, sizeof offset, " %s %.14g", t->offset < 0 ? "+" : "\u2212", fabs(t->offset));
    }
    if (t->exponent != 0) {
        power_label(t->exponent, power, PLOT_LABEL_BYTES);
    }
    int any = *power || *unit;
    snprintf(text, (size_t)size, "%s%s%s%s%s%s", offset, any ? " [" : "", power, *power && *unit ? " " : "", unit,
             any ? "]" : "");
}
