/* Which overlaps can any motion undo?
 *
 * A law may ask for what no motion does: to part a plate from a ground whose normal is the axis of its hinge, or a box from
 * both of two walls that stand still.  An exact answer does not exist, and near such a case it is a motion without bound:
 * with u = J v and targets tau, an answer of either friction law has (docs/contact.md, "What a step may gain")
 *
 *     T <= T* + P,     P = min { v . A v / 2  over  J v - tau in K* },
 *
 * K* = {u_n >= mu |u_t|} for contacts, {u >= 0} for ends of ranges, {0} for equalities: P, the energy that it takes to undo
 * from rest, is what undoing may cost, and it is to be found before any solver asks.  Here it is found with every row
 * yielding a little,
 *
 *     min  v . A v / 2  +  sum over rows  dist(J_i v - tau_i, K*_i)^2 / 2 rho_i,     rho_i = EASE / M,
 *
 * M the mass of all that moves in the island (for rows about axes rho = EASE W_ii): then |v|^2 <= tau^2 M / 4 EASE for each
 * row, and at that price everything could be moved.  A motion is called possible if it reaches half of every target, and relax.c finds it in a few sweeps where it is.  Where
 * 256 sweeps find none, targets become what the best motion reaches,
 *
 *     tau_n <- min(tau_n, u_n - mu |u_t|),
 *
 * which has an answer with P = v . A v / 2 at that v: what is squeezed comes to the middle, and stays there (what reaches
 * less than a tenth either way aims at 0).  A normal that (nearly) nothing
 * moves, W_nn < rho, yields by R_n = rho besides, so that no solver divides by it; one that nothing moves at all also where
 * it does not overlap.
 *
 * Only what is to be undone at more than a tenth of the speed `undo` is looked at before a solver is asked, as all else
 * costs next to nothing where there is an answer; all of it where the solver found none.
 *
 * Rows of the near-rigid law yield, and have an answer whatever they ask.  They carry their load by their target, which
 * must not be cut; what they gain is at most gamma tau - R gamma^2 <= tau^2 / 4R.  Where one is deep and its normal hardly
 * moves, W_nn < rho with the M of its trees, R and target shrink alike, by sqrt(W_nn / rho): a stronger damper on the same
 * spring, and the bodies come apart no faster than along a normal that moves as they do.
 *
 * A squeeze by rows that yield is named, and left to them: contacts deeper than a twentieth of the smaller radius, that pushed a
 * step ago and do not part, are asked for the speed `undo` in the same way, and named where no motion reaches a tenth of it.
 * That changes no answer, and is asked in one step of 256, the ninth first.
 *
 * The rule is the step's, as that of restitution: sim_regularise and files have the law as it is. */
#include "contact/island/island.h"
#include "contact/island/relax.h"
#include "problem/laws.h"

#include <math.h>

static const double EASE = 0.05;      /* rho over 1/M */
static const double VANISHING = 1e-9; /* of 1/M: what nothing moves */
static const double REACHED = 0.5;    /* of a target: possible */
static const double DEEP = 0.1;       /* of the speed of undoing: below, nobody looks before there is need */
static const double NONE = 0.1;       /* of a target: what reaches no more is said to be impossible */
static const double SUNK = 0.05;      /* of the smaller radius: deep, of a contact that yields */
enum { SWEEPS = 256 };
enum { SUNK_ASKED_EVERY = 256, SUNK_ASKED_FIRST = 8 }; /* steps: who is squeezed where contacts yield? */

typedef struct undoing {
    const assembly *f;
    island *is;
    const undo_rules *rules;
    relaxation r;
    double *ease;    /* [nconstraint] sum of 1/M over the sides */
    double lightest; /* 1/M of the island */
    char *pushed;    /* [nconstraint] is an overlap of it to be undone? */
    double fastest;  /* target of those */
    double quick;    /* J: what undoing costs by the masses alone */
    double asks;     /* m/s: of all that is pushed, in place of its target; 0: the target */
} undoing;

bool undo_pushes(const island *is, double threshold, const sim_constraint *c) {
    const sim_problem *p = &is->problem;
    int row = c->row + normal_row(c);
    if (!is_stop(c) || !(p->gap[row] < 0) || !(is->law.target[row] > 0)) {
        return 0;
    }
    return !(c->restitution > 0 && law_strikes(p, threshold, c, normal_row(c)));
}

