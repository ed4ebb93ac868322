/* Files that are no contact problems: one clear sentence for each, and never a crash. */
#include "h5.h"
#include "record/problem/problem_file.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char local[] = "tests/data/fclib/gen-stack1e5-local-8.hdf5";
static const char global[] = "tests/data/fclib/gen-massratio7-global-28.hdf5";

static char *bytes_of(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    cr_assert(file && bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void copy_file(const char *from, const char *to) {
    size_t size;
    char *bytes = bytes_of(from, &size);
    FILE *file = fopen(to, "wb");
    fwrite(bytes, 1, size, file);
    fclose(file);
    free(bytes);
}

static void is_a_sentence(const sim_error *error) {
    cr_expect(error->status == SIM_BAD_INPUT || error->status == SIM_NO_RESOURCE);
    cr_expect_gt(strlen(error->text), 10);
    for (const unsigned char *c = (const unsigned char *)error->text; *c; c++) {
        cr_assert(*c >= 0x20 && *c < 0x7f, "%s", error->text);
    }
}

/* In place of an array stands another; NULL values: nothing. */
typedef struct fault {
    const char *file, *group, *name;
    int kind; /* 'i' ints, 'x' reals, 't' text, 'g' group, 'd' deleted */
    int count;
    const void *values;
    const char *words; /* of the refusal */
} fault;

static void is_refused(const fault *f) {
    char path[] = "/tmp/hostile_XXXXXX";
    close(mkstemp(path));
    copy_file(f->file, path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), group = H5Gopen2(file, f->group, H5P_DEFAULT);
    cr_assert_geq(group, 0);
    H5Ldelete(group, f->name, H5P_DEFAULT);
    if (f->kind == 'i') {
        h5_ints(group, f->name, f->count, f->values);
    } else if (f->kind == 'x') {
        h5_reals(group, f->name, f->count, f->values);
    } else if (f->kind == 't') {
        h5_text(group, f->name, f->values);
    } else if (f->kind == 'g') {
        H5Gclose(h5_group(group, f->name));
    }
    H5Gclose(group);
    H5Fclose(file);
    sim_error error = {0};
    sim_problem_file *read = sim_problem_file_read(path, &error);
    cr_expect_null(read, "%s/%s", f->group, f->name);
    cr_expect(strstr(error.text, f->words), "'%s' is not in: %s", f->words, error.text);
    is_a_sentence(&error);
    sim_problem_file_free(read);
    unlink(path);
}

Test(problem_hostile, files_of_fclib_are_refused_with_the_place_and_the_reason) {
    static const int two = 2, three = 3, five = 5, minus = -3, many = 1000000000, none = 0;
    static const double nan_mu[8] = {0.5, NAN}, below[8] = {0.5, -0.1}, above[8] = {0.5, 1e40}, one[1] = {1};
    int indices[576] = {0}, start[25] = {0};
    indices[17] = 24;
    start[3] = -1;
    const fault faults[] = {
        {local, "/", "fclib_local", 'd', 0, NULL, "not a contact problem"},
        {local, "/", "fclib_local", 'x', 1, one, "/fclib_local: should be a group"},
        {local, "/fclib_local", "spacedim", 'i', 1, &two, "plane problems are not supported"},
        {local, "/fclib_local", "spacedim", 'i', 1, &five, "rolling friction is read from fclib_global_rolling"},
        {local, "/fclib_local", "spacedim", 'x', 1, one, "spacedim: should hold whole numbers"},
        {local, "/fclib_local", "spacedim", 'd', 0, NULL, "spacedim: is missing"},
        {local, "/fclib_local/vectors", "mu", 'd', 0, NULL, "/fclib_local/vectors/mu: is missing"},
        {local, "/fclib_local/vectors", "mu", 'x', 8, nan_mu, "number 1 is not finite"},
        {local, "/fclib_local/vectors", "mu", 'x', 8, below, "not from 0 to 1000"},
        {local, "/fclib_local/vectors", "mu", 'x', 8, above, "not from 0 to 1000"},
        {local, "/fclib_local/vectors", "mu", 'i', 1, &three, "should hold numbers in floating point"},
        {local, "/fclib_local/vectors", "q", 'x', 8, below, "q: holds 8 numbers where 24 are needed"},
        {local, "/fclib_local/vectors", "q", 't', 0, "text", "floating point"},
        {local, "/fclib_local/W", "m", 'i', 1, &three, "is 3 x 24"},
        {local, "/fclib_local/W", "n", 'i', 1, &many, "is 24 x 1000000000"},
        {local, "/fclib_local/W", "m", 'i', 1, &minus, "within its range"},
        {local, "/fclib_local/W", "nz", 'i', 1, &minus, "within its range"},
        {local, "/fclib_local/W", "nz", 'i', 1, &many, "more entries than there are"},
        {local, "/fclib_local/W", "nz", 'g', 0, NULL, "nz: should hold whole numbers"},
        {local, "/fclib_local/W", "i", 'i', 576, indices, "entry 17 is 24, outside 0 .. 23"},
        {local, "/fclib_local/W", "i", 'i', 1, &none, "p: should rise"},
        {local, "/fclib_local/W", "p", 'i', 25, start, "p: should rise"},
        {local, "/fclib_local/W", "p", 'i', 1, &none, "one number more"},
        {local, "/fclib_local/W", "x", 'i', 1, &none, "x: should hold numbers in floating point"},
        {local, "/fclib_local", "W", 'd', 0, NULL, "/fclib_local/W: is missing"},
        {local, "/fclib_local", "W", 't', 0, "text", "/fclib_local/W: should be a group"},
        {global, "/fclib_global/vectors", "f", 'x', 1, one, "M: is 42 x 42"},
        {global, "/fclib_global/vectors", "w", 'x', 1, one, "w: holds 1 numbers where 84"},
        {global, "/fclib_global", "M", 'd', 0, NULL, "M: is missing"},
        {global, "/fclib_global", "H", 'g', 0, NULL, "H/m: is missing"},
        {global, "/fclib_global/M", "nz", 'i', 1, &none, "not positive definite"},
        {global, "/fclib_global/H", "nz", 'i', 1, &minus, "within its range"},
    };
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        is_refused(&faults[k]);
    }
}

static void put_strange_things(hid_t file, int which) {
    hid_t space = H5Screate(H5S_SCALAR), type;
    hsize_t huge[2] = {1u << 30, 1u << 30};
    if (which == 0) {
        H5Lcreate_soft("/nowhere", file, "link", H5P_DEFAULT, H5P_DEFAULT);
    } else if (which == 1) {
        H5Lcreate_external("/etc/passwd", "/", file, "link", H5P_DEFAULT, H5P_DEFAULT);
    } else if (which == 2) { /* a group within itself */
        hid_t group = h5_group(file, "loop");
        H5Lcreate_hard(group, ".", group, "loop", H5P_DEFAULT, H5P_DEFAULT);
    } else if (which == 3) {
        type = H5Tvlen_create(H5T_STD_I32LE);
        H5Dcreate2(file, "varying", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    } else if (which == 4) {
        H5Dcreate2(file, "reference", H5T_STD_REF_OBJ, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    } else if (which == 5) {
        H5Dcreate2(file, "huge", H5T_STD_I8LE, H5Screate_simple(2, huge, NULL), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    } else {
        H5Tcommit2(file, "type", H5Tcopy(H5T_STD_I8LE), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    }
}

Test(problem_hostile, files_with_what_cannot_be_kept_are_refused) {
    static const char *const words[] = {"/link: is a link to elsewhere",
                                        "/link: is a link to elsewhere",
                                        "is nested too deep",
                                        "/varying: holds values of a type",
                                        "/reference: holds values",
                                        "/huge: states a size beyond",
                                        "/type: is neither"};
    for (int which = 0; which < 7; which++) {
        char path[] = "/tmp/hostile_XXXXXX";
        close(mkstemp(path));
        copy_file(local, path);
        hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
        put_strange_things(file, which);
        H5Fclose(file);
        H5Pclose(access);
        sim_error error = {0};
        cr_expect_null(sim_problem_file_read(path, &error));
        cr_expect(strstr(error.text, words[which]), "'%s' is not in: %s", words[which], error.text);
        is_a_sentence(&error);
        unlink(path);
    }
}

Test(problem_hostile, texts_of_varying_length_are_kept_as_texts) {
    char path[] = "/tmp/hostile_XXXXXX";
    close(mkstemp(path));
    copy_file(local, path);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Ldelete(file, "/fclib_local/info/title", H5P_DEFAULT);
    H5Tset_size(type, H5T_VARIABLE);
    hid_t set = H5Dcreate2(file, "/fclib_local/info/title", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const char *text = "as other programs write it";
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text);
    H5Dclose(set);
    H5Fclose(file);
    sim_error error = {0};
    sim_problem_file *read = sim_problem_file_read(path, &error);
    cr_assert_not_null(read, "%s", error.text);
    cr_expect_str_eq(sim_problem_file_info(read, "title"), text);
    cr_assert_eq(sim_problem_file_write(read, path, &error), SIM_OK, "%s", error.text);
    sim_problem_file_free(read);
    read = sim_problem_file_read(path, &error);
    cr_expect_str_eq(sim_problem_file_info(read, "title"), text);
    sim_problem_file_free(read);
    unlink(path);
}

Test(problem_hostile, arrays_that_stand_in_other_files_are_refused) {
    static const char *const words[] = {"stands in another file (external storage)", "(a virtual dataset)"};
    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        char path[] = "/tmp/hostile_XXXXXX", place[100];
        close(mkstemp(path));
        copy_file(local, path);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
              group = H5Gopen2(file, "/fclib_local/vectors", H5P_DEFAULT);
        H5Ldelete(group, "q", H5P_DEFAULT);
        h5_elsewhere(group, "q", 24, "/dev/zero", is_virtual);
        h5_elsewhere(group, "unknown", 24, "/dev/zero", is_virtual);
        H5Gclose(group);
        H5Fclose(file);
        sim_error error = {0};
        cr_expect_null(sim_problem_file_read(path, &error));
        snprintf(place, sizeof place, "/fclib_local/vectors/q: ");
        cr_expect(strstr(error.text, place) && strstr(error.text, words[is_virtual]), "%s", error.text);
        is_a_sentence(&error);
        file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        H5Ldelete(file, "/fclib_local/vectors/q", H5P_DEFAULT);
        H5Fclose(file);
        cr_expect_null(sim_problem_file_read(path, &error)); /* though nobody asks for this one */
        cr_expect(strstr(error.text, "/fclib_local/vectors/unknown: "), "%s", error.text);
        unlink(path);
    }
}

Test(problem_hostile, pipes_are_refused_without_waiting) {
    char path[] = "/tmp/hostile_XXXXXX";
    sim_error error = {0};
    close(mkstemp(path));
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    alarm(10);
    cr_expect_null(sim_problem_file_read(path, &error));
    alarm(0);
    cr_expect(strstr(error.text, "is not an ordinary file"), "%s", error.text);
    unlink(path);
}

Test(problem_hostile, files_that_are_no_files_are_refused) {
    static const char *const path[] = {"/nowhere/a.hdf5", "/tmp", "tests/app/scenes/arm.json", "/dev/null"};
    for (int k = 0; k < 4; k++) {
        sim_error error = {0};
        cr_expect_null(sim_problem_file_read(path[k], &error));
        cr_expect_eq(strncmp(error.text, path[k], strlen(path[k])), 0, "%s", error.text);
        is_a_sentence(&error);
    }
}

Test(problem_hostile, files_cut_short_are_refused) {
    for (int which = 0; which < 2; which++) {
        size_t size;
        char *bytes = bytes_of(which ? global : local, &size);
        for (size_t length = 0; length < size; length += length < 3000 ? 61 : 997) {
            sim_error error = {0};
            char *cut = malloc(length + 1);
            memcpy(cut, bytes, length);
            cr_expect_null(problem_file_parse(cut, length, &error), "%zu of %zu bytes", length, size);
            is_a_sentence(&error);
            free(cut);
        }
        free(bytes);
    }
}

/* Of our own group: every array in turn missing, too short, or of another type. */
Test(problem_hostile, arrays_of_our_own_group_are_needed_as_they_are) {
    static const char *const name[] = {"format", "step", "kind",     "rows",        "tree",     "block",
                                       "body",   "id",   "friction", "damping",     "force",    "gap",
                                       "v_free", "A",    "J",        "restitution", "stiffness"};
    static const int minus = -1;
    static const double one = 1;
    char path[] = "/tmp/hostile_XXXXXX";
    close(mkstemp(path));
    sim_error error = {0};
    sim_problem_file *file = sim_problem_file_read(global, &error);
    sim_problem_file *own = sim_problem_file_create(sim_problem_file_problem(file), "", "", &error);
    cr_assert_eq(sim_problem_file_write(own, path, &error), SIM_OK, "%s", error.text);
    sim_problem_file_free(own);
    sim_problem_file_free(file);
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++) {
        int whole = k < 1 || (k > 1 && k < 8), single = k < 2;
        is_refused(&(fault){path, "/sim_problem", name[k], 'd', 0, NULL, "is missing"});
        is_refused(&(fault){path, "/sim_problem", name[k], whole ? 'x' : 'i', 1, whole ? (const void *)&one : &minus,
                            "is not of the right type"});
        if (!single) {
            is_refused(&(fault){path, "/sim_problem", name[k], whole ? 'i' : 'x', 1,
                                whole ? (const void *)&minus : &one,
                                whole                       ? ""
                                : strcmp(name[k], "J") == 0 ? "lies outside J"
                                                            : "holds 1 numbers"});
        }
    }
    unlink(path);
}

/* Arrays of the right size with a number in them that means nothing: which, and where, is said. */
Test(problem_hostile, numbers_of_our_own_group_are_refused_with_file_array_and_place) {
    char path[] = "/tmp/hostile_XXXXXX";
    close(mkstemp(path));
    sim_error error = {0};
    sim_problem_file *file = sim_problem_file_read(global, &error);
    sim_law_options law = sim_law_options_default();
    sim_problem_file *own = sim_problem_file_create_under(sim_problem_file_problem(file), &law, "", "", &error);
    cr_assert_eq(sim_problem_file_write(own, path, &error), SIM_OK, "%s", error.text);
    const sim_problem *p = sim_problem_file_problem(own);
    int nc = p->nconstraint, size = 36 * p->ntree;
    double bad[600], A[600];
    cr_assert(p->nrow <= 600 && size <= 600);
    for (int t = 0; t < p->ntree; t++) {
        p->mass.matrix(p->mass.self, t, A + 36 * t);
    }
    static const struct {
        const char *name;
        double value;
        const char *words;
    } number[] = {
        {"friction", -1, ": /sim_problem/friction[3] is -1 (contact): it must be from 0 to 1000"},
        {"friction", 1e37, ": /sim_problem/friction[3] is 1e+37 (contact): it must be from 0 to 1000"},
        {"stiffness", 0, ": /sim_problem/stiffness[3] is 0 (contact): it must be more than 0"},
        {"dissipation", NAN, ": /sim_problem/dissipation[3] is nan"},
        {"restitution", 1.5, ": /sim_problem/restitution[3] is 1.5 (contact): it must be from 0 to 1"},
        {"gap", NAN, ": /sim_problem/gap[3] is nan: it must be finite"},
        {"v_free", INFINITY, ": /sim_problem/v_free[3] is inf: it must be finite"},
    };
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++) {
        int count = k < 5 ? nc : k == 5 ? p->nrow : p->nv;
        for (int i = 0; i < count; i++) {
            bad[i] = i == 3 ? number[k].value : 1;
        }
        is_refused(&(fault){path, "/sim_problem", number[k].name, 'x', count, bad, number[k].words});
    }
    for (int k = 0; k < 2; k++) {
        memcpy(bad, A, (size_t)size * sizeof *bad);
        bad[36 + (k ? 7 : 1)] += k ? -1e9 : 1e-3;
        is_refused(&(fault){path, "/sim_problem", "A", 'x', size, bad,
                            k ? ": /sim_problem/A: the block of tree 1 is not positive definite"
                              : ": /sim_problem/A: tree 1 has "});
    }
    const double step = -1;
    is_refused(&(fault){path, "/sim_problem", "step", 'x', 1, &step, ": /sim_problem/step is -1 s"});
    const double beta = 0, push = 2;
    is_refused(&(fault){path, "/sim_problem/law", "beta", 'x', 1, &beta,
                        ": /sim_problem/law/beta: must be one number above 0"});
    is_refused(&(fault){path, "/sim_problem/law", "push", 'x', 1, &push,
                        ": /sim_problem/law/push: must be one number from 0, and at most 1"});
    sim_problem_file_free(own);
    sim_problem_file_free(file);
    unlink(path);
}

/* ---- what takes long ---- */

typedef struct patience {
    int asked, most;
} patience;

static bool has_had_enough(void *context) {
    patience *p = context;
    return p->asked++ >= p->most;
}

/* M with a full first column and row, which differ: elimination fills all of it. */
static void write_slow(const char *path, int dofs) {
    double *M = calloc((size_t)dofs * (size_t)dofs, sizeof *M), *H = calloc((size_t)dofs * 3, sizeof *H), mu = 0.5;
    for (int i = 0; i < dofs; i++) {
        M[i] = 0.5 / dofs;
        M[i * dofs] = 0.25 / dofs;
        M[i * dofs + i] = 2;
        H[3 * i + i % 3] = 1;
    }
    hid_t file = h5_new(path), root = h5_group(file, "fclib_global"), vectors = h5_group(root, "vectors");
    h5_int(root, "spacedim", 3);
    h5_matrix(root, "M", dofs, dofs, M, H5_TRIPLETS);
    h5_matrix(root, "H", dofs, 3, H, H5_TRIPLETS);
    h5_reals(vectors, "f", dofs, M);
    h5_reals(vectors, "w", 3, H);
    h5_reals(vectors, "mu", 1, &mu);
    H5Gclose(vectors);
    H5Gclose(root);
    H5Fclose(file);
    free(M);
    free(H);
}

/* Whenever one has had enough, after each array and each row that is eliminated, reading ends at once. */
Test(problem_hostile, reading_ends_when_who_waits_has_had_enough) {
    enum { DOFS = 40 };
    char path[] = "/tmp/hostile_XXXXXX";
    close(mkstemp(path));
    write_slow(path, DOFS);
    sim_problem_file *read = NULL;
    int most = 0;
    for (; !read && most < 1000; most++) {
        patience p = {0, most};
        sim_error error = {0};
        read = sim_problem_file_read_until(path, has_had_enough, &p, &error);
        cr_assert_eq(p.asked, read ? most : most + 1, "asked no more");
        cr_assert(read || (error.status == SIM_FAILED && strstr(error.text, "took too long")), "%s", error.text);
        cr_assert(read || strstr(error.text, path) == error.text, "%s", error.text);
    }
    cr_assert_not_null(read);
    cr_expect_gt(most, 2 * DOFS, "%d times", most);
    sim_problem_file_free(read);
    unlink(path);
}
