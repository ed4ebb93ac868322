/* Does the certificate stay what it is in other units, in other frames, with bodies exchanged, island by island, and
 * with W in place of A and J? */
#include "solver/core/products.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128 };

/* A copy of a problem with parts that may be changed before it is made. */
typedef struct draft {
    sim_problem parts;
    sim_problem_tree tree[16];
    sim_constraint constraint[32];
    double gap[MOST], offset[MOST], v_free[MOST], v_start[MOST], A[16 * 400], J[MOST * 40];
    ptrdiff_t nA, nJ;
} draft;

static void add_problem(draft *d, const sim_problem *p) {
    int tree0 = d->parts.ntree, v0 = d->parts.nv, row0 = d->parts.nrow;
    for (int t = 0; t < p->ntree; t++) {
        d->tree[tree0 + t] = (sim_problem_tree){v0 + p->tree[t].v0, p->tree[t].nv};
        p->mass.matrix(p->mass.self, t, d->A + d->nA);
        d->nA += p->tree[t].nv * p->tree[t].nv;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        sim_constraint *c = &d->constraint[d->parts.nconstraint + i];
        *c = p->constraint[i];
        c->row += row0;
        for (int side = 0; side < 2; side++) {
            if (c->tree[side] >= 0) {
                ptrdiff_t size = (ptrdiff_t)c->rows * p->tree[c->tree[side]].nv;
                memcpy(d->J + d->nJ, p->J + c->block[side], (size_t)size * 8);
                c->block[side] = d->nJ;
                c->tree[side] += tree0;
                d->nJ += size;
            }
        }
    }
    memcpy(d->gap + row0, p->gap, (size_t)p->nrow * 8);
    memcpy(d->offset + row0, p->offset, (size_t)p->nrow * 8);
    memcpy(d->v_free + v0, p->v_free, (size_t)p->nv * 8);
    memcpy(d->v_start + v0, p->v_start, (size_t)p->nv * 8);
    d->parts.step = p->step;
    d->parts.ntree += p->ntree;
    d->parts.nv += p->nv;
    d->parts.nconstraint += p->nconstraint;
    d->parts.nrow += p->nrow;
}

static sim_problem *made(draft *d) {
    d->parts.tree = d->tree;
    d->parts.constraint = d->constraint;
    d->parts.gap = d->gap;
    d->parts.offset = d->offset;
    d->parts.J = d->J;
    d->parts.v_free = d->v_free;
    d->parts.v_start = d->v_start;
    sim_error error = {0};
    sim_problem *p = sim_problem_create(&d->parts, d->A, &error);
    cr_assert_not_null(p, "%s", error.text);
    return p;
}

/* Rough answers: within the cones mostly, wrong by about a tenth. */
static void random_answer(random_source *r, const sim_problem *p, double *g, double *v) {
    for (int a = 0; a < p->nrow; a++) {
        g[a] = 0.1 * random_normal(r) + (a % 3 == 2 ? random_uniform(r, -0.1, 1) : 0);
    }
    velocity_after(p, g, v);
    for (int j = 0; j < p->nv; j++) {
        v[j] += 0.01 * random_normal(r);
    }
}

static void same(double a, double b, double relative, const char *what) {
    cr_assert_float_eq(a, b, relative * fabs(a), "%s: %.17g and %.17g", what, a, b);
}

/* Figures without units: the same whatever the units are. */
static void same_without_units(const sim_certificate *a, const sim_certificate *b) {
    same(a->e_vel, b->e_vel, 1e-12, "e_vel");
    same(a->e_imp, b->e_imp, 1e-12, "e_imp");
    same(a->momentum, b->momentum, 1e-12, "momentum");
    same(a->slackness, b->slackness, 1e-12, "slackness");
    cr_assert_eq(a->worst, b->worst);
}

static void same_in_all(const sim_certificate *a, const sim_certificate *b, double relative) {
    same_without_units(a, b);
    same(a->E, b->E, relative, "E");
    same(a->e_sic, b->e_sic, relative, "e_sic");
    same(a->e_paper, b->e_paper, relative, "e_paper");
    same(a->own, b->own, relative, "own");
    same(a->lee, b->lee, relative, "lee");
    same(a->lee_scaled, b->lee_scaled, relative, "lee_scaled");
    same(a->cone, b->cone, relative, "cone");
    same(a->penetration, b->penetration, relative, "penetration");
    same(a->slip, b->slip, relative, "slip");
    same(a->drive, b->drive, relative, "drive");
}

static void draft_has_certificate(draft *d, const double *v, const double *g, const sim_certificate *a) {
    sim_problem *q = made(d);
    sim_certificate b = certificate_of(q, NULL, SIM_CONE_STRICT, v, g);
    same_in_all(a, &b, 1e-12);
    sim_problem_free(q);
}

/* The same problem with all masses, lengths and times so many times as great in number; free bodies have angular
 * velocities first.  With length 1 every problem may be told so. */