bool undo_any(const island *is, double threshold) {
    for (int i = 0; i < is->problem.nconstraint; i++) {
        const sim_constraint *c = &is->problem.constraint[i];
        if (is->law.R[c->row + normal_row(c)] > 0) {
            continue;
        }
        if (undo_pushes(is, threshold, c) || (c->kind == SIM_EQUALITY && isinf(c->stiffness))) {
            return 1;
        }
    }
    return 0;
}

/* ---- what stands to be undone ---- */

static double ease_of(const undoing *d, const sim_constraint *c) {
    double sum = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        sum += 1 / d->rules->moved[d->f->tree[d->is->first_tree + c->tree[side]]];
    }
    return sum;
}

static double lightest(const undoing *d) {
    double mass = 0;
    for (int t = 0; t < d->is->problem.ntree; t++) {
        mass += d->rules->moved[d->f->tree[d->is->first_tree + t]];
    }
    return 1 / mass;
}

/* A tree that flies has every normal move by 1/M at least. */
static int held(const undoing *d, const sim_constraint *c) {
    int any = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_model *m = d->is->mass.model;
        const sim_tree *t = &m->tree[d->f->tree[d->is->first_tree + c->tree[side]]];
        any |= m->body[t->body0].joint == SIM_FREE;
    }
    return !any;
}

/* Rows that yield pay for what they undo themselves; what is left is looked at, if there is any. */
static int look(undoing *d) {
    const sim_problem *p = &d->is->problem;
    int worth = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int row = c->row + normal_row(c);
        double fast = 0;
        int soft = d->is->law.R[row] > 0;
        d->pushed[i] = undo_pushes(d->is, d->rules->threshold, c) && !soft;
        if (c->kind == SIM_EQUALITY && isinf(c->stiffness) && !soft) {
            for (int k = c->row; k < c->row + c->rows; k++) {
                fast = max_of(fast, fabs(d->is->law.target[k]));
            }
            d->pushed[i] = fast > DEEP * d->rules->undo;
        } else if (d->pushed[i]) {
            fast = d->is->law.target[row];
        }
        d->quick += is_stop(c) && d->pushed[i] ? fast * fast / (4 * EASE * ease_of(d, c)) : 0;
        worth |= d->pushed[i] && (d->is->thorough || fast > DEEP * d->rules->undo);
        d->fastest = d->pushed[i] ? max_of(d->fastest, fast) : d->fastest;
    }
    return worth;
}

/* Is there a contact whose normal could be one that nothing moves? */
static int any_held(const undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        if (p->constraint[i].kind == SIM_CONTACT && held(d, &p->constraint[i])) {
            return 1;
        }
    }
    return 0;
}

static void yield_by(island *is, int row, double least) {
    is->law.R[row] = max_of(is->law.R[row], least);
    is->law.R_rigid[row] = max_of(is->law.R_rigid[row], least);
}

static void aim_at(island *is, int row, double target) {
    is->law.target[row] = min_of(is->law.target[row], target);
    is->law.target_rigid[row] = min_of(is->law.target_rigid[row], target);
}

static void tell(undoing *d, int i) {
    island *is = d->is;
    const sim_problem *p = &is->problem;
    const sim_constraint *c = &p->constraint[i];
    double depth = -p->gap[c->row + normal_row(c)];
    if (is->stuck++ == 0 || depth > is->stuck_depth) {
        is->stuck_at = i;
        is->stuck_depth = depth;
    }
}

/* Nothing moves it. */
static void free_from(undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    if (undo_pushes(d->is, d->rules->threshold, c)) {
        tell(d, i);
    }
    d->pushed[i] = 0;
    aim_at(d->is, c->row + 2, 0);
    yield_by(d->is, c->row + 2, EASE * d->ease[i]);
    for (int k = 0; k < 2 && !(d->r.size[i] > VANISHING * d->ease[i]); k++) {
        yield_by(d->is, c->row + k, EASE * d->ease[i]);
    }
}

