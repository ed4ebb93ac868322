/* Values over time: their rates are the derivatives of their values, whatever they are made of. */
#include "model/track/formula.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/model.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 256 };

typedef struct formula {
    sim_term term[ROOM];
    sim_track track;
} formula;

static void parse(const char *text, formula *f) {
    int terms = 0, wrong_at;
    sim_error error;
    cr_assert(!sim_formula_parse(text, f->term, ROOM, &terms, &wrong_at, &error), "%s: %s", text, error.text);
    f->track = (sim_track){.width = 1, .terms = terms, .term = f->term};
}

static double at(const sim_track *track, double time, double *rate) {
    double value;
    sim_track_at(track, time, &value, rate);
    return value;
}

static double value_of(const char *text, double time) {
    formula f;
    parse(text, &f);
    return at(&f.track, time, NULL);
}

/* Central differences of fourth order: their error is h^4/30 of the fifth derivative, and some rounding over h. */
static void check_rate(const sim_track *track, double time, const char *what) {
    const double h = 2e-4;
    double rate, near = at(track, time + h, NULL) - at(track, time - h, NULL),
                 far = at(track, time + 2 * h, NULL) - at(track, time - 2 * h, NULL);
    at(track, time, &rate);
    double found = (8 * near - far) / (12 * h);
    cr_assert(fabs(rate - found) <= 1e-8 * (1 + fabs(rate)), "%s at %g: rate %.12g, differences say %.12g", what, time,
              rate, found);
}

static void near(double is, double due) {
    cr_assert(fabs(is - due) <= 1e-14 * (1 + fabs(due)), "%.17g, due %.17g", is, due);
}

/* ---- formulas ---- */

Test(formula, has_the_values_that_mathematics_gives_it) {
    near(value_of("0.3*sin(2*pi*t) + 0.1", 0.25), 0.4);
    near(value_of("-t^2", 3), -9);
    near(value_of("2^3^2", 0), 512);
    near(value_of("2^-1", 0), 0.5);
    near(value_of("1 - 2 - 3", 0), -4);
    near(value_of("8/4/2", 0), 1);
    near(value_of("2 + 3*4", 0), 14);
    near(value_of("--t + - -1", 2), 3);
    near(value_of("1.5e2 + .5 + 2.", 0), 152.5);
    near(value_of("atan2(1, -1)", 0), 3 * atan(1));
    near(value_of("mod(-0.25, 1) + mod(7.5, 2)", 0), 0.75 + 1.5);
    near(value_of("min(t, 2) + max(t, 5) + abs(-t)", 3), 2 + 5 + 3);
    near(value_of("exp(log(t)) + sqrt(t^2) + tanh(0) + asin(1) + acos(1)", 3), 6 + 2 * atan(1));
    near(value_of("(t < 2) + 10*(t <= 2) + 100*(t > 2) + 1000*(t >= 2)", 2), 1010);
}

Test(formula, is_put_together_in_pieces) {
    near(value_of("step(t - 1)", 0.999), 0);
    near(value_of("step(t - 1)", 1), 1);
    near(value_of("ramp(t - 1)", 0.5), 0);
    near(value_of("ramp(t - 1)", 3), 2);
    near(value_of("smooth(t, 1, 3)", 1), 0);
    near(value_of("smooth(t, 1, 3)", 2), 0.5);
    near(value_of("smooth(t, 1, 3)", 4), 1);
    near(value_of("smooth(t, 2, 2)", 2), 1);
    near(value_of("smooth(t, 2, 2)", 1.9), 0);
    near(value_of("if(t < 1, 5, 7*t)", 0.5), 5);
    near(value_of("if(t < 1, 5, 7*t)", 2), 14);
    near(value_of("if(t > 1, sqrt(t - 1), 0)", 0), 0); /* the piece that is not taken has no value */
}

