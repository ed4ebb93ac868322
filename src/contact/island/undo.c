/* Overlaps that no motion can undo: detection, and reduction of their targets before the solver is called.
 *
 *     P = min  v . A v / 2  over  J v - tau in K*,     T <= T* + P
 *
 *     tau     target velocity of a row, m/s;  mu: friction coefficient
 *     K*      {u_n >= mu |u_t|} of a contact, {u >= 0} of the end of a range, {0} of an equality
 *     P       energy that undoing takes from rest, J: what a solution of either friction law may gain
 *     T, T*   kinetic energy of the solution, and of free motion, J (docs/contact.md, "Energy")
 *     undo    speed at which overlaps are undone, m/s
 *
 * A law may ask for a motion that does not exist, as to part a box from both of two fixed walls.  No exact solution
 * exists there, and near such a case it is without bound.
 *
 *   find_motion        the motion of least energy with slightly compliant rows; lower targets where it does not suffice
 *   soften_held        normals that hardly move: more compliance for rigid rows, less load by target for compliant ones
 *   report_squeezed    compliant contacts that stay deep: reported only
 *
 * A solution exists where a motion is inside K* (Acary et al. 2011).  So targets are lowered below what the motion
 * reaches: by at most a thousandth of `undo` where it does not suffice, and by a tenth of the greatest target after a
 * failed solve (`thorough`).  A larger slack lets jammed bodies sink, as it returns each step.
 * Islands with an overlap that is undone at more than 0.005 of `undo` under the rigid law, or a tenth under others, are
 * examined before the solver; where all are slower, slacks would ask for more than the overlaps do.  Under the rigid
 * law a stiff material counts as rigid: its R, 1e-8/M, would give impulses of target / R.
 * sim_regularise and files keep the law unchanged.
 * Cost: up to 256 sweeps of relax.c, where such overlaps exist. */
#include "contact/island/island.h"
#include "contact/island/relax.h"
#include "problem/laws.h"

#include <math.h>
#include <string.h>

static const double REGULARISATION_PART = 0.05;    /* c: rho over 1/M */
static const double MIN_MOBILITY_PART = 1e-6;      /* of 1/M: a row that nothing moves */
static const double ROUNDED_MOBILITY_PART = 1e-20; /* of 1/M: levers that are rounding alone */
static const double REACHED_PART = 0.5;            /* of a target: undoing is possible */
static const double MIN_UNDO_SPEED_PART = 0.1;     /* of the speed `undo`: slower targets belong to shallow overlaps */
static const double MIN_RIGID_SPEED_PART = 0.005;  /* of it: the fastest that the rigid law leaves to the solver */
static const double MIN_REACHED_PART = 0.1;        /* of a target: a motion that reaches less is none */
static const double SLACK_PART = 0.1;              /* of the greatest target, below what a motion reaches: inside K* */
static const double MAX_SLACK_PART = 1e-3;         /* of the speed `undo`, before the first solve */
static const double SUNK_DEPTH_PART = 0.05;        /* of the smaller radius: a deep overlap of a compliant contact */
enum { MAX_SWEEPS = 256 };
enum { SUNK_TEST_PERIOD = 256, SUNK_TEST_FIRST = 8 }; /* steps between tests for squeezed bodies */

typedef struct undoing {
    const assembly *f;
    island *is;
    const undo_rules *rules;
    relaxation r;
    double *tree_mobility; /* [nconstraint] 1/kg, sum of 1/M over the trees of both sides */
    double mobility;       /* 1/kg, 1/M of the island */
    char *pushed;          /* [nconstraint] is an overlap of it to be undone? */
    double max_target;     /* m/s, greatest target of those */
    double mass_cost;      /* J, bound of the cost of undoing by the masses alone */
    double asked_speed;    /* m/s, in place of the targets of all in `pushed`; 0: the targets */
} undoing;

bool undo_pushes(const island *is, double threshold, const sim_constraint *c) {
    const sim_problem *p = &is->problem;
    int row = c->row + normal_row(c);
    if (!is_stop(c) || !(p->gap[row] < 0) || !(is->law.target[row] > 0)) {
        return false;
    }
    return !(c->restitution > 0 && law_strikes(p, threshold, c, normal_row(c)));
}

/* ---- overlaps to be undone ---- */

static double mobility_of_trees(const undoing *d, const sim_constraint *c) {
    double sum = 0;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        sum += 1 / d->rules->moved[d->f->tree[d->is->first_tree + c->tree[side]]];
    }
    return sum;
}

