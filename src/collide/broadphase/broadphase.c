/* Broad phase with boxes enlarged by a skin, for shapes that move little.
 *
 * Each moving box has a fat box around it that stays put until the box leaves it.  The candidates are the pairs whose
 * fat boxes meet; they hold for as long as no box leaves.  This is Verlet's neighbour list with a skin (Physical Review
 * 159, 98 (1967)), with a skin for each box.  A quiet frame only tests the boxes of the candidates.  Boxes that left
 * get new fat boxes, and these are looked up in two packed trees, of the moving and of the still.  Where many left, all
 * are renewed and the trees joined, leaf by leaf.
 *
 * Every pair that meets is among the candidates, and every candidate is tested: the answer does not depend on fat
 * boxes, trees or threads.
 *
 * The skin.  A box of size s that moves d in a frame leaves a skin m after m/d frames, and then costs c1 to look up.
 * The skin brings about c2 m/s more candidates, tested in every frame.  The sum c1 d/m + c2 m/s is least at m = sqrt(K
 * s d) with K = c1/c2. */
#include "collide/broadphase/candidates.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 63,             /* of the boxes, for a typical place and size */
    SHARED_FROM = 2048,       /* moving boxes, below which waking threads costs more than it saves */
    BOXES_PER_LEAVING_BOX = 4 /* a frame in which one in so many leaves renews all */
};
#define BASE_SKIN 0.03  /* in sizes */
#define SKIN_GAIN 3.0   /* K */
#define WIDEST_SKIN 1.0 /* in sizes */

/* ---- boxes and their skins ---- */

static bool aabb_meets(const aabb *a, const aabb *b) {
    return (a->low.x <= b->high.x) & (b->low.x <= a->high.x) & (a->low.y <= b->high.y) & (b->low.y <= a->high.y) &
           (a->low.z <= b->high.z) & (b->low.z <= a->high.z);
}

static bool aabb_is_valid(const aabb *a) {
    return (a->low.x <= a->high.x) & (a->low.y <= a->high.y) & (a->low.z <= a->high.z);
}

/* Do the candidates hold for this box? */
static bool is_inside_fat_box(const broad_phase *b, int i) {
    if (!aabb_is_valid(&b->box[i])) {
        return box_is_none(&b->fat[i]);
    }
    return box_holds(&b->fat[i], &b->box[i], b->moving.origin);
}

static double finite_or(double x, double otherwise) { return isfinite(x) ? x : otherwise; }

/* Of a box that is out of any skin by the next frame but one, none beyond what keeps it from trembling out. */
static double skin_width(double size, double outwards, double frames) {
    double step = outwards / frames;
    double ahead = step > 0 && 2 * step < WIDEST_SKIN * size ? sqrt(SKIN_GAIN * size * step) : 0;
    return box_cut_off(BASE_SKIN * size + fmin(ahead, WIDEST_SKIN * size));
}

static void renew_fat_box(broad_phase *b, int i) {
    const aabb *now = &b->box[i], *before = &b->known[i];
    double x = finite_or(now->high.x - now->low.x, b->typical), y = finite_or(now->high.y - now->low.y, b->typical),
           z = finite_or(now->high.z - now->low.z, b->typical);
    double size = fmax(fmin(fmin(x, fmin(y, z)), 4 * b->typical), b->typical / 8);
    double frames = (double)(b->frame - b->since[i]);
    float_box grow = {{(float)skin_width(size, before->low.x - now->low.x, frames),
                       (float)skin_width(size, before->low.y - now->low.y, frames),
                       (float)skin_width(size, before->low.z - now->low.z, frames)},
                      {(float)skin_width(size, now->high.x - before->high.x, frames),
                       (float)skin_width(size, now->high.y - before->high.y, frames),
                       (float)skin_width(size, now->high.z - before->high.z, frames)}};
    b->fat[i] = box_round(now, &grow, b->moving.origin);
    b->known[i] = *now;
    b->since[i] = b->frame;
}

static void insert_sample(double *sorted, int count, double value) {
    int k = count;
    for (; k > 0 && sorted[k - 1] > value; k--) {
        sorted[k] = sorted[k - 1];
    }
    sorted[k] = value;
}

/* Medians over a sample, which a few boxes astray do not spoil: of the places; returns that of the sizes. */
static double find_typical_box(const broad_phase *b, const int *item, int count, v3 *place) {
    double sorted[4][SAMPLES];
    int n = 0;
    for (int k = 0; k < SAMPLES && k < count; k++) {
        int samples = count < SAMPLES ? count : SAMPLES;
        const aabb *a = &b->box[item[(size_t)k * (size_t)count / (size_t)samples]];
        v3 size = v3_sub(a->high, a->low), middle = v3_axpy(a->low, 0.5, size);
        if (aabb_is_valid(a) && v3_finite(size) && v3_finite(middle)) {
            insert_sample(sorted[0], n, middle.x);
            insert_sample(sorted[1], n, middle.y);
            insert_sample(sorted[2], n, middle.z);
            insert_sample(sorted[3], n, (size.x + size.y + size.z) / 3);
            n++;
        }
    }
    *place = n ? (v3){sorted[0][n / 2], sorted[1][n / 2], sorted[2][n / 2]} : (v3){0, 0, 0};
    return n ? finite_or(sorted[3][n / 2], 0) : 0;
}

