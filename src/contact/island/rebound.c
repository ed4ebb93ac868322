/* How much of its restitution does an impact bear?
 *
 * Newton's law asks that what comes with u_n < 0 leaves with -e u_n.  One contact without friction then keeps e^2 of the
 * energy that it would lose without restitution; so do several, if they meet together and have one e.  With friction the
 * law may do otherwise, and even create energy (Kane and Levinson 1985): where the end of a chain strikes a floor aslant,
 * little is moved along the floor and much upwards, the impulse that makes -e u_n is too great, and friction does work.
 * And targets above zero may have no answer, where contacts close a ring.
 *
 * So restitution is held to what it means.  T(a) is the kinetic energy of the answer with a e in place of every e of the
 * island, and L_i what is lost at a = 0 in the contact or limit i, of those that strike.  Then the greatest a <= 1 holds
 * whose answer the solver found, and which has
 *
 *     T(a) <= T(0) + B,     B = min( sum (e_i s_i)^2 L_i,  max (e_i s_i)^2  sum L_i )  >= 0,
 *
 *     L_i = -gamma_i . (u_i + u*_i) / 2  at a = 0,     u = J v,  u* = J v*,     s_i = c_i / c*_i,  1 <= s_i <= 2:
 *
 * restitution gives back at most the part (e s)^2 of what would be lost without it (after Stronge 1990, who says so of the
 * normal's work).  Since A (v - v*) = J' gamma, T - T* = gamma . (u + u*) / 2, constraint by constraint; the second bound
 * is for an L_i < 0, friction that was driven.  At a = 0 the law would let the gap be eaten up first; so 0 is nearly 0.
 *
 * s.  One contact of inverse mass w comes with c = -u_n(v_start) and would have c* = -u_n(v*) at the end of the step.
 * Without restitution it loses L = c*^2 / 2w; by Newton's law it leaves with e c, so that
 *
 *     T(1) - T(0) = (e c)^2 / 2w = (e c / c*)^2 L.
 *
 * Where forces hasten it, c* > c, that is less than e^2 L, and s = 1 leaves room.  Where they slow it down within the
 * step, it is more: s = c / c*, up to 2; what they slow down by more than half bounces less than Newton has it.
 *
 * So what adds no energy, against what?  Where nothing that strikes is slowed down, T(a) <= T(0) + sum L_i: T*, the free
 * motion's, less what all else takes.  Where it is, the measure is what came, (c_i/c*_i)^2 L_i in place of L_i: T may be
 * above T* by what the step's forces took from the approach, at most 3 sum L_i.
 *
 * T is measured alike for every a: A of the answer at a = 0, with the motors that are on their lines there, and v* of
 * free motion as it was found.  T - T* = (v - v*)' A (v + v*) / 2 then counts what motors do between two a, too.
 *
 * Without an answer at a = 0 there is no measure, and the answer at 1 stays; if neither is one, the one with the smaller
 * residual.  Otherwise a is found between the answers above and below by the secant, an end that stays being pulled
 * nearer (Illinois); few that are none are tried. */
#include "contact/problem/parts.h"
#include "math/dense.h"
#include "problem/laws.h"

#include <math.h>
#include <string.h>

static const double NEARLY_NONE = 1e-9; /* part of e that stands for none */
static const double ROUNDING = 1e-6;    /* of the work that is done at a = 0: solvers stop at tolerances */
static const double CLOSE = 0.02;       /* of what may be given back: left unused */
static const double SLOWED = 2;         /* the greatest s */
enum { ROUNDS = 10, FAILURES = 3 };

typedef struct rebound {
    frame *f;
    island *is;
    rebound_answer answer;
    void *self;
    double threshold;
    int n;               /* constraints that are no motors */
    double *restitution; /* [n] as it was */
    double *part;        /* [n] (e s)^2 of what strikes, 0 of the rest */
    double *v_free;      /* [nv] v* of free motion */
    double *extra;       /* [nv] on the diagonal of A at a = 0 */
    double *sum, *image; /* [nv] */
} rebound;

/* ---- what strikes ---- */

static int normal_row(const sim_constraint *c) { return c->kind == SIM_CONTACT ? 2 : 0; }

