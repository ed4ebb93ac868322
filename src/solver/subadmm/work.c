/* Cost of SubADMM, in multiplications of a sweep of PGS or operations of equal time.
 *
 * Contacts and bodies of the lanes run several at a time: the constants are measured, on problems of 100 to 1,000 free
 * bodies and on robots. */
#include "solver/subadmm/subadmm.h"

/* Of an iteration: a contact and a body of the lanes, a dof of a split tree, a row outside the lanes, an entry of a
 * dense matrix. */
static const double WORK_OF_CONTACT = 90, WORK_OF_BODY = 90, WORK_OF_DOF = 100, WORK_OF_ROW = 100, WORK_OF_ENTRY = 0.8;
/* Iterations that cost as much as the preparation, an evaluation of E and a change of kappa. */
static const double PREPARATION_ITERATIONS = 12, EVALUATION_ITERATIONS = 3, FACTOR_ITERATIONS = 4;
static const double WORK_OF_DENSE = 0.4; /* of a multiplication in blocks */

void subadmm_count_work(subadmm *s) {
    const sim_problem *p = s->problem;
    double each = WORK_OF_CONTACT * s->input.ncontact, cubes = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        each += s->lane_of[i] < 0 ? WORK_OF_ROW * p->constraint[i].rows : 0;
    }
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        double n = t->nv;
        bool split = t->form == SUBADMM_BRANCH || t->form == SUBADMM_ARTICULATED;
        each += t->form == SUBADMM_LANE ? WORK_OF_BODY : split ? WORK_OF_DOF * n : WORK_OF_BODY + WORK_OF_ENTRY * n * n;
        cubes += t->form == SUBADMM_DENSE ? n * n * n / 6 : 0;
    }
    s->call->iteration_work = each;
    s->work.evaluation = EVALUATION_ITERATIONS * each;
    s->work.factor = FACTOR_ITERATIONS * each + WORK_OF_DENSE * cubes;
    s->work.preparation = PREPARATION_ITERATIONS * each;
}
