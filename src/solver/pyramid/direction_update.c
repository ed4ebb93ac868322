/* Outer iteration over the directions of friction pyramids, towards the round cone.
 *
 * Of a contact that sticks the pyramid's answer is one of the cone's, if only friction reaches as far as the cone does: so
 * its first direction lies along the friction impulse.  One that slides has the cone's friction, mu gamma_n against the slip,
 * if its first direction is against the slip: then no other direction is at the limit.  Both at once says
 *
 *     d = g / |g|,     g = gamma_t - s_t / w                                       w: inverse mass of the contact
 *
 * which is where the natural map of the exact law projects: at an answer g = (mu gamma_n + |s_t| / w) d of what slides.  A
 * pyramid whose first direction no longer turns has the answer of the cone.  For one contact alone, off by an angle e, the
 * slip is off by w mu gamma_n e / |s_t|, which may be many times e; g is not off at all.
 *
 * Contacts that share bodies turn each other.  How friction turns with its direction is known: with e across d
 *
 *     s_t = -sigma d,  gamma_t = mu gamma_n d    turned by a small angle:    e . s_t = -bend e . gamma_t,    bend = sigma / (mu gamma_n)
 *
 * so that where a contact slides, friction across d need not be held by the pyramid: it follows this line, has no bound, and
 * leaves all of mu gamma_n to d.  That makes of the rounds Newton's method for the cone (Josephy's: each step a
 * complementarity problem), and of their error the square in each.  At the end nothing acts across d, and what
 * the bend is does not matter.  It is taken as w (|g| / (mu gamma_n) - 1), and its row is divided by 1 + bend. */
#include "solver/pyramid/direction_update.h"

#include <math.h>
#include <string.h>

/* Of the friction that is not used, what directions of a contact that sticks are lifted off their kinks by; it sticks, where y
 * is so much less; sigma of one that is open. */
static const double LIFT = 0.25, STICKS = 1e-3, AWAY = 1.5;

/* Friction of a contact, its normal impulse, and where the natural map leads. */
static void aim(const polyhedral *p, const polyhedral_group *g, const double *x, double *friction, double *aimed) {
    const polyhedral_unknown *u = p->unknown + g->first;
    double rho = g->scale * g->scale;
    friction[0] = friction[1] = 0;
    for (int j = 1; j + 1 < g->count; j++) {
        friction[0] += u[j].along[0] * x[g->first + j];
        friction[1] += u[j].along[1] * x[g->first + j];
    }
    for (int k = 0; k < 2; k++) {
        aimed[k] = friction[k] - rho * p->s[g->row + k];
    }
}

static void turn(polyhedral *p, int group, int bent, double *x) {
    polyhedral_group *g = &p->group[group];
    double friction[2], aimed[2], *own = x + g->first;
    aim(p, g, x, friction, aimed);
    double length = hypot(aimed[0], aimed[1]), most = g->friction * g->scale * own[0], bend = -1;
    double direction[2] = {p->unknown[g->first + 1].along[0] / g->scale, p->unknown[g->first + 1].along[1] / g->scale};
    if (length > 0) {
        direction[0] = aimed[0] / length;
        direction[1] = aimed[1] / length;
        bend = bent && most > 0 && length > most ? length / most - 1 : -1;
    }
    polyhedral_turn(p, group, direction, bend);
    memset(own + 1, 0, (size_t)(g->count - 1) * sizeof *own);
    polyhedral_share_out(p, g, friction, own + 1);
}

/* Off the kinks: what is not held by its bound, and what has nothing to hold. */
static void lift(const polyhedral *p, const polyhedral_group *g, const double *y, double *x) {
    double *own = x + g->first, left = g->friction * own[0];
    const double *to = y + g->first;
    int last = g->count - 1;
    double low = 0, high = 0;
    for (int j = 1; j < last; j++) {
        low = fmin(low, p->unknown[g->first + j].free ? 0 : to[j]);
        high = fmax(high, p->unknown[g->first + j].free ? 0 : fabs(to[j]));
        left -= own[j];
    }
    own[last] = -low;
    if (g->bend >= 0) {
        return;
    }
    if (own[0] <= 0) {
        own[last] = AWAY * own[last];
    } else if (left > 0 && high <= STICKS * left) {
        for (int j = 1; j < last; j++) {
            own[j] += LIFT * left / (last - 1);
        }
    }
}

void turning_turn(polyhedral *p, int bent, double *x, double *y) {
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->n; i++) {
        x[i] = p->unknown[i].free || x[i] > y[i] ? x[i] : 0;
    }
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->groups; i++) {
        if (p->group[i].contact >= 0) {
            turn(p, i, bent, x);
        }
    }
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->groups; i++) {
        if (p->group[i].contact >= 0) {
            lift(p, &p->group[i], y, x);
        }
    }
}