static void change_units(draft *d, double mass, double length, double time) {
    double *A = d->A, force = mass * length / (time * time);
    for (int t = 0; t < d->parts.ntree; t++) {
        int n = d->tree[t].nv, v0 = d->tree[t].v0;
        for (int i = 0; i < n; i++) {
            double along = i < 3 ? 1 : length;
            for (int j = 0; j < n; j++) {
                A[i * n + j] *= mass * (i < 3 ? length : 1) * (j < 3 ? length : 1);
            }
            d->v_free[v0 + i] *= along / time;
            d->v_start[v0 + i] *= along / time;
        }
        A += n * n;
    }
    for (int i = 0; i < d->parts.nconstraint; i++) {
        sim_constraint *c = &d->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            for (int k = 0; k < c->rows; k++) {
                for (int j = 0; j < 3; j++) {
                    d->J[c->block[side] + k * d->tree[c->tree[side]].nv + j] *= length;
                }
            }
        }
        c->stiffness *= mass / (time * time);
        c->damping *= mass / time;
        c->force *= force;
        c->bound *= force;
    }
    for (int a = 0; a < d->parts.nrow; a++) {
        d->gap[a] *= length;
        d->offset[a] *= length / time;
    }
    d->parts.step *= time;
}

Test(judge_invariance, units_do_not_change_what_has_none) {
    random_source r = {21};
    for (int k = 0; k < 400; k++) {
        problem_recipe recipe = {.bodies = 3, .contacts = 6, .friction = 0.5, .impact = 1, .bias = 0.1, .scatter = 0.3};
        recipe.kinds = k % 2 ? -1 : 0; /* limits and springs count radians here, so lengths stay then */
        double mass = exp(random_uniform(&r, -9, 9)), length = k % 2 ? 1 : exp(random_uniform(&r, -9, 9));
        double time = exp(random_uniform(&r, -9, 9)), g[MOST], v[MOST];
        sim_problem *p = random_problem(&r, &recipe);
        draft d = {0};
        add_problem(&d, p);
        change_units(&d, mass, length, time);
        sim_problem *q = made(&d);
        random_answer(&r, p, g, v);
        sim_certificate a = certificate_of(p, NULL, SIM_CONE_CONVEX, v, g);
        for (int i = 0; i < p->nrow; i++) {
            g[i] *= mass * length / time;
        }
        for (int j = 0; j < p->nv; j++) {
            v[j] *= (j % 6 < 3 ? 1 : length) / time;
        }
        sim_certificate b = certificate_of(q, NULL, SIM_CONE_CONVEX, v, g);
        same_without_units(&a, &b);
        same(a.lee_scaled * length / time, b.lee_scaled, 1e-12, "lee_scaled");
        same(a.cone * mass * length / time, b.cone, 1e-12, "cone");
        same(a.penetration * length, b.penetration, 1e-12, "penetration");
        same(a.slip * length / time, b.slip, 1e-12, "slip");
        same(a.drive * mass * length * length / (time * time), b.drive, 1e-12, "drive");
        /* E is theirs, unless e_sic with its mixed units is the greatest, which it is by a factor of sqrt 2 at most */
        double free = fmax(a.e_vel, a.e_imp);
        cr_assert(b.E >= free * (1 - 1e-12) && b.E <= sqrt(2) * free);
        if (b.e_sic < free) {
            same(free, b.E, 1e-12, "E");
        }
        sim_problem_free(p);
        sim_problem_free(q);
    }
}

static sim_problem *random_contacts(random_source *r, int contacts) {
    problem_recipe recipe = {.bodies = 3, .contacts = contacts, .friction = 0.5, .impact = 1, .bias = 0.1};
    return random_problem(r, &recipe);
}

Test(judge_invariance, tangents_may_be_turned) {
    random_source r = {22};
    for (int k = 0; k < 100; k++) {
        double g[MOST], v[MOST];
        sim_problem *p = random_contacts(&r, 6);
        random_answer(&r, p, g, v);
        sim_certificate a = certificate_of(p, NULL, SIM_CONE_STRICT, v, g);
        draft d = {0};
        add_problem(&d, p);
        for (int i = 0; i < 6; i++) {
            double angle = random_uniform(&r, -4, 4), co = cos(angle), si = sin(angle);
            const sim_constraint *c = &d.constraint[i];
            for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                for (int j = 0; j < 6; j++) {
                    double *J = d.J + c->block[side] + j, x = J[0], y = J[6];
                    J[0] = co * x + si * y;
                    J[6] = co * y - si * x;
                }
            }
            double x = g[c->row], y = g[c->row + 1];
            g[c->row] = co * x + si * y;
            g[c->row + 1] = co * y - si * x;
        }
        draft_has_certificate(&d, v, g, &a);
        sim_problem_free(p);
    }
}

