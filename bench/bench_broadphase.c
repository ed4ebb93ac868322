/* How long does it take to find the boxes that meet?
 *
 * Scenes of 1,000 to 100,000 moving boxes:
 *   gas       sizes 0.5 to 1.5, each meets a few, free flight of up to 0.01 sizes a frame, in a closed container
 *   fast gas  the same, 0.2 sizes a frame
 *   pile      cubes side by side on a floor of still boxes, trembling by 1e-5
 *   cloud     cubes that fall together, 0.02 sizes a frame and faster by 0.0005 each frame
 *   anew      every box somewhere else in every frame: no coherence at all
 * Nanoseconds for each box and frame, in the first frame and in the mean and worst of later ones; pairs; the growth
 * exponent from the smallest to the largest; with two threads (wall time); beside all pairs and one-axis sweep and
 * prune at the sizes that these can do. */
#include "collide/broadphase/broadphase.h"
#include "support/models.h"
#include "support/quick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef enum scene_kind { GAS, FAST_GAS, PILE, CLOUD, ANEW, KINDS } scene_kind;
static const char *const kind_name[KINDS] = {"gas", "fast gas", "pile", "cloud", "anew"};

typedef struct scene {
    scene_kind kind;
    int count, moving, frame;
    double side;
    random_source random;
    v3 *place, *speed, *half;
    uint8_t *moves;
    aabb *box;
} scene;

