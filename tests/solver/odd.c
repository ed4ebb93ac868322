/* Problems at the edges of what may be asked: every solver answers them or says that it does not, the same each
 * time. */
#include "solver/core/natural_map.h"
#include "support/answers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 12, ROWS = 3 * MOST };

/* A problem of W and q alone, W dense. */
typedef struct odd {
    sim_problem problem;
    sim_constraint constraint[MOST];
    sim_delassus W;
    int start[MOST + 1], column[MOST * MOST];
    ptrdiff_t at[MOST * MOST];
    double value[ROWS * ROWS], q[ROWS], gap[ROWS], R[ROWS], target[ROWS];
} odd;

static void add(odd *o, sim_constraint_kind kind, int rows) {
    o->constraint[o->problem.nconstraint++] = (sim_constraint){.kind = kind,
                                                               .row = o->problem.nrow,
                                                               .rows = rows,
                                                               .tree = {-1, -1},
                                                               .friction = 0.5,
                                                               .stiffness = HUGE_VAL,
                                                               .bound = 1};
    o->problem.nrow += rows;
}

/* W by a number for each two rows. */
static void close_up(odd *o, double (*W)(int i, int j)) {
    int blocks = 0;
    ptrdiff_t at = 0;
    for (int a = 0; a < o->problem.nconstraint; a++) {
        const sim_constraint *c = &o->constraint[a];
        o->start[a] = blocks;
        for (int b = 0; b < o->problem.nconstraint; b++) {
            const sim_constraint *other = &o->constraint[b];
            o->column[blocks] = b;
            o->at[blocks++] = at;
            for (int i = 0; i < c->rows; i++) {
                for (int j = 0; j < other->rows; j++) {
                    o->value[at++] = W(c->row + i, other->row + j);
                }
            }
        }
    }
    o->start[o->problem.nconstraint] = blocks;
    o->W = (sim_delassus){o->start, o->column, o->at, o->value, 1};
    for (int i = 0; i < o->problem.nrow; i++) {
        for (int j = 0; j < i; j++) {
            o->W.symmetric = o->W.symmetric && W(i, j) == W(j, i);
        }
    }
    o->problem.step = 0.01;
    o->problem.constraint = o->constraint;
    o->problem.gap = o->gap;
    o->problem.W = &o->W;
    o->problem.q = o->q;
}

static double coupled(int i, int j) { return i == j ? 1.5 : 0.25; }
static double singular(int i, int j) { return i % 3 == j % 3; }
static double askew(int i, int j) { return i == j ? 2 : i < j ? 0.3 : 0.1; }

static double error_of(const odd *o, const double *gamma) {
    natural_sum sum = {0};
    double s[ROWS], rho[MOST], q[ROWS];
    for (int i = 0; i < o->problem.nconstraint; i++) {
        const sim_constraint *c = &o->constraint[i];
        double trace = 0;
        for (int k = c->row; k < c->row + c->rows; k++) {
            int given = isinf(o->R[k]);
            q[k] = s[k] = given ? 0 : o->q[k] - o->target[k];
            for (int b = 0; b < o->problem.nconstraint && !given; b++) {
                const sim_constraint *other = &o->constraint[b];
                const double *W = o->value + o->at[o->start[i] + b] + (k - c->row) * other->rows;
                for (int j = 0; j < other->rows; j++) {
                    s[k] += W[j] * gamma[other->row + j];
                }
            }
            s[k] += given ? 0 : o->R[k] * gamma[k];
            trace += o->value[o->at[o->start[i] + i] + (k - c->row) * (c->rows + 1)] + (given ? 0 : o->R[k]);
        }
        rho[i] = trace > 0 ? c->rows / trace : 1;
    }
    for (int i = 0; i < o->problem.nconstraint; i++) {
        const sim_constraint *c = &o->constraint[i];
        natural_add(&sum, c, o->problem.step, rho[i], 0, q + c->row, s + c->row, gamma + c->row);
    }
    return natural_error(&sum);
}

static int takes(const sim_solver_info *info, const odd *o) {
    for (int i = 0; i < o->problem.nconstraint; i++) {
        if (!(info->kinds >> o->constraint[i].kind & 1)) {
            return 0;
        }
    }
    return info->cone != SIM_CONE_CONVEX;
}

/* Demands on solvers. */
typedef enum demand { ANSWERED, ANSWERED_ON_IMPULSES, HONEST, NOT_FINITE } demand;

static void check(const odd *o, const sim_solution *out, demand what, const char *title, const char *solver) {
    double E = error_of(o, out->impulse);
    int others = strcmp(solver, "pgs") == 0 || strcmp(solver, "canal") == 0 || strcmp(solver, "auto") == 0;
    for (int r = 0; r < o->problem.nrow && what != NOT_FINITE; r++) {
        cr_expect(fabs(out->impulse[r]) < 1e300, "%s, %s: impulse %d is %g", title, solver, r, out->impulse[r]);
    }
    if (out->outcome <= SIM_AT_ROUNDING) {
        cr_expect(what != NOT_FINITE && E <= 1e-6, "%s, %s: solved, with E %g", title, solver, E);
    } else {
        cr_expect(what >= HONEST || (others && what == ANSWERED_ON_IMPULSES), "%s, %s: %s, %s, E %g", title, solver,
                  sim_outcome_name(out->outcome), sim_reason_name(out->reason), E);
    }
}