static double mobility_of_island(const undoing *d) {
    double mass = 0;
    for (int t = 0; t < d->is->problem.ntree; t++) {
        mass += d->rules->moved[d->f->tree[d->is->first_tree + t]];
    }
    return 1 / mass;
}

static bool all_roots_free(const sim_model *m, const sim_tree *t) {
    for (int i = t->body0; i < t->body0 + t->nbody; i++) {
        if (m->body[i].parent == 0 && m->body[i].joint != SIM_FREE) {
            return false;
        }
    }
    return true;
}

/* Is no side of it a tree on a free joint?  Along any normal such a tree has an inverse mass of at least 1/M. */
static bool is_held(const undoing *d, const sim_constraint *c) {
    bool any_free = false;
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_model *m = d->is->mass.model;
        const sim_tree *t = &m->tree[d->f->tree[d->is->first_tree + c->tree[side]]];
        any_free |= all_roots_free(m, t);
    }
    return !any_free;
}

/* A stiff material is rigid, too: it would squeeze with target / R, and its load needs no target. */
static bool is_rigid_row(const undoing *d, const sim_constraint *c, int row) {
    return !(d->is->law.R[row] > d->rules->rigid_part * mobility_of_trees(d, c));
}

bool undo_any(const assembly *f, island *is, const undo_rules *rules) {
    undoing d = {.f = f, .is = is, .rules = rules};
    for (int i = 0; i < is->problem.nconstraint; i++) {
        const sim_constraint *c = &is->problem.constraint[i];
        bool aims = undo_pushes(is, rules->threshold, c) || (c->kind == SIM_EQUALITY && isinf(c->stiffness));
        if (aims && is_rigid_row(&d, c, c->row + normal_row(c))) {
            return true;
        }
    }
    return false;
}

static bool is_shallow(const undoing *d, double target) { return !(target > MIN_UNDO_SPEED_PART * d->rules->undo); }

/* Marks overlaps of rigid rows; compliant rows bound the cost of their undoing themselves.  Is any to be examined? */
static bool mark_overlaps(undoing *d) {
    const sim_problem *p = &d->is->problem;
    double least = (d->rules->examine_shallow ? MIN_RIGID_SPEED_PART : MIN_UNDO_SPEED_PART) * d->rules->undo;
    bool worth = false;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int row = c->row + normal_row(c);
        double fast = 0;
        bool compliant = !is_rigid_row(d, c, row);
        d->pushed[i] = undo_pushes(d->is, d->rules->threshold, c) && !compliant;
        if (c->kind == SIM_EQUALITY && isinf(c->stiffness) && !compliant) {
            for (int k = c->row; k < c->row + c->rows; k++) {
                fast = max_of(fast, fabs(d->is->law.target[k]));
            }
            d->pushed[i] = !is_shallow(d, fast);
        } else if (d->pushed[i]) {
            fast = d->is->law.target[row];
        }
        d->mass_cost +=
            is_stop(c) && d->pushed[i] ? fast * fast / (4 * REGULARISATION_PART * mobility_of_trees(d, c)) : 0;
        worth |= d->pushed[i] && (d->is->thorough || fast > least);
        d->max_target = d->pushed[i] ? max_of(d->max_target, fast) : d->max_target;
    }
    return worth;
}

/* Is there a contact along whose normal nothing may be able to move? */
static bool has_held_contact(const undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        if (p->constraint[i].kind == SIM_CONTACT && is_held(d, &p->constraint[i])) {
            return true;
        }
    }
    return false;
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
    const double ROUNDING_DEPTH = 1e-9; /* m or rad: rounding of poses leaves as much */
    island *is = d->is;
    const sim_problem *p = &is->problem;
    const sim_constraint *c = &p->constraint[i];
    double depth = -p->gap[c->row + normal_row(c)];
    if (!(depth > ROUNDING_DEPTH)) {
        return;
    }
    if (is->stuck++ == 0 || depth > is->stuck_depth) {
        is->stuck_at = i;
        is->stuck_depth = depth;
    }
}

/* Rows of rounding become zero: the velocity that they measure has no scale, and E of no impulses would be large. */
static void clear_rows(const undoing *d, const sim_constraint *c) {
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        int nv = d->is->problem.tree[c->tree[side]].nv;
        memset(d->f->J + c->block[side], 0, (size_t)c->rows * (size_t)nv * sizeof *d->f->J);
    }
    d->is->diagonal = d->is->base.diagonal = d->is->problem.diagonal = NULL; /* W_ii of the rows before */
}

