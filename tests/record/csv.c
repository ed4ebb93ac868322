/* Trajectories as text. */
#include "fixture.h"
#include "record/run/frequent_pairs.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *read_all(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 4 << 20);
    cr_assert(file && text);
    cr_assert_gt(fread(text, 1, (4 << 20) - 1, file), 0);
    fclose(file);
    return text;
}

static int column_of(const char *header, const char *name) {
    char line[1 << 14];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(header, "\n"), header);
    int column = 0;
    for (char *cell = strtok(line, ","); cell; cell = strtok(NULL, ","), column++) {
        if (strcmp(cell, name) == 0) {
            return column;
        }
    }
    return -1;
}

static double cell(const char *text, int line, int column) {
    for (; line > 0; line--) {
        text = strchr(text, '\n') + 1;
    }
    for (; column > 0; column--) {
        text = strchr(text, ',') + 1;
    }
    return strtod(text, NULL);
}

Test(csv, brings_every_number_back_bit_for_bit) {
    fixture f = fixture_open("arm");
    record_steps(&f, file_in(&f, "a.csv"), 20);
    char *text = read_all(file_in(&f, "a.csv"));
    sim_world *again = sim_world_create(f.scene->model, &f.scene->options, NULL);
    const sim_state *state = sim_world_state(again);
    for (int k = 0; k < 20; k++) {
        cr_assert_eq(cell(text, k + 1, 0), state->time);
        cr_assert_eq(cell(text, k + 1, 1), (double)state->step);
        for (int i = 0; i < f.scene->model->nq; i++) {
            cr_assert_eq(cell(text, k + 1, 2 + i), state->q[i], "record %d coordinate %d", k, i);
        }
        for (int i = 0; i < f.scene->model->nv; i++) {
            cr_assert_eq(cell(text, k + 1, 2 + f.scene->model->nq + i), state->v[i]);
        }
        int energy = column_of(text, "energy.kinetic [J]");
        cr_assert_eq(cell(text, k + 1, energy), sim_world_energy(again).kinetic);
        sim_world_step(again, NULL);
    }
    sim_world_free(again);
    free(text);
    fixture_close(&f);
}

Test(csv, names_each_column_once_and_gives_its_unit) {
    static const char *const expected[] = {"time [s]",
                                           "step",
                                           "elbow [rad]",
                                           "elbow [rad/s]",
                                           "hand [m]",
                                           "base.qw",
                                           "base.pose.x [m]",
                                           "shoulder.pose.qw",
                                           "hand.twist.wx [rad/s]",
                                           "hand.twist.vx [m/s]",
                                           "energy.total [J]",
                                           "momentum.angular.x [kg m^2/s]",
                                           "momentum.linear.z [kg m/s]",
                                           "tip.point.x [m]",
                                           "tip.point.vx [m/s]",
                                           "iterations",
                                           "residual"};
    fixture f = fixture_open("arm");
    record_steps(&f, file_in(&f, "a.csv"), 1);
    char *text = read_all(file_in(&f, "a.csv"));
    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++) {
        cr_expect_geq(column_of(text, expected[k]), 0, "no column %s", expected[k]);
    }
    char header[1 << 14];
    snprintf(header, sizeof header, "%.*s", (int)strcspn(text, "\n"), text);
    int column = 0;
    for (char *name = strtok(header, ","); name; name = strtok(NULL, ","), column++) {
        cr_expect_eq(column_of(text, name), column, "%s stands twice", name);
    }
    free(text);
    fixture_close(&f);
}

Test(csv, has_statistics_and_certificates_of_scenes_with_contacts) {
    static const char *const expected[] = {"contacts",
                                           "islands",
                                           "solver_iterations",
                                           "solver_total",
                                           "unsolved",
                                           "certificate.E",
                                           "certificate.own",
                                           "certificate.momentum",
                                           "certificate.cone [N s]",
                                           "certificate.penetration [m]",
                                           "certificate.past_range [rad]",
                                           "certificate.slip [m/s]",
                                           "certificate.drive [J]"};
    fixture f = fixture_open("pile");
    record_steps(&f, file_in(&f, "a.csv"), 5);
    char *text = read_all(file_in(&f, "a.csv"));
    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++) {
        cr_expect_geq(column_of(text, expected[k]), 0, "no column %s", expected[k]);
    }
    cr_expect_lt(column_of(text, "start"), 0);
    sim_world *again = sim_world_create(f.scene->model, &f.scene->options, NULL);
    for (int k = 0; k < 5; k++) {
        const sim_step_info *info = sim_world_info(again);
        cr_expect_eq(cell(text, k + 1, column_of(text, "contacts")), info->contacts);
        cr_expect_eq(cell(text, k + 1, column_of(text, "certificate.E")), info->certificate.E);
        cr_expect_eq(cell(text, k + 1, column_of(text, "certificate.drive [J]")), info->certificate.drive);
        sim_world_step(again, NULL);
    }
    sim_world_free(again);
    free(text);
    fixture_close(&f);
    f = fixture_open("arm");
    record_steps(&f, file_in(&f, "a.csv"), 1);
    text = read_all(file_in(&f, "a.csv"));
    cr_expect_lt(column_of(text, "contacts"), 0);
    free(text);
    fixture_close(&f);
}

