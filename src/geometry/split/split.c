/* Convex decomposition: a solid as few convex parts that fill little beside it.
 *
 *     while there are fewer parts than allowed:  cut the part with the greatest concavity, if that is beyond the bound, by
 *     the plane of the least cost (candidates.c);  then join parts whose common hull keeps to the bound
 *
 * The parts are the hulls of the cut pieces, with the corners of cuts within the solid, so they cover the solid.  Their concavity (piece.c), how far they reach
 * beyond it, is within the bound unless their number ends the search.  Nothing is random: the same surface gives the
 * same parts.
 *
 * Reference: Mamou, Ghorbel 2009 (hierarchical approximate convex decomposition); Wei, Liu, Ling, Su 2022 (CoACD).
 * Departures: greedy where CoACD searches a tree; planes along faces at notches.
 * Cost: parts times candidates times triangles, and two small hulls a candidate. */
#include "geometry/split/piece.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKING_TRIANGLES = 5000, MAX_CUT_ROUNDS = 4 };

typedef struct splitter {
    const sim_geometry *solid;
    const sim_split_options *options;
    double extent, bound;
    piece *piece;
    int count;
    split_notch *notch;
    int nnotch;
} splitter;

static sim_status start_split(splitter *s, const sim_geometry *g, sim_error *error) {
    /* memory */
    const sim_mesh *m = g->mesh;
    s->piece = calloc((size_t)s->options->parts, sizeof *s->piece);
    s->notch = list_notches(m, &s->nnotch);
    sim_status status = s->piece && s->notch ? SIM_OK : SIM_NO_RESOURCE;
    /* all of the surface */
    for (int t = 0; t < m->ntriangle && !status; t++) {
        const int *c = m->triangle[t];
        status = piece_add(&s->piece[0], m->vertex[c[0]], m->vertex[c[1]], m->vertex[c[2]]);
    }
    if (status) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the parts of a mesh");
    }
    s->count = 1;
    return piece_finish(&s->piece[0], s->solid, error);
}

static int find_worst(const splitter *s) {
    int worst = -1;
    for (int k = 0; k < s->count; k++) {
        bool open = !s->piece[k].whole && s->piece[k].concavity > s->bound;
        worst = open && (worst < 0 || s->piece[k].concavity > s->piece[worst].concavity) ? k : worst;
    }
    return worst;
}

/* Every so many of the triangles: enough to rank planes.  Fails without memory. */
static sim_status thin_out(const piece *p, piece *out) {
    *out = (piece){.hull = p->hull, .wall = p->wall, .nwall = p->nwall};
    sim_status status = SIM_OK;
    int stride = 1 + p->count / MAX_RANKING_TRIANGLES;
    for (int k = 0; k < p->count && !status; k += stride) {
        status = piece_add(out, p->triangle[k][0], p->triangle[k][1], p->triangle[k][2]);
    }
    return status;
}

/* Planes by their cost, the best first; the number of those that divide the piece. */
static int rank_planes(const splitter *s, const piece *p, split_plane *plane) {
    double cost[MAX_CANDIDATES];
    int count = list_candidates(p, s->notch, s->nnotch, s->extent, plane), kept = 0;
    for (int k = 0; k < count; k++) {
        double w = cut_cost(p, s->solid, plane[k], s->extent);
        split_plane at = plane[k];
        if (w == INFINITY) {
            continue;
        }
        /* a plane that is better by rounding only does not pass an earlier one */
        int i = kept++;
        for (; i > 0 && w < cost[i - 1] * (1 - 1e-9); i--) {
            cost[i] = cost[i - 1];
            plane[i] = plane[i - 1];
        }
        cost[i] = w;
        plane[i] = at;
    }
    return kept;
}

/* Cuts a piece in two; false: no plane does. */
static bool cut_piece(splitter *s, int k, sim_error *error) {
    split_plane plane[MAX_CANDIDATES];
    piece thin;
    int count = thin_out(&s->piece[k], &thin) ? 0 : rank_planes(s, &thin, plane);
    free(thin.triangle);
    for (int i = 0; i < count; i++) {
        piece above, below;
        sim_error why = {0};
        if (piece_cut(&s->piece[k], plane[i], s->extent, &above, &below)) {
            sim_fail(error, SIM_NO_RESOURCE, "no memory for the parts of a mesh");
            return false;
        }
        if (!piece_finish(&above, s->solid, &why) && !piece_finish(&below, s->solid, &why)) {
            piece_free(&s->piece[k]);
            s->piece[k] = above;
            s->piece[s->count++] = below;
            return true;
        }
        piece_free(&above);
        piece_free(&below);
    }
    return false;
}

