/* SubADMM's inner loops: the same as one iteration written out plainly, in every lane, at every width. */
#include "base/threads.h"
#include "support/lanes.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const admm_kernels *const both[2] = {&admm_vector, &admm_scalar};

/* All x, then all lambda, in the order of the input. */
static double *read(const admm_lanes *l, size_t *count) {
    *count = 6 * (size_t)l->nbody + 3 * (size_t)l->ncontact;
    double *out = calloc(*count + 1, sizeof *out);
    for (int b = 0; b < l->nbody; b++) {
        memcpy(out + 6 * b, l->row + (ptrdiff_t)LANES * l->row_of[b], 6 * sizeof *out);
    }
    for (int i = 0; i < l->ncontact; i++) {
        admm_lanes_impulse(l, i, out + 6 * l->nbody + 3 * i);
    }
    return out;
}

static double *read_plain(const lanes_case *c) {
    size_t nx = 6 * (size_t)c->in.nbody, ng = 3 * (size_t)c->in.ncontact;
    double *out = calloc(nx + ng + 1, sizeof *out);
    memcpy(out, c->x, nx * sizeof *out);
    memcpy(out + nx, c->lambda, ng * sizeof *out);
    return out;
}

/* Largest difference beside the largest number, of x and of lambda. */
static double distance(const admm_lanes *l, const double *a, const double *b) {
    double worst = 0;
    int end[3] = {0, 6 * l->nbody, 6 * l->nbody + 3 * l->ncontact};
    for (int part = 0; part < 2; part++) {
        double size = 0, off = 0;
        for (int k = end[part]; k < end[part + 1]; k++) {
            cr_assert(isfinite(a[k]) && isfinite(b[k]));
            size = fmax(size, fabs(b[k]));
            off = fmax(off, fabs(a[k] - b[k]));
        }
        worst = fmax(worst, size > 0 ? off / size : off);
    }
    return worst;
}

static double distance_after(lanes_case *c, const admm_kernels *kernels, double kappa, int iterations) {
    sim_arena *arena = arena_create();
    admm_lanes l;
    size_t count;
    cr_assert(arena && lanes_make(c, kernels, kappa, arena, &l));
    for (int k = 0; k < iterations; k++) {
        lanes_iterate(&l, kernels);
        lanes_plainly(c, kappa);
    }
    double *mine = read(&l, &count), *plain = read_plain(c), off = distance(&l, mine, plain);
    free(mine);
    free(plain);
    arena_free(arena);
    return off;
}

Test(subadmm_lanes, iterations_are_those_written_out_plainly) {
    random_source r = {1};
    for (int trial = 0; trial < 60; trial++) {
        lanes_recipe recipe = {
            .bodies = 1 + trial % 20, .contacts = trial % 50, .general = trial % 3 * 0.5, .world = 0.3, .decades = 0.5};
        for (int width = 0; width < 2; width++) {
            lanes_case c = lanes_random(&r, &recipe);
            double off = distance_after(&c, both[width], random_uniform(&r, 0.1, 10), 10);
            cr_assert(off < 1e-11, "trial %d, width %d: %g", trial, width, off);
            lanes_free(&c);
        }
    }
}

/* Results of the kernels, all in one order. */
typedef struct outcome {
    admm_lanes l;
    sim_arena *arena;
    double *numbers;
    size_t count;
} outcome;

static outcome make(const lanes_case *c, const admm_kernels *kernels, double kappa) {
    outcome o = {.arena = arena_create()};
    cr_assert(o.arena && lanes_make(c, kernels, kappa, o.arena, &o.l));
    return o;
}

static void finish(outcome *o) {
    free(o->numbers);
    arena_free(o->arena);
}

