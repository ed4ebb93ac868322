/* Do all solvers give one answer where their laws say the same?  The gate that a solver passes before it is one of
 * them.
 *
 * The tests take whoever stands in the table and let its sim_solver_info say what holds for it: its law, the rows that
 * it takes, whether it is made for rows that yield nothing.  All are given the same A, J, v*, R and target.
 *
 *     C1   nothing touches                      v = v*, to the bit                        here
 *     C2   no friction, R = 0                   v of all                                  here
 *     C3   no friction, R > 0                   v and gamma of all                        here
 *     C4   all contacts stick, R -> 0           v of all, and so J' gamma = A (v - v*)    here
 *     C5   a point, W = w 1                     closed forms of each law                  here
 *     C6   planar slip along t1                 strict = pyramid                          here
 *     C7   convex, target lowered by mu |s_t|   strict, by steps of mu^2 / (1 + mu^2)     here
 *     C8   all stick, R > 0                     strict = convex; R_t gamma_t = -u_t          here
 *     C9   penalties, scales, forms             the same v, whatever the option           consistency_invariance.c
 *     C10  inner problems of CANAL              SAP's iterates                            canal.c
 *     C11  equalities alone                     the linear system                         consistency_invariance.c
 *     C12  dt -> 0                              trajectories of all converge              tests/contact/consistency.c
 *     C13  restitution                          e times the approach                       tests/contact/consistency.c
 *     C14  other order, tangents, names         the same v                                consistency_invariance.c
 *     C15  position-level Newton methods        strict with target -gap / dt; there is none here yet
 *     C16  free bodies                          all momentum stays                        consistency_invariance.c
 *     C17  nothing is pushed out                v' A v does not grow                      consistency_invariance.c
 *     C18  sliding on more points than needed   certificates of the strict; v may differ  consistency_invariance.c
 *
 * A solver not made for R = 0 takes the least that it can: its v then differs by as much (1e-9 of the inverse masses,
 * times how much stiffer the whole is than its parts). */
#include "support/contenders.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double YIELDING = 1e-6; /* how near to R = 0 the others come, relative */

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += x[k] * y[k];
    }
    return sum;
}

/* All v, and all impulses where `near_impulse` > 0, within what is given; where R = 0 rigid ones among each other. */
static void agree(const sim_problem *p, unsigned cones, double R, double near_v, double near_impulse,
                  const char *what) {
    contest c;
    contest_hold(&c, p, cones, R);
    for (int i = 0; i < c.count; i++) {
        cr_expect_leq(c.of[i].out.outcome, SIM_AT_ROUNDING, "%s, %s: %s at %g", what, c.who[i].name,
                      sim_outcome_name(c.of[i].out.outcome), c.of[i].out.residual);
        for (int k = 0; k < i; k++) {
            int exact = R != 0 || (contender_is_rigid(&c.who[i]) && contender_is_rigid(&c.who[k]));
            double v = apart(p->nv, c.of[i].v, c.of[k].v), g = apart(p->nrow, c.of[i].impulse, c.of[k].impulse);
            cr_expect_leq(v, exact ? near_v : YIELDING, "%s, %s and %s: v %g apart", what, c.who[i].name, c.who[k].name,
                          v);
            cr_expect(near_impulse == 0 || g <= near_impulse, "%s, %s and %s: impulses %g apart", what, c.who[i].name,
                      c.who[k].name, g);
        }
    }
    contest_end(&c);
}

Test(consistency, c1_what_touches_nothing_keeps_its_free_velocity_to_the_bit) {
    random_source r = {1};
    for (int far = 0; far < 2; far++) {
        problem_recipe recipe = {.bodies = 4, .chain = 7, .contacts = 9, .friction = 0.5, .bias = 0.1, .impact = 1};
        sim_problem *made = random_problem(&r, &recipe), p = *made;
        double gap[64], guess[128];
        for (int k = 0; k < 128; k++) {
            guess[k] = random_normal(&r);
        }
        for (int k = 0; k < p.nrow; k++) {
            gap[k] = 1;
        }
        p.gap = gap;
        p.nconstraint = far ? p.nconstraint : 0;
        p.nrow = far ? p.nrow : 0;
        p.v_guess = p.impulse_guess = guess;
        for (int k = 0; k < 2; k++) {
            contest c;
            contest_hold(&c, &p, ANY, k ? 0 : -1);
            for (int i = 0; i < c.count; i++) {
                cr_expect_arr_eq(c.of[i].v, p.v_free, (size_t)p.nv * sizeof *p.v_free, "%s", c.who[i].name);
                cr_expect_eq(c.of[i].out.outcome, SIM_SOLVED, "%s", c.who[i].name);
                for (int j = 0; j < p.nrow; j++) {
                    cr_expect_eq(c.of[i].impulse[j], 0, "%s", c.who[i].name);
                }
            }
            contest_end(&c);
        }
        sim_problem_free(made);
    }
}

