/* Warnings of overlaps at the start of a run.  A line for each of the deepest pairs, with the text of the scene or model
 * that excludes it. */
#include "app/run/overlaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN_PAIRS = 5 };

static int compare_depth(const void *a, const void *b) {
    const sim_overlap *x = a, *y = b;
    return x->depth != y->depth ? (x->depth < y->depth) - (x->depth > y->depth)
                                : (x->body[0] != y->body[0] ? x->body[0] - y->body[0] : x->body[1] - y->body[1]);
}

static bool is_scene(const char *path) {
    size_t length = strlen(path);
    return length >= 5 && strcmp(path + length - 5, ".json") == 0;
}

/* A pair, and the text that excludes it: of a scene, or of a model in MJCF.  URDF and SDFormat have none. */
static void warn_of_pair(const run_context *run, const sim_overlap *o) {
    const sim_model *m = run->scene->model;
    const char *a = m->body[o->body[0]].name, *b = m->body[o->body[1]].name;
    fprintf(stderr, "%s: warning: \"%s\" and \"%s\" overlap by %.3g m at the start: move them apart",
            run->request->scene, a, b, o->depth);
    if (is_scene(run->request->scene)) {
        fprintf(stderr, ", or write {\"first\": \"%s\", \"second\": \"%s\"} into \"exclusions\"\n", a, b);
    } else {
        bool other = m->nkeyframe > 0 && !run->request->start;
        fprintf(stderr, "%s%s%s%s\n", other ? ", start at another pose (--start " : "",
                other ? m->keyframe[0].name : "", other ? ")" : "",
                ", or exclude the pair (in MJCF <exclude> in <contact>)");
    }
}

/* All of them at once. */
static void tell_remedy(const run_context *run) {
    const char *path = run->request->scene;
    fprintf(stderr, "%s: (%s excludes all such pairs; else they separate at law/undo, %g m/s)\n", path,
            is_scene(path) ? "\"exclude\": \"initial\" in the world" : "--set world/exclude=initial",
            run->scene->options.law.undo);
}

sim_status warn_of_overlaps(const run_context *run, sim_error *error) {
    /* overlapping pairs */
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
        warn_of_pair(run, &list[k]);
    }
    if (count > MAX_SHOWN_PAIRS) {
        fprintf(stderr, "%s: warning: and %d more pairs overlap at the start\n", run->request->scene,
                count - MAX_SHOWN_PAIRS);
    }
    /* remedy */
    if (count) {
        tell_remedy(run);
    }
    free(list);
    return SIM_OK;
}
