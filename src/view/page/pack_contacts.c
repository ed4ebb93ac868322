/* Encoding of contacts by their changes.  Most are those of the frame before.  Sorted by their shapes in both, they are
 * matched in one pass.  Of a known contact only changes are written, in
 *
 *     where it is    in the frame of a body that it touches, which moves with it: steps of 1/512 of the body's radius
 *     its normal     a direction
 *     its gap        signed square root, in steps of 1e-3 of that of the radius: fine where it is small
 *     its force      a direction, and 64 steps an octave from a thousandth of the mean body's weight on
 *     its state      0 open, 1 sticks, 2 slips: friction within 0.5 % of mu times the normal force
 *     its area       of a polygon between pressure fields, 0 for a point; 8 steps an octave, from 2^-40 of the radius squared
 *
 * A link says which it is: 0 the next of the frame before, 1 a new one, 1 + n the next after n that are gone. */
#include "math/v3.h"
#include "view/page/pack.h"

#include <stdlib.h>

enum {
    CODES_PER_OCTAVE = 64,
    AREA_CODES_PER_OCTAVE = 8,
    OCTAVES_BELOW_RADIUS2 = 40,
    OCTAVES_BELOW_ONE = 10,
    FORCE_CODES = 64 * CODES_PER_OCTAVE
}; /* of force codes */
enum { COUNT, LINK, SHAPE_A, SHAPE_B, VALUE, VALUES_PER_CONTACT = 11, COLUMNS = VALUE + VALUES_PER_CONTACT };

typedef struct column {
    int64_t *item;
    int count, room;
} column;

typedef struct known {
    int shape_a, shape_b;
    int64_t value[VALUES_PER_CONTACT];
} known;

struct view_contact_packer {
    const sim_model *model;
    const view_sizes *sizes;
    double step;
    column column[COLUMNS];
    known *before, *now; /* contacts of the last two frames of the block */
    int nbefore, room;
    int64_t often[FORCE_CODES]; /* each code of a force, in all frames */
};

view_contact_packer *view_contact_packer_create(const sim_model *model, const view_sizes *sizes, double step) {
    view_contact_packer *packer = calloc(1, sizeof *packer);
    if (packer) {
        packer->model = model;
        packer->sizes = sizes;
        packer->step = step;
    }
    return packer;
}

void view_contact_packer_free(view_contact_packer *packer) {
    if (packer) {
        for (int c = 0; c < COLUMNS; c++) {
            free(packer->column[c].item);
        }
        free(packer->before);
        free(packer->now);
        free(packer);
    }
}

static bool pack_value(column *c, int64_t value) {
    if (c->count == c->room) {
        int room = 2 * c->room + 256;
        int64_t *item = realloc(c->item, (size_t)room * sizeof *item);
        if (!item) {
            return false;
        }
        c->item = item;
        c->room = room;
    }
    c->item[c->count++] = value;
    return true;
}

static bool grow_packer(view_contact_packer *packer, int count) {
    if (count > packer->room) {
        known *before = realloc(packer->before, 2 * (size_t)count * sizeof *before);
        packer->before = before ? before : packer->before;
        known *now = realloc(packer->now, 2 * (size_t)count * sizeof *now);
        packer->now = now ? now : packer->now;
        packer->room = before && now ? 2 * count : packer->room;
    }
    return count <= packer->room;
}

static bool is_carried(const sim_model *model, int body) {
    while (body > 0 && model->body[body].nv == 0) {
        body = model->body[body].parent;
    }
    return body > 0;
}

static int state_of(const sim_model *model, const view_contact *c) {
    double normal = v3_dot(c->impulse, c->normal);
    double friction = v3_norm(v3_axpy(c->impulse, -normal, c->normal));
    double mu =
        sim_material_together(model, model->shape[c->shape_a].material, model->shape[c->shape_b].material).friction;
    return v3_norm(c->impulse) == 0 ? 0 : friction < 0.995 * mu * normal ? 1 : 2;
}

static int64_t force_code(double force, double unit) {
    double octaves = force > 0 && isfinite(force) ? log2(force / unit) + OCTAVES_BELOW_ONE : 0;
    return octaves > 0 ? llrint(CODES_PER_OCTAVE * octaves) : 0;
}

/* Of an area over the square of the body's radius. */
static int64_t area_code(double ratio) {
    double octaves = ratio > 0 && isfinite(ratio) ? log2(ratio) + OCTAVES_BELOW_RADIUS2 : 0;
    return octaves > 0 ? llrint(AREA_CODES_PER_OCTAVE * octaves) : 0;
}