/* Normals of what does not fly: do they move? */
static void ease_held(undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind != SIM_CONTACT || !held(d, c)) {
            continue;
        }
        int row = c->row + 2;
        double moves = relax_inverse_mass(&d->r, i, 2) / d->ease[i];
        if (moves <= VANISHING) {
            free_from(d, i);
        } else if (moves < EASE && d->is->law.R[row] > 0 && d->is->law.target[row] > DEEP * d->rules->undo) {
            double part = sqrt(moves / EASE);
            d->is->law.R[row] *= part;
            d->is->law.target[row] *= part;
        }
    }
}

/* ---- the motion ---- */

static double rho_of(const undoing *d, int i, int row) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    int along = c->kind == SIM_CONTACT || (c->kind == SIM_EQUALITY && row < 3 && c->body[0] >= 0 && c->rows != 1);
    return EASE * (along ? d->lightest : d->r.size[i]);
}

static void set_out(undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (!is_stop(c) && c->kind != SIM_EQUALITY) {
            continue;
        }
        for (int k = 0; k < c->rows; k++) {
            double target = d->pushed[i] && d->asks > 0 ? d->asks : d->is->law.target[c->row + k];
            int aims = d->pushed[i] && (c->kind == SIM_EQUALITY || k == normal_row(c));
            d->r.base[c->row + k] = -(aims ? target : is_stop(c) && k == normal_row(c) ? min_of(target, 0) : 0);
            d->r.R[c->row + k] = rho_of(d, i, k);
        }
        relax_admit(&d->r, i);
    }
}

/* How far the motion is inside K* of a stop. */
static double margin(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    double u = relax_velocity(&d->r, i, normal_row(c));
    if (c->kind == SIM_CONTACT && c->friction > 0) {
        double x = relax_velocity(&d->r, i, 0), y = relax_velocity(&d->r, i, 1);
        u -= c->friction * sqrt(x * x + y * y);
    }
    return u;
}

/* What an equality lacks of its targets, over the largest. */
static double lacks(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    double most = 0;
    for (int k = 0; k < c->rows; k++) {
        most = max_of(most, fabs(relax_velocity(&d->r, i, k) + d->r.base[c->row + k]));
    }
    return most / d->fastest;
}

/* Is what row i asks for reached, half of it? */
static int reached(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    if (!(d->r.pace[i] > 0)) {
        return 1;
    }
    if (c->kind == SIM_EQUALITY) {
        return lacks(d, i) <= REACHED;
    }
    double asked = -d->r.base[c->row + normal_row(c)];
    return margin(d, i) >= (d->pushed[i] ? REACHED * asked : asked - REACHED / 2 * d->fastest);
}

static int all_reached(const undoing *d) {
    for (int i = 0; i < d->is->problem.nconstraint; i++) {
        if (!reached(d, i)) {
            return 0;
        }
    }
    return 1;
}

static void hold_back(undoing *d, int i) {
    island *is = d->is;
    const sim_constraint *c = &is->problem.constraint[i];
    if (c->kind == SIM_EQUALITY) {
        for (int k = 0; k < c->rows && d->pushed[i]; k++) {
            double u = relax_velocity(&d->r, i, k);
            is->law.target[c->row + k] = is->law.target_rigid[c->row + k] = u;
        }
    } else {
        int row = c->row + normal_row(c);
        double reached_by = margin(d, i), little = NONE * d->fastest; /* of which sweeps are not sure */
        aim_at(is, row, fabs(reached_by) < little ? 0 : max_of(reached_by, -d->fastest));
        if (relax_inverse_mass(&d->r, i, normal_row(c)) < d->r.R[row]) {
            yield_by(is, row, d->r.R[row]);
        }
    }
    if (d->pushed[i] && (c->kind == SIM_EQUALITY || margin(d, i) < NONE * -d->r.base[c->row + normal_row(c)])) {
        tell(d, i);
    }
    is->held_back++;
}

/* P, as a motion and what dry friction takes of it. */
static void price(const undoing *d) {
    const sim_problem *p = &d->is->problem;
    double times = 1 / REACHED;
    relax_motion(&d->r, d->is->undoing);
    for (int j = 0; j < p->nv; j++) {
        d->is->undoing[j] *= times;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind == SIM_FRICTION) {
            d->is->budget += times * p->step * c->bound * fabs(relax_velocity(&d->r, i, 0));
        }
    }
}

