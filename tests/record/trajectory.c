/* Recordings are read back. */
#include "record/run/trajectory.h"
#include "fixture.h"
#ifdef TESTS_HDF5
#include "h5.h"
#include "support/share.h"
#endif

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static trajectory *opened(const char *path) {
    sim_error error = {0};
    trajectory *t = trajectory_open(path, &error);
    cr_assert_not_null(t, "%s", error.text);
    return t;
}

static double *values(trajectory *t, int column) {
    sim_error error = {0};
    double *value = calloc((size_t)t->records, sizeof *value);
    cr_assert_eq(trajectory_values(t, column, value, &error), SIM_OK, "%s", error.text);
    return value;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void refuses(const char *path, const char *words) {
    sim_error error = {0};
    cr_assert_null(trajectory_open(path, &error));
    cr_assert(strstr(error.text, words), "'%s' is not in: %s", words, error.text);
}

#ifdef TESTS_HDF5
Test(trajectory, both_kinds_of_files_hold_the_same_columns_to_the_bit) {
    static const char *const name[] = {"arm", "pile"};
    for (int s = 0; s < 2; s++) {
        fixture f = fixture_open(name[s]), g = fixture_open(name[s]);
        char csv[600], h5[600];
        snprintf(csv, sizeof csv, "%s", file_in(&f, "run.csv"));
        snprintf(h5, sizeof h5, "%s", file_in(&g, "run.h5"));
        record_steps(&f, csv, 5);
        record_steps(&g, h5, 5);
        trajectory *a = opened(csv), *b = opened(h5);
        cr_assert_eq(a->records, 5);
        cr_assert_eq(b->records, 5);
        cr_assert_eq(a->columns, b->columns);
        cr_assert_gt(a->columns, 5);
        for (int k = 0; k < a->columns; k++) {
            cr_assert_str_eq(a->column[k].name, b->column[k].name);
            cr_assert_str_eq(a->column[k].unit, b->column[k].unit);
            double *x = values(a, k), *y = values(b, k);
            cr_assert_arr_eq(x, y, 5 * sizeof *x, "%s", a->column[k].name);
            free(x);
            free(y);
        }
        trajectory_free(a);
        trajectory_free(b);
        fixture_close(&f);
        fixture_close(&g);
    }
}

Test(trajectory, rows_of_a_dataset_are_its_columns_side_by_side) {
    fixture f = fixture_open("long");
    char path[600];
    snprintf(path, sizeof path, "%s", file_in(&f, "run.h5"));
    record_steps(&f, path, 6);
    trajectory *t = opened(path);
    int nq = f.scene->model->nbody - 1;
    double *row = calloc((size_t)(3 * nq), sizeof *row);
    sim_error error = {0};
    cr_assert_eq(trajectory_rows(t, "body/position", 4, 1, 3 * nq, row, &error), SIM_OK, "%s", error.text);
    int first = -1;
    for (int k = 0; k < t->columns && first < 0; k++) {
        first = strstr(t->column[k].name, ".pose.x") ? k : -1;
    }
    cr_assert_geq(first, 0);
    for (int k = 0; k < 3; k++) {
        double *column = values(t, first + k);
        cr_assert_eq(row[k], column[4]);
        free(column);
    }
    cr_assert_eq(trajectory_rows(t, "body/position", 4, 3, 3 * nq, row, &error), SIM_BAD_INPUT);
    cr_assert_eq(trajectory_rows(t, "body/position", 0, 1, 3 * nq + 1, row, &error), SIM_BAD_INPUT);
    cr_assert_eq(trajectory_rows(t, "body/nothing", 0, 1, 1, row, &error), SIM_BAD_INPUT);
    cr_assert_eq(trajectory_rows(t, "/", 0, 1, 1, row, &error), SIM_BAD_INPUT);
    cr_assert_str_eq(trajectory_text(t, "scene_hash"), f.scene->hash);
    free(row);
    trajectory_free(t);
    fixture_close(&f);
}

Test(trajectory, what_stands_in_other_files_is_refused_before_anything_is_read) {
    static const double time[] = {0, 1, 2};
    static const char *const words[] = {"/q: stands in another file",     "/q: is made of parts",
                                        "/q: is a link to elsewhere",     "/statistics: is a link to elsewhere",
                                        "/other: is a link to elsewhere", "/contact/impulse: stands in another file"};
    fixture f = fixture_open("arm");
    char path[600];
    snprintf(path, sizeof path, "%s", file_in(&f, "run.h5"));
    for (int which = 0; which < 6; which++) {
        hid_t file = h5_new(path);
        h5_reals(file, "time", 3, time);
        if (which < 2) {
            h5_elsewhere(file, "q", 3, "/dev/zero", which);
        } else if (which < 5) {
            static const char *const name[] = {"q", "statistics", "other"};
            H5Lcreate_external("secret.h5", "/x", file, name[which - 2], H5P_DEFAULT, H5P_DEFAULT);
        } else {
            h5_elsewhere(h5_group(file, "contact"), "impulse", 3, "/dev/zero", 0);
        }
        H5Fclose(file);
        refuses(path, words[which]);
    }
    fixture_close(&f);
}

/* 0: it was read, or refused with a reason.  In a process of its own, since HDF5 1.10 loses memory over a checksum that
 * does not fit. */
static int read_everything(const char *path) {
    sim_error error = {0};
    trajectory *t = trajectory_open(path, &error);
    double *value = t ? calloc((size_t)t->records, sizeof *value) : NULL;
    for (int c = 0; value && c < t->columns; c++) {
        (void)trajectory_values(t, c, value, &error);
    }
    int good = t || *error.text;
    free(value);
    trajectory_free(t);
    return !good;
}

Test(trajectory, a_damaged_hdf5_file_is_refused_or_read_but_never_fatal) {
    fixture f = fixture_open("pile");
    char path[600];
    snprintf(path, sizeof path, "%s", file_in(&f, "run.h5"));
    record_steps(&f, path, 3);
    static char bytes[1 << 20];
    FILE *file = fopen(path, "r");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t k = 8; k < size; k += 1 + size / (size_t)part_of(50)) {
        file = fopen(path, "w");
        bytes[k] ^= 0x55;
        cr_assert_eq(fwrite(bytes, 1, k % 3 ? size : k, file), k % 3 ? size : k); /* flipped, or cut off */
        bytes[k] ^= 0x55;
        fclose(file);
        pid_t child = fork();
        if (child == 0) {
            _exit(read_everything(path));
        }
        int status = -1;
        cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "byte %zu", k);
    }
    fixture_close(&f);
}
#endif

