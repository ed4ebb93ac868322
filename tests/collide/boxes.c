#include "collide/boxes.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static v3 in_cube(random_source *r, double side) {
    return (v3){random_uniform(r, 0, side), random_uniform(r, 0, side), random_uniform(r, 0, side)};
}

static v3 cube(double half) { return (v3){half, half, half}; }

/* So that, of boxes of size 1, each meets some six others. */
static double side_of(const boxes *b) { return cbrt(b->count / 0.8); }

static v3 anywhere(boxes *b, int i) {
    random_source *r = &b->random;
    double side = side_of(b);
    switch (b->layout) {
    case CLUSTERED: {
        int heap = random_index(r, 10);
        double far = pow(10, heap - 5), spread = pow(10, (heap * 7) % 5 - 3);
        return v3_axpy((v3){far, -2 * far, heap}, spread, in_cube(r, 1));
    }
    case ONE_SPOT:
        return in_cube(r, 1e-3);
    case LINE:
        return (v3){0, random_uniform(r, 0, b->count / 4.0), 0};
    case GRID: {
        int across = (int)ceil(cbrt(b->count));
        return (v3){i % across, i / across % across, i / (across * across)};
    }
    case POINTS:
        return (v3){random_index(r, 8), random_index(r, 8), random_index(r, 8)};
    case ASTRAY:
        return random_index(r, 20) ? in_cube(r, side) : v3_scale(pow(10, random_uniform(r, 6, 15)), random_unit(r));
    default:
        return in_cube(r, side);
    }
}

static v3 half_size(boxes *b, int i) {
    random_source *r = &b->random;
    switch (b->layout) {
    case GRID:
        return cube(0.5);
    case POINTS:
        return cube(0);
    case CLUSTERED:
        return cube(pow(10, random_uniform(r, -4, -1)));
    case GIANTS:
        return cube(i % 50 ? 0.01 : side_of(b) * random_uniform(r, 0.2, 1));
    case SIZES:
        return cube(0.5e-4 * side_of(b) * pow(10, random_uniform(r, 0, 4)));
    case PLATES: {
        v3 h = {random_uniform(r, 0.001, 0.01), random_uniform(r, 0.1, 0.5), random_uniform(r, 0.5, 3)};
        return i % 3 == 0 ? h : i % 3 == 1 ? (v3){h.z, h.x, h.y} : (v3){h.x, h.z, h.x};
    }
    case INFINITE:
        return i % 10 ? cube(0.5)
                      : (v3){INFINITY, i % 20 ? INFINITY : 0.5, i % 30 ? INFINITY : random_uniform(r, 0, 2)};
    default:
        return cube(random_uniform(r, 0.25, 0.75));
    }
}

static void put(boxes *b, int i) {
    v3 p = v3_add(v3_scale(b->scale, b->place[i]), (v3){b->offset, -b->offset, b->offset});
    b->box[i] = (aabb){v3_axpy(p, -b->scale, b->half[i]), v3_axpy(p, b->scale, b->half[i])};
    if (b->layout == INFINITE && i % 20 == 0) {
        b->box[i].high.z = p.z; /* a half-space */
    }
}

boxes make_boxes(box_layout layout, int count, double offset, double scale, uint64_t seed) {
    size_t n = (size_t)count;
    boxes b = {.count = count, .random = {seed}, .offset = offset, .scale = scale, .layout = layout};
    b.place = calloc(n, sizeof *b.place);
    b.half = calloc(n, sizeof *b.half);
    b.speed = calloc(n, sizeof *b.speed);
    b.moves = calloc(n, 1);
    b.box = calloc(n, sizeof *b.box);
    for (int i = 0; i < count; i++) {
        b.moves[i] = (uint8_t)(random_index(&b.random, 4) != 0);
        b.half[i] = half_size(&b, i);
        b.place[i] = anywhere(&b, i);
        b.speed[i] = v3_scale(random_uniform(&b.random, 0, 2), random_unit(&b.random));
        put(&b, i);
    }
    return b;
}

