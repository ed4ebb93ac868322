/* One contact alone: is the answer the law's, whatever the block and the friction? */
#include "solver/gauss_seidel/pgs.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

typedef struct contact {
    double K[9], inverse[9], b[3], mu, condition;
} contact;

static void invert(const double *K, double *I) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            I[3 * j + i] = K[3 * a + c] * K[3 * b + d] - K[3 * a + d] * K[3 * b + c];
        }
    }
    double det = K[0] * I[0] + K[1] * I[3] + K[2] * I[6];
    for (int k = 0; k < 9; k++) {
        I[k] /= det;
    }
}

/* K with random axes and inverse masses between 1 and 10^decades, times anything; plus a skew part. */
static contact random_contact(random_source *r, double decades, double skew) {
    contact c = {.mu = random_uniform(r, 0, 1) < 0.1 ? 0 : random_uniform(r, 0, 2)};
    sim_m3 Q = random_rotation(r);
    const double *q = &Q.x.x;
    double d[3], unit = pow(10, random_uniform(r, -6, 6)), speed = pow(10, random_uniform(r, -3, 3));
    for (int k = 0; k < 3; k++) {
        d[k] = pow(10, random_uniform(r, 0, decades));
        c.b[k] = speed * (random_normal(r) - (k == 2));
    }
    c.condition = fmax(d[0], fmax(d[1], d[2])) / fmin(d[0], fmin(d[1], d[2]));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double turn = i == j ? 0 : (i + 1) % 3 == j ? 1 : -1;
            c.K[3 * i + j] = unit * skew * turn;
            for (int k = 0; k < 3; k++) {
                c.K[3 * i + j] += unit * q[3 * i + k] * d[k] * q[3 * j + k];
            }
        }
    }
    invert(c.K, c.inverse);
    return c;
}

