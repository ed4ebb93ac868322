/* Restitution: Newton's law, scaled down where it would create energy.
 *
 *     u_n' = -a e u_n,     the greatest a <= 1 whose solution has     T(a) <= T(0) + B
 *     B = min( sum (e_i s_i)^2 L_i,  max (e_i s_i)^2  sum L_i )  >= 0
 *     L_i = -gamma_i . (u_i + u*_i) / 2  at a = 0,     u = J v,  u* = J v*,     s_i = c_i / c*_i,  1 <= s_i <= 2
 *
 *     e, a      coefficient of restitution, and the part of it that the island has, 0 to 1
 *     T(a)      kinetic energy of the solution with a e in place of every e of the island, J
 *     L_i       energy that striking contact or limit i loses at a = 0, J
 *     c, c*     speed of approach at the start, and after free motion, m/s (s corrects for
 *              forces that slow a contact within the step)
 *
 * One contact without friction keeps e^2 of the energy that it would lose without restitution; so do several that
 * strike together with one e.  With friction Newton's law may create energy: where the end of a chain strikes a floor
 * aslant, it is easily moved upwards but hardly along the floor.  The impulse that makes -e u_n is then too great, and
 * friction does work.  Positive targets may also have no solution, where contacts close a ring.
 *
 * T uses A of the problem at a = 0 and v* of free motion for every a: T - T* = (v - v*)' A (v + v*) / 2.  Without a
 * solution at a = 0 the one at 1 stays; if neither is one, that of smaller residual.  Else the secant (Illinois) finds
 * a, with at most 10 parts, and 3 without a solution.
 * References: Kane, Levinson 1985, Dynamics; Stronge 1990 (the same bound, for the work of the normal impulse).
 * Cost: one solution without risky impacts, else two; where a < 1 up to eleven more. */
#include "contact/island/island.h"
#include "problem/laws.h"

#include <string.h>

static const double NEAR_ZERO_PART = 1e-9;   /* of e, in place of a = 0: at 0 the law would close the gap first */
static const double WORK_TOLERANCE = 1e-6;   /* of the work at a = 0: solvers stop at tolerances */
static const double MAX_UNUSED_PART = 0.02;  /* of B */
static const double MAX_SLOWING = 2;         /* maximum of s */
static const double MIN_BRACKET_PART = 0.02; /* of the bracket, from its ends to the next part */
enum { MAX_SECANTS = 10, MAX_FAILURES = 3 };

/* ---- strikes ---- */

static bool is_strike(const sim_problem *p, double threshold, const sim_constraint *c) {
    bool may = is_stop(c) && c->restitution > 0 && isinf(c->stiffness);
    return may && law_strikes(p, threshold, c, normal_row(c));
}

/* May an impact gain energy by Newton's law?  One contact without friction cannot. */
static bool any_risky_strike(const sim_problem *p, double threshold, int constraints) {
    bool any = false, risky = p->nconstraint > 1;
    for (int i = 0; i < constraints; i++) {
        if (is_strike(p, threshold, &p->constraint[i])) {
            any = true;
            risky |= p->constraint[i].friction > 0;
        }
    }
    return any && risky;
}

/* (e s)^2 of every strike: s = c / c*, the approach before the step over that of free motion, from 1 to 2. */
static void compute_bounds(restitution_search *r, double threshold) {
    const sim_problem *p = &r->is->problem;
    for (int i = 0; i < r->is->first_actuator; i++) {
        const sim_constraint *c = &p->constraint[i];
        r->bound[i] = 0;
        if (is_strike(p, threshold, c)) {
            double before = -velocity_of_row(p, c, normal_row(c), p->v_start),
                   free = -velocity_of_row(p, c, normal_row(c), r->v_free);
            double s = before < MAX_SLOWING * free ? max_of(1, before / free) : MAX_SLOWING;
            r->bound[i] = c->restitution * s * c->restitution * s;
        }
    }
}

sim_status restitution_begin(restitution_search *r, const assembly *f, const island *is, double threshold,
                             sim_arena *scratch) {
    /* no search if no strike can add energy */
    int nv = is->problem.nv;
    *r = (restitution_search){.f = f, .is = is, .part = 1, .stage = RESTITUTION_WHOLE};
    if (!any_risky_strike(&is->problem, threshold, is->first_actuator)) {
        return SIM_OK;
    }
    /* memory */
    r->stage = RESTITUTION_NONE;
    r->part = NEAR_ZERO_PART;
    r->bound = ARENA_NEW(scratch, double, is->first_actuator);
    r->v_free = ARENA_NEW(scratch, double, nv);
    r->extra = ARENA_NEW(scratch, double, nv);
    r->sum = ARENA_NEW(scratch, double, nv);
    r->image = ARENA_NEW(scratch, double, nv);
    if (!r->bound || !r->v_free || !r->extra || !r->sum || !r->image) {
        return SIM_NO_RESOURCE;
    }
    /* free motion and bounds of the search */
    memcpy(r->v_free, is->base.v_free, (size_t)nv * sizeof *r->v_free);
    compute_bounds(r, threshold);
    return SIM_OK;
}

/* ---- energies ---- */

/* The addition of actuators to the diagonal of A in the last problem; NULL: none. */
static const double *actuator_diagonal(const restitution_search *r, int t) {
    const island *is = r->is;
    int tree = is->actuators ? is->mass.tree[t] : 0;
    return is->actuators && r->f->driven[tree] ? r->f->extra + is->mass.model->tree[tree].v0 : NULL;
}