Test(subadmm_lanes, vectors_and_single_numbers_agree_to_rounding_on_hostile_input) {
    random_source r = {2};
    for (int trial = 0; trial < 200; trial++) {
        lanes_recipe recipe = {.bodies = 12, .contacts = 40, .general = trial % 2 * 0.3, .world = 0.3, .decades = 3};
        lanes_case c = lanes_random(&r, &recipe);
        outcome o[2];
        for (int width = 0; width < 2; width++) {
            o[width] = make(&c, both[width], 1);
            lanes_iterate(&o[width].l, both[width]);
            o[width].numbers = read(&o[width].l, &o[width].count);
        }
        double off = distance(&o[0].l, o[0].numbers, o[1].numbers);
        cr_assert(off < 1e-11, "trial %d: %g", trial, off); /* 3e-16 times the condition of H, 1e5 or so */
        finish(&o[0]);
        finish(&o[1]);
        lanes_free(&c);
    }
}

/* s of a contact, from q = J x - zeta lambda - target. */
static void surface_velocity(const lanes_case *c, int i, const double *next, double *s, double *size) {
    const admm_contact *contact = &c->contact[i];
    double zeta = 0;
    for (int side = 0; side < 2; side++) {
        zeta += contact->body[side] >= 0 ? 1 / c->weight[i][side] : 0;
    }
    for (int k = 0; k < 3; k++) {
        double R = k == 2 ? contact->R_n : contact->R_t;
        s[k] = -contact->target[k] + zeta * (next[k] - c->lambda[i][k]) + R * next[k];
        *size += fabs(contact->target[k]) + (zeta + R) * fabs(next[k]) + zeta * fabs(c->lambda[i][k]);
        for (int n = 0; n < 12; n++) {
            int b = contact->body[n / 6];
            double part = b >= 0 ? contact->J[n / 6][6 * k + n % 6] * c->x[b][n % 6] : 0;
            s[k] += part;
            *size += fabs(part);
        }
    }
}

Test(subadmm_lanes, impulses_obey_signorini_and_coulomb_at_the_velocities_they_were_made_for) {
    random_source r = {3};
    int slid = 0, stuck = 0, open = 0;
    for (int trial = 0; trial < 200; trial++) {
        lanes_recipe recipe = {.bodies = 7, .contacts = 30, .general = 0.3, .world = 0.3, .decades = trial % 4};
        lanes_case c = lanes_random(&r, &recipe);
        outcome o = make(&c, both[trial % 2], 1);
        lanes_iterate(&o.l, both[trial % 2]); /* velocities other than zero */
        o.numbers = read(&o.l, &o.count);
        memcpy(c.x, o.numbers, 6 * (size_t)c.in.nbody * sizeof(double));
        memcpy(c.lambda, o.numbers + 6 * c.in.nbody, 3 * (size_t)c.in.ncontact * sizeof(double));
        both[trial % 2]->update_contacts(&o.l, 0, o.l.contact_batches);
        for (int i = 0; i < c.in.ncontact; i++) {
            double g[3], s[3], size = 0;
            admm_lanes_impulse(&o.l, i, g);
            surface_velocity(&c, i, g, s, &size);
            double close = 1e-14 * size, friction = hypot(g[0], g[1]), most = c.contact[i].friction * g[2];
            double slip = hypot(s[0], s[1]);
            cr_assert(g[2] >= 0 && s[2] >= -close && (g[2] <= 0 || s[2] <= close));
            cr_assert(friction <= most * (1 + 1e-15));
            if (slip > close) { /* then friction is all it may be, and against the slip */
                cr_assert(friction >= most * (1 - 1e-15));
                cr_assert(fabs(g[0] * s[1] - g[1] * s[0]) <= 2 * friction * close);
                cr_assert(g[0] * s[0] + g[1] * s[1] <= friction * close);
            }
            open += g[2] <= 0;
            slid += most > 0 && slip > close;
            stuck += most > 0 && slip <= close;
        }
        finish(&o);
        lanes_free(&c);
    }
    cr_assert(slid > 300 && stuck > 300 && open > 300, "%d %d %d", slid, stuck, open);
}

