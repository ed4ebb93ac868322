/* Pairs of overlapping enlarged boxes.
 *
 * All anew: each leaf of the tree of the moving, eight boxes, goes down both trees.  After some boxes left their fat
 * boxes: these alone go down, and what they find is merged with the pairs of the others. */
#include "collide/broadphase/candidates.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct shared_work {
    broad_phase *b;
    part_work *work;
} shared_work;

static void run_part(void *context, int worker, int first, int end) {
    (void)worker;
    const shared_work *s = context;
    for (int p = first; p < end; p++) {
        s->work(s->b, p);
    }
}

void in_parts(broad_phase *b, part_work *work) {
    if (b->nparts == 1) {
        work(b, 0);
        return;
    }
    shared_work s = {b, work};
    threads_run(b->threads, b->nparts, run_part, &s);
}

static void add_pair(const broad_phase *b, part *p, int i, int j) {
    int first = i < j ? i : j, second = i < j ? j : i;
    if (!b->filter || b->filter(b->context, first, second)) {
        p->found.key[p->found.count++] = pair_key_of(first, second, b->bits);
    }
}

/* Pairs of the boxes of one leaf with those of a tree. `own`: the number of the leaf where it is the same tree; of the
 * leaves before it, the pairs are theirs. */
static void find_pairs_of_leaf(const broad_phase *b, part *p, const tree_node *leaf, const int *item,
                               const box_tree *tree, int own) {
    float_box bounds = box_bounds(leaf);
    if (box_is_none(&bounds)) {
        return;
    }
    /* nodes of the tree that meet the leaf */
    tree_cursor cursor;
    tree_cursor_start(&cursor, tree, &bounds, own < 0 ? 0 : own);
    for (int k; (k = tree_cursor_next(&cursor)) >= 0;) {
        if (!pair_list_grow(&p->found, p->found.count + TREE_WIDTH * TREE_WIDTH)) {
            p->failed = 1;
            return;
        }
        const tree_node *other = &tree->node[k];
        const int *partner = tree->item + (size_t)TREE_WIDTH * (size_t)k;
        float_box others = tree_cursor_bounds(&cursor);
        /* boxes of the leaf against all eight of the node */
        for (unsigned rows = node_hits(leaf, &others); rows; rows &= rows - 1) {
            int i = __builtin_ctz(rows);
            float_box mine = node_entry(leaf, i);
            unsigned hits = node_hits(other, &mine) & (k == own ? (unsigned)TREE_ALL << (i + 1) : TREE_ALL);
            for (; hits; hits &= hits - 1) {
                add_pair(b, p, item[i], partner[__builtin_ctz(hits)]);
            }
        }
    }
}

static void find_pairs_part(broad_phase *b, int at) {
    part *p = &b->parts[at];
    p->found.count = 0;
    size_t leaves = (size_t)b->moving.nnode[0], end = share_begin(b, leaves, at + 1);
    for (size_t k = share_begin(b, leaves, at); k < end && !p->failed; k++) {
        const tree_node *leaf = &b->moving.node[k];
        const int *item = b->moving.item + TREE_WIDTH * k;
        find_pairs_of_leaf(b, p, leaf, item, &b->moving, (int)k);
        if (b->nstill) {
            tree_node seen;
            node_shift(leaf, b->moving.origin, b->still.origin, &seen);
            find_pairs_of_leaf(b, p, &seen, item, &b->still, -1);
        }
    }
}

/* Pairs of one box that left.  Of two that left, the one with the lower number reports. */
static void find_pairs_of_box(const broad_phase *b, part *p, int i, const float_box *box, const box_tree *tree) {
    tree_cursor cursor;
    tree_cursor_start(&cursor, tree, box, 0);
    for (int k; (k = tree_cursor_next(&cursor)) >= 0;) {
        if (!pair_list_grow(&p->found, p->found.count + TREE_WIDTH)) {
            p->failed = 1;
            return;
        }
        const int *partner = tree->item + (size_t)TREE_WIDTH * (size_t)k;
        for (unsigned hits = node_hits(&tree->node[k], box); hits; hits &= hits - 1) {
            int j = partner[__builtin_ctz(hits)];
            if (j > i || (j < i && !b->left[j])) {
                add_pair(b, p, i, j);
            }
        }
    }
}

static void find_leaver_pairs_part(broad_phase *b, int at) {
    part *p = &b->parts[at];
    p->found.count = 0;
    size_t end = share_begin(b, (size_t)b->nleaver, at + 1);
    for (size_t k = share_begin(b, (size_t)b->nleaver, at); k < end && !p->failed; k++) {
        int i = b->moving.item[b->leaver[k]];
        if (box_is_none(&b->fat[i])) {
            continue;
        }
        find_pairs_of_box(b, p, i, &b->fat[i], &b->moving);
        if (b->nstill) {
            float_box seen = box_shift(&b->fat[i], b->moving.origin, b->still.origin);
            find_pairs_of_box(b, p, i, &seen, &b->still);
        }
    }
}