/* A quadratic program with bounds: v is unique, and with R > 0 the impulses too. */
Test(consistency, c2_c3_without_friction_all_laws_are_one) {
    random_source r = {2};
    for (int trial = 0; trial < 12; trial++) {
        problem_recipe recipe = {
            .bodies = 4, .contacts = 10, .bias = 0.1, .kinds = trial % 2 ? 63 : 0, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        agree(p, ANY, 0, 1e-10, 0, "C2");
        agree(p, ANY, -1, 1e-9, 1e-8, "C3, near-rigid");
        agree(p, ANY, 0.1, 1e-10, 1e-10, "C3");
        sim_problem_free(p);
    }
}

/* Is friction inside its bounds at every contact, and inside those of a pyramid whose edges are t1 and t2? */
static int holds_everywhere(const answer *a) {
    for (int i = 0; i < a->problem->nconstraint; i++) {
        const sim_constraint *c = &a->problem->constraint[i];
        const double *g = a->impulse + c->row;
        if (!(g[2] > 0 && fabs(g[0]) + fabs(g[1]) < 0.95 * c->friction * g[2])) {
            return 0;
        }
    }
    return 1;
}

Test(consistency, c4_where_all_contacts_stick_all_laws_are_one) {
    double mass[] = {1, 2, 0.5};
    for (int k = 0; k < 4; k++) {
        sim_problem *p = box_stack(3, mass, 0.9, 0.01, 0.5 * k);
        answer a = contest_entry(p, 1e-4);
        answer_find(&a, "sap", NULL);
        cr_assert(holds_everywhere(&a));
        answer_free(&a);
        agree(p, ANY, pow(10, -k), 1e-8, 1e-8, "C4");
        /* at R = 0 they stand still */
        contest c;
        contest_hold(&c, p, ANY, 0);
        for (int i = 0; i < c.count; i++) {
            double speed = 0, due = contender_is_rigid(&c.who[i]) ? 1e-12 : YIELDING;
            for (int j = 0; j < p->nv; j++) {
                speed = fmax(speed, fabs(c.of[i].v[j]));
            }
            cr_expect_leq(speed, due * 0.0981, "%s: %g m/s", c.who[i].name, speed);
        }
        contest_end(&c);
        sim_problem_free(p);
    }
}

/* One contact with W + R = w 1, free velocity s: what each law gives; slip of a pyramid is along t1. */
static int closed_form(sim_cone cone, double mu, double w, const double s[3], double gamma[3]) {
    double a = hypot(s[0], s[1]), lift = cone == SIM_CONE_CONVEX ? mu : 0;
    int open = s[2] >= lift * a, sticks = !open && a <= -mu * s[2];
    gamma[2] = open ? 0 : sticks ? -s[2] / w : (lift * a - s[2]) / (w * (1 + lift * lift));
    for (int k = 0; k < 2; k++) {
        gamma[k] = open ? 0 : sticks ? -s[k] / w : -mu * gamma[2] * s[k] / a;
    }
    return open ? 0 : 1 + sticks;
}

Test(consistency, c5_a_point_meets_the_closed_form_of_each_law_in_all_three_cases) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        random_source r = {5};
        int seen[3] = {0};
        for (int trial = 0; trial < part_of(400); trial++) {
            double mu = trial % 7 ? random_uniform(&r, 0.1, 2) : 0, mass = pow(10, random_uniform(&r, -4, 4));
            double v[3] = {random_normal(&r), random_normal(&r), random_normal(&r) - 0.5}, s[3], gamma[3];
            v[1] = all[i].cone == SIM_CONE_PYRAMID ? 0 : v[1];
            double R = contender_is_rigid(&all[i]) && trial % 2 ? 0 : pow(10, random_uniform(&r, -5, 1)) / mass;
            sim_problem *p = point_on_ground(mass, mu, 0, 0.01, v);
            answer a = contest_entry(p, R);
            a.target[2] = random_normal(&r);
            for (int k = 0; k < 3; k++) {
                s[k] = v[k] - a.target[k];
            }
            seen[closed_form(all[i].cone, mu, 1 / mass + R, s, gamma)]++;
            answer_find(&a, all[i].info->name, all[i].option);
            for (int k = 0; k < 3; k++) {
                double size = fabs(s[0]) + fabs(s[1]) + fabs(s[2]);
                cr_expect_float_eq(a.impulse[k], gamma[k], 1e-10 * mass * size, "%s, %d: %g, not %g", all[i].name, k,
                                   a.impulse[k], gamma[k]);
                cr_expect_float_eq(a.v[k], v[k] + gamma[k] / mass, 1e-10 * size, "%s", all[i].name);
            }
            answer_free(&a);
            sim_problem_free(p);
        }
        cr_expect((seen[0] > 50 && seen[1] > 50 && seen[2] > 30) || is_part(), "%d %d %d", seen[0], seen[1], seen[2]);
    }
}