/* ---- a frame ---- */

static void check_moving_part(broad_phase *b, int at) {
    part *p = &b->parts[at];
    p->left = p->far = p->failed = 0;
    size_t end = share_begin(b, (size_t)b->nmoving, at + 1);
    for (size_t k = share_begin(b, (size_t)b->nmoving, at); k < end; k++) {
        int i = b->mover[k];
        b->box[i] = b->shown[i];
        b->left[i] = b->cold || !is_inside_fat_box(b, i); /* cold: there are no boxes to compare with */
        if (b->left[i]) {
            p->left++;
            p->far += !b->cold && !aabb_meets(&b->box[i], &b->known[i]);
        }
    }
}

static void renew_part(broad_phase *b, int at) {
    size_t end = share_begin(b, (size_t)b->nmoving, at + 1);
    for (size_t k = share_begin(b, (size_t)b->nmoving, at); k < end; k++) {
        renew_fat_box(b, b->mover[k]);
    }
}

/* The moving boxes' places in the tree, in their order; leaf by leaf, since two threads must not write to one. */
static void fill_leaves_part(broad_phase *b, int at) {
    box_tree *tree = &b->moving;
    size_t leaves = (size_t)tree->nnode[0], slots = (size_t)b->nmoving;
    size_t end = TREE_WIDTH * share_begin(b, leaves, at + 1);
    for (size_t s = TREE_WIDTH * share_begin(b, leaves, at); s < end && s < slots; s++) {
        int i = b->order.item[s];
        tree->item[s] = i;
        box_tree_set(tree, (int)s, &b->fat[i]);
    }
}

static bool renew_all_boxes(broad_phase *b) {
    b->typical = find_typical_box(b, b->mover, b->nmoving, &b->moving.origin);
    in_parts(b, renew_part);
    if (b->cold) {
        memcpy(b->order.item, b->mover, (size_t)b->nmoving * sizeof *b->mover);
    }
    if (b->cold || b->worn > b->nmoving) {
        box_order_sort(&b->order, b->nmoving, b->fat);
        b->worn = 0;
    }
    in_parts(b, fill_leaves_part);
    box_tree_fit(&b->moving);
    return candidates_find(b);
}

static bool renew_left_boxes(broad_phase *b) {
    b->nleaver = 0;
    for (int s = 0; s < b->nmoving; s++) {
        int i = b->moving.item[s];
        if (b->left[i]) {
            renew_fat_box(b, i);
            box_tree_set(&b->moving, s, &b->fat[i]);
            b->moving.stale[s / TREE_WIDTH] = 1;
            b->leaver[b->nleaver++] = s;
        }
    }
    box_tree_refit(&b->moving);
    return candidates_mend(b);
}

static void read_still_boxes(broad_phase *b) {
    const float_box exactly = {{0, 0, 0}, {0, 0, 0}};
    int n = 0;
    for (int i = 0; i < b->count; i++) {
        b->known[i] = (aabb){{NAN, NAN, NAN}, {NAN, NAN, NAN}}; /* of the moving: never seen */
        if (!b->moves[i]) {
            b->box[i] = b->shown[i];
            b->order.item[n++] = i;
        }
    }
    find_typical_box(b, b->order.item, n, &b->still.origin);
    for (int k = 0; k < n; k++) {
        int i = b->order.item[k];
        b->fat[i] = box_round(&b->box[i], &exactly, b->still.origin);
    }
    box_order_sort(&b->order, n, b->fat);
    for (int s = 0; s < n; s++) {
        b->still.item[s] = b->order.item[s];
        box_tree_set(&b->still, s, &b->fat[b->order.item[s]]);
    }
    box_tree_fit(&b->still);
    b->read_still = true;
}

static void test_candidates_part(broad_phase *b, int at) {
    part *p = &b->parts[at];
    size_t end = share_begin(b, b->candidate.count, at + 1);
    p->begin = share_begin(b, b->candidate.count, at);
    broad_pair *to = b->pairs + p->begin;
    for (size_t k = p->begin; k < end; k++) {
        int i = pair_first(b->candidate.key[k], b->bits), j = pair_second(b->candidate.key[k], b->bits);
        *to = (broad_pair){i, j};
        to += aabb_meets(&b->box[i], &b->box[j]);
    }
    p->count = (size_t)(to - b->pairs) - p->begin;
}

