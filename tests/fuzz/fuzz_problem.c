/* Any tree at all through the reader of contact problems: it must not crash, leak or hang, must say why it refuses, and
 * what it accepts must be sound.
 *
 * The input gives the tree itself: HDF5's own parsing is not tested here.  An item is a byte for what it is and which
 * name it has, then for arrays a byte with their length and a byte for each number; see `number_of` and `real_of`. */
#include "record/problem/problem_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "fclib_local",
    "fclib_global",
    "sim_problem",
    "vectors",
    "info",
    "W",
    "M",
    "H",
    "G",
    "V",
    "R",
    "guesses",
    "1",
    "solution",
    "m",
    "n",
    "nz",
    "nzmax",
    "i",
    "p",
    "x",
    "mu",
    "q",
    "s",
    "f",
    "w",
    "b",
    "spacedim",
    "r",
    "l",
    "v",
    "format",
    "step",
    "kind",
    "rows",
    "tree",
    "block",
    "body",
    "id",
    "friction",
    "stiffness",
    "dissipation",
    "restitution",
    "bound",
    "damping",
    "force",
    "gap",
    "offset",
    "v_free",
    "v_start",
    "v_guess",
    "impulse_guess",
    "A",
    "J",
    "tree_velocities",
    "start",
    "column",
    "at",
    "value",
    "symmetric",
};
enum { NAMES = sizeof names / sizeof names[0], GROUP = 0, WHOLE = 64, REAL = 128, END = 192 };

static void demand(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

typedef struct input {
    const uint8_t *at, *end;
} input;

static int64_t number_of(uint8_t byte) {
    static const int64_t odd[] = {INT64_MAX, INT64_MIN, 2147483647, -2147483648ll, 1000000, 4294967296ll};
    return byte >= 250 ? odd[byte - 250] : byte >= 200 ? 199 - (int64_t)byte : byte;
}

static double real_of(uint8_t byte) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e-320, 1e-300};
    return byte >= 249 ? odd[byte - 249] : ((double)byte - 100) / 8;
}

static uint8_t take(input *in) { return in->at < in->end ? *in->at++ : END; }

static void fill_array(store *s, store_node *parent, const char *name, int real, input *in) {
    int64_t whole[255];
    double reals[255];
    int count = 0, wanted = take(in);
    for (; count < wanted && count < 255 && in->at < in->end; count++) {
        uint8_t byte = take(in);
        whole[count] = number_of(byte);
        reals[count] = real_of(byte);
    }
    if (real) {
        store_real(s, parent, name, 1, count, reals);
    } else {
        store_whole(s, parent, name, STORE_I64, 1, count, whole);
    }
}

static void fill(store *s, void *data) {
    input *in = data;
    store_node *group[8] = {&s->root};
    for (int depth = 0; in->at < in->end;) {
        uint8_t byte = take(in);
        const char *name = names[byte % 64 < NAMES ? byte % 64 : 0];
        if (byte >= END) {
            depth -= depth > 0;
        } else if (byte >= WHOLE) {
            fill_array(s, group[depth], name, byte >= REAL, in);
        } else if (depth < 7) {
            group[depth + 1] = store_group(s, group[depth], name);
            depth++;
        }
    }
}

static void check_refusal(const sim_error *error) {
    demand(error->status == SIM_BAD_INPUT && error->text[0], "a refusal has a reason");
    for (const unsigned char *c = (const unsigned char *)error->text; *c; c++) {
        demand(*c >= 0x20 && *c < 0x7f, "messages are printable, on one line");
    }
}

/* Touches all that a solver would. */
static void check_problem(const sim_problem *p) {
    double sum = p->step;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        demand(c->row >= 0 && c->rows >= 1 && c->row + c->rows <= p->nrow, "rows are rows of the problem");
        for (int side = 0; side < 2 && !sim_problem_local(p) && c->tree[side] >= 0; side++) {
            int n = c->rows * p->tree[c->tree[side]].nv;
            for (int k = 0; k < n; k++) {
                sum += p->J[c->block[side] + k];
            }
        }
        for (int k = sim_problem_local(p) ? p->W->start[i] : 0; sim_problem_local(p) && k < p->W->start[i + 1]; k++) {
            int n = c->rows * p->constraint[p->W->column[k]].rows;
            for (int e = 0; e < n; e++) {
                sum += p->W->value[p->W->at[k] + e];
            }
        }
    }
    for (int k = 0; k < p->nrow; k++) {
        demand(isfinite(p->gap[k]), "gaps are finite");
    }
    demand(!isnan(sum) || p->nrow > 0, "numbers are numbers");
}

static void check_answer(sim_problem_file *file) {
    const sim_problem *p = sim_problem_file_problem(file);
    double *impulse = calloc((size_t)p->nrow + 1, sizeof *impulse);
    sim_error error = {0};
    demand(sim_problem_file_answer(file, impulse, "nobody", &error) == SIM_OK, "an answer can be put in");
    sim_problem_file *copy = sim_problem_file_create(p, "title", "", &error);
    demand(copy != NULL, "what was read can be written");
    sim_problem_file_free(copy);
    free(impulse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sim_error error = {0};
    input in = {data, data + size};
    sim_problem_file *file = problem_file_of_tree(fill, &in, &error);
    if (file) {
        check_problem(sim_problem_file_problem(file));
        check_answer(file);
        sim_problem_file_free(file);
    } else {
        check_refusal(&error);
    }
    return 0;
}
