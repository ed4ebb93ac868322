/* M and q of the mixed linear complementarity problem, from the dense W + R and q of the impulses:
 *
 *     gamma = rest + X x,     M = X' (W + R) X + couplings,     q = X' (q + (W + R) rest) + bounds. */
#include "solver/pyramid/polyhedral.h"
#include "math/dense.h"
#include "solver/core/natural_map.h"
#include "solver/core/products.h"

#include <math.h>
#include <string.h>

const char *const polyhedral_alignments[] = {"sliding", "fixed", "following", NULL};

polyhedral_options polyhedral_options_of(const double *option) {
    return (polyhedral_options){(int)option[0] / 2 * 2, (int)option[1], option[2]};
}

double polyhedral_claim(const double *option, double tolerance) {
    polyhedral_options o = polyhedral_options_of(option);
    double own = solver_claim(10, tolerance);
    return o.alignment == POLYHEDRAL_FOLLOWING ? own : fmax(own, solver_claim_of_pyramid(o.directions));
}

/* Slip slower than this part of what the free motion brings is rounding. */
static const double STILL = 1e-6;

typedef struct draft {
    polyhedral *p;
    const dual *dual;
    const polyhedral_options *options;
    double *before; /* [rows] J v + w before the step; NULL: not known */
} draft;

static int bounded(const sim_constraint *c) { return c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR; }
static int bilateral(const draft *d, const sim_constraint *c) {
    return c->kind == SIM_EQUALITY || c->kind == SIM_SPRING || (bounded(c) && isinf(d->dual->problem->step * c->bound));
}

/* Unknowns of a constraint beside the bilateral ones. */
static int unknowns(const draft *d, const sim_constraint *c) {
    int own = 0;
    if (c->kind == SIM_CONTACT) {
        return c->friction > 0 ? d->options->directions + 2 : 1;
    }
    for (int k = c->row; k < c->row + c->rows && !bilateral(d, c); k++) {
        own += d->dual->given[k] ? 0 : bounded(c) ? 2 : 1;
    }
    return own;
}

/* Along which tangent friction is to act first: against the slip. */
static void first_direction(const draft *d, const sim_constraint *c, double *direction) {
    const double *free = d->dual->q + c->row, *slip = d->before ? d->before + c->row : free;
    double speed = hypot(slip[0], slip[1]), size = fmax(hypot(free[0], free[1]), fabs(free[2]));
    double turn = d->options->turn;
    if (!(speed > STILL * size)) {
        slip = free;
        speed = hypot(slip[0], slip[1]);
    }
    if (d->options->alignment != POLYHEDRAL_FIXED && speed > STILL * size) {
        turn += atan2(-slip[1], -slip[0]);
    }
    direction[0] = cos(turn);
    direction[1] = sin(turn);
}

static polyhedral_group *new_group(const draft *d, int i, int first, int count, int row, int dims) {
    polyhedral_group *g = &d->p->group[d->p->groups++];
    *g = (polyhedral_group){.first = first,
                            .count = count,
                            .row = row,
                            .dims = dims,
                            .contact = -1,
                            .scale = 1 / sqrt(d->dual->w[i]),
                            .bend = -1};
    return g;
}

static void place_contact(const draft *d, int i, int at) {
    const sim_constraint *c = &d->dual->problem->constraint[i];
    polyhedral *p = d->p;
    int rough = c->friction > 0, own = unknowns(d, c);
    polyhedral_group *g = new_group(d, i, at, own, rough ? c->row : c->row + 2, rough ? 3 : 1);
    p->unknown[at] = (polyhedral_unknown){c->row + 2, 1, -1, 0, {g->scale, 0}};
    if (rough) {
        double first[2];
        g->contact = i;
        g->friction = c->friction;
        for (int j = 1; j < own; j++) {
            p->unknown[at + j] = (polyhedral_unknown){c->row, j + 1 < own ? 2 : 0, j + 1 < own ? at : -1, 0, {0, 0}};
        }
        first_direction(d, c, first);
        polyhedral_turn(p, p->groups - 1, first, -1);
    }
}

