/* The certificate of a step: sums over its islands, and the bodies with the worst figures.
 *
 * Cost: a few operations for each island. */
#include "contact/result/result.h"

/* The constraint at a place of the list of all, as its island solved it. */
static const sim_constraint *constraint_at(const assembly *f, int place) {
    int k = f->nisland - 1;
    while (k > 0 && f->island[k].first_constraint > place) {
        k--;
    }
    return &f->island[k].problem.constraint[place - f->island[k].first_constraint];
}

static void copy_bodies(const assembly *f, int constraint, int body[2]) {
    body[0] = constraint >= 0 ? constraint_at(f, constraint)->body[0] : -1;
    body[1] = constraint >= 0 ? constraint_at(f, constraint)->body[1] : -1;
}

void certify_step(const assembly *f, contact_info *info) {
    /* judgements of all islands, and the worst that is unsolved */
    sim_judgement sum = {0};
    double furthest = -1;
    int unsolved = -1;
    for (int k = 0; k < f->nisland; k++) {
        const island *is = &f->island[k];
        sim_judgement_add(&sum, &is->judgement, is->first_constraint);
        if (is->solution.outcome > SIM_AT_ROUNDING) {
            sim_certificate found = sim_judgement_finish(&is->judgement);
            if (found.own > furthest) {
                furthest = found.own;
                unsolved = is->first_constraint + (found.worst_own >= 0 ? found.worst_own : 0);
            }
        }
    }
    /* certificate of the step */
    sim_certificate all = info->certificate = sim_judgement_finish(&sum);
    /* bodies of the worst constraints */
    const int worst[SIM_WORSTS] = {[SIM_WORST_E] = all.worst,
                                   [SIM_WORST_OWN] = all.worst_own,
                                   [SIM_WORST_PENETRATION] = all.deepest,
                                   [SIM_WORST_PAST_RANGE] = all.farthest,
                                   [SIM_WORST_SLIP] = all.fastest,
                                   [SIM_WORST_UNSOLVED] = unsolved};
    for (int k = 0; k < SIM_WORSTS; k++) {
        copy_bodies(f, worst[k], info->worst_body[k]);
    }
}
