/* Geometry: solids and surfaces that a few numbers cannot say.  Convex hulls, triangle meshes, height fields, signed
 * distance fields; each built once, then constant.  Positions in metres, in the shape's own frame. */
#ifndef SIM_GEOMETRY_H
#define SIM_GEOMETRY_H

#include <sim/base.h>
#include <sim/math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A convex polyhedron.  Faces are flat polygons of three corners or more; coplanar neighbours are one face. */
typedef struct sim_hull {
    int nvertex, nface;
    const sim_v3 *vertex;
    const sim_v3 *normal;  /* [nface] unit, outwards */
    const double *offset;  /* [nface] the solid is where normal . x <= offset */
    const int *face_start; /* [nface + 1] corners of face f: loop[face_start[f] .. face_start[f + 1]) */
    const int *loop;       /* vertices, anticlockwise from outside */
    const int *across;     /* for the edge from loop[k] to the next corner: the face on its other side */
    const int *ring_start; /* [nvertex + 1] neighbours of vertex v: ring[ring_start[v] .. ring_start[v + 1]) */
    const int *ring;
} sim_hull;

/* Triangles, anticlockwise from outside.  Vertices at one place are one vertex. */
typedef struct sim_mesh {
    int nvertex, ntriangle;
    const sim_v3 *vertex;
    const int (*triangle)[3];
    const int (*across)[3]; /* the triangle on the other side of the edge from corner k to the next; -1 at a border */
    bool closed;            /* no border, each edge shared by two triangles of one orientation. Where solids touch along
                             * an edge, pairs that bound one wedge of solid share it */
    bool convex;            /* closed, and the boundary of its own convex hull */
} sim_mesh;

/* Heights over a rectangle centred at the origin, solid below: column i (along x) and row j (along y) stand at
 * ((i / (columns - 1) - 1/2) size[0], (j / (rows - 1) - 1/2) size[1]); height[j columns + i].  Each cell is two
 * triangles that meet along the diagonal from (i, j) to (i + 1, j + 1). */
typedef struct sim_heights {
    int columns, rows;
    double size[2];
    const double *height;
    double lowest, highest;
} sim_heights;

/* A solid by its signed distance: negative inside, never steeper than 1, of slope 1 at the surface.  So it never
 * overestimates the distance of the surface.  (Sampled grids keep to that but for a tenth of a cell.) */
typedef struct sim_field sim_field;

/* Tetrahedra of a soft solid with the extent of its pressure field: 0 on the surface, 1 on the medial set, linear within
 * each.  extent(x) = level + slope . x. */
typedef struct sim_tets {
    int nvertex, ntet;
    const sim_v3 *vertex;
    const int (*tet)[4];  /* ((b - a) x (c - a)) . (d - a) > 0 for the corners a b c d */
    const double *extent; /* [nvertex] */
    const sim_v3 *slope;  /* [ntet] 1/m */
    const double *level;  /* [ntet] */
} sim_tets;

typedef enum sim_geometry_type {
    SIM_GEOMETRY_HULL,
    SIM_GEOMETRY_MESH,
    SIM_GEOMETRY_HEIGHTS,
    SIM_GEOMETRY_FIELD,
    SIM_GEOMETRY_TETS,
    SIM_GEOMETRY_TYPES,
} sim_geometry_type;

typedef struct sim_geometry {
    sim_geometry_type type;
    sim_v3 low, high;     /* bounds */
    double radius;        /* of the ball about the origin that holds it */
    sim_inertia solid;    /* of density 1; mass 0 where there is no closed surface */
    uint64_t fingerprint; /* of the content: equal for equal geometries */
    const sim_hull *hull; /* hulls, and meshes that are convex */
    const sim_mesh *mesh; /* meshes; the surface of a field; the faces of a hull, cut in triangles */
    const sim_heights *heights;
    const sim_field *field;
    const sim_tets *tets;
    const struct sim_bvh *bvh;       /* over the triangles of `mesh`, or over `tets`; private */
    const struct sim_relief *relief; /* of the triangles of meshes and height fields; private */
    const struct sim_skin *skin;     /* of a field: the few triangles by which it meets others; private */
    size_t bytes;
    void *memory;
} sim_geometry;

SIM_API void sim_geometry_free(sim_geometry *geometry);

/* The convex hull of points; faces that lie in one plane to within 2e-7 of its size are one face.  Refused: fewer than
 * four, all in a plane (to within 1e-7 of their extent), not finite. */
SIM_API sim_geometry *sim_geometry_hull(const sim_v3 *point, int count, sim_error *error);
/* A surface of triangles.  Vertices closer than rounding are joined, triangles without area left out.  Refused: indices
 * out of range, numbers that are not finite, nothing left, or a closed surface turned inside out. */
SIM_API sim_geometry *sim_geometry_mesh(const sim_v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle,
                                        sim_error *error);
/* Convex decomposition of a closed mesh: hulls that cover it.  `concavity`: how far, m, a part may reach beyond the
 * solid; 0: a hundredth of the diagonal of its bounds.  `parts`: at most so many. */
