/* Does the judge find right answers right, and does it apply the criterion as it is written? */
#include "support/judged.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* Impulses of a single contact with W = w 1 and R = r 1, in closed form. */
static void strict_answer(double w, double mu, const double q[3], double g[3]) {
    double a = sqrt(q[0] * q[0] + q[1] * q[1]), normal = fmax(0, -q[2] / w);
    double share = a <= -mu * q[2] ? 1 : mu * normal * w / a;
    g[0] = q[2] < 0 ? -share * q[0] / w : 0;
    g[1] = q[2] < 0 ? -share * q[1] / w : 0;
    g[2] = normal;
}

static void convex_answer(double w, double mu, const double q[3], double g[3]) {
    double a = sqrt(q[0] * q[0] + q[1] * q[1]);
    if (a <= -mu * q[2]) {
        strict_answer(w, mu, q, g);
        return;
    }
    g[2] = fmax(0, (mu * a - q[2]) / (w * (1 + mu * mu)));
    g[0] = -mu * g[2] * q[0] / a;
    g[1] = -mu * g[2] * q[1] / a;
}

static double norm(int n, const double *x) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

/* Rounding error of E: an impulse that is small beside the one that would undo q is known to fewer digits. */
static double rounding(double w, const double q[3], const double g[3]) {
    return norm(3, g) == 0 ? 0 : 1e-15 * fmax(1, norm(3, q) / (w * norm(3, g)));
}

Test(judge, finds_no_error_in_the_closed_forms_of_a_point_mass) {
    random_source r = {11};
    for (int k = 0; k < trials_of(3000); k++) {
        double mass = exp(random_uniform(&r, -5, 5)), mu = k % 5 ? random_uniform(&r, 0, 1.5) : 0, g[3];
        double v[3] = {random_normal(&r), random_normal(&r), random_normal(&r)};
        sim_problem *p = point_on_ground(mass, mu, 0, 0.01, v);
        strict_answer(1 / mass, mu, v, g);
        sim_certificate c = judged(p, g);
        cr_assert_leq(c.E, rounding(1 / mass, v, g), "E %g", c.E);
        cr_assert_leq(c.own, rounding(1 / mass, v, g));
        cr_assert_leq(c.momentum, 1e-15);
        cr_assert_leq(c.lee_scaled, 1e-14);
        cr_assert_leq(c.cone, 1e-15 * (1 + g[2]));
        cr_assert_leq(c.slackness * norm(3, g), 1e-14 * mass * norm(3, v));
        cr_assert_leq(c.drive, 1e-15 * mass);
        convex_answer(1 / mass, mu, v, g);
        c = certificate_of(p, NULL, SIM_CONE_CONVEX, NULL, g);
        cr_assert_leq(c.own, rounding(1 / mass, v, g), "own %g", c.own);
        cr_assert_leq(c.slackness * norm(3, g), 1e-14 * mass * norm(3, v));
        sim_problem_free(p);
    }
}

Test(judge, measures_what_the_convex_law_costs_a_sliding_contact) {
    /* gamma_n = (mu a - v_n*) m / (1 + mu^2) and lift-off at mu times the slip, worked out below for mu = 1/2 */
    double v[3] = {3, 0, -1}, g[3];
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, v);
    convex_answer(0.5, 0.5, v, g);
    cr_assert_float_eq(g[2], 4, 1e-14);
    sim_certificate c = certificate_of(p, NULL, SIM_CONE_CONVEX, NULL, g);
    cr_assert_leq(c.own, 1e-15);
    /* s = (2, 0, 1), s~ = (2, 0, 2), gamma / 2 - s~ = (-3, 0, 0) -> (-0.6, 0, 1.2), gamma / 2 = (-1, 0, 2) */
    double map = sqrt(0.4 * 0.4 + 0.8 * 0.8);
    cr_assert_float_eq(c.e_vel, map / sqrt(10), 1e-14);
    cr_assert_float_eq(c.e_imp, 2 * map / sqrt(20), 1e-14);
    /* a pyramid is judged by the cone around it */
    c = certificate_of(p, NULL, SIM_CONE_PYRAMID, NULL, g);
    cr_assert_eq(c.own, c.E);
    sim_problem_free(p);
}

Test(judge, finds_no_error_in_a_regularised_contact_under_its_own_law) {
    double v[3] = {0, 0, -1}, R[3] = {0.01, 0.01, 0.25}, target[3] = {0, 0, 0.5}, g[3] = {0, 0, 1.5 / 0.75};
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, v);
    sim_regularisation own = {R, target};
    sim_certificate c = certificate_of(p, &own, SIM_CONE_CONVEX, NULL, g);
    cr_assert_leq(c.own, 1e-15);
    cr_assert_leq(c.slackness, 1e-15);
    /* here it just stops the point, which is what the rigid law asks */
    cr_assert_leq(c.E, 1e-15);
    R[2] = 1;
    g[2] = 1;
    c = certificate_of(p, &own, SIM_CONE_CONVEX, NULL, g);
    cr_assert_leq(c.own, 1e-15);
    /* it goes on at -0.5: the map is R gamma - target, over |q| = 1; in impulse 2 of them over 1 */
    cr_assert_float_eq(c.e_vel, 0.5, 1e-15);
    cr_assert_float_eq(c.e_imp, 1, 1e-15);
    sim_problem_free(p);
}

