/* Overlaps that no motion can undo.
 *
 * A law may ask for what no motion does: to part a plate from a ground whose normal is the axis of its hinge, or a box
 * from both of two walls that stand still.  An exact solution does not exist, and near such a case it is a motion
 * without bound: with u = J v and targets tau, a solution of either friction law has (docs/contact.md, "What a step may
 * gain")
 *
 *     T <= T* + P,     P = min { v . A v / 2  over  J v - tau in K* },
 *
 * K* = {u_n >= mu |u_t|} for contacts, {u >= 0} for ends of ranges, {0} for equalities: P, the energy that it takes to
 * undo from rest, is the cost of undoing, known before the solver is called.  Here it is found with every row slightly
 * compliant,
 *
 *     min  v . A v / 2  +  sum over rows  dist(J_i v - tau_i, K*_i)^2 / 2 rho_i,     rho_i = c / M,
 *     c = REGULARISATION_PART,
 *
 * M the mass of all that moves in the island (for rows about axes rho = c W_ii): then |v|^2 <= tau^2 M / 4 c for each
 * row, and at that price everything could be moved.  A motion is called possible if it reaches half of every target,
 * and relax.c finds it in a few sweeps where it is.  Where 256 sweeps find none, targets become what the best motion
 * reaches,
 *
 *     tau_n <- min(tau_n, u_n - mu |u_t|),
 *
 * which has a solution with P = v . A v / 2 at that v: a squeezed body comes to the middle, and stays there (a motion
 * that reaches less than a tenth either way aims at 0).  A normal that (nearly) nothing moves, W_nn < rho, yields by
 * R_n = rho besides, so that no solver divides by it; one that nothing moves at all also where it does not overlap.
 *
 * Only what is to be undone at more than a tenth of the speed `undo` is looked at before a solver is asked, as all else
 * costs next to nothing where there is an answer; all of it where the solver found none.
 *
 * Rows of the near-rigid law are compliant, and have a solution for any target.  They carry their load by their target,
 * which must not be cut; what they gain is at most gamma tau - R gamma^2 <= tau^2 / 4R.  Where one is deep and its
 * normal hardly moves, W_nn < rho with the M of its trees, R and target shrink alike, by sqrt(W_nn / rho): a stronger
 * damper on the same spring, and the bodies come apart no faster than along a normal that moves as they do.
 *
 * A squeeze by compliant rows is reported, and left to them: contacts deeper than a twentieth of the smaller radius,
 * that pushed a step ago and do not part, are asked for the speed `undo` in the same way, and reported where no motion
 * reaches a tenth of it. That changes no solution, and is tested in one step of 256, the ninth first.
 *
 * The rule is the step's, as that of restitution: sim_regularise and files have the law as it is. */
#include "contact/island/island.h"
#include "contact/island/relax.h"
#include "problem/laws.h"

#include <math.h>

static const double REGULARISATION_PART = 0.05; /* rho over 1/M */
static const double MIN_MOBILITY_PART = 1e-9;   /* of 1/M: a row that nothing moves */
static const double REACHED_PART = 0.5;         /* of a target: undoing is possible */
static const double MIN_SPEED_PART = 0.1;   /* of the speed `undo`: slower targets are examined only if `thorough` */
static const double MIN_REACHED_PART = 0.1; /* of a target: a motion that reaches less is none */
static const double SUNK_DEPTH_PART = 0.05; /* of the smaller radius: a deep overlap of a compliant contact */
enum { MAX_SWEEPS = 256 };
enum { SUNK_TEST_PERIOD = 256, SUNK_TEST_FIRST = 8 }; /* steps between tests for squeezed bodies */

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

/* ---- overlaps to be undone ---- */

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

