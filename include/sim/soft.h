/* Soft bodies of elastic tetrahedra. */
#ifndef SIM_SOFT_H
#define SIM_SOFT_H

#include <sim/base.h>
#include <sim/shape.h>
#include <sim/track.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nodes and tetrahedra of a closed solid, in its frame; edges are of about `edge`, m (0: a third of its radius, of a box
 * half its least edge).  sim_soft_mesh_free frees both arrays. */
typedef struct sim_soft_mesh {
    int nnode, ntet;
    sim_v3 *node;
    int (*tet)[4];
} sim_soft_mesh;

SIM_API sim_status sim_shape_soft_mesh(const sim_shape *shape, double edge, sim_soft_mesh *mesh, sim_error *error);
/* The same of a tube about z; `inner` is the radius of its bore, m. */
SIM_API sim_status sim_tube_soft_mesh(double radius, double inner, double length, double edge, sim_soft_mesh *mesh,
                                      sim_error *error);
/* Of a Gmsh file (.msh, ASCII, 2.2 or 4.1) or TetGen's .node and .ele, of which either may be named. */
SIM_API sim_status sim_soft_mesh_read(const char *path, sim_v3 scale, sim_soft_mesh *mesh, sim_error *error);
/* Leaves out the tetrahedra with their centre in a box, and nodes that no other has. */
SIM_API sim_status sim_soft_mesh_cut(sim_soft_mesh *mesh, sim_v3 min, sim_v3 max, sim_error *error);
SIM_API void sim_soft_mesh_free(sim_soft_mesh *mesh);

/* Elastic materials: stable Neo-Hookean and co-rotated linear elasticity (src/dyn/soft/elastic_law.c). */
typedef enum sim_soft_law { SIM_NEO_HOOKEAN, SIM_COROTATED, SIM_SOFT_LAWS } sim_soft_law;

SIM_API const char *sim_soft_law_name(sim_soft_law law);

/* A soft body: nodes with mass, joined by elastic tetrahedra.  Every node is a body; it hangs by a cartesian joint, or
 * where it is held by a fixed one, on a body that is fixed to the world.  All are one tree.  Coordinates of a node are
 * its place in the frame of that body. */
typedef struct sim_soft {
    const char *name;
    sim_pose pose; /* of that body in the world */
    int body;      /* that body; the nodes are the bodies after it.  Set by the builder, as ... */
    int nface;
    const int (*face)[3]; /* ... triangles of the surface, counterclockwise from outside; ... */
    int nchamber;         /* ... the last ones are those of closed chambers within */
    int nnode, ntet;
    const sim_v3 *node;  /* [nnode] at rest */
    const int (*tet)[4]; /* [ntet] nodes; in a model of positive volume at rest */
    const bool *held;    /* [nnode] NULL: none */
    const int *holder;   /* [nnode] for the builder: fixed bodies on which held nodes stand; NULL: the world */
    int base;            /* set by the builder: the last fixed body that carries all of these */
    sim_v3 v, w;         /* m/s and rad/s about the origin, initial, in the frame of the body */
    sim_soft_law law;
    double modulus, poisson; /* Pa: Young's; 0 <= Poisson's ratio < 1/2 */
    double density;          /* kg/m^3 */
    double dissipation;      /* s: viscosity over elasticity */
    bool rows;               /* is elasticity rows of the contact problem, and no part of A? */
    /* m: nodes of the surface touch shapes as spheres of this radius, which the builder adds; 0: nothing touches */
    double thickness;
    int material;
    uint32_t group, mask; /* of these shapes */
    float color[4];       /* as that of a shape */
    sim_track pressure;   /* Pa: of the gas in its chambers over that outside, width 1; not given: none */
} sim_soft;

#ifdef __cplusplus
}
#endif
#endif
