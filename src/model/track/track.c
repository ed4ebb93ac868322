/* Values over time.  Between keys, x(s) = x0 + (x1 - x0) w(s), s in [0, 1] across the interval:
 *     linear w = s,  cubic w = 3 s^2 - 2 s^3 (rest at the keys),  quintic w = 10 s^3 - 15 s^4 + 6 s^5 (no acceleration
 * there either).  Splines pass their keys at the rates m (spline.c), h the length of the interval:
 *     x(s) = x0 + (x1 - x0) w(s) + h m0 s (1 - s)^2 - h m1 s^2 (1 - s),  w cubic
 * Formulas have no keys (formula.c). */
#include "model/track/formula.h"

static void eval_blend(sim_interpolation kind, double s, double *w, double *rate) {
    switch (kind) {
    case SIM_LINEAR:
        *w = s;
        *rate = 1;
        break;
    case SIM_CUBIC:
    case SIM_SPLINE:
        *w = s * s * (3 - 2 * s);
        *rate = 6 * s * (1 - s);
        break;
    case SIM_QUINTIC:
        *w = s * s * s * (10 + s * (6 * s - 15));
        *rate = 30 * s * s * (1 - s) * (1 - s);
        break;
    default: /* hold */
        *w = 0;
        *rate = 0;
        break;
    }
}

/* The last key at or before `time`, -1 before the first. */
static int key_before(const sim_track *track, double time) {
    int low = -1, high = track->keys;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (track->times[middle] <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void eval_keys(const sim_track *track, double time, double *value, double *rate) {
    /* interval and place in it */
    int key = key_before(track, time);
    bool inside = key >= 0 && key + 1 < track->keys;
    int first = key < 0 ? 0 : key;
    double w = 0, w_rate = 0, span = 1, s = 0;
    if (inside) {
        span = track->times[key + 1] - track->times[key];
        s = (time - track->times[key]) / span;
        eval_blend(track->interpolation, s, &w, &w_rate);
    }
    /* blend of the values, with the Hermite terms of a spline */
    bool bent = inside && track->interpolation == SIM_SPLINE && track->rates;
    for (int k = 0; k < track->width; k++) {
        double a = track->keys ? track->values[first * track->width + k] : 0;
        double b = inside ? track->values[(first + 1) * track->width + k] : a;
        double m0 = bent ? track->rates[first * track->width + k] : 0;
        double m1 = bent ? track->rates[(first + 1) * track->width + k] : 0;
        if (value) {
            value[k] = a + (b - a) * w + (bent ? span * s * (1 - s) * (m0 * (1 - s) - m1 * s) : 0);
        }
        if (rate) {
            rate[k] = (b - a) * w_rate / span + (bent ? m0 * (1 - s) * (1 - 3 * s) - m1 * s * (2 - 3 * s) : 0);
        }
    }
}

void sim_track_at(const sim_track *track, double time, double *value, double *rate) {
    if (track->terms) {
        formula_at(track->term, track->terms, track->width, time, value, rate);
    } else {
        eval_keys(track, time, value, rate);
    }
}

bool sim_track_given(const sim_track *track) { return track->keys > 0 || track->terms > 0; }