typedef struct sim_split_options {
    double concavity;
    int parts;
} sim_split_options;
typedef struct sim_parts {
    int count;
    sim_geometry **part;
    double concavity; /* that was reached: above the bound where the parts were too few */
} sim_parts;
SIM_API sim_split_options sim_split_options_default(void); /* 32 parts */
SIM_API sim_status sim_geometry_split(const sim_geometry *mesh, const sim_split_options *options, sim_parts *parts,
                                      sim_error *error);
SIM_API void sim_parts_free(sim_parts *parts);
SIM_API sim_geometry *sim_geometry_heights(int columns, int rows, const double size[2], const double *height,
                                           sim_error *error);

/* Tetrahedra with the extent of their vertices, in any order of corners; those without volume are left out.  Refused:
 * indices out of range, numbers that are not finite, nothing left. */
SIM_API sim_geometry *sim_geometry_tets(const sim_v3 *vertex, int nvertex, const int (*tet)[4], int ntet,
                                        const double *extent, sim_error *error);

/* The triangles of an OBJ or STL file (STL binary or text), each coordinate times its scale; free() both arrays.
 * Polygons are cut into triangles, concave ones too. Equal corners of an STL file are one vertex; vertices without
 * triangles are left out, unless none has one. A scale that mirrors turns the triangles round. Polygons whose outline
 * crosses itself become triangles that overlap; these keep all edges, and so the volume within a closed surface. */
typedef struct sim_triangles {
    int nvertex, ntriangle;
    sim_v3 *vertex;
    int (*triangle)[3];
    int ncrossed;                      /* such polygons */
    long crossed_line, crossed_column; /* place of the first in the file, from 1 */
} sim_triangles;

SIM_API sim_status sim_triangles_read(const char *path, sim_v3 scale, sim_triangles *triangles, sim_error *error);

/* Distance fields are built from these, leaves and combinations:
 *   sphere      size: r
 *   box         size: full edges
 *   cylinder    size: r, length (axis z)
 *   profile     the curve `point` (radius, z) turned about z, with `thickness` to each side: bowls, plates, pots
 *               (Lee et al. 2024, appendix B, eq. 45)
 *   thread      a helical ridge on a rod (bolt) or in a bore (nut), axis z: see `sim_thread`
 *   grid        a closed mesh, sampled
 *   union, intersection    of the children
 *   difference             the first child without the others */
typedef enum sim_field_type {
    SIM_FIELD_SPHERE,
    SIM_FIELD_BOX,
    SIM_FIELD_CYLINDER,
    SIM_FIELD_PROFILE,
    SIM_FIELD_THREAD,
    SIM_FIELD_GRID,
    SIM_FIELD_UNION,
    SIM_FIELD_INTERSECTION,
    SIM_FIELD_DIFFERENCE,
    SIM_FIELD_TYPES,
} sim_field_type;

SIM_API const char *sim_field_name(sim_field_type type);

/* A thread of triangular profile cut flat at crest and root, right-handed unless `left`: flanks that enclose
 * `flank_angle`, one ridge each `pitch`, pitch/8 wide at `diameter`/2 (ISO 68-1).  Its middle is at z = 0 over the x
 * axis, so a bolt and a nut at one place fit.  A rod: the ridge rises to `diameter`/2 over a core of diameter/2 -
 * depth.  A bore (`internal`): a hole through a solid that reaches to infinity (intersect it with the outside of a
 * nut).  Its groove is cut to `diameter`/2, and its ridge comes inwards to diameter/2 - depth. `clearance` moves the
 * whole surface into the solid (rod thinner, bore wider), measured along its normal; a rod keeps its length. */
typedef struct sim_thread {
    double diameter, pitch, depth;
    double length;      /* a rod ends at z = +-length/2; a bore runs on */
    double flank_angle; /* rad, between the flanks; ISO metric: pi/3 */
    double clearance;
    int internal, left;
} sim_thread;

typedef struct sim_field_def {
    sim_field_type type;
    double size[3];
    double rounding; /* the solid grown by this to all sides */
    sim_pose pose;   /* in the parent's frame */
    const double (*point)[2];
    int npoint;
    double thickness;
    sim_thread thread;
    const sim_geometry *mesh; /* grid: a closed mesh; only read while the field is built */
    double cell;              /* grid: edge of a cell; 0: a hundredth of the mesh's longest side */
    const struct sim_field_def *child;
    int nchild;
} sim_field_def;

SIM_API sim_field_def sim_field_default(void);
/* A solid by its distance field. `resolution` is the edge of the triangles of its surface for contact; parts thinner than
 * two edges may be lost there, and pictures have finer ones. 0: a fiftieth of its longest side, down to a two-hundredth for
 * thin walls and threads, and fewer, longer triangles for contact. `cache`: a folder in which sampled grids are kept by
 * content, made when needed, or NULL. Refused: sizes that are not positive, solids without bounds, more than some nine
 * million triangles (fewer with many parts) or 25 million samples. */
SIM_API sim_geometry *sim_geometry_field(const sim_field_def *def, double resolution, const char *cache,
                                         sim_error *error);
/* Signed distance at a point, and its gradient (may be NULL). */
SIM_API double sim_field_distance(const sim_field *field, sim_v3 p, sim_v3 *gradient);

#ifdef __cplusplus
}
#endif
#endif