/* A spring along the tangent holds gamma- and lets go: m u = gamma, u = R (gamma- - gamma).  The energy m u^2 / 2 comes
 * from the spring.  The spring can give gamma u = R gamma- gamma at most; what is beyond comes from nothing. */
Test(judge, takes_no_energy_for_created_that_a_spring_of_friction_returns) {
    const double mass = 2, held = 0.3, R[3] = {0.05, 0.05, 0.05}, target[3] = {R[0] * held, 0, 0};
    const double free[3] = {0, 0, -1}, due = held * mass * R[0] / (1 + mass * R[0]), normal = 1 / (1 / mass + R[2]);
    const sim_regularisation own = {R, target};
    sim_problem *p = point_on_ground(mass, 0.5, 0, 0.01, free);
    for (int times = 1; times <= 10; times++) {
        /* without the loss of the normal, which would hide an excess */
        const double g[3] = {times * due, 0, 0}, v[3] = {g[0] / mass, 0, free[2]};
        double gain = mass * v[0] * v[0] / 2, bound = g[0] * target[0];
        sim_certificate c = certificate_of(p, &own, SIM_CONE_STRICT, v, g);
        cr_expect_float_eq(c.excess, fmax(0, gain - bound), 1e-15, "%d times: %g J", times, c.excess);
        cr_expect(times > 1 || gain > 0);
        cr_expect(times < 3 || c.excess > 0);
    }
    const double g[3] = {due, 0, normal};
    sim_certificate c = certificate_of(p, &own, SIM_CONE_STRICT, NULL, g);
    cr_expect_leq(c.own, 1e-15, "own %g", c.own);
    cr_expect_eq(c.excess, 0);
    sim_problem_free(p);
}

/* Corners at (-, -), (+, -), (+, +), (-, +); a push P to the right at the middle of the box, m g upward: the friction
 * at the bottom turns the box, so the right corners carry P dt more than the left ones. */
static void corner_answer(double load, double friction, double skew, double g[12]) {
    for (int k = 0; k < 4; k++) {
        double sign = k == 1 || k == 2 ? 1 : -1;
        g[3 * k + 2] = (load + sign * friction) / 4 + (k % 2 ? skew : -skew);
        g[3 * k] = -friction * g[3 * k + 2] / load;
        g[3 * k + 1] = 0;
    }
}

Test(judge, finds_no_error_in_a_box_that_rests_sticks_or_slides_however_its_corners_share_the_load) {
    double mass = 3, dt = 0.01, mu = 0.4, load = mass * 9.81 * dt, g[12];
    for (int k = 0; k < 3; k++) {
        double push = k == 0 ? 0 : k == 1 ? 0.3 * load : 1.5 * mu * load;
        sim_problem *p = box_stack(1, &mass, mu, dt, push / dt);
        for (int j = 0; j < 3; j++) {
            corner_answer(load, fmin(push, mu * load), 0.05 * load * j, g);
            sim_certificate c = judged(p, g);
            cr_assert_leq(c.E, 2e-15, "push %d, skew %d: %g", k, j, c.E);
            cr_assert_leq(c.penetration, 1e-16);
            cr_assert_leq(c.slip, 1e-16);
        }
        sim_problem_free(p);
    }
}

/* The criterion once more, written out plainly on dense matrices. */
typedef struct plain {
    const sim_problem *p;
    int n;
    double *W, *q, *R, *target, *s;
} plain;

static plain make_plain(const sim_problem *p) {
    size_t n = (size_t)p->nrow;
    plain d = {p, p->nrow, calloc(n * n, 8), calloc(n, 8), calloc(n, 8), calloc(n, 8), calloc(n, 8)};
    double *J = calloc(n * (size_t)p->nv, 8), *column = calloc((size_t)p->nv, 8);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < c->rows && c->tree[side] >= 0; k++) {
                const sim_problem_tree *t = &p->tree[c->tree[side]];
                for (int j = 0; j < t->nv; j++) {
                    J[(c->row + k) * p->nv + t->v0 + j] = p->J[c->block[side] + k * t->nv + j];
                }
            }
        }
    }
    sim_law_options options = sim_law_options_default();
    sim_regularise(p, SIM_RIGID, &options, NULL, d.R, d.target);
    for (int a = 0; a < d.n; a++) {
        for (int j = 0; j < p->nv; j++) {
            column[j] = J[a * p->nv + j];
            d.q[a] += J[a * p->nv + j] * p->v_free[j];
        }
        d.q[a] += (p->offset ? p->offset[a] : 0) - d.target[a];
        for (int t = 0; t < p->ntree; t++) {
            p->mass.solve(p->mass.self, t, column + p->tree[t].v0);
        }
        for (int b = 0; b < d.n; b++) {
            for (int j = 0; j < p->nv; j++) {
                d.W[b * d.n + a] += J[b * p->nv + j] * column[j];
            }
        }
    }
    free(J);
    free(column);
    return d;
}

