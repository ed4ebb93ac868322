/* Values over time between keys: x(s) = x0 + (x1 - x0) w(s), s in [0, 1] across the interval,
 *     linear w = s,  cubic w = 3 s^2 - 2 s^3 (rest at the keys),  quintic w = 10 s^3 - 15 s^4 + 6 s^5 (no acceleration
 * there either). */
#include <sim/model.h>

static void blend(sim_interpolation kind, double s, double *w, double *rate) {
    switch (kind) {
    case SIM_LINEAR:
        *w = s;
        *rate = 1;
        break;
    case SIM_CUBIC:
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

void sim_track_at(const sim_track *track, double time, double *value, double *rate) {
    int key = key_before(track, time);
    int inside = key >= 0 && key + 1 < track->keys;
    int first = key < 0 ? 0 : key;
    double w = 0, w_rate = 0, span = 1;
    if (inside) {
        span = track->times[key + 1] - track->times[key];
        blend(track->interpolation, (time - track->times[key]) / span, &w, &w_rate);
    }
    for (int k = 0; k < track->width; k++) {
        double a = track->keys ? track->values[first * track->width + k] : 0;
        double b = inside ? track->values[(first + 1) * track->width + k] : a;
        if (value) {
            value[k] = a + (b - a) * w;
        }
        if (rate) {
            rate[k] = (b - a) * w_rate / span;
        }
    }
}
