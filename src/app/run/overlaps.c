/* Warnings of overlaps at the start of a run.  A line for each of the deepest pairs, with the scene text that excludes
 * it. */
#include "app/run/overlaps.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_SHOWN_PAIRS = 5 };

static int compare_depth(const void *a, const void *b) {
    const sim_overlap *x = a, *y = b;
    return x->depth != y->depth ? (x->depth < y->depth) - (x->depth > y->depth)
                                : (x->body[0] != y->body[0] ? x->body[0] - y->body[0] : x->body[1] - y->body[1]);
}

sim_status warn_of_overlaps(const run_context *run, sim_error *error) {
    /* overlapping pairs */
    const sim_model *m = run->scene->model;
    sim_overlap *list;
    int count;
    sim_status status = sim_world_overlaps(run->world, &list, &count, error);
    if (status) {
        return status;
    }
    /* the deepest first */
    if (count) {
        qsort(list, (size_t)count, sizeof *list, compare_depth);
    }
    for (int k = 0; k < count && k < MAX_SHOWN_PAIRS; k++) {
        const char *a = m->body[list[k].body[0]].name, *b = m->body[list[k].body[1]].name;
        fprintf(stderr,
                "%s: warning: \"%s\" and \"%s\" overlap by %.3g m at the start: move them apart, or write {\"first\": "
                "\"%s\", \"second\": \"%s\"} into \"exclusions\"\n",
                run->request->scene, a, b, list[k].depth, a, b);
    }
    if (count > MAX_SHOWN_PAIRS) {
        fprintf(stderr, "%s: warning: and %d more pairs overlap at the start\n", run->request->scene,
                count - MAX_SHOWN_PAIRS);
    }
    /* remedy */
    if (count) {
        fprintf(stderr,
                "%s: (\"exclude\": \"initial\" in the world excludes all such pairs; else they separate at law/undo, "
                "%g m/s)\n",
                run->request->scene, run->scene->options.law.undo);
    }
    free(list);
    return SIM_OK;
}
