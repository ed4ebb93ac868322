/* Problems of our own in files: read again they are the same to the bit, and FCLIB's part says what FCLIB can say. */
#include "h5.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *temporary(char path[64]) {
    strcpy(path, "/tmp/problem_XXXXXX");
    close(mkstemp(path));
    return path;
}

static void same_numbers(const char *what, const double *a, const double *b, ptrdiff_t count) {
    cr_assert_eq(a == NULL, b == NULL, "%s", what);
    if (a) {
        cr_expect_eq(memcmp(a, b, (size_t)count * sizeof *a), 0, "%s", what);
    }
}

static void same_constraints(const sim_problem *a, const sim_problem *b) {
    for (int i = 0; i < a->nconstraint; i++) {
        const sim_constraint *c = &a->constraint[i], *d = &b->constraint[i];
        cr_expect(c->kind == d->kind && c->row == d->row && c->rows == d->rows && c->id == d->id, "constraint %d", i);
        for (int k = 0; k < 2; k++) {
            cr_expect(c->tree[k] == d->tree[k] && c->body[k] == d->body[k], "constraint %d", i);
            cr_expect(c->block[k] == d->block[k], "constraint %d", i);
        }
        same_numbers("numbers of a constraint", &c->friction, &d->friction, 11);
        cr_expect_eq(c->turns, d->turns, "constraint %d", i);
    }
}

static void same_problem(const sim_problem *a, const sim_problem *b) {
    cr_assert(a->ntree == b->ntree && a->nv == b->nv && a->nconstraint == b->nconstraint && a->nrow == b->nrow);
    cr_expect_eq(a->step, b->step);
    same_constraints(a, b);
    same_numbers("gap", a->gap, b->gap, a->nrow);
    same_numbers("v_free", a->v_free, b->v_free, a->nv);
    same_numbers("v_start", a->v_start, b->v_start, a->nv);
    same_numbers("v_guess", a->v_guess, b->v_guess, a->nv);
    same_numbers("impulse_guess", a->impulse_guess, b->impulse_guess, a->nrow);
    same_numbers("offset", a->offset, b->offset, a->nrow);
    same_numbers("q", a->q, b->q, a->nrow);
    ptrdiff_t length = 0;
    double A[36 * 36], B[36 * 36];
    for (int i = 0; i < a->nconstraint; i++) {
        for (int side = 0; side < 2 && a->constraint[i].tree[side] >= 0; side++) {
            length += a->constraint[i].rows * a->tree[a->constraint[i].tree[side]].nv;
        }
    }
    same_numbers("J", a->J, b->J, length);
    for (int t = 0; t < a->ntree; t++) {
        cr_assert(a->tree[t].v0 == b->tree[t].v0 && a->tree[t].nv == b->tree[t].nv);
        a->mass.matrix(a->mass.self, t, A);
        b->mass.matrix(b->mass.self, t, B);
        same_numbers("A", A, B, a->tree[t].nv * a->tree[t].nv);
    }
    cr_assert_eq(a->W == NULL, b->W == NULL);
    for (int i = 0; a->W && i < a->nconstraint; i++) {
        cr_assert_eq(a->W->start[i + 1], b->W->start[i + 1]);
        for (int k = a->W->start[i]; k < a->W->start[i + 1]; k++) {
            cr_assert(a->W->column[k] == b->W->column[k] && a->W->at[k] == b->W->at[k]);
            same_numbers("W", a->W->value + a->W->at[k], b->W->value + b->W->at[k],
                         a->constraint[i].rows * a->constraint[a->W->column[k]].rows);
        }
    }
    cr_expect_eq(a->W ? a->W->symmetric : 0, b->W ? b->W->symmetric : 0);
}

static sim_problem_file *through_a_file(const sim_problem *p, const char *path) {
    sim_error error = {0};
    sim_problem_file *file = sim_problem_file_create(p, "title", "description", &error);
    cr_assert_not_null(file, "%s", error.text);
    cr_assert_eq(sim_problem_file_write(file, path, &error), SIM_OK, "%s", error.text);
    sim_problem_file_free(file);
    file = sim_problem_file_read(path, &error);
    cr_assert_not_null(file, "%s", error.text);
    return file;
}

/* With every kind of row, and numbers that a test of equality must not lose. */
static sim_problem *rich_problem(random_source *r, sim_problem *parts, sim_constraint constraint[64]) {
    problem_recipe recipe = {.bodies = 3,
                             .chain = 5,
                             .contacts = 6,
                             .friction = 0.7,
                             .bias = 0.1,
                             .kinds = (1 << SIM_CONSTRAINT_KINDS) - 1,
                             .impact = 1,
                             .scatter = 0.1};
    sim_problem *made = random_problem(r, &recipe);
    *parts = *made;
    memcpy(constraint, made->constraint, (size_t)made->nconstraint * sizeof *constraint);
    for (int i = 0; i < made->nconstraint; i++) {
        constraint[i].id = 0x8000000000000001u + (uint64_t)i;
        constraint[i].body[0] = i;
        constraint[i].dissipation = 0.01 * i;
        constraint[i].restitution = i < 3 ? 0.5 : 0;
        constraint[i].stiffness = i == 1 ? 1e5 : constraint[i].stiffness;
        constraint[i].rolling = 0.002 * i;
        constraint[i].torsion = 0.003 * i;
        constraint[i].surface[0] = 0.1 * i;
        constraint[i].surface[1] = -0.2 * i;
        constraint[i].turns = i % 2;
    }
    parts->constraint = constraint;
    return made;
}