static const char *const smooth_ones[] = {"t",
                                          "3",
                                          "-t",
                                          "t + t*t",
                                          "t - 2*t^3",
                                          "t*sin(t)",
                                          "sin(t)/(2 + t)",
                                          "t^2.5",
                                          "2^t",
                                          "t^t",
                                          "(1 + t)^-3",
                                          "sin(3*t)",
                                          "cos(3*t)",
                                          "tan(t/2)",
                                          "asin(t/4)",
                                          "acos(t/4)",
                                          "atan(2*t)",
                                          "atan2(sin(t), 2 + cos(t))",
                                          "atan2(1, t)",
                                          "tanh(t - 1)",
                                          "exp(-t/2)",
                                          "log(1 + t)",
                                          "sqrt(t)",
                                          "sqrt(1 + sin(t)^2)",
                                          "abs(-t - 1)",
                                          "min(t, 100)",
                                          "max(-t, 100*t)",
                                          "mod(t + 0.3, 50)",
                                          "mod(10, 4 + t/10)",
                                          "step(t)",
                                          "ramp(t)*t",
                                          "ramp(-t)",
                                          "smooth(t, 0, 5)",
                                          "smooth(sin(t), -2, 2 + t)",
                                          "smooth(t, -1, 4*t)",
                                          "if(t > 0, t^3, 7)",
                                          "if(t < 0, t^3, sin(t))",
                                          "(t > 0)*cos(t)",
                                          "(t >= 0) + (t < 9) + (t <= 9) + t",
                                          "0.3*sin(2*pi*t) + 0.1*cos(3*t)*exp(-t)"};

Test(formula, has_the_rate_that_differences_of_its_values_show) {
    for (size_t k = 0; k < sizeof smooth_ones / sizeof *smooth_ones; k++) {
        formula f;
        parse(smooth_ones[k], &f);
        for (double time = 0.21; time < 3; time += 0.34) {
            check_rate(&f.track, time, smooth_ones[k]);
        }
    }
}

Test(formula, takes_every_operation_in_these_tests) {
    unsigned seen[FORMULA_OPS] = {0};
    for (size_t k = 0; k < sizeof smooth_ones / sizeof *smooth_ones; k++) {
        formula f;
        parse(smooth_ones[k], &f);
        for (int i = 0; i < f.track.terms; i++) {
            seen[f.term[i].op]++;
        }
    }
    for (int op = 0; op < FORMULA_OPS; op++) {
        cr_assert(seen[op], "no formula has operation %d", op);
    }
}

Test(formula, has_rate_zero_where_it_is_constant_though_the_slope_is_infinite) {
    static const char *const constant[] = {"sqrt(0)", "0^0.5", "asin(1)", "0*log(1)", "atan2(0, 0)", "abs(0)"};
    for (size_t k = 0; k < sizeof constant / sizeof *constant; k++) {
        formula f;
        double rate;
        parse(constant[k], &f);
        at(&f.track, 1, &rate);
        cr_assert(rate == 0, "%s: %g", constant[k], rate);
    }
}

static void refused(const char *text, int place, const char *words) {
    sim_term term[ROOM];
    int terms = -1, wrong_at = -1;
    sim_error error = {0};
    cr_assert(sim_formula_parse(text, term, ROOM, &terms, &wrong_at, &error) == SIM_BAD_INPUT, "%s", text);
    cr_assert(wrong_at == place && terms == 0, "%s: at %d, not %d", text, wrong_at, place);
    cr_assert(strstr(error.text, words), "%s: '%s' holds no '%s'", text, error.text, words);
}

Test(formula, says_what_is_wrong_and_where) {
    refused("", 0, "found the end");
    refused("  ", 2, "found the end");
    refused("2*(t", 4, "expected ')', found the end");
    refused("2 3", 2, "expected an operator or the end, found '3'");
    refused("t +* 2", 3, "expected a number, t, pi, a function or '(', found '*'");
    refused("1.2.3", 0, "'1.2.3' is no number");
    refused("1e999", 0, "'1e999' is no number");
    refused(".", 0, "'.' is no number");
    refused("2*sni(t)", 2, "'sni' is neither t nor pi nor a function (did you mean 'sin'?)");
    refused("x", 0, "'x' is neither t nor pi");
    refused("sin t", 4, "expected '(', found 't'");
    refused("1 + sin(t, 2)", 4, "sin takes 1 value");
    refused("smooth(t, 1)", 0, "smooth takes 3 values");
    refused("min()", 4, "expected a number");
    refused("t < 1 < 2", 6, "expected an operator or the end, found '<'");
    refused("t; t", 1, "found ';'");
    refused("t\xc3\xa9", 1, "found '\xc3\xa9'");
}

