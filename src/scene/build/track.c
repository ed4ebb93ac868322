/* Values over time of a scene (keys, a sine, formulas) as tracks of the builder.
 *
 *     sine  x(t) = offset + amplitude sin(2 pi frequency t + phase)
 *
 * is a formula too, so that its rate is exact as theirs is (model/formula.c). */
#include "math/angle.h"
#include "model/track/formula.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- formulas ---- */

bool read_formula_terms(report *r, const node *n, sim_term term[MAX_FORMULA_TERMS], int *terms) {
    if (n->kind == NODE_NUMBER) {
        term[0] = (sim_term){n->number, FORMULA_NUMBER};
        *terms = 1;
        return true;
    }
    if (n->kind != NODE_TEXT) {
        report_value(r, n, NULL, "expected a formula as text, not %s", node_kind_name(n));
        return false;
    }
    int wrong_at;
    sim_error why;
    if (sim_formula_parse(n->text, term, MAX_FORMULA_TERMS, terms, &wrong_at, &why)) {
        report_inside(r, n, (size_t)wrong_at, NULL, "%s", why.text);
        return false;
    }
    return true;
}

static bool keep_terms(loader *l, const sim_term *term, int terms, int width, sim_track *out) {
    sim_term *kept = POOL_NEW(l->work, sim_term, terms);
    if (!kept) {
        l->report.no_memory = true;
        return false;
    }
    memcpy(kept, term, (size_t)terms * sizeof *term);
    *out = (sim_track){.width = width, .terms = terms, .term = kept};
    return true;
}

/* Of `width` values, at most three: one text, or an array of as many. */
static bool read_formulas(loader *l, const node *n, int width, sim_track *out) {
    const node *item = n->kind == NODE_ARRAY ? n->first : n;
    sim_term term[3 * MAX_FORMULA_TERMS];
    int count = 0;
    for (int k = 0; k < width; k++, item = item->next) {
        int terms = 0;
        if (!item || !read_formula_terms(&l->report, item, term + count, &terms)) {
            return false;
        }
        count += terms;
    }
    return keep_terms(l, term, count, width, out);
}

/* ---- sines ---- */

/* Terms of offset + amplitude sin(2 pi f t + phase) in reverse Polish order, for each component. */
static bool read_sine(loader *l, const sine_data *d, int width, sim_track *out) {
    const double turn = 2 * PI * d->frequency;
    const double phase = node_member(d->at, "phase_deg") ? d->phase_deg * PI / 180 : d->phase;
    enum { TERMS_PER_AXIS = 10 };
    sim_term term[3 * TERMS_PER_AXIS];
    for (int k = 0; k < width; k++) {
        const sim_term one[TERMS_PER_AXIS] = {
            {d->offset[k], FORMULA_NUMBER},
            {d->amplitude[k], FORMULA_NUMBER},
            {turn, FORMULA_NUMBER},
            {0, FORMULA_TIME},
            {0, FORMULA_MULTIPLY},
            {phase, FORMULA_NUMBER},
            {0, FORMULA_ADD},
            {0, FORMULA_SIN},
            {0, FORMULA_MULTIPLY},
            {0, FORMULA_ADD},
        };
        memcpy(term + TERMS_PER_AXIS * k, one, sizeof one);
    }
    return keep_terms(l, term, width * TERMS_PER_AXIS, width, out);
}

/* ---- keys ---- */

static bool read_keys(loader *l, const track_data *d, int width, sim_track *out) {
    static const double at_once[1] = {0};
    /* one key for each time */
    int keys = d->values.count / width;
    *out = (sim_track){.interpolation = (sim_interpolation)d->interpolation, .keys = keys, .width = width};
    out->times = d->times.count ? d->times.value : at_once;
    out->values = d->values.value;
    if (d->times.count == 0 && keys > 1) {
        report_once(&l->report, d->at, NULL, "%d values need \"times\"", keys);
        return false;
    }
    if (d->times.count && d->times.count != keys) {
        report_once(&l->report, node_member(d->at, "times"), NULL, "%d times for %d values", d->times.count, keys);
        return false;
    }
    /* times increase */
    for (int i = 1; i < d->times.count; i++) {
        if (!(d->times.value[i] > d->times.value[i - 1])) {
            report_once(&l->report, node_member(d->at, "times"), NULL, "times must increase: %.17g s follows %.17g s",
                        d->times.value[i], d->times.value[i - 1]);
            return false;
        }
    }
    return true;
}

/* ---- all of them ---- */

/* Keys that speak of values between times. */
static bool check_track_keys(loader *l, const track_data *d) {
    static const char *const of_values[] = {"times", "interpolation"};
    for (int k = 0; k < 2; k++) {
        const node *wrong = node_member(d->at, of_values[k]);
        if (wrong) {
            report_once(&l->report, wrong, NULL, "the key \"%s\" belongs to \"values\", not to \"%s\"", wrong->key,
                        d->expression ? "expression" : "sine");
            return false;
        }
    }
    return true;
}

/* Evaluates a formula at a thousand times of the run; a value that is not finite is an error. */
static bool stays_finite(loader *l, const track_data *d, const sim_track *track, track_use use) {
    enum { CHECKED_MOMENTS = 1000 };
    const node *at = d->expression ? d->expression : d->at;
    double value[3], rate[3], duration = l->data.world.duration;
    if (at->tried) { /* in another copy of the model */
        return true;
    }
    ((node *)at)->tried = true;
    for (int k = 0; k <= CHECKED_MOMENTS; k++) {
        double time = duration * k / CHECKED_MOMENTS;
        sim_track_at(track, time, value, rate);
        for (int c = 0; c < track->width; c++) {
            bool followed = use == TRACK_TARGET && k > 0; /* targets are those of the end of a step */
            if (!isfinite(value[c]) || (followed && !isfinite(rate[c]))) {
                report_once(&l->report, at, "a formula needs one throughout the run",
                            "there is no finite %s at t = %g s", isfinite(value[c]) ? "rate" : "value", time);
                return false;
            }
        }
    }
    return true;
}

bool read_track(loader *l, const track_data *d, int width, track_use use, sim_track *out) {
    if (!d->expression && !d->sine.at) {
        return read_keys(l, d, width, out);
    }
    bool good = check_track_keys(l, d);
    good = good && (d->expression ? read_formulas(l, d->expression, width, out) : read_sine(l, &d->sine, width, out));
    return good && stays_finite(l, d, out, use);
}