static void place_rows(const draft *d, int i, int *free, int *at) {
    const sim_constraint *c = &d->dual->problem->constraint[i];
    double scale = 1 / sqrt(d->dual->w[i]);
    for (int k = c->row; k < c->row + c->rows; k++) {
        polyhedral_unknown x = {k, 1, -1, bilateral(d, c), {scale, 0}};
        if (d->dual->given[k]) {
            continue;
        }
        if (x.free) {
            new_group(d, i, *free, 1, k, 1);
            d->p->unknown[(*free)++] = x;
        } else {
            new_group(d, i, *at, 1 + bounded(c), k, 1);
            d->p->unknown[(*at)++] = x;
            if (bounded(c)) {
                d->p->rest[k] = -d->dual->problem->step * c->bound;
                d->p->unknown[(*at)++] = (polyhedral_unknown){.normal = -1};
            }
        }
    }
}

static void place(const draft *d) {
    const sim_problem *problem = d->dual->problem;
    int free = 0, at = d->p->free;
    memcpy(d->p->rest, d->dual->impulse, (size_t)d->dual->n * sizeof(double));
    for (int i = 0; i < problem->nconstraint; i++) {
        if (problem->constraint[i].kind == SIM_CONTACT) {
            place_contact(d, i, at);
            at += unknowns(d, &problem->constraint[i]);
        } else {
            place_rows(d, i, &free, &at);
        }
    }
}

static double along(const polyhedral_unknown *x, const double *row) {
    double sum = 0;
    for (int k = 0; k < x->rows; k++) {
        sum += x->along[k] * row[x->row + k];
    }
    return sum;
}

static int budgeted(const polyhedral *p, const polyhedral_group *g, int i) {
    return i > 0 && i + 1 < g->count && (g->bend < 0 || i == 1 || i == 1 + p->directions / 2);
}

double polyhedral_felt(const polyhedral *p, const polyhedral_group *g, int i) {
    if (g->contact < 0 || g->bend < 0 || !p->unknown[g->first + i].free) {
        return 1;
    }
    return i == polyhedral_across(p) ? 1 / (1 + g->bend) : 0;
}

double polyhedral_coupling(const polyhedral *p, const polyhedral_group *g, int i, int j) {
    int last = g->count - 1;
    if (g->contact < 0) {
        return g->count == 1 || i == j ? 0 : i < j ? 1 : -1;
    }
    if (i == last) {
        return j == 0 ? g->friction : budgeted(p, g, j) ? -1 : 0;
    }
    if (j == last) {
        return budgeted(p, g, i);
    }
    return i != j || budgeted(p, g, i) || i == 0 ? 0 : i == polyhedral_across(p) ? g->bend / (1 + g->bend) : 1;
}

/* What does not go through W: sigma and tau, and how contacts are bent. */
static void couple(const polyhedral *p, const polyhedral_group *g, const double *x, double *y) {
    int half = p->directions / 2, across = polyhedral_across(p), last = g->count - 1;
    if (g->contact >= 0 && g->bend < 0) {
        y[last] = g->friction * x[0];
        for (int j = 1; j < last; j++) {
            y[j] += x[last];
            y[last] -= x[j];
        }
    } else if (g->contact >= 0) {
        for (int j = 2; j < last; j++) {
            y[j] = j == across || j == 1 + half ? y[j] : x[j];
        }
        y[1] += x[last];
        y[1 + half] += x[last];
        y[across] = (y[across] + g->bend * x[across]) / (1 + g->bend);
        y[last] = g->friction * x[0] - x[1] - x[1 + half];
    } else if (g->count == 2) {
        y[0] += x[1];
        y[1] = -x[0];
    }
}

