/* The least l along two straight lines, x to the Cauchy point and on to the Newton point, where l has a kink at every
 * crossing of an edge (Todorov 2010, section III).  Between two crossings l is smooth: its values and slopes at both ends
 * give a cubic, whose minimum is tried besides the ends. */
#include "math/dense.h"
#include "solver/implicit/incp.h"

#include <math.h>
#include <string.h>

typedef struct line {
    incp *m;
    const double *from, *to;
    double *u;
} line;

typedef struct best_place {
    double l, alpha;
    const double *from, *to;
    incp_crossing at; /* contact -1: between crossings */
} best_place;

static const sim_constraint *constraint(const incp *m, int i) { return &m->h.dual->problem->constraint[i]; }

static void place(const line *s, double alpha, double *x) {
    for (int k = 0; k < s->m->h.n; k++) {
        x[k] = s->from[k] + alpha * (s->to[k] - s->from[k]);
    }
}

/* l at alpha, and its slope along u by the derivatives of the regions in which `inside` lies. */
static double look(const line *s, double alpha, double inside, double *slope) {
    incp *m = s->m;
    size_t n = (size_t)m->h.n;
    double *F = m->h.F;
    place(s, inside, m->point);
    hybrid_slopes(&m->h, m->point, F);
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        const sim_constraint *c = constraint(m, i);
        if (c->kind == SIM_CONTACT) {
            hybrid_region region = hybrid_contact_region(c->friction, m->point + c->row);
            double at[3];
            for (int k = 0; k < 3; k++) {
                at[k] = s->from[c->row + k] + alpha * (s->to[c->row + k] - s->from[c->row + k]);
            }
            hybrid_contact_slope(region, c->friction, at, F + HYBRID_BLOCK * i);
        }
    }
    hybrid_along(&m->h, F, s->u, m->slope);
    place(s, alpha, m->point);
    hybrid_residual(&m->h, m->point, m->other_r);
    *slope = dense_dot((int)n, m->other_r, m->slope);
    return 0.5 * dense_dot((int)n, m->other_r, m->other_r);
}

/* Rising in alpha; from 0 to 1, both included. */
static int find_crossings(const line *s, int edges, incp_crossing *list) {
    int count = 0;
    list[count++] = (incp_crossing){0, -1, EDGE_NONE};
    for (int i = 0; i < s->m->h.dual->problem->nconstraint && edges; i++) {
        const sim_constraint *c = constraint(s->m, i);
        double alpha[MOST_CROSSINGS];
        edge which[MOST_CROSSINGS];
        int found = c->kind == SIM_CONTACT && !s->m->active[i]
                        ? edge_crossings(c->friction, s->from + c->row, s->u + c->row, alpha, which)
                        : 0;
        for (int k = 0; k < found; k++) {
            int at = count++;
            for (; at > 1 && list[at - 1].alpha > alpha[k]; at--) {
                list[at] = list[at - 1];
            }
            list[at] = (incp_crossing){alpha[k], i, which[k]};
        }
    }
    list[count++] = (incp_crossing){1, -1, EDGE_NONE};
    return count;
}

/* Where the cubic with these values and slopes at 0 and 1 is least within; below 0 if it is not. */
static double cubic_minimum(double l0, double d0, double l1, double d1) {
    double a = 2 * (l0 - l1) + d0 + d1, b = 3 * (l1 - l0) - 2 * d0 - d1, square = b * b - 3 * a * d0;
    if (!(square >= 0)) {
        return -1;
    }
    double root = sqrt(square), t = b + root != 0 ? -d0 / (b + root) : -1; /* where 3 a t^2 + 2 b t + d0 = 0 rises */
    return t > 0 && t < 1 ? t : -1;
}

static void offer(best_place *best, const line *s, double l, double alpha, incp_crossing at) {
    if (l < best->l) {
        *best = (best_place){l, alpha, s->from, s->to, at};
    }
}

static void search_line(line *s, int edges, best_place *best) {
    incp_crossing *list = s->m->crossing, none = {0, -1, EDGE_NONE};
    for (int k = 0; k < s->m->h.n; k++) {
        s->u[k] = s->to[k] - s->from[k];
    }
    int count = find_crossings(s, edges, list);
    for (int k = 0; k + 1 < count && !solution_stopped(s->m->call->out); k++) {
        double a = list[k].alpha, b = list[k + 1].alpha, width = b - a, middle = 0.5 * (a + b), d0, d1, d;
        if (!(width > 0)) {
            continue;
        }
        double l0 = look(s, a, middle, &d0), l1 = look(s, b, middle, &d1);
        double t = cubic_minimum(l0, width * d0, l1, width * d1);
        offer(best, s, l1, b, list[k + 1]);
        if (t > 0) {
            offer(best, s, look(s, a + t * width, middle, &d), a + t * width, none);
        }
    }
}

/* The edge on which a contact still stands after a step: one that was active; but a step along a cone leaves it unless it
 * is put back. */
edge incp_keeps(const incp *m, int i) {
    int stays = m->edge[i] != EDGE_CONE || (int)m->call->option[INCP_PROJECTION];
    return m->active[i] && stays ? m->edge[i] : EDGE_NONE;
}

int incp_search(incp *m, int edges) {
    /* copies: what a line is made of must not change while it is searched */
    line first = {m, m->x, m->cauchy, m->product}, second = {m, m->cauchy, m->newton, m->product};
    best_place best = {m->l, 0, NULL, NULL, {0, -1, EDGE_NONE}};
    search_line(&first, edges, &best);
    search_line(&second, edges, &best);
    if (!best.from) {
        return 0;
    }
    line s = {m, best.from, best.to, m->product};
    place(&s, best.alpha, m->other);
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        const sim_constraint *c = constraint(m, i);
        m->edge[i] = i == best.at.contact ? best.at.which : incp_keeps(m, i);
        if (m->edge[i] != EDGE_NONE) {
            edge_snap(m->edge[i], c->friction, m->other + c->row);
        }
    }
    return 1;
}
