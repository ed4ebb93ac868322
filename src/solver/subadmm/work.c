/* Cost of SubADMM, in multiplications of a sweep of PGS or operations of equal time.
 *
 * Contacts and bodies of the lanes go several at a time, so that what counts is measured, not written down: problems of 100
 * to 1,000 free bodies, and robots. */
#include "solver/subadmm/subadmm.h"

/* Of an iteration: a contact and a body of the lanes; a dof of a tree that is split, all that goes with it; a row beside the
 * lanes; a number of a dense matrix, for A and K. */
static const double CONTACT = 90, BODY = 90, DOF = 100, ROW = 100, DENSE = 0.8;
/* Iterations that take as long as to begin, as a look and as a change of penalties. */
static const double PREPARATION = 12, LOOK = 3, FACTOR = 4;
static const double WORK_OF_DENSE = 0.4; /* of a multiplication in blocks */

void subadmm_count_work(subadmm *s) {
    const sim_problem *p = s->problem;
    double each = CONTACT * s->input.ncontact, cubes = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        each += s->lane_of[i] < 0 ? ROW * p->constraint[i].rows : 0;
    }
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        double n = t->nv;
        int split = t->form == SUBADMM_BRANCH || t->form == SUBADMM_ARTICULATED;
        each += t->form == SUBADMM_LANE ? BODY : split ? DOF * n : BODY + DENSE * n * n;
        cubes += t->form == SUBADMM_DENSE ? n * n * n / 6 : 0;
    }
    s->call->iteration_work = each;
    s->work.look = LOOK * each;
    s->work.factor = FACTOR * each + WORK_OF_DENSE * cubes;
    s->work.preparation = PREPARATION * each;
}