/* The end of a rod in its plane: W couples slip and approach.  v from the law itself, by cases; 0 if it slides with
 * s_n = 0 in no direction or in both. */
static int rod_answer(const double W[9], const double q[3], double mu, double gamma[2]) {
    double det = W[0] * W[8] - W[2] * W[6];
    gamma[0] = gamma[1] = 0;
    if (q[2] >= 0) {
        return 1;
    }
    gamma[0] = -(W[8] * q[0] - W[2] * q[2]) / det;
    gamma[1] = -(W[0] * q[2] - W[6] * q[0]) / det;
    if (fabs(gamma[0]) <= mu * gamma[1]) {
        return 1;
    }
    int found = 0;
    for (int way = -1; way <= 1; way += 2) {
        double n = -q[2] / (W[8] - mu * way * W[6]), slip = q[0] + (W[2] - mu * way * W[0]) * n;
        if (n > 0 && slip * way > 0) {
            gamma[0] = -mu * way * n;
            gamma[1] = n;
            found++;
        }
    }
    return found == 1;
}

Test(consistency, c6_a_pyramid_along_the_slip_is_the_cone) {
    random_source r = {6};
    int slides = 0;
    for (int trial = 0; trial < 150; trial++) {
        double mu = random_uniform(&r, 0.1, 0.6), mass = random_uniform(&r, 0.5, 2),
               v[3] = {random_normal(&r), random_normal(&r), random_normal(&r) - 1}, gamma[2];
        double x = random_uniform(&r, -0.5, 0.5), z = random_uniform(&r, -1, 0);
        sim_problem *p = rod_on_ground(mass, mass * (x * x + z * z) / 3 + 0.01, x, z, mu, v);
        contest c;
        contest_hold(&c, p, STRICT | PYRAMID, 0);
        for (int i = 0; i < c.count; i++) {
            const double *W = c.of[i].W, q[3] = {v[1] + v[0] * z, 0, v[2] - v[0] * x};
            if (W[8] < 1.2 * mu * fabs(W[6]) || !rod_answer(W, q, mu, gamma)) {
                continue; /* friction may jam it: there need not be one answer */
            }
            double due[3] = {gamma[0], 0, gamma[1]};
            slides += i == 0 && fabs(gamma[0]) > 0.999999 * mu * gamma[1] && gamma[1] > 0;
            cr_expect_leq(apart(3, c.of[i].impulse, due), 1e-10, "%s: (%g %g %g), not (%g 0 %g)", c.who[i].name,
                          c.of[i].impulse[0], c.of[i].impulse[1], c.of[i].impulse[2], due[0], due[2]);
        }
        contest_end(&c);
        sim_problem_free(p);
    }
    cr_expect_gt(slides, 30, "%d slide", slides);
}

/* s_t of every contact, as it is (R gamma included), and with it what the target is to be lowered by. */
static double lower_targets(answer *a, const double *target) {
    double most = 0;
    answer_check(a);
    for (int i = 0; i < a->problem->nconstraint; i++) {
        const sim_constraint *c = &a->problem->constraint[i];
        if (c->kind == SIM_CONTACT) {
            double to = target[c->row + 2] - c->friction * hypot(a->s[c->row], a->s[c->row + 1]);
            most = fmax(most, fabs(to - a->target[c->row + 2]));
            a->target[c->row + 2] = to;
        }
    }
    return most;
}