Test(formula, ends_whatever_it_is_given) {
    enum { LONG = 5000 };
    char text[LONG + 1] = {0};
    memset(text, '(', LONG);
    refused(text, 32, "nested too deep");
    memset(text, '-', LONG);
    refused(text, LONG, "found the end");
    for (int k = 0; k < LONG; k++) {
        text[k] = "t+"[k % 2];
    }
    refused(text, 2 * (ROOM / 2) + 1, "too long");
    for (int k = 0; k < LONG; k++) {
        text[k] = "2^"[k % 2];
    }
    refused(text, 64, "nested too deep");
}

/* Words at random, in memory that ends where the text does: every answer is a proper program or a place in the text. */
Test(formula, is_a_program_or_a_mistake_whatever_the_words) {
    static const char *const word[] = {"t",   "pi",       "1",    "2.5e3", "1e308", "0",     "+",    "-",     "*",
                                       "/",   "^",        "(",    ")",     ",",     "<",     ">=",   "sin(",  "atan2(",
                                       "if(", "smooth(",  "mod(", "min(",  "log(",  "sqrt(", "abs(", "step(", " ",
                                       "x",   "\xc3\xa9", "e",    "..",    "1e",    "ramp(", "t)",   "1,"};
    unsigned state = 1;
    int good = 0;
    for (int n = 0; n < 100000; n++) {
        char text[200] = "";
        state = state * 1103515245u + 12345u;
        for (unsigned k = 1 + (state >> 16) % 14; k; k--) {
            state = state * 1103515245u + 12345u;
            strcat(text, word[(state >> 16) % (sizeof word / sizeof *word)]);
        }
        char *exact = malloc(strlen(text) + 1);
        sim_term term[20];
        int terms, wrong_at, room = 1 + n % 20;
        sim_error error;
        strcpy(exact, text);
        if (sim_formula_parse(exact, term, room, &terms, &wrong_at, &error)) {
            cr_assert(wrong_at >= 0 && wrong_at <= (int)strlen(text), "%s: at %d", text, wrong_at);
        } else {
            double value, rate;
            cr_assert(terms <= room && formula_is_proper(term, terms, 1), "%s", text);
            formula_at(term, terms, 1, 0.7, &value, &rate);
            good++;
        }
        free(exact);
    }
    cr_assert(good > 1000, "only %d of them are formulas", good);
}

/* ---- keys ---- */

Test(track, of_every_kind_has_the_rate_that_differences_show) {
    const double times[] = {0, 0.7, 1, 2.5}, values[] = {1, -2, 3, 2.5};
    double rates[4] = {0, -1, 2, 0};
    for (int kind = SIM_HOLD; kind <= SIM_SPLINE; kind++) {
        sim_track track = {.interpolation = (sim_interpolation)kind,
                           .keys = 4,
                           .width = 1,
                           .times = times,
                           .values = values,
                           .rates = rates};
        for (double time = -0.53; time < 3; time += 0.1171) {
            check_rate(&track, time, "keys");
        }
    }
}

static sim_model *model_with(const sim_track *target, sim_error *error) {
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.inertia = (sim_inertia){.mass = 1, .moment = {1, 1, 1, 0, 0, 0}};
    int body = sim_builder_add_body(b, &def);
    sim_actuator actuator = sim_actuator_default();
    actuator.kp = 1;
    actuator.target = *target;
    sim_builder_add_actuator(b, body, &actuator);
    return sim_builder_finish(b, error);
}

