/* Surfaces of triangles as contact sees them: meshes that are not convex, and height fields.
 *
 * A closed mesh is the solid it encloses; a height field is solid below. An open mesh has only a front: it supports
 * solids whose centre is on the side of its normals. */
#ifndef COLLIDE_MESH_SURFACE_H
#define COLLIDE_MESH_SURFACE_H

#include "collide/convex/convex.h"
#include "geometry/mesh/bvh.h"
#include "geometry/mesh/mesh_features.h"

typedef struct surface {
    const sim_mesh *mesh;       /* or NULL */
    const sim_heights *heights; /* or NULL */
    const sim_bvh *bvh;
    const sim_relief *relief;
    v3 low, high;
    bool solid; /* has an inside */
} surface;

surface surface_of(const sim_geometry *geometry);

void surface_triangle(const surface *s, int t, int corner[3]);
v3 surface_vertex(const surface *s, int v);
void surface_corners(const surface *s, int t, v3 corner[3]);
/* The triangle on the other side of the edge from corner k to the next, or -1. */
int surface_across(const surface *s, int t, int k);
v3 surface_normal(const surface *s, int t);
v3 surface_normal_of(const v3 corner[3]);
/* The next triangle round the vertex at corner `corner` of t; 0 at a border. */
bool surface_turn(const surface *s, int *t, int *corner, int back);
int surface_triangles(const surface *s);

/* Calls `visit` for each triangle whose box meets [low, high], always in the same order. */
void surface_in_box(const surface *s, v3 low, v3 high, bvh_visit *visit, void *context);

/* For each triangle whose box comes within `reach` of p, and some more. */
void surface_in_ball(const surface *s, v3 p, double reach, bvh_visit *visit, void *context);
/* Of triangles in nodes with one of the bits `of` (relief.h) at least; 0: all. */
void surface_some_in_box(const surface *s, int of, v3 low, v3 high, bvh_visit *visit, void *context);
/* Triangle k of a leaf of the surface's tree. */
int surface_leaf(const surface *s, const bvh_node *leaf, int k);

/* Where on a surface: a triangle and one of its features, numbered as by bvh_nearest. */
typedef struct surface_place {
    v3 point;
    v3 normal; /* pseudonormal of the feature, unit */
    int triangle, feature;
} surface_place;

/* The nearest place no farther than `reach`; false if there is none. */
bool surface_nearest(const surface *s, v3 p, double reach, surface_place *place);
/* Signed distance, negative behind; HUGE_VAL beyond `reach`. */
double surface_distance(const surface *s, v3 p, double reach, surface_place *place);
/* Whether p is inside a surface that is solid: then also the nearest place and the (negative) distance. */
bool surface_holds(const surface *s, v3 p, double *distance, surface_place *place);

v3 surface_feature_normal(const surface *s, int triangle, int feature);
/* Does the surface fall away from the feature when seen along n (unit): is n between the normals that meet there? */
bool surface_faces(const surface *s, int triangle, int feature, v3 n);
/* Does the surface end at an edge or a vertex, seen along n? Then no triangle that meets in it rises along n from any
 * of its ends, but for angles of sine `slack`. */
bool surface_ends(const surface *s, int triangle, int feature, v3 n, double slack);
/* Angles by which directions may stray, as a sine. */
#define SURFACE_SLACK RELIEF_SLACK

/* Bits of a triangle: see relief.h. */
static inline int surface_flag(const surface *s, int t) { return s->relief->flag[t]; }
/* The lowest triangle of the flat part that t belongs to. */
static inline int surface_patch(const surface *s, int t) { return s->relief->patch ? s->relief->patch[t] : t; }

/* The triangles that meet at a feature, at most `room` of them; returns how many. */
int surface_faces_at(const surface *s, int triangle, int feature, int *found, int room);

/* One number for a vertex, an edge or a face, whichever triangle it is named by.  A flat part is one face. */
uint32_t surface_feature(const surface *s, int triangle, int feature);
/* An edge that runs through a flat part is the part itself. A triangle that is touched aslant, over its border, is
 * not. */
uint32_t surface_feature_along(const surface *s, int triangle, int feature, v3 n);

/* Contact of a convex solid, or a ball exactly, with a surface placed at p->X_ab. */
void convex_on_surface(const pair *p, const convex *a, const surface *s, manifold *out);
/* The contacts that `pass` finds where the solid, lifted along m, comes free, with the gaps they have here.  Returns
 * whether there are any. */
typedef void surface_pass(const pair *p, const convex *a, const surface *s, manifold *out);
bool convex_lifted(const pair *p, const convex *a, const surface *s, v3 m, surface_pass *pass, manifold *out);
void ball_on_surface(const pair *p, double radius, const surface *s, manifold *out);
void surface_on_surface(const pair *p, const surface *a, const surface *b, manifold *out);
/* One contact that parts two solids, whatever way they overlap; `inside`: vertices of one in the other. */
void surface_overlap(const pair *p, const surface *a, const surface *b, const manifold *inside, manifold *out);

/* Of the points from `first` on: those at one place with one normal become one. Each group of nearly equal normals
 * (within an angle of cosine `alike`) keeps at most `each`, all together `most`, deepest groups first. */
void manifold_group(const pair *p, manifold *out, int first, double alike, double same, int each, int most);

pair_function pair_sphere_mesh, pair_convex_mesh, pair_half_space_surface, pair_mesh_mesh, pair_sphere_heights,
    pair_convex_heights, pair_mesh_heights;

#endif
