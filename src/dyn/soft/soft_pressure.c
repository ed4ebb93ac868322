/* Forces of gas in the closed chambers of a soft body.
 *
 *     f_n = -p / 3 sum of S over the faces of node n,   S = (b - a) x (c - a) / 2,   sum of f.dx = p dV
 *
 *     p  pressure over that outside, Pa;  S  area of a face with corners a, b, c, m^2, out of the solid, into the gas
 *     V  volume of the chamber, m^3
 *
 * The areas of a closed surface add up to zero, and so do these forces and their moments.
 * Departure: the forces follow the surface, but their derivative p d2V/dx2 is not in A.  It is indefinite, and A is the
 * mass of the contact problem.  Newton's steps of the free motion leave it out, and their secant steps make up for it.
 * Reference: Bonet, Wood 2008, Nonlinear continuum mechanics for finite element analysis, section 8.5.
 * Cost: linear in the faces. */
#include "dyn/soft/soft_body.h"

void add_chamber_forces(const sim_model *m, const sim_soft *s, const double *q, double p, double *force,
                        double *strength) {
    for (int k = s->nface - s->nchamber; k < s->nface; k++) {
        const int *n = s->face[k];
        v3 a = soft_place(m, s, n[0], q);
        v3 S = v3_cross(v3_sub(soft_place(m, s, n[1], q), a), v3_sub(soft_place(m, s, n[2], q), a));
        const double f[3] = {-p / 6 * S.x, -p / 6 * S.y, -p / 6 * S.z};
        for (int i = 0; i < 3; i++) {
            const sim_body *b = &m->body[s->body + 1 + n[i]];
            for (int j = 0; j < b->nv; j++) {
                force[b->v0 + j] += f[j];
                strength[b->v0 + j] += fabs(f[j]);
            }
        }
    }
}
