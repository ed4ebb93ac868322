/* Packing of contacts and bodies into SIMD batches of eight.
 *
 * Bodies that are subsystems come first.  Each kind is sorted by falling number of slots, so the eight of a batch have
 * nearly equally many.  Contacts are sorted by the form of their rows and their number of sides.  Otherwise both keep
 * their order, and so do the slots of a body.
 *
 * At a point r from a body's origin the three rows are J = +-(r x axis; axis) with orthogonal axes, so that
 *
 *     r = 1/2 sum_k axis_k x (r x axis_k).
 *
 * Where this reproduces all numbers to rounding, fifteen are stored in place of 36: reading them dominates the cost. */
#include "solver/subadmm/lanes/lanes.h"

#include <float.h>

enum { POINT_TWO, POINT_ONE, GENERAL_TWO, GENERAL_ONE, FORMS };
enum { POINT_NUMBERS = 15, GENERAL_NUMBERS = 36, ROW_NUMBERS = 18 };

typedef struct packing {
    const admm_input *in;
    int *form;                      /* [ncontact] */
    int *slots;                     /* [nbody] count; then the next free one */
    int *order;                     /* contacts or bodies, sorted */
    int *start;                     /* of the sort */
    double (*point)[POINT_NUMBERS]; /* [ncontact] */
} packing;

/* ---- rows of a point ---- */

