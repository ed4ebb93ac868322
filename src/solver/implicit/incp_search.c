/* Exact search along two straight lines, x to the Cauchy point and on to the Newton point (Todorov 2010, section III).
 *
 * l has a kink at every crossing of an edge and is smooth between two crossings.  Values and slopes at both ends of a
 * piece give a cubic; its minimum is tried besides the ends. */
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

static const sim_constraint *search_constraint(const incp *m, int i) { return &m->h.dual->problem->constraint[i]; }

static void interpolate_line(const line *s, double alpha, double *x) {
    for (int k = 0; k < s->m->h.n; k++) {
        x[k] = s->from[k] + alpha * (s->to[k] - s->from[k]);
    }
}

/* l at alpha, and its slope along u with the derivatives of the regions at `inside`. */
static double eval_on_line(const line *s, double alpha, double inside, double *slope) {
    incp *m = s->m;
    size_t n = (size_t)m->h.n;
    double *F = m->h.F;
    /* F = d gamma / d x: regions of x at `inside`, values at alpha */
    interpolate_line(s, inside, m->point);
    residual_map_slopes(&m->h, m->point, F);
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        const sim_constraint *c = search_constraint(m, i);
        if (c->kind == SIM_CONTACT) {
            residual_region region = residual_map_contact_region(c->friction, m->point + c->row);
            double at[3];
            for (int k = 0; k < 3; k++) {
                at[k] = s->from[c->row + k] + alpha * (s->to[c->row + k] - s->from[c->row + k]);
            }
            residual_map_contact_slope(region, c->friction, at, F + RESIDUAL_BLOCK * i);
        }
    }
    /* l = |r|^2 / 2 and its slope r . (J u) */
    residual_map_jacobian_times(&m->h, F, s->u, m->slope);
    interpolate_line(s, alpha, m->point);
    residual_map_eval(&m->h, m->point, m->other_r);
    *slope = dense_dot((int)n, m->other_r, m->slope);
    return 0.5 * dense_dot((int)n, m->other_r, m->other_r);
}

/* Crossings by rising alpha, with 0 and 1 as first and last; returns their number. */
static int list_crossings(const line *s, int edges, incp_crossing *list) {
    int count = 0;
    list[count++] = (incp_crossing){0, -1, EDGE_NONE};
    for (int i = 0; i < s->m->h.dual->problem->nconstraint && edges; i++) {
        const sim_constraint *c = search_constraint(s->m, i);
        double alpha[MAX_EDGE_CROSSINGS];
        edge which[MAX_EDGE_CROSSINGS];
        int found = c->kind == SIM_CONTACT && !s->m->active[i]
                        ? find_edge_crossings(c->friction, s->from + c->row, s->u + c->row, alpha, which)
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

/* Minimum within (0, 1) of the cubic with these values and slopes at 0 and 1; -1: none. */
static double cubic_minimum(double l0, double d0, double l1, double d1) {
    double a = 2 * (l0 - l1) + d0 + d1, b = 3 * (l1 - l0) - 2 * d0 - d1, square = b * b - 3 * a * d0;
    if (!(square >= 0)) {
        return -1;
    }
    double root = sqrt(square), t = b + root != 0 ? -d0 / (b + root) : -1; /* where 3 a t^2 + 2 b t + d0 = 0 rises */
    return t > 0 && t < 1 ? t : -1;
}

static void keep_better_place(best_place *best, const line *s, double l, double alpha, incp_crossing at) {
    if (l < best->l) {
        *best = (best_place){l, alpha, s->from, s->to, at};
    }
}

static void search_segment(line *s, int edges, best_place *best) {
    incp_crossing *list = s->m->crossing, none = {0, -1, EDGE_NONE};
    for (int k = 0; k < s->m->h.n; k++) {
        s->u[k] = s->to[k] - s->from[k];
    }
    int count = list_crossings(s, edges, list);
    for (int k = 0; k + 1 < count && !solution_stopped(s->m->call->out); k++) {
        double a = list[k].alpha, b = list[k + 1].alpha, width = b - a, middle = 0.5 * (a + b), d0, d1, d;
        if (!(width > 0)) {
            continue;
        }
        double l0 = eval_on_line(s, a, middle, &d0), l1 = eval_on_line(s, b, middle, &d1);
        double t = cubic_minimum(l0, width * d0, l1, width * d1);
        keep_better_place(best, s, l1, b, list[k + 1]);
        if (t > 0) {
            keep_better_place(best, s, eval_on_line(s, a + t * width, middle, &d), a + t * width, none);
        }
    }
}

/* Edge of a contact after a step: an active one.  A step along a cone leaves it unless it is projected. */
edge incp_kept_edge(const incp *m, int i) {
    bool stays = m->edge[i] != EDGE_CONE || (int)m->call->option[INCP_PROJECTION];
    return m->active[i] && stays ? m->edge[i] : EDGE_NONE;
}

bool incp_search_dogleg(incp *m, int edges) {
    /* two pieces; their ends do not change during the search */
    line first = {m, m->x, m->cauchy, m->product}, second = {m, m->cauchy, m->newton, m->product};
    best_place best = {m->l, 0, NULL, NULL, {0, -1, EDGE_NONE}};
    search_segment(&first, edges, &best);
    search_segment(&second, edges, &best);
    if (!best.from) {
        return false;
    }
    m->call->out->dogleg_steps += best.from == m->cauchy;
    m->call->out->edge_steps += best.at.contact >= 0;
    line s = {m, best.from, best.to, m->product};
    interpolate_line(&s, best.alpha, m->other);
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        const sim_constraint *c = search_constraint(m, i);
        m->edge[i] = i == best.at.contact ? best.at.which : incp_kept_edge(m, i);
        if (m->edge[i] != EDGE_NONE) {
            project_to_edge(m->edge[i], c->friction, m->other + c->row);
        }
    }
    return true;
}
