/* Lower bound of the distance between a convex solid A and a distance field phi of B, by branch and bound.
 *
 *     min over A of phi  >=  min over cells C that hold A of  ( phi(c) - rho ) - r
 *
 * c: middle of a cell, a box in A's frame; rho: half its diagonal, m; r: radius about A's core, m.  phi is never steeper
 * than 1, which is all that is asked of it.  The cell with the least bound is cut across its longest side.  The core of
 * a ball is a point and that of a capsule a segment, so their bounds need one evaluation and a few.
 *
 * Reference: J. C. Hart, Sphere tracing, The Visual Computer 12, 1996, for the bound of one cell.
 * Departure: cells in place of rays; no more than MAX_CELLS of them, since a failure costs time only.
 * Cost: an evaluation of phi a cell; far pairs need one, flat sides that are near some tens. */
#include "collide/field_pairs.h"

#include "collide/field/field_solid.h"

enum { MAX_CELLS = 64 };
static const double TIGHT_RATIO = 0.75;       /* of the bound to phi at the best place of A that is known */
static const double SLACK_OVER_EXTENT = 2e-6; /* of both: contacts stand beside the surface by as much */

typedef struct cell {
    v3 middle, half;
    double bound;
} cell;

typedef struct search {
    const solid *a, *b;
    pose X_ba;
    double radius;  /* about the core */
    double nearest; /* phi at the middle of a cell that is in A, less the radius */
    cell cells[MAX_CELLS];
    int count;
} search;

/* The box around A's core, and the radius about it. */
static void bound_core(const sim_shape *shape, const solid *a, cell *all, double *radius) {
    v3 low, high;
    solid_box(shape, a, &low, &high);
    v3 half = v3_scale(0.5, v3_sub(high, low));
    *all = (cell){.middle = v3_scale(0.5, v3_add(low, high)), .half = half};
    *radius = 0;
    if (shape->type == SIM_SPHERE || shape->type == SIM_CAPSULE) {
        all->half = v3_make(0, 0, shape->type == SIM_CAPSULE ? 0.5 * a->size[1] : 0);
        *radius = a->size[0];
    }
}

/* The cell with its bound, unless it holds nothing of A. */
static void add_cell(search *s, cell c) {
    v3 unused;
    double reach = v3_norm(c.half), inside = s->radius > 0 ? -s->radius : s->a->distance(s->a, c.middle, &unused);
    if (inside > reach) {
        return;
    }
    double phi = s->b->distance(s->b, pose_point(s->X_ba, c.middle), &unused) - s->radius;
    s->nearest = inside <= 0 ? min_of(s->nearest, phi) : s->nearest;
    c.bound = phi - reach;
    s->cells[s->count++] = c;
}

static int find_least(const search *s) {
    int least = 0;
    for (int k = 1; k < s->count; k++) {
        least = s->cells[k].bound < s->cells[least].bound ? k : least;
    }
    return least;
}

static void cut_cell(search *s, int which) {
    cell c = s->cells[which];
    v3 h = c.half;
    v3 shift = h.x >= h.y && h.x >= h.z ? v3_make(0.5 * h.x, 0, 0)
               : h.y >= h.z             ? v3_make(0, 0.5 * h.y, 0)
                                        : v3_make(0, 0, 0.5 * h.z);
    s->cells[which] = s->cells[--s->count];
    for (int k = -1; k <= 1; k += 2) {
        add_cell(s, (cell){.middle = v3_axpy(c.middle, k, shift), .half = v3_sub(h, shift)});
    }
}

double field_apart(const pair *p, double enough, double too_near) {
    solid a = solid_of_shape(p->a), b = solid_of_shape(p->b);
    double slack = SLACK_OVER_EXTENT * (a.extent + b.extent);
    search s = {.a = &a, .b = &b, .X_ba = pose_inverse(p->X_ab), .nearest = HUGE_VAL};
    cell all;
    bound_core(p->a, &a, &all, &s.radius);
    add_cell(&s, all);
    while (s.count > 0 && s.count + 1 < MAX_CELLS) {
        int least = find_least(&s);
        double bound = s.cells[least].bound - slack;
        if (bound >= enough || (bound > too_near && bound >= TIGHT_RATIO * s.nearest)) {
            return bound;
        }
        if (s.nearest <= too_near || !(v3_norm(s.cells[least].half) > 0)) {
            break;
        }
        cut_cell(&s, least);
    }
    return s.count > 0 ? -HUGE_VAL : HUGE_VAL;
}
