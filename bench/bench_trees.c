/* What does contact cost a tree of many dofs, and where does the time go?
 *
 * An arm, a quadruped and a humanoid that stand, chains of 100 and 1,000 links lying in loops on themselves.  CPU
 * microseconds, the least of many calls: rows and masses (build); the diagonal blocks of J A^-1 J' by half solves and
 * by whole ones, all of it by either; the solver; the judge; all of the answer. */
#include "solver/matrices/delassus.h"
#include "support/quick.h"
#include "support/touched.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct subject {
    const char *name;
    touched *t;
    const sim_problem *p;
    sim_problem whole; /* the same without half solves */
    sim_arena *scratch;
    double *W, *R, *target, *v, *impulse, *work;
    sim_solver *solver;
    int iterations;
} subject;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void build(subject *s) { s->p = touched_build(s->t, 0); }
static void diagonal(subject *s) { delassus_diagonal(s->p, NULL, s->scratch, s->W); }
static void diagonal_whole(subject *s) { delassus_diagonal(&s->whole, NULL, s->scratch, s->W); }

static void assemble(const sim_problem *p, subject *s) {
    delassus_response Y;
    sim_delassus W;
    bool many;
    delassus_response_make(p, 1, s->scratch, &Y);
    delassus_pattern(p, SIZE_MAX, s->scratch, &W, &many);
    delassus_assemble(p, &Y, s->scratch, &W);
    arena_release(s->scratch, 0);
}
static void all(subject *s) { assemble(s->p, s); }
static void all_whole(subject *s) { assemble(&s->whole, s); }

static void solve(subject *s) {
    sim_regularisation law = {s->R, s->target};
    sim_solution out = {.v = s->v, .impulse = s->impulse};
    sim_solver_solve(s->solver, s->p, &law, &out, NULL);
    s->iterations = out.iterations;
}

static void judge(subject *s) {
    sim_regularisation law = {s->R, s->target};
    sim_judgement judgement;
    sim_judge(s->p, &law, &law, SIM_CONE_CONVEX, s->v, s->impulse, s->work, &judgement);
}

static void answer(subject *s) { touched_solve(s->t); }

static double microseconds(subject *s, int batches, void (*call)(subject *)) {
    double best = INFINITY, begin = seconds();
    for (int batch = 0; batch < batches && (batch < 3 || seconds() - begin < 0.5); batch++) {
        double first = seconds(), took = 0;
        int calls = 0;
        while (took < 2e-4) {
            call(s);
            calls++;
            took = seconds() - first;
        }
        best = fmin(best, took / calls);
    }
    return 1e6 * best;
}

static void measure(const char *name, sim_model *m, const sim_contact *contact, int count, int huge, int batches) {
    subject s = {.name = name, .t = touched_create(m, NULL, NULL, 0, contact, count, "sap", 0)};
    size_t rows = 3 * (size_t)count, nv = (size_t)m->nv;
    sim_law_options law = sim_law_options_default();
    void (*call[])(subject *) = {build, diagonal, diagonal_whole, all, all_whole, solve, judge, answer};
    build(&s);
    s.whole = *s.p;
    s.whole.mass.half = NULL;
    s.scratch = arena_create();
    s.solver = sim_solver_create(sim_solver_find("sap"), NULL, NULL);
    s.W = calloc(3 * rows, sizeof(double));
    s.R = calloc(rows, sizeof(double));
    s.target = calloc(rows, sizeof(double));
    s.v = calloc(nv, sizeof(double));
    s.impulse = calloc(rows, sizeof(double));
    s.work = calloc(sim_judge_work(s.p), sizeof(double));
    diagonal(&s);
    sim_regularise(s.p, SIM_NEAR_RIGID, &law, s.W, s.R, s.target);
    printf("%-12s %6d %8d", name, m->nv, count);
    for (size_t k = 0; k < sizeof call / sizeof *call; k++) {
        if (huge && (call[k] == all || call[k] == all_whole)) {
            printf(" %10s", "-");
        } else {
            printf(" %10.1f", microseconds(&s, batches, call[k]));
        }
    }
    printf(" %6d\n", s.iterations);
    free(s.W);
    free(s.R);
    free(s.target);
    free(s.v);
    free(s.impulse);
    free(s.work);
    sim_solver_free(s.solver);
    arena_free(s.scratch);
    touched_free(s.t);
}

int main(int argc, char **argv) {
    int quick = asked_quick(argc, argv);
    static sim_contact contact[4000];
    struct {
        const char *name;
        sim_model *model;
        int each, turn;
    } tree[] = {{"arm", arm_model(), 2, 0},
                {"quadruped", quadruped_model(), 1, 0},
                {"humanoid", humanoid_model(), 2, 0},
                {"chain", swinging_chain(100), 1, 40},
                {"chain", swinging_chain(1000), 4, 300}};
    printf("%-12s %6s %8s %10s %10s %10s %10s %10s %10s %10s %10s %6s\n", "tree", "dofs", "contacts", "build", "W_ii",
           "by solves", "W", "by solves", "sap", "judge", "answer", "steps");
    for (size_t k = 0; k < sizeof tree / sizeof *tree; k++) {
        sim_model *m = tree[k].model;
        int count = tree[k].turn ? looped_contacts(m, tree[k].turn, tree[k].each, contact)
                                 : standing_contacts(m, tree[k].each, contact);
        measure(tree[k].name, m, contact, quick && count > 1000 ? 100 : count, count > 1000, quick ? 1 : 200);
    }
    return 0;
}