/* One share for each thread; false without memory. */
static bool set_parts(broad_phase *b, sim_threads *threads) {
    int n = threads && b->nmoving >= SHARED_FROM ? threads_count(threads) : 1;
    if (n > b->parts_room) {
        part *parts = calloc((size_t)n, sizeof *parts);
        size_t(*at)[PAIR_BUCKETS] = calloc((size_t)n, sizeof *at);
        if (!parts || !at) {
            free(parts);
            free(at);
            return false;
        }
        if (b->parts_room) {
            memcpy(parts, b->parts, (size_t)b->parts_room * sizeof *parts);
        }
        free(b->parts);
        free(b->sort.at);
        b->parts = parts;
        b->sort.at = at;
        b->parts_room = n;
    }
    b->threads = threads;
    b->nparts = n;
    return true;
}

static bool update_candidates(broad_phase *b) {
    int left = 0, far = 0;
    in_parts(b, check_moving_part);
    for (int k = 0; k < b->nparts; k++) {
        left += b->parts[k].left;
        far += b->parts[k].far;
    }
    /* A box that jumped spoils its leaf for everyone: as much as that many small moves. */
    b->worn += left + far * sqrt(b->nmoving);
    if (b->cold || b->worn > b->nmoving || left > b->nmoving / BOXES_PER_LEAVING_BOX) {
        return renew_all_boxes(b);
    }
    return left == 0 || renew_left_boxes(b);
}

int broadphase_update(broad_phase *b, const aabb *box, sim_threads *threads, const broad_pair **pairs) {
    *pairs = NULL;
    b->shown = box;
    b->frame++;
    if (!set_parts(b, threads)) {
        return -1;
    }
    if (!b->read_still) {
        read_still_boxes(b);
    }
    if (!update_candidates(b)) {
        b->cold = true;
        return -1;
    }
    b->cold = false;
    in_parts(b, test_candidates_part);
    *pairs = b->pairs;
    return (int)close_gaps(b, b->pairs, sizeof *b->pairs);
}

static bool allocate_boxes(broad_phase *b) {
    size_t n = (size_t)b->count + 1, m = (size_t)b->nmoving + 1;
    b->moves = calloc(n, 1);
    b->left = calloc(n, 1);
    b->mover = malloc(m * sizeof *b->mover);
    b->leaver = malloc(m * sizeof *b->leaver);
    b->box = malloc(n * sizeof *b->box);
    b->known = malloc(n * sizeof *b->known);
    b->fat = malloc(n * sizeof *b->fat);
    b->since = calloc(n, sizeof *b->since);
    b->bytes = sizeof *b + n * (2 + 2 * sizeof *b->box + sizeof *b->fat + sizeof *b->since) +
               m * (sizeof *b->mover + sizeof *b->leaver);
    int larger = b->nmoving > b->nstill ? b->nmoving : b->nstill;
    return b->moves && b->left && b->mover && b->leaver && b->box && b->known && b->fat && b->since &&
           box_order_create(&b->order, larger) && box_tree_create(&b->still, b->nstill) &&
           box_tree_create(&b->moving, b->nmoving);
}

broad_phase *broadphase_create(int count, const uint8_t *moves, broad_filter *filter, void *context) {
    /* settings */
    broad_phase *b = calloc(1, sizeof *b);
    if (!b) {
        return NULL;
    }
    b->count = count;
    b->filter = filter;
    b->context = context;
    b->cold = true;
    /* count what moves, and the bits of an index */
    for (int i = 0; i < count; i++) {
        b->nmoving += moves[i] != 0;
    }
    b->nstill = count - b->nmoving;
    while (count > 1 && (count - 1) >> b->bits) {
        b->bits++;
    }
    /* memory */
    if (!allocate_boxes(b)) {
        broadphase_free(b);
        return NULL;
    }
    /* list of what moves */
    for (int i = 0, k = 0; i < count; i++) {
        b->moves[i] = moves[i] != 0;
        if (moves[i]) {
            b->mover[k++] = i;
        }
    }
    return b;
}

void broadphase_free(broad_phase *b) {
    if (!b) {
        return;
    }
    for (int k = 0; k < b->parts_room; k++) {
        pair_list_free(&b->parts[k].found);
    }
    pair_list_free(&b->candidate);
    pair_list_free(&b->spare);
    pair_list_free(&b->fresh);
    box_tree_free(&b->still);
    box_tree_free(&b->moving);
    box_order_free(&b->order);
    void *owned[] = {b->parts,  b->sort.at, b->pairs, b->moves, b->left, b->mover,
                     b->leaver, b->box,     b->known, b->fat,   b->since};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) {
        free(owned[k]);
    }
    free(b);
}

size_t broadphase_bytes(const broad_phase *b) {
    size_t keys = b->candidate.room + b->spare.room + b->fresh.room;
    for (int k = 0; k < b->parts_room; k++) {
        keys += b->parts[k].found.room;
    }
    return b->bytes + b->still.bytes + b->moving.bytes + b->order.bytes + keys * sizeof(pair_key) +
           b->room * sizeof(broad_pair) + (size_t)b->parts_room * (sizeof(part) + sizeof *b->sort.at);
}