Test(problem_own, is_the_same_problem_to_the_bit_with_every_kind_of_row) {
    char path[64];
    random_source r = {3};
    sim_problem parts;
    sim_constraint constraint[64];
    sim_problem *made = rich_problem(&r, &parts, constraint);
    double guess[64];
    for (int k = 0; k < 64; k++) {
        guess[k] = k % 5 ? random_normal(&r) : -0.0;
    }
    parts.v_guess = guess;
    for (int k = 0; k < 2; k++) {
        parts.impulse_guess = k ? guess : NULL;
        parts.offset = k ? NULL : made->offset;
        sim_problem_file *file = through_a_file(&parts, temporary(path));
        same_problem(&parts, sim_problem_file_problem(file));
        cr_expect_str_eq(sim_problem_file_info(file, "title"), "title");
        sim_problem_file_free(file);
        unlink(path);
    }
    sim_problem_free(made);
}

Test(problem_own, of_the_local_form_is_the_same_to_the_bit) {
    char path[64];
    sim_error error = {0};
    sim_problem_file *first = sim_problem_file_read("tests/data/fclib/gen-wedgetrain-local-44.hdf5", &error);
    cr_assert_not_null(first, "%s", error.text);
    sim_problem_file *second = through_a_file(sim_problem_file_problem(first), temporary(path));
    same_problem(sim_problem_file_problem(first), sim_problem_file_problem(second));
    sim_problem_file_free(first);
    sim_problem_file_free(second);
    unlink(path);
}

/* Without our group the file is FCLIB's alone. */
static sim_problem_file *as_others_see_it(const sim_problem *p, const char *path) {
    sim_error error = {0};
    sim_problem_file_free(through_a_file(p, path));
    h5_delete(path, "sim_problem");
    sim_problem_file *file = sim_problem_file_read(path, &error);
    cr_assert_not_null(file, "%s", error.text);
    return file;
}

Test(problem_own, shows_others_its_contacts_and_equalities_under_the_rigid_law) {
    char path[64];
    random_source r = {4};
    sim_problem parts;
    sim_constraint constraint[64];
    sim_problem *made = rich_problem(&r, &parts, constraint);
    double gap[64] = {0}, R[64], target[64];
    gap[2] = 0.01;
    gap[5] = -0.02;
    parts.gap = gap;
    sim_problem_file *file = as_others_see_it(&parts, temporary(path));
    const sim_problem *seen = sim_problem_file_problem(file);
    sim_law_options options = sim_law_options_default();
    sim_regularise(&parts, SIM_RIGID, &options, NULL, R, target);
    cr_assert_eq(seen->nv, made->nv);
    cr_assert_eq(seen->nrow, 6 * 3 + 2, "six contacts and an equality of two rows");
    for (int j = 0; j < made->nv; j++) {
        cr_expect_float_eq(seen->v_free[j], made->v_free[j], 1e-14);
    }
    for (int k = 0; k < 18; k++) {
        cr_expect_float_eq(seen->offset[k], made->offset[k] - target[k], 1e-15, "row %d", k);
    }
    for (int i = 0; i < 6; i++) {
        cr_expect_eq(seen->constraint[i].friction, 0.7);
        for (int side = 0; side < 2; side++) {
            int t = made->constraint[i].tree[side];
            cr_assert_eq(seen->constraint[i].tree[side] < 0, t < 0);
        }
    }
    sim_problem_file_free(file);
    sim_problem_free(made);
    unlink(path);
}

/* The same impulses give the same velocities, whether the file is read with our group or without. */
Test(problem_own, of_a_stack_is_solved_by_the_same_impulses_elsewhere) {
    char path[64];
    const double mass[3] = {1, 2, 3};
    sim_problem *stack = box_stack(3, mass, 0.5, 0.01, 1);
    sim_problem_file *file = as_others_see_it(stack, temporary(path));
    const sim_problem *seen = sim_problem_file_problem(file);
    cr_assert_eq(seen->ntree, 3);
    cr_assert_eq(seen->nrow, stack->nrow);
    double *W[2] = {malloc(sim_delassus_diagonal_size(stack) * sizeof(double)),
                    malloc(sim_delassus_diagonal_size(seen) * sizeof(double))};
    cr_assert_eq(sim_delassus_diagonal(stack, W[0], NULL), SIM_OK);
    cr_assert_eq(sim_delassus_diagonal(seen, W[1], NULL), SIM_OK);
    for (int k = 0; k < 9 * stack->nconstraint; k++) {
        cr_expect_float_eq(W[0][k], W[1][k], 1e-13);
    }
    free(W[0]);
    free(W[1]);
    sim_problem_file_free(file);
    sim_problem_free(stack);
    unlink(path);
}