/* Twice by a solver, then by another of its kind: the same bits, and right if it says so. */
static void ask_all(odd *o, demand what, const char *title) {
    for (int k = 0; k < sim_solver_count(); k++) {
        const sim_solver_info *info = sim_solver_at(k);
        double impulse[3][ROWS], v[1] = {0};
        sim_regularisation law = {o->R, o->target};
        sim_solver *solver[2] = {sim_solver_create(info, NULL, NULL), sim_solver_create(info, NULL, NULL)};
        for (int turn = 0; turn < 3 && takes(info, o); turn++) {
            sim_solution out = {.v = v, .impulse = impulse[turn]};
            memset(impulse[turn], 0x7f, sizeof impulse[turn]);
            cr_assert_eq(sim_solver_solve(solver[turn == 2], &o->problem, &law, &out, NULL), SIM_OK);
            check(o, &out, what, title, info->name);
            cr_expect_arr_eq(impulse[turn], impulse[0], (size_t)o->problem.nrow * sizeof(double),
                             "%s, %s: not the same", title, info->name);
        }
        sim_solver_free(solver[0]);
        sim_solver_free(solver[1]);
    }
}

static void fill(odd *o, double q) {
    for (int k = 0; k < o->problem.nrow; k++) {
        o->q[k] = q * (1 + 0.1 * k) * (k % 3 == 2 ? 1 : 0.3);
    }
}

Test(odd, contacts_that_open_rest_or_close) {
    static odd o;
    for (int count = 1; count <= MOST; count += 11) {
        o = (odd){.R = {0}};
        for (int k = 0; k < count; k++) {
            add(&o, SIM_CONTACT, 3);
        }
        close_up(&o, coupled);
        fill(&o, 1);
        ask_all(&o, ANSWERED, "open");
        fill(&o, 0);
        ask_all(&o, ANSWERED, "nothing moves");
        fill(&o, -1);
        ask_all(&o, ANSWERED, "closing");
    }
}

Test(odd, rows_without_bounds_alone_and_said_three_times) {
    static odd o;
    add(&o, SIM_EQUALITY, 1);
    close_up(&o, coupled);
    fill(&o, -1);
    ask_all(&o, ANSWERED, "one equality");
    for (int k = 0; k < 5; k++) {
        add(&o, SIM_EQUALITY, 3);
    }
    close_up(&o, coupled);
    fill(&o, -1);
    ask_all(&o, ANSWERED, "equalities");
    o = (odd){.R = {0}};
    for (int k = 0; k < 3; k++) {
        add(&o, SIM_EQUALITY, 3);
    }
    close_up(&o, singular);
    for (int k = 0; k < 9; k++) {
        o.q[k] = 1 + k % 3;
    }
    ask_all(&o, ANSWERED, "the same equalities three times");
}

Test(odd, limits_dry_friction_and_motors_with_and_without_bounds) {
    static odd o;
    for (int k = 0; k < 3; k++) {
        add(&o, SIM_LIMIT, 1);
        add(&o, SIM_FRICTION, 1);
        add(&o, SIM_ACTUATOR, 1);
        o.constraint[3 * k + 1].bound = k == 0 ? HUGE_VAL : k == 1 ? 0 : 10;
        o.constraint[3 * k + 2].bound = k == 0 ? HUGE_VAL : 10 * k;
    }
    add(&o, SIM_CONTACT, 3);
    o.constraint[9].friction = 0;
    close_up(&o, coupled);
    fill(&o, -1);
    ask_all(&o, ANSWERED, "bounds");
}

/* R without end: PGS, CANAL and so auto do not take such rows of a problem of W and q, and say so. */
Test(odd, forces_that_are_given_alone_and_beside_others) {
    static odd o;
    add(&o, SIM_ACTUATOR, 1);
    add(&o, SIM_SPRING, 1);
    o.constraint[0].force = 30;
    o.constraint[1].force = -20;
    o.constraint[0].bound = 10;
    o.R[0] = o.R[1] = HUGE_VAL;
    close_up(&o, coupled);
    ask_all(&o, ANSWERED_ON_IMPULSES, "given, and nothing else moves");
    fill(&o, -1);
    ask_all(&o, ANSWERED_ON_IMPULSES, "given");
    add(&o, SIM_CONTACT, 3);
    close_up(&o, coupled);
    fill(&o, -1);
    ask_all(&o, ANSWERED_ON_IMPULSES, "given, and a contact");
}

Test(odd, contacts_that_are_one) {
    static odd o;
    for (int k = 0; k < 4; k++) {
        add(&o, SIM_CONTACT, 3);
    }
    close_up(&o, singular);
    for (int k = 0; k < 12; k++) {
        o.q[k] = k % 3 == 2 ? -1 : 0.4;
    }
    ask_all(&o, ANSWERED, "four contacts that are one");
}

Test(odd, pushes_that_are_not_answered_alike) {
    static odd o;
    for (int k = 0; k < 4; k++) {
        add(&o, SIM_CONTACT, 3);
    }
    close_up(&o, askew);
    fill(&o, -1);
    ask_all(&o, ANSWERED, "asymmetric");
}

Test(odd, who_meets_what_is_no_number_says_so) {
    static odd o;
    for (int k = 0; k < 3; k++) {
        add(&o, SIM_CONTACT, 3);
    }
    close_up(&o, coupled);
    fill(&o, -1e170);
    ask_all(&o, HONEST, "squares that overflow");
    fill(&o, -1);
    o.q[4] = NAN;
    ask_all(&o, NOT_FINITE, "q that is no number");
    o.q[4] = HUGE_VAL;
    ask_all(&o, NOT_FINITE, "q that is infinite");
}