static int strikes(const rebound *r, const sim_constraint *c) {
    int may = (c->kind == SIM_CONTACT || c->kind == SIM_LIMIT) && c->restitution > 0 && isinf(c->stiffness);
    return may && law_strikes(&r->is->problem, r->threshold, c, normal_row(c));
}

/* Does anything strike that Newton's law alone might serve badly?  One contact without friction it serves well. */
static int look(const rebound *r) {
    const sim_problem *p = &r->is->problem;
    int any = 0, risky = p->nconstraint > 1;
    for (int i = 0; i < r->n; i++) {
        if (strikes(r, &p->constraint[i])) {
            any = 1;
            risky |= p->constraint[i].friction > 0;
        }
    }
    return any && risky;
}

static int take_memory(rebound *r, sim_arena *scratch) {
    int nv = r->is->problem.nv;
    r->restitution = ARENA_NEW(scratch, double, r->n);
    r->part = ARENA_NEW(scratch, double, r->n);
    r->v_free = ARENA_NEW(scratch, double, nv);
    r->extra = ARENA_NEW(scratch, double, nv);
    r->sum = ARENA_NEW(scratch, double, nv);
    r->image = ARENA_NEW(scratch, double, nv);
    return r->restitution && r->part && r->v_free && r->extra && r->sum && r->image;
}

/* v* with the motors as free motion had them. */
static void take_free_motion(rebound *r) {
    const island *is = r->is;
    const sim_problem *p = &is->problem;
    memcpy(r->v_free, p->v_free, (size_t)p->nv * sizeof *r->v_free);
    for (int t = 0; t < p->ntree && is->motors; t++) {
        const sim_tree *from = &is->mass.model->tree[is->mass.tree[t]];
        memcpy(r->v_free + p->tree[t].v0, r->f->in->v_free + from->v0, (size_t)from->nv * sizeof *r->v_free);
    }
}

static void weigh(rebound *r) {
    const sim_problem *p = &r->is->problem;
    for (int i = 0; i < r->n; i++) {
        const sim_constraint *c = &p->constraint[i];
        r->restitution[i] = c->restitution;
        r->part[i] = 0;
        if (strikes(r, c)) {
            double came = -velocity_of_row(p, c, normal_row(c), p->v_start),
                   comes = -velocity_of_row(p, c, normal_row(c), r->v_free);
            double slowed = came < SLOWED * comes ? max_of(1, came / comes) : SLOWED;
            r->part[i] = c->restitution * slowed * c->restitution * slowed;
        }
    }
}

/* ---- energies ---- */

/* What motors add to the diagonal of A at the last answer. */
static const double *added(const rebound *r, int t) {
    const island *is = r->is;
    const frame *f = r->f;
    int tree = is->motors ? is->mass.tree[t] : 0;
    return is->motors && f->driven[tree] ? f->extra + is->mass.model->tree[tree].v0 : NULL;
}

static void keep_measure(rebound *r) {
    for (int t = 0; t < r->is->problem.ntree; t++) {
        const sim_problem_tree *tree = &r->is->problem.tree[t];
        const double *extra = added(r, t);
        for (int j = 0; j < tree->nv; j++) {
            r->extra[tree->v0 + j] = extra ? extra[j] : 0;
        }
    }
}

/* T - T* of the last answer: (v - v*)' A (v + v*) / 2 with A of that at a = 0. */
static double energy(const rebound *r) {
    const sim_problem *p = &r->is->problem;
    double twice = 0;
    for (int j = 0; j < p->nv; j++) {
        r->sum[j] = r->is->v[j] + r->v_free[j];
    }
    for (int t = 0; t < p->ntree; t++) {
        const double *extra = added(r, t);
        p->mass.times(p->mass.self, t, r->sum + p->tree[t].v0, r->image + p->tree[t].v0);
        for (int k = 0, j = p->tree[t].v0; k < p->tree[t].nv; k++, j++) {
            double more = extra ? r->extra[j] - extra[k] : 0;
            twice += (r->is->v[j] - r->v_free[j]) * (r->image[j] + more * r->sum[j]);
        }
    }
    return twice / 2;
}

