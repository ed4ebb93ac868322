/* How much of its restitution does an impact bear?
 *
 * Newton's law asks that what comes with u_n < 0 leaves with -e u_n.  One contact without friction then keeps e^2 of the
 * energy that it would lose without restitution; so do several, if they meet together and have one e.  With friction the
 * law may do otherwise, and even create energy (Kane and Levinson 1985): where the end of a chain strikes a floor aslant,
 * little is moved along the floor and much upwards, the impulse that makes -e u_n is too great, and friction does work.
 * And targets above zero may have no answer, where contacts close a ring.
 *
 * So restitution is held to what it means.  T(a) is the kinetic energy v' A v / 2 of the answer with a e in place of
 * every e of the island, and L what is lost at a = 0 in those contacts that strike.  Then the greatest a <= 1 holds with
 *
 *     T(a) <= T(0) + e^2 L,     e the greatest of those that strike,
 *
 * restitution gives back at most the part e^2 of what would be lost without it (after Stronge 1990, who says so of the
 * normal's work), and whose answer the solver found.  a is 1 wherever Newton's law keeps to that: for all that meets
 * without friction, and for balls with it.  At a = 0 the law would let the gap be eaten up first; so 0 is nearly 0 here.
 *
 *     T - T* = gamma . (u + u*) / 2,     u = J v,  u* = J v*        (A (v - v*) = J' gamma)
 *
 * with T* of v*, constraint by constraint; L = T* - T(0) where nothing else is touched, so that T(a) <= T*.
 *
 * a is found between the answers above and below by the secant, an end that stays being pulled nearer (Illinois). */
#include "contact/parts.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

static const double NEARLY_NONE = 1e-9; /* part of e that stands for none */
static const double ROUNDING = 1e-6;    /* of what is lost: solvers stop at tolerances */
static const double CLOSE = 0.02;       /* of what may be given back: left unused */
static const double SLOWED = 2; /* free motion may slow down by this what strikes, without its bounce being less */
enum { ROUNDS = 10 };

typedef struct rebound {
    frame *f;
    island *is;
    rebound_answer answer;
    void *self;
    int n;               /* constraints, motors that are no rows among them */
    double *restitution; /* [n] as it was */
    char *strikes;       /* [n] */
    double e, slowed;    /* greatest of those that strike */
} rebound;

static double along(const sim_problem *p, const sim_constraint *c, int row, const double *v) {
    double u = p->offset ? p->offset[c->row + row] : 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        sim_columns of = sim_block_columns(p, c, side);
        u += dense_dot(of.count, p->J + c->block[side] + row * t->nv + of.first, v + t->v0 + of.first);
    }
    return u;
}

/* Does anything strike that Newton's law alone might serve badly?  One contact without friction it serves well. */
static int look(rebound *r) {
    const sim_problem *p = &r->is->problem;
    int risky = p->nconstraint > 1;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int normal = c->kind == SIM_CONTACT ? 2 : 0, may = c->kind == SIM_CONTACT || c->kind == SIM_LIMIT;
        if (!may || !(c->restitution > 0) || !isinf(c->stiffness) || !(r->is->target[c->row + normal] > 0)) {
            continue;
        }
        r->strikes[i] = 1;
        double came = -along(p, c, normal, p->v_start), comes = -along(p, c, normal, p->v_free);
        risky |= c->friction > 0;
        r->e = max_of(r->e, c->restitution);
        r->slowed = max_of(r->slowed, comes > 0 ? min_of(came / comes, SLOWED) : 1);
    }
    return risky && r->e > 0;
}

/* T - T*, of all constraints or of those that strike. */
static double gained(const rebound *r, int all) {
    const island *is = r->is;
    const sim_problem *p = &is->problem;
    double sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows && (all || r->strikes[i]); k++) {
            double gamma = is->impulse[c->row + k];
            sum += gamma == 0 ? 0 : 0.5 * gamma * (along(p, c, k, is->v) + along(p, c, k, p->v_free));
        }
    }
    return sum;
}

/* The answer with that part of every e, and T - T* of it; unsolved: more than anything. */
static sim_status answer_with(rebound *r, double part, double *energy, sim_error *error) {
    sim_constraint *c = r->f->constraint + r->is->first_constraint;
    for (int i = 0; i < r->n; i++) {
        c[i].restitution = part * r->restitution[i];
    }
    sim_status status = r->answer(r->self, 1, error);
    for (int i = 0; i < r->n; i++) {
        c[i].restitution = r->restitution[i];
    }
    *energy = !status && r->is->solution.outcome <= SIM_AT_ROUNDING ? gained(r, 1) : HUGE_VAL;
    return status;
}

typedef struct bracket {
    double low, high;    /* a that holds, and one that does not */
    double below, above; /* how far from what is allowed */
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
        b->above *= b->stayed > 0 ? 0.5 : 1;
        b->stayed = 1;
    } else {
        b->high = at;
        b->above = off;
        b->below *= b->stayed < 0 ? 0.5 : 1;
        b->stayed = -1;
    }
}

/* Less of it, until no more is given back than may be. */
static sim_status hold_back(rebound *r, double none, double allowed, double all, sim_error *error) {
    bracket b = {NEARLY_NONE, 1, none - allowed, all - allowed, 0};
    double last = 1, energy;
    sim_status status = SIM_OK;
    for (int k = 0; k < ROUNDS && !status && -b.below > CLOSE * (allowed - none); k++) {
        last = between(&b);
        status = answer_with(r, last, &energy, error);
        narrow(&b, last, energy - allowed);
    }
    return status || last == b.low ? status : answer_with(r, b.low, &energy, error);
}

sim_status rebound_find(frame *f, island *is, rebound_answer answer, void *self, sim_arena *scratch, sim_error *error) {
    int n = is->motors ? is->motor0 + is->motors : is->problem.nconstraint;
    rebound r = {f, is, answer, self, n, ARENA_NEW(scratch, double, n), ARENA_NEW(scratch, char, n), 0, 1};
    double none, all;
    if (!r.restitution || !r.strikes) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of an island");
    }
    memset(r.strikes, 0, (size_t)n);
    for (int i = 0; i < n; i++) {
        r.restitution[i] = f->constraint[is->first_constraint + i].restitution;
    }
    if (!look(&r)) {
        return answer(self, 0, error);
    }
    sim_status status = answer_with(&r, NEARLY_NONE, &none, error);
    none = isinf(none) ? 0 : none; /* unsolved: it may create nothing */
    double lost = none < 0 ? max_of(-gained(&r, 0), 0) : 0, part = r.e * r.slowed;
    double allowed = none + (part * part + ROUNDING) * lost;
    status = status ? status : answer_with(&r, 1, &all, error);
    return status || all <= allowed ? status : hold_back(&r, none, allowed, all, error);
}