/* ---- joining ---- */

static sim_geometry *common_hull(const sim_hull *a, const sim_hull *b) {
    v3 *point = malloc((size_t)(a->nvertex + b->nvertex) * sizeof *point);
    sim_error why = {0};
    if (!point) {
        return NULL;
    }
    memcpy(point, a->vertex, (size_t)a->nvertex * sizeof *point);
    memcpy(point + a->nvertex, b->vertex, (size_t)b->nvertex * sizeof *point);
    sim_geometry *g = sim_geometry_hull(point, a->nvertex + b->nvertex, &why);
    free(point);
    return g;
}

/* Two pieces as one, if it keeps to the bound. */
static bool join_pair(splitter *s, int i, int k) {
    piece *a = &s->piece[i], *b = &s->piece[k];
    sim_geometry *g = common_hull(a->hull->hull, b->hull->hull);
    double most = g ? hull_concavity(g, s->solid) : INFINITY;
    bool good = most <= s->bound;
    for (int t = 0; t < b->count && good; t++) {
        good = !piece_add(a, b->triangle[t][0], b->triangle[t][1], b->triangle[t][2]);
    }
    if (!good) {
        sim_geometry_free(g);
        return false;
    }
    sim_geometry_free(a->hull);
    a->hull = g;
    a->concavity = most;
    a->whole = false;
    piece_free(b);
    *b = s->piece[--s->count];
    s->piece[s->count] = (piece){0};
    return true;
}

static bool bounds_meet(const sim_geometry *a, const sim_geometry *b, double tolerance) {
    return a->low.x <= b->high.x + tolerance && b->low.x <= a->high.x + tolerance &&
           a->low.y <= b->high.y + tolerance && b->low.y <= a->high.y + tolerance &&
           a->low.z <= b->high.z + tolerance && b->low.z <= a->high.z + tolerance;
}

static void join_pieces(splitter *s) {
    for (int i = 0; i < s->count; i++) {
        for (int k = i + 1; k < s->count; k++) {
            bool near = bounds_meet(s->piece[i].hull, s->piece[k].hull, 1e-9 * s->extent);
            if (near && join_pair(s, i, k)) {
                k = i; /* from the start: it has grown */
            }
        }
    }
}

/* ---- the whole ---- */

sim_split_options sim_split_options_default(void) { return (sim_split_options){.concavity = 0, .parts = 32}; }

static sim_status take_parts(splitter *s, sim_parts *out, sim_error *error) {
    out->part = malloc((size_t)s->count * sizeof *out->part);
    if (!out->part) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the parts of a mesh");
    }
    for (int k = 0; k < s->count; k++) {
        out->part[k] = s->piece[k].hull;
        out->concavity = fmax(out->concavity, s->piece[k].concavity);
        s->piece[k].hull = NULL;
    }
    out->count = s->count;
    return SIM_OK;
}

sim_status sim_geometry_split(const sim_geometry *g, const sim_split_options *options, sim_parts *out,
                              sim_error *error) {
    *out = (sim_parts){0};
    if (g->type != SIM_GEOMETRY_MESH || !g->mesh->closed || options->parts < 1 || !(options->concavity >= 0)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "a convex decomposition needs a closed mesh, one part or more, and a bound "
                        "of its concavity that is not negative");
    }
    /* cuts, then joins; again where these leave room for more parts */
    const double usual = 0.01; /* of the diagonal */
    splitter s = {.solid = g, .options = options, .extent = v3_norm(v3_sub(g->high, g->low))};
    s.bound = options->concavity > 0 ? options->concavity : usual * s.extent;
    s.bound = g->mesh->convex ? INFINITY : s.bound;
    sim_error why = {0};
    sim_status status = start_split(&s, g, &why);
    for (int round = 0; round < MAX_CUT_ROUNDS && !status && find_worst(&s) >= 0 && s.count < options->parts; round++) {
        for (int worst; !status && s.count < options->parts && (worst = find_worst(&s)) >= 0;) {
            s.piece[worst].whole = !cut_piece(&s, worst, &why);
            status = why.status;
        }
        join_pieces(&s);
    }
    if (!status) {
        status = take_parts(&s, out, &why);
    }
    /* release */
    for (int k = 0; k < s.count && s.piece; k++) {
        piece_free(&s.piece[k]);
    }
    free(s.piece);
    free(s.notch);
    return status ? sim_fail(error, status, "%s", why.text) : SIM_OK;
}

void sim_parts_free(sim_parts *parts) {
    for (int k = 0; k < parts->count; k++) {
        sim_geometry_free(parts->part[k]);
    }
    free(parts->part);
    *parts = (sim_parts){0};
}