/* What stops give that yield or bounce. */
static void price_others(const undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double target = d->is->law.target[c->row + normal_row(c)], R = d->is->law.R[c->row + normal_row(c)];
        if (is_stop(c) && target > 0 && R > 0) {
            d->is->budget += target * target / (4 * R);
        } else if (is_stop(c) && target > 0 && !d->pushed[i]) {
            d->is->bounces = max_of(d->is->bounces, c->restitution);
        }
    }
}

static int sweep_until_reached(undoing *d) {
    int found = 0;
    set_out(d);
    for (int k = 1, next = 1; k <= SWEEPS && !found; k++) {
        relax_sweep(&d->r);
        if (k == next) {
            found = all_reached(d);
            next *= 2;
        }
    }
    return found;
}

static void find_motion(undoing *d) {
    const sim_problem *p = &d->is->problem;
    int found = sweep_until_reached(d);
    for (int i = 0; i < p->nconstraint && !found; i++) {
        if (!reached(d, i)) {
            hold_back(d, i);
        }
    }
    price(d);
}

/* ---- what yields ---- */

static double smaller_radius(const undoing *d, const sim_constraint *c) {
    double least = INFINITY;
    for (int side = 0; side < 2; side++) {
        const double *size = c->body[side] >= 0 ? &d->rules->size[c->body[side]] : NULL;
        least = size && *size > 0 ? min_of(least, *size) : least;
    }
    return least;
}

/* Contacts that yield, and rest deep: how many. */
static int look_for_sunk(undoing *d) {
    const sim_problem *p = &d->is->problem;
    int count = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int n = c->row + 2;
        d->pushed[i] = c->kind == SIM_CONTACT && d->is->law.R[n] > 0 && p->impulse_guess[n] > 0 &&
                       -p->gap[n] > SUNK * smaller_radius(d, c) &&
                       velocity_of_row(p, c, 2, p->v_start) < NONE * d->rules->undo;
        count += d->pushed[i];
    }
    return count;
}

static void name_squeezed(undoing *d) {
    d->asks = d->fastest = d->rules->undo;
    if (sweep_until_reached(d)) {
        return;
    }
    for (int i = 0; i < d->is->problem.nconstraint; i++) {
        int n = d->is->problem.constraint[i].row + 2;
        double yields = d->r.R[n] * d->r.gamma[n]; /* what the motion lacks, once sweeps have come to their end */
        if (d->pushed[i] && margin(d, i) < NONE * d->asks && yields > REACHED * d->asks) {
            tell(d, i);
        }
    }
}

sim_status undo_possible(const assembly *f, island *is, const undo_rules *rules, sim_arena *scratch) {
    const sim_problem *p = &is->problem;
    undoing d = {.f = f, .is = is, .rules = rules};
    double *motion = ARENA_NEW(scratch, double, p->nv); /* stays until the island is answered */
    size_t mark = arena_mark(scratch);
    d.ease = ARENA_NEW(scratch, double, p->nconstraint);
    d.pushed = ARENA_NEW(scratch, char, p->nconstraint);
    is->stuck = is->held_back = 0;
    is->budget = is->bounces = 0;
    is->undoing = NULL;
    if (!motion || !d.ease || !d.pushed) {
        return SIM_NO_RESOURCE;
    }
    int worth = look(&d);
    if (worth || any_held(&d)) {
        if (relax_create(&d.r, p, scratch)) {
            return SIM_NO_RESOURCE;
        }
        d.lightest = lightest(&d);
        for (int i = 0; i < p->nconstraint; i++) {
            d.ease[i] = ease_of(&d, &p->constraint[i]);
        }
        ease_held(&d);
    }
    if (worth) {
        is->undoing = motion;
        find_motion(&d);
    }
    is->budget += worth ? 0 : d.quick;
    price_others(&d);
    if (!worth && rules->undo > 0 && f->in->index % SUNK_ASKED_EVERY == SUNK_ASKED_FIRST && look_for_sunk(&d)) {
        if (relax_create(&d.r, p, scratch)) {
            return SIM_NO_RESOURCE;
        }
        d.lightest = lightest(&d);
        name_squeezed(&d);
    }
    arena_release(scratch, mark);
    return SIM_OK;
}