Test(trajectory, pipes_are_refused_without_waiting) {
    fixture f = fixture_open("arm");
    cr_assert_eq(mkfifo(file_in(&f, "run.csv"), 0600), 0);
    alarm(10);
    refuses(f.path, "is not an ordinary file");
    alarm(0);
    fixture_close(&f);
}

Test(trajectory, a_line_that_was_cut_off_is_left_out) {
    fixture f = fixture_open("arm");
    const char *path = file_in(&f, "run.csv");
    write_text(path, "time [s],\"a, b\"\"c [N m]\"\r\n0,1\r\n\n1,2\n2,3");
    trajectory *t = opened(path);
    cr_assert_eq(t->records, 2);
    cr_assert_eq(t->columns, 2);
    cr_assert_str_eq(t->column[1].name, "a, b\"c");
    cr_assert_str_eq(t->column[1].unit, "N m");
    cr_assert_eq(trajectory_find(t, "time", 0), 0);
    cr_assert_eq(trajectory_find(t, "time [s]", 0), 0);
    cr_assert_eq(trajectory_find(t, "time [m]", 0), -1);
    double *value = values(t, 1);
    cr_assert(value[0] == 1 && value[1] == 2);
    free(value);
    trajectory_free(t);
    fixture_close(&f);
}

Test(trajectory, a_history_tells_its_problems_apart_and_leaves_gaps) {
    fixture f = fixture_open("arm");
    const char *path = file_in(&f, "history.csv");
    write_text(path, "file,iteration,residual,cost\n\"a.h5\",0,1,\n\"b.h5\",0,2,3\n\"a.h5\",1,inf,nan\n");
    trajectory *t = opened(path);
    cr_assert_eq(t->labels, 2);
    cr_assert_str_eq(t->label[1], "b.h5");
    cr_assert(t->label_of[0] == 0 && t->label_of[1] == 1 && t->label_of[2] == 0);
    double *residual = values(t, 2), *cost = values(t, 3);
    cr_assert(isinf(residual[2]) && isnan(cost[0]) && isnan(cost[2]) && cost[1] == 3);
    free(residual);
    free(cost);
    trajectory_free(t);
    fixture_close(&f);
}

Test(trajectory, what_is_no_table_is_refused_with_its_place) {
    fixture f = fixture_open("arm");
    const char *path = file_in(&f, "run.csv");
    static const char *const bad[][2] = {
        {"", "is empty"},
        {"{\"sim\": 1}\n", "is JSON, not a recorded run"},
        {"time [s],x", "not a table"},
        {"time [s],x\n", "but no records"},
        {"time [s],x\n0,1\n0,1,2\n", "run.csv:3: has 3 cells, but there are 2 columns"},
        {"time [s],x\n0,1\n0\n", "run.csv:3: has 1 cells"},
        {"time [s],x\n0,1\n0,abc\n", "run.csv:3: 'abc' is not a number (column 'x')"},
        {"0,1\n2,3\n", "'0' is not a column name"},
        {"time,,x\n", "'' is not a column name"},
        {"\x89HDF\r\n\x1a\n", "run.csv"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        write_text(path, bad[k][0]);
        refuses(path, bad[k][1]);
    }
    FILE *file = fopen(path, "w");
    fwrite("time [s]\n\0\1\2", 1, 12, file);
    fclose(file);
    refuses(path, "neither HDF5 nor text");
    refuses(file_in(&f, "nothing"), "No such file");
    refuses("/", "is a folder, not a file");
    const char *other = file_in(&f, "other.h5");
    write_text(other, "time [s],x\n0,1\n");
    refuses(other, "is not an HDF5 file, despite its name");
    fixture_close(&f);
}