static void keep_diagonal(restitution_search *r) {
    for (int t = 0; t < r->is->problem.ntree; t++) {
        const sim_problem_tree *tree = &r->is->problem.tree[t];
        const double *extra = actuator_diagonal(r, t);
        for (int j = 0; j < tree->nv; j++) {
            r->extra[tree->v0 + j] = extra ? extra[j] : 0;
        }
    }
}

/* T - T* of the last solution: (v - v*)' A (v + v*) / 2 with A of that at a = 0. */
static double energy_gain(const restitution_search *r) {
    const sim_problem *p = &r->is->problem;
    double twice = 0;
    for (int j = 0; j < p->nv; j++) {
        r->sum[j] = r->is->v[j] + r->v_free[j];
    }
    for (int t = 0; t < p->ntree; t++) {
        const double *extra = actuator_diagonal(r, t);
        p->mass.times(p->mass.self, t, r->sum + p->tree[t].v0, r->image + p->tree[t].v0);
        for (int k = 0, j = p->tree[t].v0; k < p->tree[t].nv; k++, j++) {
            double more = extra ? r->extra[j] - extra[k] : 0;
            twice += (r->is->v[j] - r->v_free[j]) * (r->image[j] + more * r->sum[j]);
        }
    }
    return twice / 2;
}

/* B by the last solution, and a tolerance. */
static double allowed_gain(const restitution_search *r) {
    const island *is = r->is;
    const sim_problem *p = &is->problem;
    double each = 0, lost = 0, greatest = 0, work = 0;
    for (int i = 0; i < is->first_actuator; i++) {
        const sim_constraint *c = &p->constraint[i];
        double L = 0;
        for (int k = 0; k < c->rows; k++) {
            double gamma = is->impulse[c->row + k];
            L -= gamma == 0 ? 0 : 0.5 * gamma * (velocity_of_row(p, c, k, is->v) + velocity_of_row(p, c, k, r->v_free));
        }
        work += fabs(L);
        each += r->bound[i] * L;
        lost += r->bound[i] > 0 ? L : 0;
        greatest = max_of(greatest, r->bound[i]);
    }
    return max_of(0, min_of(each, greatest * lost)) + WORK_TOLERANCE * work;
}

/* ---- the search ---- */

static bool is_solved(const restitution_search *r) { return r->is->solution.outcome <= SIM_AT_ROUNDING; }

/* Energy of the last solution beyond its bound, J; infinite without a solution. */
static double energy_excess(const restitution_search *r) {
    return is_solved(r) ? energy_gain(r) - r->none - r->allowed : HUGE_VAL;
}

/* The root of the secant of the excess, away from the ends of the bracket. */
static double secant_root(const restitution_search *r) {
    double width = r->high - r->low, at = isinf(r->above) ? 0.5 : r->below / (r->below - r->above);
    return r->low + width * min_of(max_of(at, MIN_BRACKET_PART), 1 - MIN_BRACKET_PART);
}

static void narrow_bracket(restitution_search *r, double at, double off) {
    if (off <= 0) {
        r->low = at;
        r->below = off;
        r->unused = -off;
        r->above *= r->stayed > 0 ? 0.5 : 1;
        r->stayed = 1;
    } else {
        r->high = at;
        r->above = off;
        r->below *= r->stayed < 0 ? 0.5 : 1;
        r->stayed = -1;
    }
}

/* The next part between, or the best one once more, unless it was the last. */
static bool go_between(restitution_search *r) {
    bool more = r->secants < MAX_SECANTS && r->failures < MAX_FAILURES && r->unused > MAX_UNUSED_PART * r->allowed;
    if (more) {
        r->stage = RESTITUTION_SECANT;
        r->secants++;
        r->part = secant_root(r);
        return true;
    }
    r->stage = RESTITUTION_LAST;
    bool again = r->part != r->low;
    r->part = r->low;
    return again;
}

bool restitution_next(restitution_search *r) {
    double off;
    switch (r->stage) {
    case RESTITUTION_NONE: /* the measure */
        r->measured = is_solved(r);
        r->residual = r->is->solution.residual;
        if (r->measured) {
            keep_diagonal(r);
            r->none = energy_gain(r);
            r->allowed = allowed_gain(r);
        }
        r->stage = RESTITUTION_NEWTON;
        r->part = 1;
        return true;
    case RESTITUTION_NEWTON: /* all of it: is that too much? */
        if (!r->measured) {
            bool worse = !is_solved(r) && !(r->is->solution.residual <= r->residual);
            r->stage = RESTITUTION_LAST;
            r->part = worse ? NEAR_ZERO_PART : 1;
            return worse;
        }
        off = energy_excess(r);
        if (off <= 0) {
            return false;
        }
        r->low = NEAR_ZERO_PART;
        r->high = 1;
        r->unused = r->allowed;
        r->below = -r->allowed;
        r->above = off;
        r->failures = isinf(off) != 0;
        return go_between(r);
    case RESTITUTION_SECANT:
        r->failures += !is_solved(r);
        narrow_bracket(r, r->part, energy_excess(r));
        return go_between(r);
    case RESTITUTION_WHOLE:
    case RESTITUTION_LAST:
        break;
    }
    return false;
}
