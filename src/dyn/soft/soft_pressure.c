/* Forces of gas in the closed chambers of a soft body.
 *
 *     f_n = -p / 3 sum of S over the faces of node n,   S = (b - a) x (c - a) / 2,   sum of f.dx = p dV
 *
 *     p  pressure over that outside, Pa;  S  area of a face with corners a, b, c, m^2, out of the solid, into the gas
 *     V  volume of the chamber, m^3
 *
 *     V = -1/6 sum of a.(b x c),     -d2(p V)/dx_i dx_j = p/12 sum of [e_j - e_i]x,     e_a = c - b
 *
 * The areas of a closed surface add up to zero, and so do these forces and their moments.  The derivative of a face's
 * forces is not symmetric, but that of the sum over a closed surface is: so the symmetric parts of the faces add up to
 * it.  It is indefinite, and part of A where that stays positive definite (soft_motion.c): a projection of each face
 * would resist rigid motion, as the areas of one face alone are no closed surface.
 * Reference: Bonet, Wood 2008, Nonlinear continuum mechanics for finite element analysis, section 8.5.
 * Cost: linear in the faces. */
#include "dyn/soft/soft_body.h"

/* Corners of face k. */
static void place_face(const sim_model *m, const sim_soft *s, int k, const double *q, v3 x[3]) {
    for (int i = 0; i < 3; i++) {
        x[i] = soft_place(m, s, s->face[k][i], q);
    }
}

static v3 twice_area(const v3 x[3]) { return v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0])); }

void add_chamber_forces(const sim_model *m, const sim_soft *s, const double *q, double p, double *force,
                        double *strength) {
    int v0 = m->tree[m->body[s->body].tree].v0;
    for (int k = s->nface - s->nchamber; k < s->nface; k++) {
        v3 x[3];
        place_face(m, s, k, q, x);
        v3 S = twice_area(x);
        const double f[3] = {-p / 6 * S.x, -p / 6 * S.y, -p / 6 * S.z};
        for (int i = 0; i < 3; i++) {
            const sim_body *b = &m->body[s->body + 1 + s->face[k][i]];
            for (int j = 0; j < b->nv; j++) {
                force[b->v0 - v0 + j] += f[j];
                strength[b->v0 - v0 + j] += fabs(f[j]);
            }
        }
    }
}

double chamber_volume(const sim_model *m, const sim_soft *s, const double *q, const double *v, double *rate) {
    double volume = 0;
    for (int k = s->nface - s->nchamber; k < s->nface; k++) {
        v3 x[3];
        place_face(m, s, k, q, x);
        volume -= v3_dot(x[0], v3_cross(x[1], x[2])) / 6;
        v3 S = twice_area(x);
        for (int i = 0; i < 3 && rate; i++) {
            const sim_body *b = &m->body[s->body + 1 + s->face[k][i]];
            *rate -= b->nv ? v3_dot(S, v3_make(v[b->v0], v[b->v0 + 1], v[b->v0 + 2])) / 6 : 0;
        }
    }
    return volume;
}

void eval_gas_stiffness(const sim_model *m, const sim_soft *s, int face, const double *q, double p, v3 w[3]) {
    v3 x[3], e[3];
    place_face(m, s, face, q, x);
    for (int i = 0; i < 3; i++) {
        e[i] = v3_sub(x[(i + 2) % 3], x[(i + 1) % 3]);
    }
    for (int pair = 0; pair < 3; pair++) {
        w[pair] = v3_scale(p / 12, v3_sub(e[FACE_PAIR[pair][1]], e[FACE_PAIR[pair][0]]));
    }
}