/* A normal that nothing moves, even without overlap: target 0, and compliance, so that no solver divides by W_nn. */
static void release_contact(undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    if (undo_pushes(d->is, d->rules->threshold, c)) {
        report_stuck(d, i);
    }
    if (!(d->r.size[i] > ROUNDED_MOBILITY_PART * d->tree_mobility[i])) {
        clear_rows(d, c);
    }
    d->pushed[i] = 0;
    lower_target(d->is, c->row + 2, 0);
    raise_compliance(d->is, c->row + 2, REGULARISATION_PART * d->tree_mobility[i]);
    for (int k = 0; k < 2 && !(d->r.size[i] > MIN_MOBILITY_PART * d->tree_mobility[i]); k++) {
        raise_compliance(d->is, c->row + k, REGULARISATION_PART * d->tree_mobility[i]);
    }
}

/* Contacts of trees without a free joint whose normal hardly moves, W_nn < rho with M of their trees.
 *
 * Rows of the near-rigid law are compliant and have a solution for any target.  They carry their load by the target, so
 * it must not be cut; they gain at most gamma tau - R gamma^2 <= tau^2 / 4R.  Where such a row is deep, R and target
 * shrink alike, by sqrt(W_nn / rho): a stronger damper on the same spring.  So the bodies part no faster than along a
 * normal with W_nn = rho. */
static void soften_held(undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind != SIM_CONTACT || !is_held(d, c)) {
            continue;
        }
        int row = c->row + 2;
        double relative = relax_inverse_mass(&d->r, i, 2) / d->tree_mobility[i];
        if (relative <= MIN_MOBILITY_PART) {
            release_contact(d, i);
        } else if (relative < REGULARISATION_PART && d->is->law.R[row] > 0 &&
                   d->is->law.target[row] > MIN_UNDO_SPEED_PART * d->rules->undo) {
            double part = sqrt(relative / REGULARISATION_PART);
            d->is->law.R[row] *= part;
            d->is->law.target[row] *= part;
        }
    }
}

/* ---- the motion ---- */

static double row_compliance(const undoing *d, int i, int row) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    bool linear = c->kind == SIM_CONTACT || (c->kind == SIM_EQUALITY && row < 3 && c->body[0] >= 0 && c->rows != 1);
    return REGULARISATION_PART * (linear ? d->mobility : d->r.size[i]);
}

static void set_undo_targets(undoing *d) {
    const sim_problem *p = &d->is->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (!is_stop(c) && c->kind != SIM_EQUALITY) {
            continue;
        }
        for (int k = 0; k < c->rows; k++) {
            double target = d->pushed[i] && d->asked_speed > 0 ? d->asked_speed : d->is->law.target[c->row + k];
            bool aims = d->pushed[i] && (c->kind == SIM_EQUALITY || k == normal_row(c));
            d->r.base[c->row + k] = -(aims ? target : is_stop(c) && k == normal_row(c) ? min_of(target, 0) : 0);
            d->r.R[c->row + k] = row_compliance(d, i, k);
        }
        relax_admit(&d->r, i);
    }
}

/* u_n - sum mu_k |u_k| of a stop over its discs: positive inside K*, m/s. */
static double eval_margin(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    double u = relax_velocity(&d->r, i, normal_row(c));
    if (c->kind == SIM_CONTACT && c->friction > 0) {
        double x = relax_velocity(&d->r, i, 0), y = relax_velocity(&d->r, i, 1);
        u -= c->friction * sqrt(x * x + y * y);
    }
    sim_disc disc[SIM_MAX_DISCS];
    for (int k = 1, count = c->kind == SIM_CONTACT ? sim_contact_discs(c, disc) : 0; k < count; k++) {
        double x = relax_velocity(&d->r, i, disc[k].row);
        u -= disc[k].bound * hypot(x, disc[k].rows == 2 ? relax_velocity(&d->r, i, disc[k].row + 1) : 0);
    }
    return u;
}

/* The greatest error of an equality in its targets, over the greatest target. */
static double equality_error(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    double max_error = 0;
    for (int k = 0; k < c->rows; k++) {
        max_error = max_of(max_error, fabs(relax_velocity(&d->r, i, k) + d->r.base[c->row + k]));
    }
    return max_error / d->max_target;
}