void free_boxes(boxes *b) {
    free(b->place);
    free(b->half);
    free(b->speed);
    free(b->moves);
    free(b->box);
}

static void walk_box(boxes *b, int i, box_walk how) {
    random_source *r = &b->random;
    v3 *p = &b->place[i];
    double size = isfinite(b->half[i].x) ? 2 * b->half[i].x : 1;
    switch (how) {
    case TREMBLE:
        *p = v3_axpy(*p, 1e-6 * size, random_unit(r));
        break;
    case CREEP:
        *p = v3_axpy(*p, 0.02 * size, b->speed[i]);
        break;
    case FLY:
        *p = v3_axpy(*p, 0.6 * size, random_unit(r));
        break;
    case DRIFT:
        *p = v3_add(*p, (v3){0.1, -0.03, 0.01});
        break;
    case JUMP:
        *p = random_index(r, 10) ? *p : anywhere(b, i);
        break;
    case SCATTER:
        *p = anywhere(b, i);
        break;
    case CROWD:
        *p = v3_scale(0.99, *p);
        break;
    case EXPLODE:
        *p = v3_scale(1.5, *p);
        break;
    case TUMBLE:
        b->half[i] = v3_scale(random_uniform(r, 0.9, 1.1), (v3){b->half[i].y, b->half[i].z, b->half[i].x});
        break;
    default:
        break;
    }
    put(b, i);
    if (how == VANISH && random_index(r, 10) == 0) {
        double *bad[] = {&b->box[i].low.x, &b->box[i].low.y, &b->box[i].high.y, &b->box[i].high.z};
        int k = random_index(r, 5);
        if (k < 4) {
            *bad[k] = NAN;
        } else {
            b->box[i].low.z = b->box[i].high.z + 1;
        }
    }
}

void walk_boxes(boxes *b, box_walk how) {
    for (int i = 0; i < b->count; i++) {
        if (b->moves[i]) {
            walk_box(b, i, how);
        }
    }
}

static int is_box(const aabb *a) { return a->low.x <= a->high.x && a->low.y <= a->high.y && a->low.z <= a->high.z; }

static int touch(const aabb *a, const aabb *b) {
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

broad_pair *every_pair(const boxes *b, broad_filter *filter, void *context, int *count) {
    int room = 1024, n = 0;
    broad_pair *pairs = malloc((size_t)room * sizeof *pairs);
    for (int i = 0; i < b->count; i++) {
        for (int j = i + 1; j < b->count; j++) {
            if ((b->moves[i] || b->moves[j]) && is_box(&b->box[i]) && is_box(&b->box[j]) &&
                touch(&b->box[i], &b->box[j]) && (!filter || filter(context, i, j))) {
                if (n == room) {
                    room *= 2;
                    pairs = realloc(pairs, (size_t)room * sizeof *pairs);
                }
                pairs[n++] = (broad_pair){i, j};
            }
        }
    }
    *count = n;
    return pairs;
}

int first_difference(const broad_pair *a, int na, const broad_pair *b, int nb) {
    for (int k = 0; k < na || k < nb; k++) {
        if (k >= na || k >= nb || a[k].a != b[k].a || a[k].b != b[k].b) {
            return k;
        }
    }
    return -1;
}

void expect_every_pair(broad_phase *b, const boxes *s, sim_threads *threads, const char *what, int kind, int frame) {
    const broad_pair *pairs;
    int n, count = broadphase_update(b, s->box, threads, &pairs);
    broad_pair *expected = every_pair(s, NULL, NULL, &n);
    int at = first_difference(pairs, count, expected, n);
    cr_assert_eq(at, -1, "%s %d, frame %d: %d pairs, expected %d, first difference at %d", what, kind, frame, count, n,
                 at);
    free(expected);
}