/* Marks the overlaps of rigid rows, as compliant rows pay for their undoing themselves; are any worth a motion? */
static int mark_overlaps(undoing *d) {
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
            d->pushed[i] = fast > MIN_SPEED_PART * d->rules->undo;
        } else if (d->pushed[i]) {
            fast = d->is->law.target[row];
        }
        d->quick += is_stop(c) && d->pushed[i] ? fast * fast / (4 * REGULARISATION_PART * ease_of(d, c)) : 0;
        worth |= d->pushed[i] && (d->is->thorough || fast > MIN_SPEED_PART * d->rules->undo);
        d->fastest = d->pushed[i] ? max_of(d->fastest, fast) : d->fastest;
    }
    return worth;
}

/* Is there a contact whose normal might not move? */
static int any_held(const undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        if (p->constraint[i].kind == SIM_CONTACT && held(d, &p->constraint[i])) {
            return 1;
        }
    }
    return 0;
}

static void raise_compliance(island *is, int row, double least) {
    is->law.R[row] = max_of(is->law.R[row], least);
    is->law.R_rigid[row] = max_of(is->law.R_rigid[row], least);
}

static void lower_target(island *is, int row, double target) {
    is->law.target[row] = min_of(is->law.target[row], target);
    is->law.target_rigid[row] = min_of(is->law.target_rigid[row], target);
}

static void report_stuck(undoing *d, int i) {
    island *is = d->is;
    const sim_problem *p = &is->problem;
    const sim_constraint *c = &p->constraint[i];
    double depth = -p->gap[c->row + normal_row(c)];
    if (is->stuck++ == 0 || depth > is->stuck_depth) {
        is->stuck_at = i;
        is->stuck_depth = depth;
    }
}

/* A normal that nothing moves. */
static void free_from(undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    if (undo_pushes(d->is, d->rules->threshold, c)) {
        report_stuck(d, i);
    }
    d->pushed[i] = 0;
    lower_target(d->is, c->row + 2, 0);
    raise_compliance(d->is, c->row + 2, REGULARISATION_PART * d->ease[i]);
    for (int k = 0; k < 2 && !(d->r.size[i] > MIN_MOBILITY_PART * d->ease[i]); k++) {
        raise_compliance(d->is, c->row + k, REGULARISATION_PART * d->ease[i]);
    }
}

/* Normals of trees without a free joint: those that hardly move become softer. */
static void ease_held(undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind != SIM_CONTACT || !held(d, c)) {
            continue;
        }
        int row = c->row + 2;
        double moves = relax_inverse_mass(&d->r, i, 2) / d->ease[i];
        if (moves <= MIN_MOBILITY_PART) {
            free_from(d, i);
        } else if (moves < REGULARISATION_PART && d->is->law.R[row] > 0 &&
                   d->is->law.target[row] > MIN_SPEED_PART * d->rules->undo) {
            double part = sqrt(moves / REGULARISATION_PART);
            d->is->law.R[row] *= part;
            d->is->law.target[row] *= part;
        }
    }
}

/* ---- the motion ---- */

static double rho_of(const undoing *d, int i, int row) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    int along = c->kind == SIM_CONTACT || (c->kind == SIM_EQUALITY && row < 3 && c->body[0] >= 0 && c->rows != 1);
    return REGULARISATION_PART * (along ? d->lightest : d->r.size[i]);
}