/* B by the last answer, and what rounding may add. */
static double may_give_back(const rebound *r) {
    const island *is = r->is;
    const sim_problem *p = &is->problem;
    double each = 0, lost = 0, most = 0, work = 0;
    for (int i = 0; i < r->n; i++) {
        const sim_constraint *c = &p->constraint[i];
        double L = 0;
        for (int k = 0; k < c->rows; k++) {
            double gamma = is->impulse[c->row + k];
            L -= gamma == 0 ? 0 : 0.5 * gamma * (velocity_of_row(p, c, k, is->v) + velocity_of_row(p, c, k, r->v_free));
        }
        work += fabs(L);
        each += r->part[i] * L;
        lost += r->part[i] > 0 ? L : 0;
        most = max_of(most, r->part[i]);
    }
    return max_of(0, min_of(each, most * lost)) + ROUNDING * work;
}

/* ---- the search ---- */

static int solved(const rebound *r) { return r->is->solution.outcome <= SIM_AT_ROUNDING; }

/* The answer with that part of every e. */
static sim_status answer_with(rebound *r, double part, sim_error *error) {
    sim_constraint *c = r->f->constraint + r->is->first_constraint;
    for (int i = 0; i < r->n; i++) {
        c[i].restitution = part * r->restitution[i];
    }
    sim_status status = r->answer(r->self, 1, error);
    for (int i = 0; i < r->n; i++) {
        c[i].restitution = r->restitution[i];
    }
    return status;
}

typedef struct bracket {
    double low, high;    /* a that holds, and one that does not */
    double unused;       /* how much more might be given back than at low */
    double below, above; /* how far from what is allowed; halved at an end that stays */
    int stayed;          /* which end: -1 low, 1 high */
} bracket;

static double between(const bracket *b) {
    double width = b->high - b->low, at = isinf(b->above) ? 0.5 : b->below / (b->below - b->above);
    return b->low + width * min_of(max_of(at, 0.02), 0.98);
}

static void narrow(bracket *b, double at, double off) {
    if (off <= 0) {
        b->low = at;
        b->below = off;
        b->unused = -off;
        b->above *= b->stayed > 0 ? 0.5 : 1;
        b->stayed = 1;
    } else {
        b->high = at;
        b->above = off;
        b->below *= b->stayed < 0 ? 0.5 : 1;
        b->stayed = -1;
    }
}

/* Less of it, until no more is given back than B; `off`: how much more the answer at 1 gives, infinite if it is none. */
static sim_status hold_back(rebound *r, double none, double B, double off, sim_error *error) {
    bracket b = {.low = NEARLY_NONE, .high = 1, .unused = B, .below = -B, .above = off};
    double last = 1;
    sim_status status = SIM_OK;
    int failures = isinf(off) != 0;
    for (int k = 0; k < ROUNDS && failures < FAILURES && !status && b.unused > CLOSE * B; k++) {
        last = between(&b);
        status = answer_with(r, last, error);
        failures += !solved(r);
        narrow(&b, last, solved(r) ? energy(r) - none - B : HUGE_VAL);
    }
    return status || last == b.low ? status : answer_with(r, b.low, error);
}

sim_status rebound_find(frame *f, island *is, double threshold, rebound_answer answer, void *self, sim_arena *scratch,
                        sim_error *error) {
    rebound r = {.f = f, .is = is, .answer = answer, .self = self, .threshold = threshold, .n = is->motor0};
    if (!look(&r)) {
        return answer(self, 0, error);
    }
    if (!take_memory(&r, scratch)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of an island");
    }
    take_free_motion(&r);
    weigh(&r);
    sim_status status = answer_with(&r, NEARLY_NONE, error);
    int measured = solved(&r);
    double residual = is->solution.residual, none = 0, B = 0;
    if (measured) {
        keep_measure(&r);
        none = energy(&r);
        B = may_give_back(&r);
    }
    status = status ? status : answer_with(&r, 1, error);
    if (status || !measured) {
        int worse = !solved(&r) && !(is->solution.residual <= residual);
        return status || !worse ? status : answer_with(&r, NEARLY_NONE, error);
    }
    double off = solved(&r) ? energy(&r) - none - B : HUGE_VAL;
    return off <= 0 ? SIM_OK : hold_back(&r, none, B, off, error);
}