/* Does the motion reach half of the target of constraint i? */
static bool is_reached(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    if (!(d->r.pace[i] > 0)) {
        return true;
    }
    if (c->kind == SIM_EQUALITY) {
        return equality_error(d, i) <= REACHED_PART;
    }
    double asked = -d->r.base[c->row + normal_row(c)];
    return eval_margin(d, i) >= (d->pushed[i] ? REACHED_PART * asked : asked - REACHED_PART / 2 * d->max_target);
}

static bool all_reached(const undoing *d) {
    for (int i = 0; i < d->is->problem.nconstraint; i++) {
        if (!is_reached(d, i)) {
            return false;
        }
    }
    return true;
}

/* Does the motion leave the overlap of constraint i, and is it to be reported? */
static bool is_stuck(const undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    double asked = -d->r.base[c->row + normal_row(c)];
    bool parts = c->kind != SIM_EQUALITY && eval_margin(d, i) >= MIN_REACHED_PART * asked;
    bool reported = c->kind == SIM_EQUALITY || d->is->thorough || !is_shallow(d, asked);
    return d->pushed[i] && !parts && reported;
}

/* The margin; 0 within the accuracy of the sweeps, a tenth of that target. */
static double eval_reached(const undoing *d, int i, double target) {
    double margin = eval_margin(d, i);
    return fabs(margin) < MIN_REACHED_PART * target ? 0 : margin;
}

/* Lowers the target of constraint i to what the motion reaches. */
static void lower_to_reached(undoing *d, int i) {
    island *is = d->is;
    const sim_constraint *c = &is->problem.constraint[i];
    if (c->kind == SIM_EQUALITY) {
        for (int k = 0; k < c->rows && d->pushed[i]; k++) {
            double u = relax_velocity(&d->r, i, k);
            is->law.target[c->row + k] = is->law.target_rigid[c->row + k] = u;
        }
    } else {
        int row = c->row + normal_row(c);
        lower_target(is, row, max_of(eval_reached(d, i, d->max_target), -d->max_target));
        if (relax_inverse_mass(&d->r, i, normal_row(c)) < d->r.R[row]) {
            raise_compliance(is, row, d->r.R[row]);
        }
    }
    if (is_stuck(d, i)) {
        report_stuck(d, i);
    }
    is->held_back++;
}

/* Lowers the target of a rigid stop below what the motion reaches, so that the motion is inside K*. */
static void lower_with_slack(undoing *d, int i) {
    const sim_constraint *c = &d->is->problem.constraint[i];
    int row = c->row + normal_row(c);
    double slack = SLACK_PART * d->max_target, least = min_of(slack, MAX_SLACK_PART * d->rules->undo);
    double strict = d->is->thorough ? eval_margin(d, i) - slack : eval_reached(d, i, -d->r.base[row]) - least;
    if (d->r.pace[i] > 0 && is_stop(c) && is_rigid_row(d, c, row) && d->is->law.target[row] > strict) {
        lower_target(d->is, row, strict);
        d->is->held_back++;
    }
}

/* P, as a motion and the work of dry friction during it. */
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
        int row = c->row + normal_row(c);
        double target = d->is->law.target[row], R = d->is->law.R[row];
        if (is_stop(c) && R > 0) { /* a spring of a material pushes on while its contact moves over the bodies */
            double asked = target - (p->offset && isfinite(c->stiffness) ? p->offset[row] : 0);
            d->is->budget += asked > 0 ? asked * asked / (4 * R) : 0;
        } else if (is_stop(c) && target > 0 && !d->pushed[i]) {
            d->is->bounces = max_of(d->is->bounces, c->restitution);
        }
    }
}

/* Sweeps of relax.c until the motion reaches half of every target; does it? */
static bool sweep_until_reached(undoing *d) {
    bool found = false;
    set_undo_targets(d);
    for (int k = 1, next = 1; k <= MAX_SWEEPS && !found; k++) {
        relax_sweep(&d->r);
        if (k == next) {
            found = all_reached(d);
            next *= 2;
        }
    }
    return found;
}