Test(consistency, c7_the_convex_law_with_targets_lowered_by_its_own_slip_is_the_strict_law) {
    random_source r = {7};
    for (int trial = 0; trial < 10; trial++) {
        problem_recipe recipe = {.bodies = 3, .contacts = 4, .friction = 0.4, .bias = 0.1, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        double R = 0.05, target[64];
        contest strict, convex;
        contest_hold(&strict, p, STRICT, R);
        contest_hold(&convex, p, CONVEX, R);
        for (int i = 0; i < convex.count; i++) {
            answer *a = &convex.of[i];
            memcpy(target, a->target, (size_t)p->nrow * sizeof *target);
            double change = 1;
            for (int k = 0; k < 100 && change > 1e-12; k++) {
                change = lower_targets(a, target);
                answer_find(a, convex.who[i].info->name, convex.who[i].option);
            }
            cr_expect_leq(change, 1e-12, "%s: still %g", convex.who[i].name, change);
            for (int k = 0; k < strict.count; k++) {
                double v = apart(p->nv, a->v, strict.of[k].v), g = apart(p->nrow, a->impulse, strict.of[k].impulse);
                cr_expect_leq(v, 1e-9, "%s and %s: v %g apart", convex.who[i].name, strict.who[k].name, v);
                cr_expect_leq(g, 1e-9, "%s and %s: impulses %g apart", convex.who[i].name, strict.who[k].name, g);
            }
        }
        contest_end(&strict);
        contest_end(&convex);
        sim_problem_free(p);
    }
}

/* Sliding point: |s_t| = (a + mu (s_n + p)) / (1 + mu^2) for a target lowered by p, so that p <- mu |s_t| comes
 * nearer by mu^2 / (1 + mu^2) each time. */
Test(consistency, c7_each_time_the_slip_of_a_point_comes_nearer_by_the_same_factor) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        for (int m = 1; m <= 4 && all[i].cone == SIM_CONE_CONVEX; m++) {
            double mu = 0.3 * m, v[3] = {3, 1, -0.5}, slip = hypot(3, 1) - 0.5 * mu, before = 0, target[3] = {0};
            sim_problem *p = point_on_ground(2, mu, 0, 0.01, v);
            answer a = contest_entry(p, 1e-6);
            for (int k = 0; k < 6; k++) {
                answer_find(&a, all[i].info->name, all[i].option);
                lower_targets(&a, target);
                double off = hypot(a.s[0], a.s[1]) - slip;
                cr_expect(k == 0 || fabs(off / before - mu * mu / (1 + mu * mu)) < 1e-4, "%s: mu %g, %g", all[i].name,
                          mu, off / before);
                before = off;
            }
            answer_free(&a);
            sim_problem_free(p);
        }
    }
}

/* u = J v + w of a contact. */
static void velocity_of(const sim_problem *p, const sim_constraint *c, const double *v, double u[3]) {
    for (int k = 0; k < 3; k++) {
        u[k] = p->offset ? p->offset[c->row + k] : 0;
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            u[k] += dot(t->nv, p->J + c->block[side] + k * t->nv, v + t->v0);
        }
    }
}

Test(consistency, c8_what_sticks_with_the_same_compliance_has_the_same_impulses_in_all_laws) {
    double mass[] = {1, 3, 0.5};
    for (int k = 1; k < 4; k++) {
        sim_problem *p = box_stack(3, mass, 0.8, 0.01, 0.7 * k);
        agree(p, ANY, -1, 1e-8, 1e-8, "C8, near-rigid");
        contest c;
        contest_hold(&c, p, ANY, -1);
        for (int i = 0; i < c.count; i++) {
            answer *a = &c.of[i];
            cr_expect(holds_everywhere(a));
            for (int j = 0; j < p->nconstraint; j++) {
                double u[3];
                int row = p->constraint[j].row;
                velocity_of(p, &p->constraint[j], a->v, u);
                for (int axis = 0; axis < 2; axis++) {
                    cr_expect_float_eq(a->R[row + axis] * a->impulse[row + axis], -u[axis], 1e-9 * 0.0981, "%s",
                                       c.who[i].name);
                }
            }
        }
        contest_end(&c);
        sim_problem_free(p);
    }
}
