/* Where bodies are put by chance: a nut on its thread, balls in a cube. */
#include "app/contest/contest.h"

#include <math.h>

double contest_uniform(contest_random *random, double low, double high) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* By Box and Muller. */
static double normal(contest_random *random) {
    double size = sqrt(-2 * log(contest_uniform(random, 0x1p-54, 1)));
    return size * cos(contest_uniform(random, 0, 6.283185307179586));
}

/* Screwed on by any angle, on the upper flank of the thread or on the lower one, with little play left; off the axis and
 * tilted by less than the play. */
void contest_place_nut(contest_random *random, const sim_model *model, double *q, double *v) {
    static const double turn = 6.283185307179586, pitch = 0.005, play = 1.155e-4;
    (void)model;
    (void)v; /* at rest */
    double angle = contest_uniform(random, -1, 1) * turn, left = contest_uniform(random, 0, 0.1);
    double side = contest_uniform(random, -1, 1) < 0 ? -1 : 1;
    q[0] = contest_uniform(random, -1e-5, 1e-5);
    q[1] = contest_uniform(random, -1e-5, 1e-5);
    q[2] = pitch * angle / turn + side * (1 - left) * play;
    q[3] = cos(0.5 * angle);
    q[4] = contest_uniform(random, -1e-4, 1e-4);
    q[5] = contest_uniform(random, -1e-4, 1e-4);
    q[6] = sin(0.5 * angle);
    double length = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    for (int k = 3; k < 7; k++) {
        q[k] /= length;
    }
}

/* The radius of the first sphere of a body. */
static double radius_of(const sim_model *m, int body) {
    for (int s = 0; s < m->nshape; s++) {
        if (m->shape[s].body == body && m->shape[s].type == SIM_SPHERE) {
            return m->shape[s].size[0];
        }
    }
    return 0;
}

/* Does a ball at q stand clear of those before it? */
static int clear(const sim_model *m, int body, const double *q) {
    const double *at = q + m->body[body].q0, own = radius_of(m, body);
    for (int b = 1; b < body; b++) {
        const double *other = q + m->body[b].q0;
        if (m->body[b].joint == SIM_FREE) {
            double x = at[0] - other[0], y = at[1] - other[1], z = at[2] - other[2], reach = own + radius_of(m, b);
            if (x * x + y * y + z * z < reach * reach) {
                return 0;
            }
        }
    }
    return 1;
}

/* Each anywhere in a cube of 60 cm that stands on the origin, clear of walls and of each other; velocities of 1 m/s
 * standard deviation along each axis, no spin.  Who finds no room in a thousand places makes all begin anew. */
void contest_place_balls(contest_random *random, const sim_model *m, double *q, double *v) {
    enum { TRIES = 1000 };
    static const double half = 0.3;
    int body = 1;
    while (body < m->nbody) {
        const sim_body *ball = &m->body[body];
        double r = radius_of(m, body), *at = q + ball->q0;
        int left = ball->joint == SIM_FREE ? TRIES : 0, placed = !left;
        while (left-- > 0 && !placed) {
            at[0] = contest_uniform(random, -half + r, half - r);
            at[1] = contest_uniform(random, -half + r, half - r);
            at[2] = contest_uniform(random, r, 2 * half - r);
            placed = clear(m, body, q);
        }
        for (int k = 0; k < 3 && placed && ball->joint == SIM_FREE; k++) {
            v[ball->v0 + k] = normal(random);
            at[3] = 1;
        }
        body = placed ? body + 1 : 1;
    }
}