/* n' = -n and t2' = -t2 on exchanged bodies: the normal and t2 keep their numbers, t1 changes its sign. */
Test(judge_invariance, bodies_may_be_exchanged) {
    random_source r = {23};
    for (int k = 0; k < 100; k++) {
        double g[MOST], v[MOST];
        sim_problem *p = random_contacts(&r, 6);
        random_answer(&r, p, g, v);
        sim_certificate a = certificate_of(p, NULL, SIM_CONE_STRICT, v, g);
        draft d = {0};
        add_problem(&d, p);
        for (int i = 0; i < 6; i++) {
            sim_constraint *c = &d.constraint[i], was = *c;
            for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                for (int j = 0; j < 6; j++) {
                    d.J[c->block[side] + j] *= -1;
                }
            }
            if (was.tree[1] >= 0) {
                c->tree[0] = was.tree[1];
                c->tree[1] = was.tree[0];
                c->block[0] = was.block[1];
                c->block[1] = was.block[0];
            }
            g[c->row] *= -1;
        }
        draft_has_certificate(&d, v, g, &a);
        sim_problem_free(p);
    }
}

Test(judge_invariance, islands_add_up_to_the_whole) {
    random_source r = {24};
    for (int k = 0; k < 100; k++) {
        draft d = {0};
        double g[MOST], v[MOST];
        sim_judgement sum = {0};
        for (int island = 0; island < 3; island++) {
            problem_recipe recipe = {.bodies = 2, .chain = island ? 0 : 8, .contacts = 3, .friction = 0.5, .impact = 1};
            recipe.kinds = island == 1 ? -1 : 0;
            sim_problem *p = random_problem(&r, &recipe);
            int constraint0 = d.parts.nconstraint, row0 = d.parts.nrow, v0 = d.parts.nv;
            random_answer(&r, p, g + row0, v + v0);
            sim_judgement of_island = judgement_of(p, NULL, SIM_CONE_CONVEX, v + v0, g + row0);
            sim_judgement_add(&sum, &of_island, constraint0);
            add_problem(&d, p);
            sim_problem_free(p);
        }
        sim_problem *whole = made(&d);
        sim_certificate a = certificate_of(whole, NULL, SIM_CONE_CONVEX, v, g), b = sim_judgement_finish(&sum);
        same_in_all(&a, &b, 1e-13);
        /* one island without a number spoils them all, and is named */
        int at = random_index(&r, whole->nrow), bad = 0;
        while (whole->constraint[bad].row + whole->constraint[bad].rows <= at) {
            bad++;
        }
        g[at] = NAN;
        sim_judgement spoilt = judgement_of(whole, NULL, SIM_CONE_STRICT, v, g);
        sim_judgement_add(&sum, &spoilt, 100);
        b = sim_judgement_finish(&sum);
        cr_assert(b.nonfinite && isinf(b.E) && b.worst == 100 + bad);
        sim_problem_free(whole);
    }
}

/* W and q of a problem with A and J. */
static sim_problem *local_form(const sim_problem *p) {
    int n = p->nrow, m = p->nconstraint, start[33], column[32 * 32];
    ptrdiff_t at[32 * 32], end = 0;
    double *value = calloc((size_t)(n * n), 8), q[MOST], g[MOST] = {0}, v[MOST], u[MOST];
    problem_velocity(p, p->v_free, q);
    for (int i = 0; i < m; i++) {
        start[i] = i * m;
        for (int j = 0; j < m; j++) {
            column[i * m + j] = j;
            at[i * m + j] = end;
            end += p->constraint[i].rows * p->constraint[j].rows;
        }
    }
    start[m] = m * m;
    for (int j = 0; j < m; j++) {
        for (int k = 0; k < p->constraint[j].rows; k++) {
            g[p->constraint[j].row + k] = 1;
            problem_jacobian_transposed(p, g, v);
            problem_mass_solve(p, v);
            problem_jacobian_times(p, v, u);
            g[p->constraint[j].row + k] = 0;
            for (int i = 0; i < m; i++) {
                for (int l = 0; l < p->constraint[i].rows; l++) {
                    value[at[i * m + j] + l * p->constraint[j].rows + k] = u[p->constraint[i].row + l];
                }
            }
        }
    }
    sim_delassus W = {start, column, at, value, 0};
    sim_constraint c[32];
    for (int i = 0; i < m; i++) {
        c[i] = p->constraint[i];
        c[i].tree[0] = c[i].tree[1] = -1;
    }
    sim_problem parts = {.step = p->step, .nconstraint = m, .nrow = n, .constraint = c, .gap = p->gap, .W = &W, .q = q};
    sim_error error = {0};
    sim_problem *local = sim_problem_create(&parts, NULL, &error);
    cr_assert_not_null(local, "%s", error.text);
    free(value);
    return local;
}

Test(judge_invariance, W_and_q_tell_the_same_as_A_and_J) {
    random_source r = {25};
    for (int k = 0; k < 100; k++) {
        problem_recipe recipe = {.bodies = 3, .chain = 7, .contacts = 5, .friction = 0.5, .impact = 1, .kinds = -1};
        sim_problem *p = random_problem(&r, &recipe), *local = local_form(p);
        double g[MOST], v[MOST];
        random_answer(&r, p, g, v);
        sim_certificate a = certificate_of(p, NULL, SIM_CONE_CONVEX, NULL, g);
        sim_certificate b = certificate_of(local, NULL, SIM_CONE_CONVEX, NULL, g);
        cr_assert_leq(a.momentum, 1e-14);
        a.momentum = b.momentum = 0;
        same_in_all(&a, &b, 1e-11);
        sim_problem_free(p);
        sim_problem_free(local);
    }
}
