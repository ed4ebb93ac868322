/* Values over time: keys, splines and formulas. */
#ifndef SIM_TRACK_H
#define SIM_TRACK_H

#include <sim/base.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A value over time, between keys: `hold` keeps the last key's value; the others go from key to key. `cubic` rests at
 * the keys, `quintic` also without acceleration there; `spline` passes with continuous acceleration, at rest at the
 * first and the last.  Before the first key and after the last the value stays. */
typedef enum sim_interpolation { SIM_HOLD, SIM_LINEAR, SIM_CUBIC, SIM_QUINTIC, SIM_SPLINE } sim_interpolation;

/* One step of a formula: sim_formula_parse makes them. */
typedef struct sim_term {
    double number;
    int64_t op;
} sim_term;

/* By keys, or by a formula of time. */
typedef struct sim_track {
    sim_interpolation interpolation;
    int keys, width;      /* `width` values at each key */
    const double *times;  /* [keys], increasing */
    const double *values; /* [keys x width] */
    const double *rates;  /* [keys x width] of a spline in a model, 1/s; given to the builder, NULL: found there */
    int terms;            /* of a formula that leaves `width` values; 0: by keys */
    const sim_term *term;
} sim_track;

/* Keys or terms are there. */
SIM_API bool sim_track_given(const sim_track *track);
/* Value and rate of a track. Either output may be NULL.  Rates are exact: the derivative of the value, to rounding. */
SIM_API void sim_track_at(const sim_track *track, double time, double *value, double *rate);

/* A formula of time: numbers, t (s), pi, + - * / ^ ( ), comparisons (1 or 0), and functions. Of one value: sin cos tan
 * asin acos atan tanh exp log sqrt abs step ramp. Of two: atan2 min max mod. Of three: smooth(x, from, to),
 * if(condition, then, else).
 *
 * Writes at most `room` terms and their number; they leave one value.  One formula's terms behind another's leave two.
 * A mistake is told with its place in the text, in bytes. */
SIM_API sim_status sim_formula_parse(const char *text, sim_term *term, int room, int *terms, int *wrong_at,
                                     sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