static void cross_product(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Lever of rows along `axis`; false: the rows are not those of a point. */
static bool find_lever(const double *J, double (*axis)[3], double sign, double *lever) {
    const double close = 64 * DBL_EPSILON;
    double part[3], size = 0;
    lever[0] = lever[1] = lever[2] = 0;
    for (int k = 0; k < 3; k++) {
        cross_product(axis[k], J + 6 * k, part);
        for (int i = 0; i < 3; i++) {
            lever[i] += 0.5 * sign * part[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        size += fabs(lever[i]);
    }
    bool point = true;
    for (int k = 0; k < 3; k++) {
        cross_product(lever, axis[k], part);
        for (int i = 0; i < 3; i++) {
            point &= fabs(J[6 * k + 3 + i] - sign * axis[k][i]) <= close;
            point &= fabs(J[6 * k + i] - sign * part[i]) <= close * size;
        }
    }
    return point;
}

/* Axes and levers; false: the rows are not those of a point.  The first side with a body is side A. */
static bool find_point(const admm_contact *c, double numbers[POINT_NUMBERS]) {
    int one = c->body[0] < 0 ? 1 : 0;
    bool point = true;
    double axis[3][3];
    for (int k = 0; k < 3; k++) {
        memcpy(axis[k], c->J[one] + 6 * k + 3, sizeof axis[k]);
    }
    for (int k = 0; k < 3; k++) {
        const double *a = axis[k], *b = axis[(k + 1) % 3];
        point &= fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1) <= 16 * DBL_EPSILON;
        point &= fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) <= 16 * DBL_EPSILON;
    }
    memcpy(numbers, axis, sizeof axis);
    point = point && find_lever(c->J[one], axis, 1, numbers + 9);
    if (point && !one && c->body[1] >= 0) {
        point = find_lever(c->J[1], axis, -1, numbers + 12);
    }
    return point;
}

/* ---- order and addresses ---- */

/* Counting sort by falling key; equal keys keep their order.  `start` holds most + 2 numbers. */
static void sort_falling(int n, const int *key, int most, int *start, int *order) {
    memset(start, 0, ((size_t)most + 2) * sizeof *start);
    for (int k = 0; k < n; k++) {
        start[most - key[k] + 1]++;
    }
    for (int k = 0; k <= most; k++) {
        start[k + 1] += start[k];
    }
    for (int k = 0; k < n; k++) {
        order[start[most - key[k]]++] = k;
    }
}

static int batches_for(int n) { return (n + LANES - 1) / LANES; }

static bool has_two_bodies(const admm_contact *c) { return c->body[0] >= 0 && c->body[1] >= 0; }

/* Counts the slots of each body and the contacts of each form. */
static void count_slots_and_forms(packing *p, admm_lanes *l, int count[FORMS]) {
    const admm_input *in = p->in;
    memset(p->slots, 0, (size_t)in->nbody * sizeof *p->slots);
    for (int i = 0; i < in->ncontact; i++) {
        const admm_contact *c = &in->contact[i];
        int one = !has_two_bodies(c);
        p->form[i] = find_point(c, p->point[i]) ? POINT_TWO + one : GENERAL_TWO + one;
        count[p->form[i]]++;
        for (int side = 0; side < 2; side++) {
            if (c->body[side] >= 0) {
                p->slots[c->body[side]]++;
            }
        }
    }
    for (int form = 0; form < FORMS; form++) {
        l->contact_batches += batches_for(count[form]);
    }
}

static void place_lane_bodies(packing *p, admm_lanes *l) {
    const admm_input *in = p->in;
    int most = 0, batch = -1, lane = LANES, solved = 1;
    for (int b = 0; b < in->nbody; b++) {
        most = p->slots[b] > most ? p->slots[b] : most;
    }
    int *key = l->row_of; /* as scratch, before it is filled */
    for (int b = 0; b < in->nbody; b++) {
        key[b] = p->slots[b] + (in->solved[b] ? most + 1 : 0);
    }
    sort_falling(in->nbody, key, 2 * most + 1, p->start, p->order);
    for (int k = 0; k < in->nbody; k++) {
        int body = p->order[k];
        if (lane == LANES || in->solved[body] != solved) {
            lane = 0;
            solved = in->solved[body] != 0;
            l->solved_batches += solved;
            admm_bodies *b = &l->bodies[++batch];
            b->slots = p->slots[body];
            b->first = l->nslot;
            b->row = LANES * batch;
            l->nslot += LANES * b->slots;
        }
        l->row_of[body] = LANES * batch + lane++;
    }
    l->body_batches = batch + 1;
}

/* ---- data ---- */

/* Lanes without a body have the unit matrix: their x stays 0. */
static void clear_bodies(admm_lanes *l) {
    for (int n = 0; n < l->body_batches; n++) {
        admm_bodies *b = &l->bodies[n];
        memset(b->A, 0, sizeof b->A);
        memset(b->C, 0, sizeof b->C);
        for (int k = 0; k < 6 * LANES; k++) {
            int i = k / LANES;
            b->A[i * (i + 3) / 2][k % LANES] = 1;
        }
    }
}

/* An empty batch: every lane reads the world's row and writes to slots of no body. */
static void begin_batch(admm_contacts *c, int form, int world, int spare_slot, const double *geometry) {
    memset(c, 0, sizeof *c);
    c->form = form == POINT_TWO || form == POINT_ONE ? ADMM_POINT : ADMM_GENERAL;
    c->sides = form == POINT_TWO || form == GENERAL_TWO ? 2 : 1;
    c->geometry = geometry;
    for (int k = 0; k < 2 * LANES; k++) {
        c->row[k / LANES][k % LANES] = world;
        c->slot[k / LANES][k % LANES] = spare_slot + form;
        c->slack[k % LANES] = c->keep[k % LANES] = c->rho[k % LANES] = 1;
    }
}

static void place_side(const packing *p, const admm_lanes *l, admm_contacts *to, int side, int lane, int body) {
    int row = l->row_of[body], batch = row / LANES;
    to->row[side][lane] = row;
    to->slot[side][lane] = l->bodies[batch].first + LANES * p->slots[body]++ + row % LANES;
}

/* Interleaves: number k of all lanes is contiguous. */
static void scatter_numbers(int n, const double *numbers, int lane, double *geometry) {
    for (int k = 0; k < n; k++) {
        geometry[LANES * k + lane] = numbers[k];
    }
}

/* Parameters and geometry of a contact, and its places at both bodies, into one lane. */
static void place_contact(const packing *p, const admm_lanes *l, int contact, admm_contacts *to, int lane,
                          double *geometry) {
    const admm_contact *c = &p->in->contact[contact];
    bool one = c->body[0] < 0;
    if (to->form == ADMM_POINT) {
        scatter_numbers(POINT_NUMBERS - (to->sides == 2 ? 0 : 3), p->point[contact], lane, geometry);
    } else {
        for (int side = 0; side < to->sides; side++) {
            scatter_numbers(ROW_NUMBERS, c->J[side ^ one], lane, geometry + LANES * ROW_NUMBERS * side);
        }
    }
    for (int k = 0; k < 3; k++) {
        to->target[k][lane] = c->target[k];
    }
    to->friction[lane] = c->friction;
    to->R_t[lane] = c->R_t;
    to->R_n[lane] = c->R_n;
    for (int side = 0; side < to->sides; side++) {
        place_side(p, l, to, side, lane, c->body[side ^ one]);
    }
}

static const int numbers_of[FORMS] = {POINT_NUMBERS, POINT_NUMBERS - 3, GENERAL_NUMBERS, ROW_NUMBERS};

/* Contacts order[0], ... of one form, into batches from `batch` on. */
static double *place_form(packing *p, admm_lanes *l, int form, const int *order, int count, int batch,
                          double *geometry) {
    int size = LANES * numbers_of[form];
    for (int k = 0; k < count; k++) {
        int lane = k % LANES;
        double *here = geometry + (ptrdiff_t)size * (k / LANES);
        admm_contacts *to = &l->contacts[batch + k / LANES];
        if (lane == 0) {
            begin_batch(to, form, l->nrow - 1, l->nslot - FORMS, here);
            memset(here, 0, (size_t)size * sizeof *here);
        }
        l->place_of[order[k]] = LANES * batch + k;
        place_contact(p, l, order[k], to, lane, here);
    }
    return geometry + (ptrdiff_t)size * batches_for(count);
}

static bool place_contacts(packing *p, admm_lanes *l, const int count[FORMS], sim_arena *scratch) {
    /* memory of the geometry */
    size_t size = 0;
    for (int form = 0; form < FORMS; form++) {
        size += (size_t)(LANES * numbers_of[form]) * (size_t)batches_for(count[form]);
    }
    double *geometry = ARENA_NEW(scratch, double, size);
    if (!geometry) {
        return false;
    }
    /* contacts sorted by form */
    for (int i = 0; i < p->in->ncontact; i++) {
        p->form[i] = FORMS - 1 - p->form[i];
    }
    sort_falling(p->in->ncontact, p->form, FORMS - 1, p->start, p->order);
    /* batches of each form */
    memset(p->slots, 0, (size_t)p->in->nbody * sizeof *p->slots);
    const int *order = p->order;
    for (int form = 0, batch = 0; form < FORMS; form++) {
        geometry = place_form(p, l, form, order, count[form], batch, geometry);
        order += count[form];
        batch += batches_for(count[form]);
    }
    return true;
}

static bool make_packing(packing *p, const admm_input *in, sim_arena *scratch) {
    int larger = in->nbody > in->ncontact ? in->nbody : in->ncontact;
    *p = (packing){.in = in,
                   .form = ARENA_NEW(scratch, int, in->ncontact),
                   .slots = ARENA_NEW(scratch, int, in->nbody),
                   .order = ARENA_NEW(scratch, int, larger),
                   .start = ARENA_NEW(scratch, int, 2 * (size_t)in->ncontact + 3 + FORMS),
                   .point = arena_alloc(scratch, (size_t)in->ncontact, sizeof *p->point)};
    return p->form && p->slots && p->order && p->start && p->point;
}

bool admm_lanes_pack(admm_lanes *l, const admm_input *in, sim_arena *scratch) {
    packing p;
    int count[FORMS] = {0}, most_batches = in->nbody / LANES + 2;
    /* order of contacts and bodies */
    *l = (admm_lanes){.ncontact = in->ncontact,
                      .nbody = in->nbody,
                      .bodies = ARENA_NEW(scratch, admm_bodies, most_batches),
                      .row_of = ARENA_NEW(scratch, int, in->nbody),
                      .place_of = ARENA_NEW(scratch, int, in->ncontact)};
    if (!l->bodies || !l->row_of || !l->place_of || !make_packing(&p, in, scratch)) {
        return false;
    }
    count_slots_and_forms(&p, l, count);
    place_lane_bodies(&p, l);
    /* rows, slots and batches */
    l->nrow = LANES * l->body_batches + 1;
    l->nslot += FORMS;
    l->state_numbers = (size_t)LANES * ((size_t)l->nrow + 3 * (size_t)l->contact_batches);
    l->contacts = ARENA_NEW(scratch, admm_contacts, l->contact_batches);
    l->response = arena_alloc(scratch, (size_t)l->nrow, sizeof(double[LANES]));
    l->added = arena_alloc(scratch, (size_t)l->nrow, sizeof *l->added);
    l->slot = arena_alloc(scratch, (size_t)l->nslot, sizeof(double[LANES]));
    if (!l->contacts || !l->response || !l->added || !l->slot || !place_contacts(&p, l, count, scratch)) {
        return false;
    }
    memset(l->response, 0, sizeof(double[LANES]) * (size_t)l->nrow);
    memset(l->slot, 0, sizeof(double[LANES]) * (size_t)l->nslot);
    clear_bodies(l);
    return true;
}

void admm_lanes_begin(admm_lanes *l, const admm_input *in, double *state) {
    memset(state, 0, l->state_numbers * sizeof *state);
    l->lambda = state;
    l->row = state + (ptrdiff_t)3 * LANES * l->contact_batches;
    for (int i = 0; i < l->ncontact; i++) {
        double *lambda = l->lambda + (ptrdiff_t)3 * LANES * (l->place_of[i] / LANES) + l->place_of[i] % LANES;
        for (int k = 0; k < 3; k++) {
            lambda[LANES * k] = in->contact[i].lambda[k];
        }
    }
}