static void set_targets(undoing *d) {
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

/* The error of an equality in its targets, over the largest. */
static double equality_error(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    double most = 0;
    for (int k = 0; k < c->rows; k++) {
        most = max_of(most, fabs(relax_velocity(&d->r, i, k) + d->r.base[c->row + k]));
    }
    return most / d->fastest;
}

/* Is half of the target of constraint i reached? */
static int is_reached(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    if (!(d->r.pace[i] > 0)) {
        return 1;
    }
    if (c->kind == SIM_EQUALITY) {
        return equality_error(d, i) <= REACHED_PART;
    }
    double asked = -d->r.base[c->row + normal_row(c)];
    return margin(d, i) >= (d->pushed[i] ? REACHED_PART * asked : asked - REACHED_PART / 2 * d->fastest);
}

static int all_reached(const undoing *d) {
    for (int i = 0; i < d->is->problem.nconstraint; i++) {
        if (!is_reached(d, i)) {
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
        double reached_by = margin(d, i),
               little = MIN_REACHED_PART * d->fastest; /* within the accuracy of the sweeps */
        lower_target(is, row, fabs(reached_by) < little ? 0 : max_of(reached_by, -d->fastest));
        if (relax_inverse_mass(&d->r, i, normal_row(c)) < d->r.R[row]) {
            raise_compliance(is, row, d->r.R[row]);
        }
    }
    if (d->pushed[i] &&
        (c->kind == SIM_EQUALITY || margin(d, i) < MIN_REACHED_PART * -d->r.base[c->row + normal_row(c)])) {
        report_stuck(d, i);
    }
    is->held_back++;
}

/* P, as a motion and the work of dry friction on it. */
static void add_motion_cost(const undoing *d) {
    const sim_problem *p = &d->is->problem;
    double times = 1 / REACHED_PART;
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

/* The energy of stops that are compliant or bounce. */
static void add_other_costs(const undoing *d) {
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
    set_targets(d);
    for (int k = 1, next = 1; k <= MAX_SWEEPS && !found; k++) {
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
        if (!is_reached(d, i)) {
            hold_back(d, i);
        }
    }
    add_motion_cost(d);
}

/* ---- compliant contacts ---- */

static double smaller_radius(const undoing *d, const sim_constraint *c) {
    double least = INFINITY;
    for (int side = 0; side < 2; side++) {
        const double *size = c->body[side] >= 0 ? &d->rules->size[c->body[side]] : NULL;
        least = size && *size > 0 ? min_of(least, *size) : least;
    }
    return least;
}

/* Marks compliant contacts that rest deep; how many. */
static int mark_sunk(undoing *d) {
    const sim_problem *p = &d->is->problem;
    int count = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int n = c->row + 2;
        d->pushed[i] = c->kind == SIM_CONTACT && d->is->law.R[n] > 0 && p->impulse_guess[n] > 0 &&
                       -p->gap[n] > SUNK_DEPTH_PART * smaller_radius(d, c) &&
                       velocity_of_row(p, c, 2, p->v_start) < MIN_REACHED_PART * d->rules->undo;
        count += d->pushed[i];
    }
    return count;
}

static void report_squeezed(undoing *d) {
    d->asks = d->fastest = d->rules->undo;
    if (sweep_until_reached(d)) {
        return;
    }
    for (int i = 0; i < d->is->problem.nconstraint; i++) {
        int n = d->is->problem.constraint[i].row + 2;
        double yields = d->r.R[n] * d->r.gamma[n]; /* the error of the motion after the sweeps */
        if (d->pushed[i] && margin(d, i) < MIN_REACHED_PART * d->asks && yields > REACHED_PART * d->asks) {
            report_stuck(d, i);
        }
    }
}

sim_status undo_possible(const assembly *f, island *is, const undo_rules *rules, sim_arena *scratch) {
    const sim_problem *p = &is->problem;
    undoing d = {.f = f, .is = is, .rules = rules};
    double *motion = ARENA_NEW(scratch, double, p->nv); /* kept until the island is solved */
    size_t mark = arena_mark(scratch);
    d.ease = ARENA_NEW(scratch, double, p->nconstraint);
    d.pushed = ARENA_NEW(scratch, char, p->nconstraint);
    is->stuck = is->held_back = 0;
    is->budget = is->bounces = 0;
    is->undoing = NULL;
    if (!motion || !d.ease || !d.pushed) {
        return SIM_NO_RESOURCE;
    }
    int worth = mark_overlaps(&d);
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
    add_other_costs(&d);
    if (!worth && rules->undo > 0 && f->in->index % SUNK_TEST_PERIOD == SUNK_TEST_FIRST && mark_sunk(&d)) {
        if (relax_create(&d.r, p, scratch)) {
            return SIM_NO_RESOURCE;
        }
        d.lightest = lightest(&d);
        report_squeezed(&d);
    }
    arena_release(scratch, mark);
    return SIM_OK;
}
