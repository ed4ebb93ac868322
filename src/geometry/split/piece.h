/* Pieces of a solid that is being cut up.
 *
 *   piece.c        cutting by planes, hulls, concavity
 *   candidates.c   planes worth trying
 *   split.c        which piece is cut where, and which are joined again */
#ifndef GEOMETRY_SPLIT_PIECE_H
#define GEOMETRY_SPLIT_PIECE_H

#include "math/v3.h"
#include <sim/geometry.h>

/* The side normal . x >= offset is above. */
typedef struct split_plane {
    v3 normal;
    double offset;
} split_plane;

/* The surface of the solid between some cuts; the faces of the cuts themselves are not among its triangles, but their
 * corners are. */
typedef struct piece {
    v3 (*triangle)[3];
    int count, room;
    sim_geometry *hull;
    double concavity;  /* m */
    bool whole;        /* no plane divides it */
    split_plane *wall; /* cuts that bound it from below */
    int nwall, wall_room;
} piece;

void piece_free(piece *p);
sim_status piece_add(piece *p, v3 a, v3 b, v3 c);
/* The parts above and below a plane.  Fails without memory. */
sim_status piece_cut(const piece *p, split_plane at, double extent, piece *above, piece *below);
/* Corners of its surface, and those of its cuts within the solid, to be freed; NULL without memory. */
v3 *piece_corners(const piece *p, const sim_geometry *solid, int *count);
/* Hull and concavity: SIM_BAD_INPUT if the piece is flat. */
sim_status piece_finish(piece *p, const sim_geometry *solid, sim_error *error);
/* How far a hull reaches beyond the solid, m. */
double hull_concavity(const sim_geometry *hull, const sim_geometry *solid);

/* An edge at which the solid is concave. */
typedef struct split_notch {
    v3 a, b, normal[2]; /* ends; of both faces */
    double weight;      /* length times angle, rad m */
} split_notch;

/* Sorted by weight, the greatest first; free() it.  NULL without memory. */
split_notch *list_notches(const sim_mesh *mesh, int *count);

enum { MAX_CANDIDATES = 96 };
/* Planes that may divide a piece: across its axes, and along the faces at its notches; their number. */
int list_candidates(const piece *p, const split_notch *notch, int nnotch, double extent, split_plane *out);
/* Cost of a cut, m^3; infinite if a side is too thin. */
double cut_cost(const piece *p, const sim_geometry *solid, split_plane at, double extent);

#endif