double view_contact_packer_usual(const view_contact_packer *packer) {
    int64_t all = 0, sum = 0;
    for (int k = 1; k < FORCE_CODES; k++) {
        all += packer->often[k];
    }
    for (int k = 1; k < FORCE_CODES; k++) {
        sum += packer->often[k];
        if (all > 0 && 10 * sum >= 9 * all) {
            return packer->sizes->force * exp2((double)k / CODES_PER_OCTAVE - OCTAVES_BELOW_ONE);
        }
    }
    return 0;
}

static void find_values(const view_contact_packer *packer, const view_frame *frame, const view_contact *c,
                        int64_t value[VALUES_PER_CONTACT]) {
    const sim_model *model = packer->model;
    int a = model->shape[c->shape_a].body, b = model->shape[c->shape_b].body;
    int carrier = is_carried(model, b) ? b : a;
    double radius = packer->sizes->body[carrier], force = v3_norm(c->impulse) / packer->step;
    const sim_pose *pose = &frame->pose[carrier];
    v3 local = m3_transposed_times(pose->R, v3_sub(c->position, pose->p));
    value[0] = view_in_steps(local.x, radius / 512);
    value[1] = view_in_steps(local.y, radius / 512);
    value[2] = view_in_steps(local.z, radius / 512);
    view_pack_direction(c->normal.x, c->normal.y, c->normal.z, VIEW_NORMAL_STEPS, value + 3);
    value[5] = view_in_steps(copysign(sqrt(fabs(c->gap) / radius), c->gap), 1e-3);
    view_pack_direction(c->impulse.x, c->impulse.y, c->impulse.z, VIEW_FORCE_STEPS, value + 6);
    value[8] = force_code(force, packer->sizes->force);
    value[9] = state_of(model, c);
    value[10] = area_code(c->area / (radius * radius));
}

/* The place of the contact among those of the frame before, from `from` on; -1: it is new. */
static int find_before(const view_contact_packer *packer, const view_contact *c, int from) {
    for (int k = from; k < packer->nbefore; k++) {
        const known *old = &packer->before[k];
        if (old->shape_a == c->shape_a && old->shape_b == c->shape_b) {
            return k;
        }
        if (old->shape_a > c->shape_a || (old->shape_a == c->shape_a && old->shape_b > c->shape_b)) {
            return -1;
        }
    }
    return -1;
}

bool view_contact_packer_add(view_contact_packer *packer, const view_frame *frame) {
    /* each contact as differences to the same one of the frame before */
    bool good = grow_packer(packer, frame->ncontact) && pack_value(&packer->column[COUNT], frame->ncontact);
    for (int k = 0, next = 0; good && k < frame->ncontact; k++) {
        const view_contact *c = &frame->contact[k];
        static const known nothing;
        int found = find_before(packer, c, next);
        const known *old = found < 0 ? &nothing : &packer->before[found];
        known *now = &packer->now[k];
        now->shape_a = c->shape_a;
        now->shape_b = c->shape_b;
        find_values(packer, frame, c, now->value);
        packer->often[now->value[8] < FORCE_CODES ? now->value[8] : FORCE_CODES - 1]++;
        good = pack_value(&packer->column[LINK], found < 0 ? 1 : found == next ? 0 : found - next + 1);
        if (found < 0) {
            good = good && pack_value(&packer->column[SHAPE_A], c->shape_a) &&
                   pack_value(&packer->column[SHAPE_B], c->shape_b);
        }
        next = found < 0 ? next : found + 1;
        for (int v = 0; good && v < VALUES_PER_CONTACT; v++) {
            good = pack_value(&packer->column[VALUE + v], now->value[v] - old->value[v]);
        }
    }
    /* this frame is the next one's predecessor */
    known *swap = packer->before;
    packer->before = packer->now;
    packer->now = swap;
    packer->nbefore = good ? frame->ncontact : 0;
    return good;
}

void view_contact_packer_put(view_contact_packer *packer, view_bytes *out) {
    for (int c = 0; c < COLUMNS; c++) {
        view_put_number(out, (uint64_t)packer->column[c].count);
        view_put_column(out, packer->column[c].item, packer->column[c].count);
        packer->column[c].count = 0;
    }
    packer->nbefore = 0;
}
