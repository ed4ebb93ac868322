/* Problems from a file are solved as in memory: the same problem, R and targets, velocities and impulses, to the bit,
 * with every solver and for every kind of row. */
#include "fixture.h"
#include "support/contenders.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of each kind that took part. */
typedef struct tally {
    int rows[SIM_CONSTRAINT_KINDS];
} tally;

static void count_rows(const sim_problem *p, tally *t) {
    for (int i = 0; i < p->nconstraint; i++) {
        t->rows[p->constraint[i].kind] += p->constraint[i].rows;
    }
}

static void same_answers(const sim_problem *made, const sim_problem *read, const char *what) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    sim_problem bare = *made; /* no file holds the bodies of trees */
    bare.bodies = NULL;
    cr_assert(made->nv == read->nv && made->nrow == read->nrow);
    for (int i = 0; i < count; i++) {
        if (!contender_takes(&all[i], made)) {
            continue;
        }
        answer a = contest_entry(&bare, contender_is_rigid(&all[i]) ? 0 : -1);
        answer b = contest_entry(read, contender_is_rigid(&all[i]) ? 0 : -1);
        int cone = option_of(all[i].info, "cone");
        double option[MOST_OPTIONS];
        for (int k = 0; k < all[i].info->noptions; k++) {
            option[k] = k == cone ? all[i].option[k] : all[i].info->option[k].default_value;
        }
        answer_find(&a, all[i].info->name, option);
        answer_find(&b, all[i].info->name, option);
        size_t rows = (size_t)made->nrow * sizeof *a.R, velocities = (size_t)made->nv * sizeof *a.v;
        cr_expect_arr_eq(a.R, b.R, rows, "%s, %s", what, all[i].name);
        cr_expect_arr_eq(a.target, b.target, rows, "%s, %s", what, all[i].name);
        cr_expect_arr_eq(a.v, b.v, velocities, "%s, %s", what, all[i].name);
        cr_expect_arr_eq(a.impulse, b.impulse, rows, "%s, %s", what, all[i].name);
        cr_expect_eq(a.out.iterations, b.out.iterations);
        answer_free(&a);
        answer_free(&b);
    }
}

static sim_problem_file *read_file(const char *path) {
    sim_error error = {0};
    sim_problem_file *file = sim_problem_file_read(path, &error);
    cr_assert_not_null(file, "%s", error.text);
    return file;
}

static void through_a_file(const sim_problem *p, const char *path, const char *what) {
    sim_error error = {0};
    sim_problem_file *file = sim_problem_file_create(p, "title", "", &error);
    cr_assert_not_null(file, "%s", error.text);
    cr_assert_eq(sim_problem_file_write(file, path, &error), SIM_OK, "%s", error.text);
    sim_problem_file_free(file);
    file = read_file(path);
    same_answers(p, sim_problem_file_problem(file), what);
    sim_problem_file_free(file);
}

Test(problem_answers, of_worlds_with_contacts_ranges_friction_and_all_constraints_are_the_same_to_the_bit) {
    fixture f = fixture_open("rows");
    tally t = {{0}};
    for (int k = 0; k < 8; k++) {
        sim_error error = {0};
        sim_problem *p = sim_world_problem(f.world, &error);
        cr_assert_not_null(p, "%s", error.text);
        count_rows(p, &t);
        through_a_file(p, file_in(&f, "p.h5"), "rows.json");
        sim_problem_free(p);
        steps(&f, 11);
    }
    cr_expect(t.rows[SIM_CONTACT] > 40 && t.rows[SIM_LIMIT] > 1 && t.rows[SIM_FRICTION] == 24, "%d %d %d",
              t.rows[SIM_CONTACT], t.rows[SIM_LIMIT], t.rows[SIM_FRICTION]);
    cr_expect_eq(t.rows[SIM_EQUALITY], 8 * (1 + 1 + 3 + 6));
    fixture_close(&f);
}

/* Springs and actuators too, which no scene makes rows of. */
Test(problem_answers, of_every_kind_of_row_are_the_same_to_the_bit) {
    fixture f = fixture_open("rows");
    random_source r = {4};
    tally t = {{0}};
    for (int trial = 0; trial < 10; trial++) {
        problem_recipe recipe = {.bodies = 3,
                                 .chain = 7,
                                 .contacts = 6,
                                 .friction = 0.2 * trial,
                                 .bias = 0.1,
                                 .kinds = 63,
                                 .impact = 1,
                                 .scatter = 0.5};
        sim_problem *p = random_problem(&r, &recipe);
        count_rows(p, &t);
        through_a_file(p, file_in(&f, "p.h5"), "random");
        sim_problem_free(p);
    }
    for (int kind = 0; kind < SIM_CONSTRAINT_KINDS; kind++) {
        cr_expect_geq(t.rows[kind], 10, "%s", sim_constraint_name((sim_constraint_kind)kind));
    }
    fixture_close(&f);
}

/* The same step, once in this process, once in the program's. */
Test(problem_answers, of_what_the_program_writes_are_those_of_the_same_step_in_memory) {
    const char *program = getenv("SIM_PROGRAM");
    cr_assert_not_null(program);
    fixture f = fixture_open("rows");
    char command[2048], path[512];
    snprintf(path, sizeof path, "%s", file_in(&f, "program.h5"));
    snprintf(command, sizeof command,
             "'%s' tests/app/scenes/rows.json --quiet --duration 0.2 --dump-problem 30 '%s' --out '%s'", program, path,
             file_in(&f, "run.csv"));
    cr_assert_eq(system(command), 0, "%s", command);
    steps(&f, 29);
    sim_error error = {0};
    sim_problem *p = sim_world_problem(f.world, &error);
    cr_assert_not_null(p, "%s", error.text);
    sim_problem_file *file = read_file(path);
    same_answers(p, sim_problem_file_problem(file), "step 30");
    sim_problem_file_free(file);
    sim_problem_free(p);
    fixture_close(&f);
}