/* The motion that undoes the overlaps, with every row slightly compliant,
 *
 *     min  v . A v / 2  +  sum over rows  dist(J_i v - tau_i, K*_i)^2 / 2 rho_i,     rho_i = c / M,
 *     c = REGULARISATION_PART,
 *
 * M the mass of all that moves in the island, kg (rho = c W_ii for rows about axes).  Then |v|^2 <= tau^2 M / 4 c for
 * each row, a price at which everything could be moved.  Undoing counts as possible if the motion reaches half of every
 * target; relax.c then finds it in a few sweeps.  Where 256 sweeps find none, targets become what the best motion
 * reaches,
 *
 *     tau_n <- min(tau_n, u_n - mu |u_t|),
 *
 * which has a solution with P = v . A v / 2 at that v.  So a squeezed body moves to the middle and stays there; a
 * motion that reaches less than a tenth either way aims at 0.  A normal that hardly moves, W_nn < rho, gets R_n = rho
 * besides. */
static void find_motion(undoing *d) {
    const sim_problem *p = &d->is->problem;
    bool found = sweep_until_reached(d);
    for (int i = 0; i < p->nconstraint && !found; i++) {
        if (!is_reached(d, i)) {
            lower_to_reached(d, i);
        }
    }
    bool inside = d->is->thorough || (d->rules->examine_shallow && !found);
    for (int i = 0; i < p->nconstraint && inside; i++) {
        lower_with_slack(d, i);
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

/* Marks compliant contacts that rest deep: deeper than a twentieth of the smaller radius, with an impulse in the step
 * before, and not parting.  Returns their number. */
static int mark_sunk(undoing *d) {
    const sim_problem *p = &d->is->problem;
    int count = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int n = c->row + 2;
        d->pushed[i] = c->kind == SIM_CONTACT && d->is->law.R[n] > 0 && d->is->base.impulse_guess[n] > 0 &&
                       -p->gap[n] > SUNK_DEPTH_PART * smaller_radius(d, c) &&
                       velocity_of_row(p, c, 2, p->v_start) < MIN_REACHED_PART * d->rules->undo;
        count += d->pushed[i];
    }
    return count;
}

/* Reports marked contacts that no motion parts at a tenth of the speed `undo`.  No solution changes; one step in 256 is
 * tested, the ninth first. */
static void report_squeezed(undoing *d) {
    d->asked_speed = d->max_target = d->rules->undo;
    if (sweep_until_reached(d)) {
        return;
    }
    for (int i = 0; i < d->is->problem.nconstraint; i++) {
        int n = d->is->problem.constraint[i].row + 2;
        double error = d->r.R[n] * d->r.gamma[n]; /* of the motion, m/s */
        if (d->pushed[i] && eval_margin(d, i) < MIN_REACHED_PART * d->asked_speed &&
            error > REACHED_PART * d->asked_speed) {
            report_stuck(d, i);
        }
    }
}

sim_status undo_possible(const assembly *f, island *is, const undo_rules *rules, sim_arena *scratch) {
    const sim_problem *p = &is->problem;
    undoing d = {.f = f, .is = is, .rules = rules};
    double *motion = ARENA_NEW(scratch, double, p->nv); /* kept until the island is solved */
    size_t mark = arena_mark(scratch);
    d.tree_mobility = ARENA_NEW(scratch, double, p->nconstraint);
    d.pushed = ARENA_NEW(scratch, char, p->nconstraint);
    is->stuck = is->held_back = 0;
    is->budget = is->bounces = 0;
    is->undoing = NULL;
    if (!motion || !d.tree_mobility || !d.pushed) {
        return SIM_NO_RESOURCE;
    }

    /* overlaps of rigid rows, and normals that hardly move */
    bool worth = mark_overlaps(&d);
    if (worth || has_held_contact(&d)) {
        if (relax_create(&d.r, p, scratch)) {
            return SIM_NO_RESOURCE;
        }
        d.mobility = mobility_of_island(&d);
        for (int i = 0; i < p->nconstraint; i++) {
            d.tree_mobility[i] = mobility_of_trees(&d, &p->constraint[i]);
        }
        soften_held(&d);
    }

    /* the motion that undoes them, and the energy that it may add */
    if (worth) {
        is->undoing = motion;
        find_motion(&d);
    }
    is->budget += worth ? 0 : d.mass_cost;
    add_other_costs(&d);

    /* squeezed bodies on compliant contacts */
    if (!worth && rules->undo > 0 && f->in->index % SUNK_TEST_PERIOD == SUNK_TEST_FIRST && mark_sunk(&d)) {
        if (relax_create(&d.r, p, scratch)) {
            return SIM_NO_RESOURCE;
        }
        d.mobility = mobility_of_island(&d);
        report_squeezed(&d);
    }
    arena_release(scratch, mark);
    return SIM_OK;
}