/* What x adds to s. */
static void push(const polyhedral *p, const double *x, double *s) {
    const dual *d = p->dual;
    memset(p->moved, 0, (size_t)d->n * sizeof *p->moved);
    for (int i = 0; i < p->n; i++) {
        const polyhedral_unknown *u = &p->unknown[i];
        for (int k = 0; k < u->rows; k++) {
            p->moved[u->row + k] += u->along[k] * x[i];
        }
    }
    for (int k = 0; k < d->n; k++) {
        s[k] = dense_dot(d->n, d->W + (size_t)k * (size_t)d->n, p->moved);
    }
}

static void project(const polyhedral *p, const double *x, const double *s, double *y) {
    for (int i = 0; i < p->n; i++) {
        y[i] = along(&p->unknown[i], s);
    }
    for (int i = 0; i < p->groups; i++) {
        couple(p, &p->group[i], x + p->group[i].first, y + p->group[i].first);
    }
}

void polyhedral_product(const polyhedral *p, const double *x, double *y) {
    push(p, x, p->pushed);
    project(p, x, p->pushed, y);
}

void polyhedral_forget(const polyhedral *p) {
    if (p->n > 0) {
        p->at[0] = NAN;
    }
}

/* Is it the place of the last time? */
static int stays(const polyhedral *p, const double *x) {
    int i = 0;
    while (i < p->n && x[i] == p->at[i]) {
        i++;
    }
    return p->n > 0 && i == p->n;
}

void polyhedral_velocity(const polyhedral *p, const double *x, double *y) {
    if (stays(p, x)) {
        memcpy(y, p->there, (size_t)p->n * sizeof *y);
        return;
    }
    push(p, x, p->s);
    project(p, x, p->s, y);
    for (int i = 0; i < p->n; i++) {
        y[i] += p->q[i];
        p->at[i] = x[i];
        p->there[i] = y[i];
    }
    for (int k = 0; k < p->dual->n; k++) {
        p->s[k] += p->still[k];
    }
}

/* Row i of M, through row i of X' (W + R). */
static void matrix_row(const polyhedral *p, const polyhedral_group *g, int i, double *to) {
    const dual *d = p->dual;
    const polyhedral_unknown *x = &p->unknown[g->first + i];
    double felt = polyhedral_felt(p, g, i);
    memset(p->moved, 0, (size_t)d->n * sizeof *p->moved);
    for (int k = 0; k < x->rows; k++) {
        dense_axpy(d->n, felt * x->along[k], d->W + (size_t)(x->row + k) * (size_t)d->n, p->moved);
    }
    for (int j = 0; j < p->n; j++) {
        to[j] = along(&p->unknown[j], p->moved);
    }
    for (int j = 0; j < g->count; j++) {
        to[g->first + j] += polyhedral_coupling(p, g, i, j);
    }
}

void polyhedral_matrix(const polyhedral *p, double *M) {
    for (int k = 0; k < p->groups; k++) {
        const polyhedral_group *g = &p->group[k];
        for (int i = 0; i < g->count; i++) {
            matrix_row(p, g, i, M + (size_t)(g->first + i) * (size_t)p->n);
        }
    }
}

/* q and s of the impulses that are there at x = 0; 2 b for each tau. */
static void fill(const polyhedral *p) {
    const dual *d = p->dual;
    for (int k = 0; k < d->n; k++) {
        /* of rows that are given W is zero, and what they do is in q */
        p->still[k] = d->q[k] + dense_dot(d->n, d->W + (size_t)k * (size_t)d->n, p->rest);
    }
    for (int i = 0; i < p->n; i++) {
        p->q[i] = along(&p->unknown[i], p->still);
    }
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        if (g->count == 2) {
            p->q[g->first + 1] = -2 * p->rest[g->row] / g->scale;
        }
    }
}

