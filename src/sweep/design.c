/* Values of a run: grid, list or Latin hypercube.
 *
 * Grid: the number of a run in a mixed radix, the last input first.  Latin hypercube: each input has one number in each
 * of n equal parts of its range:
 *
 *     x = from + (p + u) / n (to - from),    p  random order of the parts;  u  random in [0, 1)
 *
 * Reference: McKay, Beckman, Conover 1979, section 2.  Different: random numbers are hashes of input, run and seed, so
 * that a run needs no other.  Cost: constant a value, n a shuffle (Fisher, Yates). */
#include "base/hash.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>

int64_t sweep_level(const sim_sweep *s, const sweep_input *input, int64_t run) {
    if (s->design == SWEEP_LATIN) {
        return input->count ? (int64_t)input->order[run] * input->count / s->info.runs : input->order[run];
    }
    int64_t rest = run;
    for (int k = s->inputs - 1; s->design == SWEEP_GRID && &s->input[k] != input; k--) {
        rest /= s->input[k].count;
    }
    return rest % input->count;
}

static uint64_t random_bits(const sim_sweep *s, const sweep_input *input, uint64_t purpose, int64_t k) {
    uint64_t hash = hash_word(hash_text(HASH_START, input->name), s->seed);
    return hash_finish(hash_word(hash_word(hash, purpose), (uint64_t)k));
}

/* `at` of `parts` on the way; whole numbers stay whole where the parts are. */
static double number_between(const sweep_input *input, double at, double parts) {
    return at <= 0       ? input->from
           : at >= parts ? input->to
           : input->log  ? input->from * pow(input->to / input->from, at / parts)
                         : (input->from * (parts - at) + input->to * at) / parts;
}

const char *sweep_value(const sim_sweep *s, const sweep_input *input, int64_t run, char room[SWEEP_VALUE_BYTES]) {
    int64_t level = sweep_level(s, input, run);
    if (input->value) {
        return input->value[level];
    }
    double at = (double)level, parts = (double)(input->count - 1);
    if (!input->count) {
        at += (double)(random_bits(s, input, 1, run) >> 11) * 0x1p-53;
        parts = (double)s->info.runs;
    }
    snprintf(room, SWEEP_VALUE_BYTES, "%s", number_digits(number_between(input, at, parts)).text);
    return room;
}

bool sweep_shuffle(sim_sweep *s) {
    for (int k = 0; k < s->inputs && s->design == SWEEP_LATIN; k++) {
        int64_t runs = s->info.runs;
        int32_t *order = POOL_NEW(s->pool, int32_t, runs);
        if (!order) {
            return false;
        }
        for (int64_t i = 0; i < runs; i++) {
            order[i] = (int32_t)i;
        }
        for (int64_t i = runs - 1; i > 0; i--) {
            int64_t j = (int64_t)(random_bits(s, &s->input[k], 0, i) % (uint64_t)(i + 1));
            int32_t kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        s->input[k].order = order;
    }
    return true;
}
