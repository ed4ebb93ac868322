/* Filter of pairs of shapes: masks, bodies held together, exclusions.
 *
 *     allowed(a, b) = mask_a & group_b  and  mask_b & group_a  and  clump_a != clump_b
 *                     and  (neither clump, but the world's, carries the other  or  across_joint of both)
 *                     and  (body_a, body_b) not excluded  and  not both of soft bodies
 *
 * A clump is a body with all that fixed joints hold to it.  The model's exclusions are sorted: binary search.
 * Cost: log2 of the number of exclusions a pair. */
#include "collide/broadphase/filter.h"

bool filter_create(filter *f, const sim_model *model, memory_pool *pool) {
    int *clump = POOL_NEW(pool, int, model->nbody), *parent = POOL_NEW(pool, int, model->nbody),
        *soft = POOL_NEW(pool, int, model->nbody);
    if (!clump || !parent || !soft) {
        return false;
    }
    /* soft bodies, clumps */
    for (int i = 0; i < model->nbody; i++) {
        soft[i] = -1;
    }
    for (int k = 0; k < model->nsoft; k++) {
        for (int n = 0; n < model->soft[k].nnode; n++) {
            soft[model->soft[k].body + 1 + n] = k;
        }
    }
    for (int i = 1; i < model->nbody; i++) {
        int above = model->body[i].parent, fixed = model->body[i].joint == SIM_FIXED;
        clump[i] = fixed ? clump[above] : i;
        parent[i] = fixed ? parent[above] : clump[above];
    }
    *f = (filter){model, clump, parent, soft};
    return true;
}

static bool is_excluded(const sim_model *m, int i, int j) {
    int first = i < j ? i : j, second = i < j ? j : i;
    int low = 0, high = m->nexclusion;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const sim_exclusion *e = &m->exclusion[middle];
        if (e->first < first || (e->first == first && e->second < second)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < m->nexclusion && m->exclusion[low].first == first && m->exclusion[low].second == second;
}

static int whole_body(const filter *f, int body) {
    return f->soft[body] >= 0 ? f->model->soft[f->soft[body]].body : body;
}

bool filter_allows(const filter *f, int shape_a, int shape_b) {
    const sim_shape *a = &f->model->shape[shape_a], *b = &f->model->shape[shape_b];
    if (!(a->mask & b->group) || !(b->mask & a->group)) {
        return false;
    }
    if (f->soft[a->body] >= 0 && f->soft[b->body] >= 0) {
        return false;
    }
    int p = f->clump[a->body], q = f->clump[b->body];
    bool carried = (q != 0 && f->parent[a->body] == q) || (p != 0 && f->parent[b->body] == p);
    if (p == q || (carried && !(a->across_joint && b->across_joint))) {
        return false;
    }
    if (f->model->nexclusion == 0) {
        return true;
    }
    /* of a node, or of its whole soft body */
    int whole_a = whole_body(f, a->body), whole_b = whole_body(f, b->body);
    bool node = whole_a != a->body || whole_b != b->body;
    return !is_excluded(f->model, a->body, b->body) && !(node && is_excluded(f->model, whole_a, whole_b));
}

bool filter_allows_soft(const filter *f, int soft_a, int soft_b) {
    const sim_soft *a = &f->model->soft[soft_a], *b = &f->model->soft[soft_b];
    return a->thickness > 0 && b->thickness > 0 && (a->mask & b->group) && (b->mask & a->group) &&
           (soft_a == soft_b || !is_excluded(f->model, a->body, b->body));
}

bool filter_allows_any_soft(const filter *f) {
    int n = f->model->nsoft;
    for (int k = 0; k < n * n; k++) {
        if (filter_allows_soft(f, k / n, k % n)) {
            return true;
        }
    }
    return false;
}

bool filter_allows_any(const filter *f) {
    if (filter_allows_any_soft(f)) {
        return true;
    }
    int patience = 10000000;
    for (int a = 0; a < f->model->nshape; a++) {
        for (int b = a + 1; b < f->model->nshape; b++) {
            if (filter_allows(f, a, b) || --patience == 0) {
                return true;
            }
        }
    }
    return false;
}
