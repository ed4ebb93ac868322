/* Outer iteration over the directions of friction pyramids, towards the round cone.
 *
 * For a sticking contact the pyramid's solution is one of the cone's if friction in its direction reaches as far as the
 * cone.  So the first direction lies along the friction impulse.  A sliding contact has the cone's friction, mu gamma_n
 * against the slip, if its first direction is against the slip.  Both together:
 *
 *     d = g / |g|,     g = gamma_t - s_t / w                                       w: inverse mass of the contact
 *
 * the point that the natural map of the strict law projects; at a solution g = (mu gamma_n + |s_t| / w) d where it
 * slides.
 *
 * Contacts that share bodies turn each other's directions.  For e across d and a small rotation,
 *
 *     s_t = -sigma d,  gamma_t = mu gamma_n d:    e . s_t = -c e . gamma_t,    c = sigma / (mu gamma_n),
 *
 * so that the pyramid need not hold friction across d: it follows this line with compliance c, has no bound, and leaves
 * all of mu gamma_n to d.  The outer iteration is then Newton's method for the cone (Josephy's: each step a
 * complementarity problem) and converges quadratically.  At the solution nothing acts across d, and c has no effect.
 * Here c = w (|g| / (mu gamma_n) - 1), and its row is divided by 1 + c. */
#include "solver/pyramid/direction_update.h"

#include <math.h>
#include <string.h>

/* Lift of a sticking contact's directions off their kinks, over the unused friction. Greatest y over unused friction of
 * a contact that counts as sticking; sigma of an open contact over its slip. */
static const double LIFT_SHARE = 0.25, MAX_STICKING_RATIO = 1e-3, OPEN_SLIP_FACTOR = 1.5;

/* Friction of a contact and the point g that the natural map projects. */
static void eval_map_point(const polyhedral *p, const polyhedral_group *g, const double *x, double *friction,
                           double *aimed) {
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

static void turn_direction(polyhedral *p, int group, int compliant, double *x) {
    polyhedral_group *g = &p->group[group];
    double friction[2], aimed[2], *own = x + g->first;
    eval_map_point(p, g, x, friction, aimed);
    double length = hypot(aimed[0], aimed[1]), most = g->friction * g->scale * own[0], cross_compliance = -1;
    double direction[2] = {p->unknown[g->first + 1].along[0] / g->scale, p->unknown[g->first + 1].along[1] / g->scale};
    if (length > 0) {
        direction[0] = aimed[0] / length;
        direction[1] = aimed[1] / length;
        cross_compliance = compliant && most > 0 && length > most ? length / most - 1 : -1;
    }
    polyhedral_turn(p, group, direction, cross_compliance);
    memset(own + 1, 0, (size_t)(g->count - 1) * sizeof *own);
    polyhedral_split_friction(p, g, friction, own + 1);
}

/* Lifts unknowns off the kinks: friction below its bound, and sigma of open contacts. */
static void lift_off_kinks(const polyhedral *p, const polyhedral_group *g, const double *y, double *x) {
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
    if (g->cross_compliance >= 0) {
        return;
    }
    if (own[0] <= 0) {
        own[last] = OPEN_SLIP_FACTOR * own[last];
    } else if (left > 0 && high <= MAX_STICKING_RATIO * left) {
        for (int j = 1; j < last; j++) {
            own[j] += LIFT_SHARE * left / (last - 1);
        }
    }
}

void directions_update(polyhedral *p, int compliant, double *x, double *y) {
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->n; i++) {
        x[i] = p->unknown[i].free || x[i] > y[i] ? x[i] : 0;
    }
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->groups; i++) {
        if (p->group[i].contact >= 0) {
            turn_direction(p, i, compliant, x);
        }
    }
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->groups; i++) {
        if (p->group[i].contact >= 0) {
            lift_off_kinks(p, &p->group[i], y, x);
        }
    }
}