static double size3(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

static void velocity(const contact *c, const double *g, double *s) {
    for (int i = 0; i < 3; i++) {
        s[i] = c->b[i] + c->K[3 * i] * g[0] + c->K[3 * i + 1] * g[1] + c->K[3 * i + 2] * g[2];
    }
}

/* The answer as a sweep finds it: from an old impulse and the velocity that goes with it; twice, because the second
 * takes away the rounding of the inverse. */
static void solve(contact *c, const double *old, double *g) {
    pgs_block block = {.kind = SIM_CONTACT, .rows = 3, .lanes = 4, .limit = c->mu, .K = c->K, .inverse = c->inverse};
    double s[3];
    memcpy(g, old, 3 * sizeof *g);
    for (int k = 0; k < 2; k++) {
        velocity(c, g, s);
        pgs_solve_contact(&block, s, g);
    }
}

/* By how much the strict law is missed, over the size of the velocities that cancel. */
static double miss(const contact *c, const double *g) {
    double s[3], size = 0, r = hypot(g[0], g[1]), worst;
    velocity(c, g, s);
    for (int k = 0; k < 9; k++) {
        size = fmax(size, fabs(c->K[k]) * size3(g));
    }
    size += size3(c->b);
    worst = fmax(0, -s[2]) / size;
    if (g[2] < 0 || r > c->mu * g[2] * (1 + 1e-14)) {
        return INFINITY;
    }
    if (g[2] > 0) {
        worst = fmax(worst, fabs(s[2]) / size);
        if (r < c->mu * g[2] * (1 - 1e-14)) {
            worst = fmax(worst, hypot(s[0], s[1]) / size);
        } else if (r > 0) {
            double along = (s[0] * g[0] + s[1] * g[1]) / r;
            worst = fmax(worst, fmax(fabs(s[0] * g[1] - s[1] * g[0]) / r, along) / size);
        }
    }
    return worst;
}

Test(pgs_cone, answers_obey_the_strict_law_whatever_the_block) {
    random_source r = {1};
    double worst = 0;
    for (int trial = 0; trial < 100000; trial++) {
        contact c = random_contact(&r, 6 * random_uniform(&r, 0, 1), 0);
        double old[3] = {0, 0, 0}, g[3];
        for (int k = 0; k < 3 && trial % 2; k++) {
            old[k] = random_normal(&r) * size3(c.b) / (c.K[0] + c.K[4] + c.K[8]);
        }
        solve(&c, old, g);
        double e = miss(&c, g);
        worst = fmax(worst, e / c.condition);
        cr_assert(e <= 1e-13 * fmax(10, c.condition), "trial %d: %g at condition %g, mu %g", trial, e, c.condition,
                  c.mu);
    }
    cr_log_info("law missed by %.1e of the condition number at worst", worst);
}

Test(pgs_cone, answers_of_nonsymmetric_blocks_obey_it_too) {
    random_source r = {2};
    for (int trial = 0; trial < 20000; trial++) {
        contact c = random_contact(&r, 1, random_uniform(&r, -3, 3));
        double old[3] = {0, 0, 0}, g[3];
        solve(&c, old, g);
        double e = miss(&c, g);
        cr_assert(e <= 1e-11, "trial %d: %g, mu %g", trial, e, c.mu);
    }
}

/* How friction fails to oppose slip if it points along an angle while s_n = 0; NAN where nothing can press. */
static double across(const contact *c, double angle, double *g, double *along) {
    double e[2] = {cos(angle), sin(angle)}, s[3], stiff = c->K[8] + c->mu * (c->K[6] * e[0] + c->K[7] * e[1]);
    g[2] = -c->b[2] / stiff;
    g[0] = c->mu * g[2] * e[0];
    g[1] = c->mu * g[2] * e[1];
    velocity(c, g, s);
    *along = s[0] * e[0] + s[1] * e[1];
    return stiff > 0 ? s[0] * e[1] - s[1] * e[0] : NAN;
}

/* All sliding answers, by looking in every direction; the nearest one's distance from g, and how many there are. */
static int search(const contact *c, const double *g, double *distance) {
    enum { DIRECTIONS = 2000 };
    double try[3], along, before = across(c, 0, try, &along);
    int found = 0;
    *distance = INFINITY;
    for (int k = 1; k <= DIRECTIONS; k++) {
        double low = 2 * M_PI * (k - 1) / DIRECTIONS, high = 2 * M_PI * k / DIRECTIONS,
               now = across(c, high, try, &along);
        if (before * now <= 0) {
            for (int halving = 0; halving < 60; halving++) {
                double middle = 0.5 * (low + high), at = across(c, middle, try, &along);
                *(at * before > 0 ? &low : &high) = middle;
            }
            if (along <= 0) {
                found++;
                for (int j = 0; j < 3; j++) {
                    try[j] -= g[j];
                }
                *distance = fmin(*distance, size3(try));
            }
        }
        before = now;
    }
    return found;
}

Test(pgs_cone, slides_as_a_search_in_all_directions_does) {
    random_source r = {3};
    int slides = 0;
    for (int trial = 0; trial < 3000; trial++) {
        contact c = random_contact(&r, random_uniform(&r, 0, 3), 0);
        double old[3] = {0, 0, 0}, g[3], distance;
        solve(&c, old, g);
        if (c.mu > 0 && g[2] > 0 && hypot(g[0], g[1]) > 0.999999 * c.mu * g[2]) {
            int found = search(&c, g, &distance);
            slides++;
            cr_assert(found > 0 && distance <= 1e-9 * c.condition * size3(g),
                      "trial %d: %d found, %g off at condition %g", trial, found, distance / size3(g), c.condition);
        }
    }
    cr_assert_gt(slides, 500);
}

Test(pgs_cone, hostile_contacts_get_finite_answers_inside_the_cone) {
    static const double extreme[] = {0, 1e-300, 1e-160, 1, 1e160, 1e300};
    enum { COUNT = sizeof extreme / sizeof *extreme };
    for (int trial = 0; trial < COUNT * COUNT * COUNT * COUNT; trial++) {
        double K = extreme[trial % COUNT], mu = extreme[trial / COUNT % COUNT],
               b = extreme[trial / COUNT / COUNT % COUNT];
        contact c = {.K = {K, 0, 0, 0, K, 0, 0, 0, K}, .mu = mu < 1e10 ? mu : 10, .b = {b, 0, -1}};
        c.b[2] = -extreme[trial / COUNT / COUNT / COUNT];
        for (int k = 0; k < 3; k++) {
            c.inverse[4 * k] = K > 0 ? 1 / K : 0;
        }
        double g[3] = {0, 0, 0};
        pgs_block block = {.kind = SIM_CONTACT, .rows = 3, .lanes = 4, .limit = c.mu, .K = c.K, .inverse = c.inverse};
        pgs_solve_contact(&block, c.b, g);
        cr_assert(isfinite(g[0]) && isfinite(g[1]) && isfinite(g[2]) && g[2] >= 0, "K %g mu %g b (%g, %g): %g %g %g", K,
                  c.mu, b, c.b[2], g[0], g[1], g[2]);
    }
}
