/* Solvers: the same bits whatever they solved before, and however often they are interrupted. */
#include "solver/core/call.h"
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(sap, gives_one_answer_with_all_factorisations_and_the_same_bits_whatever_was_solved_before) {
    random_source r = {8};
    static const double exact[] = {1e-13, 200, 0, 0, 1e4, 1};
    problem_recipe recipe = {.bodies = 12,
                             .contacts = 40,
                             .chain = 18,
                             .friction = 0.6,
                             .bias = 0.1,
                             .kinds = (1 << SIM_CONSTRAINT_KINDS) - 1,
                             .impact = 1,
                             .scatter = 0.6};
    sim_problem *p = random_problem(&r, &recipe), *other = random_problem(&r, &recipe);
    answer first = answer_create(p, 1, 1e-3);
    answer_find(&first, "sap", exact);
    for (int method = 0; method < 4; method++) {
        double option[] = {1e-13, 200, 0, method, 1e4, 1};
        answer a = answer_create(p, 1, 1e-3), b = answer_create(other, 1, 1e-3), again = answer_create(p, 1, 1e-3);
        answer_find(&a, "sap", option);
        cr_expect_lt(distance_between(a.v, first.v, p->nv), 1e-11 * norm_of(first.v, p->nv));
        sim_solver *s = sim_solver_create(sim_solver_find("sap"), option, NULL);
        b.out = (sim_solution){.v = b.v, .impulse = b.impulse};
        again.out = (sim_solution){.v = again.v, .impulse = again.impulse};
        for (int k = 0; k < 3; k++) {
            cr_assert_eq(sim_solver_solve(s, k == 1 ? other : p, k == 1 ? &b.law : &again.law,
                                          k == 1 ? &b.out : &again.out, NULL),
                         SIM_OK);
            cr_expect_arr_eq(a.v, k == 1 ? a.v : again.v, (size_t)p->nv * sizeof *a.v);
            cr_expect_arr_eq(a.impulse, k == 1 ? a.impulse : again.impulse, (size_t)p->nrow * sizeof *a.v);
        }
        sim_solver_free(s);
        answer_free(&a);
        answer_free(&b);
        answer_free(&again);
    }
    answer_free(&first);
    sim_problem_free(p);
    sim_problem_free(other);
}

Test(auto_turns, the_same_problem_gets_the_same_bits_whatever_was_solved_before) {
    random_source r = {3};
    sim_solver *s = sim_solver_create(sim_solver_find("auto"), NULL, NULL);
    sim_problem *p[4];
    answer a[4];
    double *first[4];
    for (int k = 0; k < 4; k++) {
        p[k] = k == 3 ? loaded_stack(1e4) : random_problem(&r, k == 2 ? &hard_recipe : &mixed_recipe);
        a[k] = rigid_entry(p[k]);
        first[k] = malloc((size_t)p[k]->nrow * sizeof *first[k]);
    }
    for (int turn = 0; turn < 8; turn++) {
        int k = turn < 4 ? turn : 7 - turn;
        a[k].out = (sim_solution){.v = a[k].v, .impulse = a[k].impulse};
        cr_assert_eq(sim_solver_solve(s, p[k], &a[k].law, &a[k].out, NULL), SIM_OK);
        if (turn < 4) {
            memcpy(first[k], a[k].impulse, (size_t)p[k]->nrow * sizeof *first[k]);
        }
        cr_expect_arr_eq(a[k].impulse, first[k], (size_t)p[k]->nrow * sizeof *first[k], "problem %d", k);
    }
    for (int k = 0; k < 4; k++) {
        free(first[k]);
        answer_free(&a[k]);
        sim_problem_free(p[k]);
    }
    sim_solver_free(s);
}

extern const solver_type solver_pgs;
extern const solver_type solver_canal;
extern const solver_type solver_subadmm;

Test(auto_turns, a_method_put_down_after_every_iteration_gives_the_same_bits) {
    static const solver_type *const type[] = {&solver_pgs, &solver_canal, &solver_subadmm};
    random_source r = {5};
    for (int k = 0; k < 3; k++) {
        sim_problem *p = random_problem(&r, &mixed_recipe);
        answer whole = rigid_entry(p), pieces = rigid_entry(p);
        answer_find(&whole, type[k]->info.name, NULL);
        sim_arena *scratch = arena_create();
        void *kept = type[k]->create ? type[k]->create() : NULL;
        double option[16];
        for (int o = 0; o < type[k]->info.noptions; o++) {
            option[o] = type[k]->info.option[o].default_value;
        }
        pieces.out = (sim_solution){.v = pieces.v, .impulse = pieces.impulse};
        solver_call call = {p, pieces.R, pieces.target, option, scratch, kept, &pieces.out, 0, 0, NULL};
        void *state = type[k]->begin(&call);
        solver_piece piece = SIM_PIECE_PAUSED;
        int count = 0;
        for (; state && piece == SIM_PIECE_PAUSED; count++) {
            double before = call.work;
            piece = type[k]->resume(state, call.work + 1e-3);
            cr_expect(piece == SIM_PIECE_ENDED || call.work > before);
        }
        cr_expect_eq(piece, SIM_PIECE_ENDED);
        cr_expect_gt(count, 3);
        cr_expect_eq(pieces.out.iterations, whole.out.iterations);
        cr_expect_arr_eq(pieces.impulse, whole.impulse, (size_t)p->nrow * sizeof(double), "%s", type[k]->info.name);
        if (kept) {
            type[k]->destroy(kept);
        }
        arena_free(scratch);
        answer_free(&pieces);
        answer_free(&whole);
        sim_problem_free(p);
    }
}