/* Of the processor for one thread, so that other programs do not count; of the wall for more. */
static double seconds(int threads) {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static v3 random_place(random_source *r, double side) {
    return (v3){random_uniform(r, 0, side), random_uniform(r, 0, side), random_uniform(r, 0, side)};
}

static void put(scene *s, int i, v3 place) { s->box[i] = (aabb){v3_sub(place, s->half[i]), v3_add(place, s->half[i])}; }

static void place_boxes(scene *s) {
    int across = (int)ceil(cbrt(s->moving));
    for (int i = 0; i < s->moving; i++) {
        int x = i % across, y = i / across % across, z = i / (across * across);
        s->half[i] = (v3){0.5, 0.5, 0.5};
        s->moves[i] = 1;
        if (s->kind == PILE) {
            s->place[i] = (v3){x + 0.5, y + 0.5, z + 0.5};
        } else {
            double h = s->kind == CLOUD ? 0.5 : random_uniform(&s->random, 0.25, 0.75);
            s->half[i] = (v3){h, h, h};
            s->place[i] = random_place(&s->random, s->side);
        }
        double u = s->kind == FAST_GAS ? 0.2 : 0.01;
        s->speed[i] = v3_scale(random_uniform(&s->random, 0, u), random_unit(&s->random));
    }
    int tiles = (int)ceil(sqrt(s->count - s->moving));
    for (int i = s->moving; i < s->count; i++) { /* a floor */
        double tile = 1.2 * s->side / tiles;
        s->half[i] = (v3){tile / 2, tile / 2, 0.5};
        s->place[i] = (v3){tile * (i % tiles), tile * (i / tiles % tiles), -0.5};
        put(s, i, s->place[i]);
    }
}

static scene make_scene(scene_kind kind, int moving) {
    size_t n = (size_t)(moving + moving / 10);
    scene s = {.kind = kind, .count = (int)n, .moving = moving, .random = {7}};
    s.side = cbrt(moving / 0.8); /* 0.8 boxes of unit size in a unit volume: each meets some six others */
    s.place = calloc(n, sizeof *s.place);
    s.speed = calloc(n, sizeof *s.speed);
    s.half = calloc(n, sizeof *s.half);
    s.moves = calloc(n, 1);
    s.box = calloc(n, sizeof *s.box);
    place_boxes(&s);
    return s;
}

static void free_scene(scene *s) {
    free(s->place);
    free(s->speed);
    free(s->half);
    free(s->moves);
    free(s->box);
}

static double bounced(double x, double *v, double side) {
    *v = x < 0 ? fabs(*v) : x > side ? -fabs(*v) : *v;
    return x + *v;
}

static void advance(scene *s) {
    for (int i = 0; i < s->moving; i++) {
        v3 *p = &s->place[i], *v = &s->speed[i];
        switch (s->kind) {
        case PILE:
            put(s, i, v3_axpy(*p, 1e-5, random_unit(&s->random)));
            continue;
        case ANEW:
            *p = random_place(&s->random, s->side);
            break;
        case CLOUD:
            p->z -= 0.02 + 0.0005 * s->frame;
            break;
        default:
            p->x = bounced(p->x, &v->x, s->side);
            p->y = bounced(p->y, &v->y, s->side);
            p->z = bounced(p->z, &v->z, s->side);
        }
        put(s, i, *p);
    }
    s->frame++;
}

typedef struct figures {
    double first, mean, worst, pairs, bytes;
} figures;

static figures measure(scene_kind kind, int moving, int threads) {
    int frames = moving >= 100000 ? 40 : 100;
    scene s = make_scene(kind, moving);
    sim_threads *t = threads_create(threads);
    broad_phase *b = broadphase_create(s.count, s.moves, NULL, NULL);
    figures f = {0};
    const broad_pair *pairs;
    for (int k = 0; k <= frames; k++) {
        advance(&s);
        double begin = seconds(threads);
        f.pairs = broadphase_update(b, s.box, t, &pairs);
        double taken = 1e9 * (seconds(threads) - begin) / moving;
        if (k == 0) {
            f.first = taken;
        } else {
            f.mean += taken / frames;
            f.worst = fmax(f.worst, taken);
        }
    }
    f.bytes = (double)broadphase_bytes(b) / moving;
    broadphase_free(b);
    threads_free(t);
    free_scene(&s);
    return f;
}

static int meet(const aabb *a, const aabb *b) {
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static double all_pairs(const scene *s, double *pairs) {
    double begin = seconds(1);
    long found = 0;
    for (int i = 0; i < s->moving; i++) {
        for (int j = i + 1; j < s->count; j++) {
            found += meet(&s->box[i], &s->box[j]);
        }
    }
    *pairs = (double)found;
    return 1e9 * (seconds(1) - begin) / s->moving;
}

static int by_low_x(const void *a, const void *b) {
    const aabb *p = a, *q = b;
    return (p->low.x > q->low.x) - (p->low.x < q->low.x);
}

/* The moving boxes sorted along one axis, each against those that begin before it ends; sorting is not counted. */
static double sweep(const scene *s, double *pairs) {
    aabb *sorted = malloc((size_t)s->moving * sizeof *sorted);
    for (int i = 0; i < s->moving; i++) {
        sorted[i] = s->box[i];
    }
    qsort(sorted, (size_t)s->moving, sizeof *sorted, by_low_x);
    double begin = seconds(1);
    long found = 0;
    for (int i = 0; i < s->moving; i++) {
        for (int j = i + 1; j < s->moving && sorted[j].low.x <= sorted[i].high.x; j++) {
            found += meet(&sorted[i], &sorted[j]);
        }
    }
    *pairs = (double)found;
    free(sorted);
    return 1e9 * (seconds(1) - begin) / s->moving;
}

static void compare(int many) {
    double pairs, taken;
    scene small = make_scene(GAS, 1000), large = make_scene(GAS, many);
    advance(&small);
    advance(&large);
    taken = all_pairs(&small, &pairs);
    printf("all pairs        %7d boxes: %8.1f ns a box, %.2f pairs a box\n", 1000, taken, pairs / 1000);
    taken = sweep(&small, &pairs);
    printf("sweep along x    %7d boxes: %8.1f ns a box, %.2f pairs a box, without sorting\n", 1000, taken,
           pairs / 1000);
    taken = sweep(&large, &pairs);
    printf("sweep along x    %7d boxes: %8.1f ns a box, %.2f pairs a box, without sorting\n", many, taken,
           pairs / many);
    free_scene(&small);
    free_scene(&large);
}

int main(int count, char **word) {
    int many = asked_quick(count, word) ? 2000 : 100000;
    printf("%-9s %7s %8s %10s %10s %10s %12s %10s %8s\n", "scene", "boxes", "threads", "first [ns]", "mean [ns]",
           "worst [ns]", "pairs/box", "Mpairs/s", "B/box");
    for (scene_kind kind = 0; kind < KINDS; kind++) {
        double smallest = 0;
        for (int n = 1000; n <= many; n *= 10) {
            for (int threads = 1; threads <= 2; threads++) {
                figures f = measure(kind, n, threads);
                smallest = n == 1000 && threads == 1 ? f.mean : smallest;
                printf("%-9s %7d %8d %10.1f %10.1f %10.1f %12.2f %10.1f %8.0f", kind_name[kind], n, threads, f.first,
                       f.mean, f.worst, f.pairs / n, 1e3 * f.pairs / n / f.mean, f.bytes);
                if (n == many && threads == 1) {
                    printf("  exponent %.2f", 1 + log(f.mean / smallest) / log(100));
                }
                printf("\n");
            }
        }
    }
    compare(many);
    return 0;
}