Test(csv, keeps_the_sign_of_quaternions_from_record_to_record) {
    fixture f = fixture_open("arm");
    f.scene->record.coordinates = 0;
    record_steps(&f, file_in(&f, "a.csv"), 2000);
    char *text = read_all(file_in(&f, "a.csv"));
    int column = column_of(text, "shoulder.pose.qw");
    const char *line = strchr(text, '\n') + 1;
    double last[4] = {1, 0, 0, 0}, least = 1;
    for (int k = 0; k < 2000; k++, line = strchr(line, '\n') + 1) {
        double dot = 0;
        for (int i = 0; i < 4; i++) {
            double q = cell(line, 0, column + i);
            dot += k > 0 ? q * last[i] : 0.25;
            last[i] = q;
        }
        least = fmin(least, dot);
    }
    cr_expect_gt(least, 0.99);
    free(text);
    fixture_close(&f);
}

Test(csv, says_so_when_the_disk_is_full) {
    fixture f = fixture_open("arm");
    sim_error error;
    cr_assert_eq(symlink("/dev/full", file_in(&f, "full.csv")), 0);
    sim_recorder *recorder = sim_recorder_open(file_in(&f, "full.csv"), f.scene, f.world, &error);
    cr_assert_not_null(recorder);
    sim_status status = sim_recorder_write(recorder, f.world, &error);
    status = status ? status : sim_recorder_flush(recorder, &error);
    cr_expect_eq(status, SIM_NO_RESOURCE);
    cr_expect_not_null(strstr(error.text, "No space left on device"), "%s", error.text);
    sim_recorder_close(recorder, NULL);
    fixture_close(&f);
}

/* Pairs with geometric frequencies, drawn from a fixed sequence, beside exact counts. */
static void count_pairs(int kinds, int additions) {
    enum { MAX_KINDS = 400 };
    int64_t exact[MAX_KINDS] = {0};
    frequent_pairs pairs = {0};
    uint32_t draw = 1;
    for (int n = 0; n < additions; n++) {
        draw = draw * 1664525u + 1013904223u;
        double u = (draw >> 8) / 16777216.0;
        int kind = (int)(kinds * u * u * u);
        exact[kind]++;
        frequent_pairs_add(&pairs, n % 2 ? (int[]){kind, kind + 7} : (int[]){kind + 7, kind});
    }
    cr_expect_eq(pairs.pairs, kinds < MAX_FREQUENT_PAIRS ? kinds : MAX_FREQUENT_PAIRS);
    bool listed[MAX_KINDS] = {false};
    for (int k = 0; k < pairs.pairs; k++) {
        const frequent_pair *p = &pairs.pair[k];
        cr_expect_eq(p->body[1], p->body[0] + 7);
        cr_expect(!listed[p->body[0]] && p->least <= exact[p->body[0]] && exact[p->body[0]] <= p->counts);
        cr_expect(kinds > MAX_FREQUENT_PAIRS ? p->counts - p->least <= additions / MAX_FREQUENT_PAIRS
                                             : p->counts == p->least);
        cr_expect(k == 0 || p[-1].counts >= p->counts);
        listed[p->body[0]] = true;
    }
    for (int kind = 0; kind < kinds; kind++) {
        cr_expect(listed[kind] || exact[kind] <= additions / MAX_FREQUENT_PAIRS, "pair %d left out", kind);
    }
}

Test(frequent_pairs, bound_the_true_counts_and_leave_out_none_that_is_frequent) {
    count_pairs(20, 5000);
    count_pairs(400, 20000);
}

Test(recorder, refuses_endings_it_does_not_know) {
    sim_error error;
    cr_expect_eq(sim_recorder_accepts("a.txt", &error), SIM_BAD_INPUT);
    cr_expect_eq(sim_recorder_accepts(".csv", &error), SIM_BAD_INPUT);
    cr_expect_eq(sim_recorder_accepts("a.csv", &error), SIM_OK);
}

Test(recorder, says_where_it_may_not_write) {
    fixture f = fixture_open("arm");
    sim_error error;
    cr_expect_null(sim_recorder_open("/nowhere/at/all/a.csv", f.scene, f.world, &error));
    cr_expect_eq(error.status, SIM_NO_RESOURCE);
    cr_expect_str_eq(error.text, "/nowhere/at/all/a.csv: cannot create: No such file or directory");
    fixture_close(&f);
}