/* The speed w by which a gap may close, in FCLIB's part, is that of the law; a file without a law has the usual one. */
Test(problem_own, keeps_the_numbers_of_its_law_which_fclibs_part_is_written_by) {
    sim_law_options usual = sim_law_options_default(), law = {0.3, 2e-5, 0.7, 0.25, 1e4, 0.05, 0.3}, found;
    static const double rest[3] = {0, 0, 0};
    sim_problem *p = point_on_ground(2, 0.5, -0.01, 0.01, rest);
    char path[64];
    sim_error error = {0};
    for (int k = 0; k < 2; k++) {
        sim_problem_file *file = sim_problem_file_create_under(p, k ? &law : NULL, "title", "", &error);
        cr_assert_not_null(file, "%s", error.text);
        cr_assert_eq(sim_problem_file_write(file, temporary(path), &error), SIM_OK, "%s", error.text);
        sim_problem_file_free(file);
        file = sim_problem_file_read(path, &error);
        cr_assert_not_null(file, "%s", error.text);
        found = sim_problem_file_law(file);
        cr_expect_eq(memcmp(&found, k ? &law : &usual, sizeof law), 0);
        double impulse[3] = {0, 0, 0}, v[3], due = -(k ? law.undo : usual.undo); /* less than push asks for */
        cr_assert_eq(sim_problem_file_answer(file, impulse, "a test", &error), SIM_OK, "%s", error.text);
        cr_assert_eq(sim_problem_file_stored(file, v, impulse, &error), SIM_OK, "%s", error.text);
        cr_assert_eq(sim_problem_file_write(file, path, &error), SIM_OK, "%s", error.text);
        sim_problem_file_free(file);
        hid_t opened = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(opened, "/solution/u", H5P_DEFAULT);
        double u[3];
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, u);
        cr_expect_float_eq(u[0], due, 1e-12, "u_n of nothing done is %g, not %g", u[0], due);
        H5Dclose(set);
        H5Fclose(opened);
        unlink(path);
    }
    sim_problem_free(p);
}

/* Masses on springs in a ring: A is a band with two far corners.  Its file is a fifth of the numbers of A, which come back to
 * the bit; products and solves are those of its rows. */
Test(problem_own, of_a_sparse_mass_is_small_and_the_same_to_the_bit) {
    enum { RING = 240 };
    char path[64];
    random_source r = {11};
    double *A = calloc(RING * RING, sizeof *A), *B = malloc(RING * RING * sizeof *B), v[RING], x[RING], y[RING];
    for (int i = 0; i < RING; i++) {
        int j = (i + 1) % RING;
        double k = random_uniform(&r, 1, 2);
        A[i * RING + i] += 0.1 + k;
        A[j * RING + j] += k;
        A[i * RING + j] = A[j * RING + i] = -k;
        v[i] = random_uniform(&r, -1, 1);
    }
    sim_problem_tree tree = {0, RING};
    const double J[RING] = {1}, gap = 0;
    sim_constraint spring = {.kind = SIM_SPRING, .rows = 1, .tree = {0, -1}, .body = {-1, -1}, .stiffness = 1};
    sim_problem parts = {.step = 0.01, .ntree = 1, .nv = RING, .nconstraint = 1, .nrow = 1, .tree = &tree};
    parts.constraint = &spring;
    parts.gap = &gap;
    parts.J = J;
    parts.v_free = v;
    sim_error error = {0};
    sim_problem *made = sim_problem_create(&parts, A, &error);
    cr_assert_not_null(made, "%s", error.text);
    sim_problem_file *file = sim_problem_file_create(made, "ring", "", &error);
    cr_assert_not_null(file, "%s", error.text);
    cr_assert_eq(sim_problem_file_write(file, temporary(path), &error), SIM_OK, "%s", error.text);
    sim_problem_file_free(file);
    /* size, and numbers read back */
    struct stat written;
    cr_assert_eq(stat(path, &written), 0);
    cr_expect_lt(written.st_size, 8 * RING * RING / 5, "%ld bytes", (long)written.st_size);
    file = sim_problem_file_read(path, &error);
    unlink(path);
    cr_assert_not_null(file, "%s", error.text);
    const sim_problem *p = sim_problem_file_problem(file);
    p->mass.matrix(p->mass.self, 0, B);
    cr_expect_eq(memcmp(A, B, RING * RING * sizeof *A), 0);
    /* A^-1 and A */
    memcpy(x, v, sizeof x);
    p->mass.solve(p->mass.self, 0, x);
    p->mass.times(p->mass.self, 0, x, y);
    for (int i = 0; i < RING; i++) {
        double sum = 0;
        for (int j = 0; j < RING; j++) {
            sum += A[i * RING + j] * x[j];
        }
        cr_expect_float_eq(sum, v[i], 1e-11);
        cr_expect_float_eq(y[i], sum, 1e-12);
    }
    sim_problem_file_free(file);
    sim_problem_free(made);
    free(A);
    free(B);
}