Test(track, with_splines_passes_its_keys_with_continuous_rate_and_acceleration) {
    const double times[] = {0, 0.7, 1, 2.5, 2.6, 4}, values[] = {1, -2, 3, 2.5, 2.5, 0};
    sim_track given = {.interpolation = SIM_SPLINE, .keys = 6, .width = 1, .times = times, .values = values};
    sim_error error;
    sim_model *m = model_with(&given, &error);
    cr_assert(m, "%s", error.text);
    const sim_track *track = &m->actuator[0].target;
    const double e = 1e-9, h = 1e-5;
    for (int k = 0; k < 6; k++) {
        double before, rate, after;
        cr_assert(at(track, times[k], &rate) == values[k]);
        at(track, times[k] - e, &before);
        at(track, times[k] + e, &after);
        cr_assert(fabs(before - rate) < 1e-5 && fabs(after - rate) < 1e-5, "rates %g, %g, %g", before, rate, after);
        if (k > 0 && k < 5) {
            double low, high;
            at(track, times[k] - h, &low);
            at(track, times[k] + h, &high);
            double bend_before = (rate - low) / h, bend_after = (high - rate) / h;
            cr_assert(fabs(bend_before - bend_after) < 1e-4 * fabs(bend_before) + 0.1, "%g, %g", bend_before,
                      bend_after);
        } else {
            cr_assert(rate == 0);
        }
    }
    for (double time = -0.51; time < 4.6; time += 0.0973) {
        check_rate(track, time, "spline");
    }
    sim_model_free(m);
}

/* Through the values of a cubic that rests at both ends there is one such spline: the cubic. */
Test(track, with_splines_is_the_cubic_that_its_keys_lie_on) {
    double times[9], values[9];
    for (int k = 0; k < 9; k++) {
        times[k] = k + 0.3 * (k % 2 == 1); /* from 0 to 8, uneven */
        double s = times[k] / 8;
        values[k] = s * s * (3 - 2 * s);
    }
    sim_track given = {.interpolation = SIM_SPLINE, .keys = 9, .width = 1, .times = times, .values = values};
    sim_error error;
    sim_model *m = model_with(&given, &error);
    cr_assert(m, "%s", error.text);
    for (double time = 0; time <= 8; time += 0.13) {
        double s = time / 8, rate;
        near(at(&m->actuator[0].target, time, &rate), s * s * (3 - 2 * s));
        near(rate, 6 * s * (1 - s) / 8);
    }
    sim_model_free(m);
}

Test(track, with_a_rate_that_is_not_finite_is_refused_whatever_becomes_of_it) {
    const double times[] = {0, 1, 2}, values[] = {1, 2, 4}, wrong[] = {NAN, INFINITY, -INFINITY};
    for (int kind = SIM_HOLD; kind <= SIM_SPLINE; kind++) {
        for (int k = 0; k < 3; k++) {
            double rates[] = {1, 1, 1};
            rates[k] = wrong[k];
            sim_track track = {.interpolation = (sim_interpolation)kind,
                               .keys = 3,
                               .width = 1,
                               .times = times,
                               .values = values,
                               .rates = rates};
            sim_error error;
            cr_assert(!model_with(&track, &error) && strstr(error.text, "not finite"), "%s", error.text);
        }
    }
}

Test(track, of_a_program_that_does_not_leave_its_values_is_refused) {
    const sim_term add[] = {{0, FORMULA_TIME}, {0, FORMULA_ADD}}, two[] = {{1, FORMULA_NUMBER}, {2, FORMULA_NUMBER}};
    const sim_term unknown[] = {{0, FORMULA_OPS}}, endless[] = {{INFINITY, FORMULA_NUMBER}};
    const sim_term *const wrong[] = {add, two, unknown, endless};
    for (int k = 0; k < 4; k++) {
        sim_track track = {.width = 1, .terms = k < 2 ? 2 : 1, .term = wrong[k]};
        sim_error error;
        cr_assert(!model_with(&track, &error) && strstr(error.text, "do not leave 1 values"), "%s", error.text);
    }
}