static void free_plain(plain d) {
    free(d.W);
    free(d.q);
    free(d.R);
    free(d.target);
    free(d.s);
}

/* Nearest point of a set to y, found by going along rays: for the cone the foot on its boundary, the apex, or y. */
static void nearest(const sim_constraint *c, double dt, double *y) {
    if (c->kind == SIM_CONTACT) {
        double r = hypot(y[0], y[1]), angle = atan(c->friction), lift = atan2(r, y[2]);
        if (lift <= angle) {
            return;
        }
        double along = lift - angle >= M_PI / 2 ? 0 : hypot(r, y[2]) * cos(lift - angle);
        double turn = atan2(y[1], y[0]);
        y[0] = along * sin(angle) * cos(turn);
        y[1] = along * sin(angle) * sin(turn);
        y[2] = along * cos(angle);
    } else if (c->kind == SIM_LIMIT) {
        *y = fmax(*y, 0);
    } else if (c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
        *y = fmin(fmax(*y, -dt * c->bound), dt * c->bound);
    }
}

/* |F(rho)| and |F(rho) / rho|; rho < 0: the contact's own. */
static void plain_map(const plain *d, const double *g, double rho_of_all, double *impulse, double *velocity) {
    *impulse = *velocity = 0;
    for (int i = 0; i < d->p->nconstraint; i++) {
        const sim_constraint *c = &d->p->constraint[i];
        double trace = 0, y[6], lifted[6];
        for (int k = 0; k < c->rows; k++) {
            trace += d->W[(c->row + k) * (d->n + 1)] + d->R[c->row + k];
            lifted[k] = d->s[c->row + k];
        }
        if (c->kind == SIM_CONTACT) {
            lifted[2] += c->friction * hypot(lifted[0], lifted[1]);
        }
        double rho = rho_of_all < 0 ? c->rows / trace : rho_of_all;
        for (int k = 0; k < c->rows; k++) {
            y[k] = g[c->row + k] - rho * lifted[k];
        }
        nearest(c, d->p->step, y);
        for (int k = 0; k < c->rows; k++) {
            double F = g[c->row + k] - y[k];
            *impulse += F * F;
            *velocity += F * F / (rho * rho);
        }
    }
    *impulse = sqrt(*impulse);
    *velocity = sqrt(*velocity);
}

Test(judge, applies_the_criterion_as_it_is_written) {
    random_source r = {5};
    for (int k = 0; k < 300; k++) {
        problem_recipe recipe = {.bodies = 3, .chain = k % 3 ? 9 : 0, .contacts = 6, .bias = 0.1, .impact = 1};
        recipe.friction = k % 4 ? random_uniform(&r, 0, 1.5) : 0;
        recipe.kinds = k % 2 ? (1 << SIM_CONSTRAINT_KINDS) - 1 : 0;
        sim_problem *p = random_problem(&r, &recipe);
        plain d = make_plain(p);
        double g[64], F1, F, G, none;
        for (int a = 0; a < d.n; a++) {
            g[a] = random_normal(&r) + (a % 3 == 2);
        }
        for (int a = 0; a < d.n; a++) {
            d.s[a] = d.q[a] + d.R[a] * g[a];
            for (int b = 0; b < d.n; b++) {
                d.s[a] += d.W[a * d.n + b] * g[b];
            }
        }
        plain_map(&d, g, 1, &F1, &none);
        plain_map(&d, g, -1, &F, &G);
        double q = norm(d.n, d.q), s = norm(d.n, d.s), size = norm(d.n, g);
        sim_certificate c = judged(p, g);
        cr_assert_float_eq(c.e_paper, F1 / q, 1e-11 * c.e_paper);
        cr_assert_float_eq(c.e_sic, F1 / fmax(size, fmax(q, s)), 1e-11 * c.e_sic);
        cr_assert_float_eq(c.e_vel, G / fmax(q, s), 1e-11 * c.e_vel);
        cr_assert_float_eq(c.e_imp, F / size, 1e-11 * c.e_imp);
        cr_assert_eq(c.E, fmax(c.e_sic, fmax(c.e_vel, c.e_imp)));
        free_plain(d);
        sim_problem_free(p);
    }
}

/* F(rho) grows with rho and F(rho) / rho falls, row block by row block: the units of e_sic can matter no more than
 * this. */
Test(judge, gives_an_e_sic_that_the_two_parts_without_units_bound) {
    random_source r = {6};
    for (int k = 0; k < 1000; k++) {
        problem_recipe recipe = {.bodies = 4, .contacts = 8, .friction = 0.7, .impact = 1, .scatter = 0.5};
        sim_problem *p = random_problem(&r, &recipe);
        double g[24], size = exp(random_uniform(&r, -8, 8));
        for (int a = 0; a < 24; a++) {
            g[a] = size * (random_normal(&r) + (a % 3 == 2));
        }
        sim_certificate c = judged(p, g);
        cr_assert_leq(c.e_sic, hypot(c.e_vel, c.e_imp) * (1 + 1e-14));
        sim_problem_free(p);
    }
}