/* The greatest of X' q, the shift of bounds left out. */
static double free_speed(const polyhedral *p) {
    double free = 0, shifted = 0;
    for (int i = 0; i < p->n; i++) {
        const polyhedral_unknown *x = &p->unknown[i];
        free = x->rows ? fmax(free, fabs(along(x, p->dual->q))) : free;
        shifted = fmax(shifted, fabs(p->q[i]));
    }
    return free > 0 ? free : shifted;
}

/* u of a step's start; 0 without memory. */
static int velocities_before(draft *d, sim_arena *scratch) {
    const sim_problem *p = d->dual->problem;
    if (sim_problem_local(p) || !p->v_start) {
        return 1;
    }
    d->before = ARENA_NEW(scratch, double, p->nrow);
    if (d->before) {
        problem_velocity(p, p->v_start, d->before);
    }
    return d->before != NULL;
}

int polyhedral_make(polyhedral *p, const dual *of, const polyhedral_options *options, sim_arena *scratch) {
    draft d = {p, of, options, NULL};
    *p = (polyhedral){.dual = of, .directions = options->directions};
    for (int i = 0; i < of->problem->nconstraint; i++) {
        const sim_constraint *c = &of->problem->constraint[i];
        p->n += unknowns(&d, c);
        for (int k = c->row; k < c->row + c->rows && c->kind != SIM_CONTACT && bilateral(&d, c); k++) {
            p->free += !of->given[k];
        }
    }
    p->n += p->free;
    size_t n = (size_t)p->n, rows = (size_t)of->n;
    p->q = ARENA_NEW(scratch, double, 3 * n);
    p->unknown = ARENA_NEW(scratch, polyhedral_unknown, n);
    p->group = ARENA_NEW(scratch, polyhedral_group, n);
    p->rest = ARENA_NEW(scratch, double, 5 * rows);
    if (!p->q || !p->unknown || !p->group || !p->rest || !velocities_before(&d, scratch)) {
        return 0;
    }
    p->still = p->rest + rows;
    p->moved = p->rest + 2 * rows;
    p->s = p->rest + 3 * rows;
    p->pushed = p->rest + 4 * rows;
    p->at = p->q + n;
    p->there = p->q + 2 * n;
    polyhedral_forget(p);
    memcpy(p->still, of->q, rows * sizeof *p->still);
    place(&d);
    fill(p);
    p->speed = free_speed(p);
    return 1;
}

int polyhedral_across(const polyhedral *p) { return 1 + p->directions / 4; }

/* An opposite is that to the bit. */
void polyhedral_turn(polyhedral *p, int group, const double *direction, double bend) {
    polyhedral_group *g = &p->group[group];
    int half = p->directions / 2, across = polyhedral_across(p);
    polyhedral_unknown *x = p->unknown + g->first + 1;
    g->bend = bend;
    polyhedral_forget(p);
    for (int j = 0; j < p->directions; j++) {
        double angle = 2 * M_PI * j / p->directions, cosine = cos(angle), sine = sin(angle);
        double *to = x[j].along;
        if (bend >= 0 && j + 1 == across) {
            cosine = 0;
            sine = 1;
        }
        to[0] = j < half ? g->scale * (cosine * direction[0] - sine * direction[1]) : -x[j - half].along[0];
        to[1] = j < half ? g->scale * (sine * direction[0] + cosine * direction[1]) : -x[j - half].along[1];
        x[j].free = bend >= 0 && j > 0 && j != half;
        p->q[g->first + 1 + j] = polyhedral_felt(p, g, 1 + j) * along(&x[j], p->still);
    }
}

void polyhedral_scale(polyhedral *p, double size) {
    for (int i = 0; i < p->n; i++) {
        p->q[i] /= size;
    }
    for (int k = 0; k < p->dual->n; k++) {
        p->still[k] /= size;
    }
    p->speed /= size;
    polyhedral_forget(p);
}

