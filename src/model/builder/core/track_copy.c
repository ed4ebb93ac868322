/* Checked copy of a track into the builder, with the slopes of splines. */
#include "model/builder/core/builder.h"
#include "model/track/formula.h"
#include "model/track/spline.h"

#include <math.h>
#include <string.h>

static sim_status check_keys(sim_builder *b, const sim_track *track, const char *what) {
    for (int k = 0; k < track->keys; k++) {
        if (!isfinite(track->times[k]) || (k && !(track->times[k] > track->times[k - 1]))) {
            return builder_refuse(b, SIM_BAD_INPUT, "%s: key times must be finite and increase", what);
        }
    }
    size_t numbers = (size_t)track->keys * (size_t)track->width;
    for (size_t k = 0; k < numbers; k++) {
        if (!isfinite(track->values[k]) || (track->rates && !isfinite(track->rates[k]))) {
            return builder_refuse(b, SIM_BAD_INPUT, "%s: a value is not finite", what);
        }
    }
    return SIM_OK;
}

static sim_status check_track(sim_builder *b, const sim_track *track, int width, const char *what) {
    if (track->keys < 0 || (track->keys > 0 && track->width != width) || track->keys > INT32_MAX / 6 ||
        (unsigned)track->interpolation > SIM_SPLINE || track->terms < 0 || (track->terms && track->keys)) {
        return builder_refuse(b, SIM_BAD_INPUT,
                              "%s: a track needs an interpolation, keys and %d values a key, or a formula", what,
                              width);
    }
    if (track->terms && (track->width != width || !formula_is_proper(track->term, track->terms, width))) {
        return builder_refuse(b, SIM_BAD_INPUT, "%s: the terms of its formula do not leave %d values", what, width);
    }
    return check_keys(b, track, what);
}

static double *copy_numbers(sim_builder *b, const double *from, size_t count) {
    double *to = POOL_NEW(b->pool, double, count);
    if (to && count) {
        memcpy(to, from, count * sizeof *to);
    }
    return to;
}

/* Those given, or those that make the acceleration continuous. */
static double *take_rates(sim_builder *b, const sim_track *track) {
    size_t numbers = (size_t)track->keys * (size_t)track->width;
    if (track->rates) {
        return copy_numbers(b, track->rates, numbers);
    }
    double *rates = POOL_NEW(b->pool, double, numbers), *work = POOL_NEW(b->pool, double, track->keys);
    if (rates && work && track->keys) {
        spline_rates(track, rates, work);
    }
    return work ? rates : NULL;
}

sim_status builder_copy_track(sim_builder *b, sim_track *track, int width, const char *what) {
    /* check, copies */
    if (check_track(b, track, width, what)) {
        return b->error.status;
    }
    bool bent = track->interpolation == SIM_SPLINE;
    double *times = copy_numbers(b, track->times, (size_t)track->keys);
    double *values = copy_numbers(b, track->values, (size_t)track->keys * (size_t)track->width);
    double *rates = bent ? take_rates(b, track) : NULL;
    sim_term *term = POOL_NEW(b->pool, sim_term, track->terms);
    /* all of them, or nothing */
    if (!times || !values || (bent && !rates) || !term) {
        return builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
    }
    if (track->terms) {
        memcpy(term, track->term, (size_t)track->terms * sizeof *term);
    }
    /* track on the copies */
    track->times = times;
    track->values = values;
    track->rates = rates;
    track->term = term;
    return rates ? check_keys(b, track, what) : SIM_OK;
}