/* H dx = sum of slots - A x, whatever the masses and penalties. */
Test(subadmm_lanes, bodies_solve_their_equations_to_rounding) {
    random_source r = {4};
    for (int trial = 0; trial < 100; trial++) {
        lanes_recipe recipe = {.bodies = 9, .contacts = 40, .world = 0.3, .decades = 4};
        lanes_case c = lanes_random(&r, &recipe);
        outcome o = make(&c, both[trial % 2], 1);
        lanes_iterate(&o.l, both[trial % 2]);
        o.numbers = read(&o.l, &o.count);
        for (int b = 0; b < c.in.nbody; b++) { /* x was zero */
            double wrench[6], size[6] = {0};
            const double *x = o.numbers + 6 * b, *added = admm_lanes_added(&o.l, b);
            admm_lanes_wrench(&o.l, b, wrench);
            for (int n = 0; n < 36; n++) {
                int i = n / 6, j = n % 6, high = i > j ? i : j, low = i + j - high;
                double h = c.A[b][n] + added[high * (high + 1) / 2 + low];
                size[i] += fabs(wrench[i]) / 6 + fabs(h * x[j]);
                wrench[i] -= h * x[j];
            }
            double all = 0, off = 0;
            for (int k = 0; k < 6; k++) {
                all = fmax(all, size[k]);
                off = fmax(off, fabs(wrench[k]));
            }
            cr_assert(off <= 1e-14 * all, "%g of %g", off, all);
        }
        finish(&o);
        lanes_free(&c);
    }
}

Test(subadmm_lanes, the_natural_map_is_that_of_natural_c) {
    random_source r = {7};
    for (int trial = 0; trial < 100; trial++) {
        lanes_recipe recipe = {.bodies = 9, .contacts = 40, .general = 0.3, .world = 0.3, .decades = trial % 3};
        lanes_case c = lanes_random(&r, &recipe);
        const admm_kernels *kernels = both[trial % 2];
        outcome o = make(&c, kernels, 1);
        double rho[40];
        for (int i = 0; i < 40; i++) {
            rho[i] = pow(10, random_uniform(&r, -2, 2));
        }
        admm_lanes_set_rho(&o.l, rho);
        for (int k = 0; k < trial % 5; k++) {
            lanes_iterate(&o.l, kernels);
        }
        o.numbers = read(&o.l, &o.count);
        memcpy(c.lambda, o.numbers + 6 * c.in.nbody, 3 * (size_t)c.in.ncontact * sizeof(double));
        kernels->apply_impulses(&o.l, 0, o.l.contact_batches);
        kernels->solve_inertia(&o.l, 0, o.l.solved_batches);
        kernels->eval_natural(&o.l, 0, o.l.contact_batches);
        natural_sum mine = admm_lanes_natural(&o.l), plain = lanes_natural_plainly(&c, rho);
        const double a[] = {mine.one, mine.velocity, mine.impulse, mine.gamma, mine.s};
        const double b[] = {plain.one, plain.velocity, plain.impulse, plain.gamma, plain.s};
        for (int k = 0; k < 5; k++) {
            cr_assert(fabs(a[k] - b[k]) <= 1e-9 * b[k], "trial %d, sum %d: %g %g", trial, k, a[k], b[k]);
        }
        finish(&o);
        lanes_free(&c);
    }
}

Test(subadmm_lanes, a_contact_that_is_left_out_is_not_there) {
    random_source r = {8};
    for (int trial = 0; trial < 40; trial++) {
        lanes_recipe recipe = {.bodies = 5, .contacts = 20, .general = 0.3, .world = 0.3, .decades = 0.5};
        lanes_case c = lanes_random(&r, &recipe);
        const admm_kernels *kernels = both[trial % 2];
        char kept[20];
        for (int i = 0; i < 20; i++) {
            kept[i] = i < 13;
            memset(c.contact[i].lambda, 0, sizeof c.contact[i].lambda);
        }
        outcome all = make(&c, kernels, 1);
        admm_lanes_set_kept(&all.l, kept);
        admm_lanes_set_weights(&all.l, &c.in, (const double(*)[2])c.weight);
        kernels->set_compliance(&all.l, 0, all.l.contact_batches, 1);
        kernels->factor(&all.l, 0, all.l.solved_batches, 1);
        c.in.ncontact = 13;
        outcome few = make(&c, kernels, 1);
        for (int k = 0; k < 10; k++) {
            lanes_iterate(&all.l, kernels);
            lanes_iterate(&few.l, kernels);
        }
        all.numbers = read(&all.l, &all.count);
        few.numbers = read(&few.l, &few.count);
        cr_assert(distance(&few.l, all.numbers, few.numbers) < 1e-12);
        for (int k = 6 * 5 + 3 * 13; k < 6 * 5 + 3 * 20; k++) {
            cr_assert(all.numbers[k] == 0);
        }
        finish(&all);
        finish(&few);
        lanes_free(&c);
    }
}

