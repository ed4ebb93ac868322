/* Nodes, edges and faces of the surfaces of soft bodies, and the points at which two of them touch. */
#ifndef COLLIDE_SKIN_ELEMENT_H
#define COLLIDE_SKIN_ELEMENT_H

#include "math/v3.h"
#include <sim/collide.h>
#include <stdbool.h>

typedef enum skin_kind { SKIN_NODE, SKIN_FACE, SKIN_EDGE } skin_kind;

/* Bodies of the model that are its corners: one, three, two. */
typedef struct skin_element {
    int soft;
    uint32_t code; /* half of a contact's feature: its kind, and the number of a node, a face, or 3 face + corner */
    skin_kind kind;
    int body[3];
} skin_element;

/* Of an edge the first corner is that of the face; the edge leads to the next one. */
skin_element skin_element_of(const sim_model *model, int soft, skin_kind kind, int index);
static inline int skin_corners(skin_kind kind) { return kind == SKIN_NODE ? 1 : kind == SKIN_EDGE ? 2 : 3; }

/* Nearest points of a node and a face, or of two edges: weights of the corners, and the points. */
typedef struct skin_point {
    double weight[3];
    v3 at;
} skin_point;

/* `place` [nbody]; returns where on the face the point lies, as bvh_nearest has it, 0 for two edges. */
int skin_nearest(const skin_element *a, const skin_element *b, const sim_pose *place, skin_point *on_a,
                 skin_point *on_b);

/* The soft body of a node, -1: none. */
int skin_soft_of(const sim_model *model, int body);
/* Is it a contact between two surfaces of soft bodies? */
bool skin_is_contact(const sim_model *model, const sim_contact *contact);
/* A side of such a contact. */
skin_element skin_side_of(const sim_model *model, const sim_contact *contact, int side);

#endif