static void tally_part(broad_phase *b, int p) { pair_sort_tally(&b->sort, p, &b->parts[p].found); }
static void scatter_part(broad_phase *b, int p) { pair_sort_scatter(&b->sort, p, &b->parts[p].found); }
static void bucket_part(broad_phase *b, int p) {
    size_t total = b->sort.begin[b->sort.buckets];
    size_t begin = share_begin(b, total, p), end = share_begin(b, total, p + 1);
    for (int k = 0; k < b->sort.buckets; k++) {
        if (b->sort.begin[k] >= begin && b->sort.begin[k] < end) {
            pair_sort_bucket(&b->sort, k);
        }
    }
}

/* All lists at once, so that this is rare. */
static bool reserve_pairs(broad_phase *b, size_t need) {
    if (need <= b->room) {
        return true;
    }
    if (!pair_list_grow(&b->candidate, need) || !pair_list_grow(&b->spare, need) || !pair_list_grow(&b->fresh, need)) {
        return false;
    }
    size_t room = b->candidate.room < b->spare.room ? b->candidate.room : b->spare.room;
    room = b->fresh.room < room ? b->fresh.room : room;
    free(b->pairs);
    b->pairs = malloc(room * sizeof *b->pairs);
    b->room = b->pairs ? room : 0;
    return b->pairs != NULL;
}

/* The pairs of all parts, sorted, into a list; false without memory. */
static bool sort_found_pairs(broad_phase *b, pair_list *to) {
    size_t total = 0;
    for (int p = 0; p < b->nparts; p++) {
        if (b->parts[p].failed) {
            return false;
        }
        total += b->parts[p].found.count;
    }
    if (total > INT_MAX || !reserve_pairs(b, total + 1)) {
        return false;
    }
    pair_sort_start(&b->sort, b->count, b->bits);
    b->sort.nlist = b->nparts;
    b->sort.to = to->key;
    b->sort.spare = b->spare.key;
    in_parts(b, tally_part);
    to->count = pair_sort_divide(&b->sort);
    in_parts(b, scatter_part);
    in_parts(b, bucket_part);
    return true;
}

static size_t first_not_below(const pair_list *list, pair_key key) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->key[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Old candidates that still hold, and fresh ones, in order. */
static void merge_part(broad_phase *b, int at) {
    const pair_list *old = &b->candidate, *fresh = &b->fresh;
    size_t i = share_begin(b, old->count, at), i_end = share_begin(b, old->count, at + 1);
    size_t j = at == 0 || !old->count ? 0 : first_not_below(fresh, old->key[i]);
    size_t j_end = at + 1 == b->nparts  ? fresh->count
                   : i_end < old->count ? first_not_below(fresh, old->key[i_end])
                                        : j;
    part *p = &b->parts[at];
    p->begin = i + j;
    pair_key *to = b->spare.key + p->begin;
    for (; i < i_end; i++) {
        pair_key key = old->key[i];
        while (j < j_end && fresh->key[j] < key) {
            *to++ = fresh->key[j++];
        }
        *to = key;
        to += !(b->left[pair_first(key, b->bits)] | b->left[pair_second(key, b->bits)]);
    }
    while (j < j_end) {
        *to++ = fresh->key[j++];
    }
    p->count = (size_t)(to - b->spare.key) - p->begin;
}

size_t close_gaps(const broad_phase *b, void *items, size_t size) {
    size_t count = 0;
    for (int k = 0; k < b->nparts; k++) {
        const part *p = &b->parts[k];
        if (p->count && p->begin != count) {
            memmove((char *)items + size * count, (char *)items + size * p->begin, size * p->count);
        }
        count += p->count;
    }
    return count;
}

static bool merge_candidates(broad_phase *b) {
    if (b->candidate.count + b->fresh.count > INT_MAX || !reserve_pairs(b, b->candidate.count + b->fresh.count + 1)) {
        return false;
    }
    in_parts(b, merge_part);
    b->spare.count = close_gaps(b, b->spare.key, sizeof *b->spare.key);
    pair_list old = b->candidate;
    b->candidate = b->spare;
    b->spare = old;
    return true;
}

bool candidates_find(broad_phase *b) {
    in_parts(b, find_pairs_part);
    if (!sort_found_pairs(b, &b->candidate)) {
        return false;
    }
    for (int p = 0; p < b->nparts; p++) { /* shares in later frames may be less even */
        if (!pair_list_grow(&b->parts[p].found, b->candidate.count / (size_t)b->nparts + 1)) {
            return false;
        }
    }
    return true;
}

bool candidates_mend(broad_phase *b) {
    in_parts(b, find_leaver_pairs_part);
    return sort_found_pairs(b, &b->fresh) && merge_candidates(b);
}