/* A contact alone and the same among others that do not touch its bodies: the same bits, in whatever lane. */
Test(subadmm_lanes, what_stands_beside_changes_no_bit) {
    random_source r = {5};
    for (int others = 0; others < 20; others++) {
        lanes_recipe recipe = {.bodies = 2, .contacts = 5, .world = 0.5, .decades = 1};
        lanes_recipe more = {.bodies = 2 + others, .contacts = 5 + 2 * others, .world = 0.5, .decades = 1};
        lanes_case alone = lanes_random(&r, &recipe), among = lanes_random(&r, &more);
        for (int i = 5; i < more.contacts; i++) {
            for (int side = 0; side < 2 && others > 0; side++) {
                int *b = &among.contact[i].body[side];
                *b = *b < 0 ? -1 : 2 + *b % others;
            }
            among.contact[i].body[1] =
                among.contact[i].body[1] == among.contact[i].body[0] ? -1 : among.contact[i].body[1];
        }
        memcpy(among.A, alone.A, 2 * sizeof *alone.A);
        for (int i = 0; i < 5; i++) {
            among.contact[i] = alone.contact[i];
            memcpy(among.weight[i], alone.weight[i], sizeof alone.weight[i]);
        }
        for (int width = 0; width < 2; width++) {
            outcome a = make(&alone, both[width], 1), b = make(&among, both[width], 1);
            for (int k = 0; k < 5; k++) {
                lanes_iterate(&a.l, both[width]);
                lanes_iterate(&b.l, both[width]);
            }
            a.numbers = read(&a.l, &a.count);
            b.numbers = read(&b.l, &b.count);
            cr_assert_arr_eq(a.numbers, b.numbers, 12 * sizeof(double));
            cr_assert_arr_eq(a.numbers + 12, b.numbers + 6 * more.bodies, 15 * sizeof(double));
            finish(&a);
            finish(&b);
        }
        lanes_free(&alone);
        lanes_free(&among);
    }
}

typedef struct job {
    admm_lanes *l;
    int bodies;
} job;

static void share(void *context, int worker, int first, int end) {
    job *j = context;
    (void)worker;
    (j->bodies ? admm_vector.update_bodies : admm_vector.update_contacts)(j->l, first, end);
}

Test(subadmm_lanes, threads_change_no_bit) {
    random_source r = {6};
    lanes_recipe recipe = {.bodies = 100, .contacts = 333, .general = 0.1, .world = 0.3, .decades = 0.5};
    lanes_case c = lanes_random(&r, &recipe);
    outcome alone = make(&c, &admm_vector, 1);
    for (int k = 0; k < 20; k++) {
        lanes_iterate(&alone.l, &admm_vector);
    }
    alone.numbers = read(&alone.l, &alone.count);
    for (int count = 1; count <= 3; count++) {
        sim_threads *threads = threads_create(count);
        outcome o = make(&c, &admm_vector, 1);
        cr_assert_not_null(threads);
        for (int k = 0; k < 20; k++) {
            threads_run_dynamic(threads, o.l.contact_batches, share, &(job){&o.l, 0});
            threads_run_dynamic(threads, o.l.solved_batches, share, &(job){&o.l, 1});
        }
        o.numbers = read(&o.l, &o.count);
        cr_assert_arr_eq(o.numbers, alone.numbers, o.count * sizeof(double));
        threads_free(threads);
        finish(&o);
    }
    finish(&alone);
    lanes_free(&c);
}