void polyhedral_impulse(const polyhedral *p, const double *x, double *gamma) {
    memcpy(gamma, p->rest, (size_t)p->dual->n * sizeof *gamma);
    for (int i = 0; i < p->n; i++) {
        const polyhedral_unknown *u = &p->unknown[i];
        int none = u->normal >= 0 && x[u->normal] == 0;
        for (int k = 0; k < u->rows && !none; k++) {
            gamma[u->row + k] += u->along[k] * x[i];
        }
    }
}

void polyhedral_share_out(const polyhedral *p, const polyhedral_group *g, const double *friction, double *beta) {
    const polyhedral_unknown *u = p->unknown + g->first + 1;
    int step = g->bend >= 0 ? polyhedral_across(p) - 1 : 1, directions = p->directions;
    for (int j = 0; j < directions; j += g->bend >= 0 ? directions / 2 : 1) {
        int next = (j + step) % directions;
        const double *a = u[j].along, *b = u[next].along;
        double area = a[0] * b[1] - a[1] * b[0], first = (friction[0] * b[1] - friction[1] * b[0]) / area,
               second = (a[0] * friction[1] - a[1] * friction[0]) / area;
        if (g->bend >= 0 && first >= 0) { /* across it is free */
            beta[j] += first;
            beta[step] += next == step ? second : -second;
            return;
        }
        if (g->bend < 0 && first >= 0 && second >= 0) {
            beta[j] += first;
            beta[next] += second;
            return;
        }
    }
}

/* How fast it slips, or a bound is pressed against: what lifts the least of y to 0. */
static void press(const double *y, int count, double *x) {
    for (int j = 0; j < count; j++) {
        x[count] = y[j] < -x[count] ? -y[j] : x[count];
    }
}

void polyhedral_from_impulse(const polyhedral *p, const double *gamma, double *x, double *y) {
    memset(x, 0, (size_t)p->n * sizeof *x);
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        int at = g->contact >= 0 ? g->row + 2 : g->row;
        double amount = (gamma[at] - p->rest[at]) / g->scale;
        x[g->first] = p->unknown[g->first].free || amount > 0 ? amount : 0;
        if (g->contact >= 0) {
            polyhedral_share_out(p, g, gamma + g->row, x + g->first + 1);
        }
    }
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        if (g->count > 1) {
            int first = g->contact >= 0;
            press(y + g->first + first, g->count - first - 1, x + g->first + first);
        }
    }
}

/* 2 b of a row held within +-b, or of its tau; 0: there is no such bound. */
static double width(const polyhedral *p, int i) {
    int turned =
        i + 1 < p->n && !p->unknown[i].free && p->unknown[i].rows == 1 && p->unknown[i + 1].rows == 0 ? i + 1 : i;
    return p->unknown[turned].rows == 0 ? p->q[turned] : 0;
}

/* A sigma or tau is a velocity, and its y an impulse.  A bound may be far greater than all that goes on: it is a measure of
 * nothing but how well it is kept itself. */
double polyhedral_error(const polyhedral *p, const double *x, double *y) {
    double velocity = 0, impulse = 0, greatest = 0, rounded = 0;
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->n; i++) {
        int turned = p->unknown[i].rows == 0;
        greatest = turned ? greatest : fmax(greatest, fabs(x[i] - 0.5 * width(p, i)));
        rounded = turned ? rounded : fmax(rounded, fabs(x[i]));
    }
    for (int i = 0; i < p->n; i++) {
        int turned = p->unknown[i].rows == 0, first = !p->unknown[i].free && !(x[i] > y[i]);
        double off = isnan(x[i] + y[i]) ? HUGE_VAL : fabs(first ? x[i] : y[i]);
        if (off > 0 && first == turned) {
            velocity = fmax(velocity, off / p->speed);
        } else if (off > 0) {
            impulse = fmax(impulse, off / fmax(fmax(p->speed, greatest), width(p, i)));
        }
    }
    double error = fmax(velocity, impulse);
    return fmax(error, rounded > 0 ? NATURAL_ROUNDING * rounded / p->speed : 0);
}
