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

/* Slip over the free motion below which it is rounding. */
static const double MIN_SLIP_RATIO = 1e-6;

typedef struct draft {
    polyhedral *p;
    const dual *dual;
    const polyhedral_options *options;
    double *before; /* [rows] J v + w before the step; NULL: not known */
} draft;

static bool is_bounded_kind(const sim_constraint *c) { return c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR; }
static bool is_bilateral(const draft *d, const sim_constraint *c) {
    return c->kind == SIM_EQUALITY || c->kind == SIM_SPRING ||
           (is_bounded_kind(c) && isinf(d->dual->problem->step * c->bound));
}

/* Number of unknowns of a constraint, without bilateral ones. */
static int count_bounded_unknowns(const draft *d, const sim_constraint *c) {
    int own = 0;
    if (c->kind == SIM_CONTACT) {
        return c->friction > 0 ? d->options->directions + 2 : 1;
    }
    for (int k = c->row; k < c->row + c->rows && !is_bilateral(d, c); k++) {
        own += d->dual->given[k] ? 0 : is_bounded_kind(c) ? 2 : 1;
    }
    return own;
}

/* First direction of friction: against the slip. */
static void find_first_direction(const draft *d, const sim_constraint *c, double *direction) {
    const double *free = d->dual->q + c->row, *slip = d->before ? d->before + c->row : free;
    double speed = hypot(slip[0], slip[1]), size = fmax(hypot(free[0], free[1]), fabs(free[2]));
    double turn = d->options->turn;
    if (!(speed > MIN_SLIP_RATIO * size)) {
        slip = free;
        speed = hypot(slip[0], slip[1]);
    }
    if (d->options->alignment != POLYHEDRAL_FIXED && speed > MIN_SLIP_RATIO * size) {
        turn += atan2(-slip[1], -slip[0]);
    }
    direction[0] = cos(turn);
    direction[1] = sin(turn);
}

static polyhedral_group *add_group(const draft *d, int i, int first, int count, int row, int dims) {
    polyhedral_group *g = &d->p->group[d->p->groups++];
    *g = (polyhedral_group){.first = first,
                            .count = count,
                            .row = row,
                            .dims = dims,
                            .contact = -1,
                            .scale = 1 / sqrt(d->dual->w[i]),
                            .cross_compliance = -1};
    return g;
}

static void place_contact_unknowns(const draft *d, int i, int at) {
    const sim_constraint *c = &d->dual->problem->constraint[i];
    polyhedral *p = d->p;
    int rough = c->friction > 0, own = count_bounded_unknowns(d, c);
    polyhedral_group *g = add_group(d, i, at, own, rough ? c->row : c->row + 2, rough ? 3 : 1);
    p->unknown[at] = (polyhedral_unknown){c->row + 2, 1, -1, 0, {g->scale, 0}};
    if (rough) {
        double first[2];
        g->contact = i;
        g->friction = c->friction;
        for (int j = 1; j < own; j++) {
            p->unknown[at + j] = (polyhedral_unknown){c->row, j + 1 < own ? 2 : 0, j + 1 < own ? at : -1, 0, {0, 0}};
        }
        find_first_direction(d, c, first);
        polyhedral_turn(p, p->groups - 1, first, -1);
    }
}

static void place_row_unknowns(const draft *d, int i, int *free, int *at) {
    /* scaled unknown of each row */
    const sim_constraint *c = &d->dual->problem->constraint[i];
    double scale = 1 / sqrt(d->dual->w[i]);
    for (int k = c->row; k < c->row + c->rows; k++) {
        polyhedral_unknown x = {k, 1, -1, is_bilateral(d, c), {scale, 0}};
        if (d->dual->given[k]) {
            continue;
        }
        /* free rows first, then bounded ones, with a slack for the upper bound */
        if (x.free) {
            add_group(d, i, *free, 1, k, 1);
            d->p->unknown[(*free)++] = x;
        } else {
            add_group(d, i, *at, 1 + is_bounded_kind(c), k, 1);
            d->p->unknown[(*at)++] = x;
            if (is_bounded_kind(c)) {
                d->p->rest[k] = -d->dual->problem->step * c->bound;
                d->p->unknown[(*at)++] = (polyhedral_unknown){.normal = -1};
            }
        }
    }
}

static void place_unknowns(const draft *d) {
    const sim_problem *problem = d->dual->problem;
    int free = 0, at = d->p->free;
    memcpy(d->p->rest, d->dual->impulse, (size_t)d->dual->n * sizeof(double));
    for (int i = 0; i < problem->nconstraint; i++) {
        if (problem->constraint[i].kind == SIM_CONTACT) {
            place_contact_unknowns(d, i, at);
            at += count_bounded_unknowns(d, &problem->constraint[i]);
        } else {
            place_row_unknowns(d, i, &free, &at);
        }
    }
}

static double dot_along(const polyhedral_unknown *x, const double *row) {
    double sum = 0;
    for (int k = 0; k < x->rows; k++) {
        sum += x->along[k] * row[x->row + k];
    }
    return sum;
}

static bool shares_bound(const polyhedral *p, const polyhedral_group *g, int i) {
    return i > 0 && i + 1 < g->count && (g->cross_compliance < 0 || i == 1 || i == 1 + p->directions / 2);
}

double polyhedral_row_weight(const polyhedral *p, const polyhedral_group *g, int i) {
    if (g->contact < 0 || g->cross_compliance < 0 || !p->unknown[g->first + i].free) {
        return 1;
    }
    return i == polyhedral_across(p) ? 1 / (1 + g->cross_compliance) : 0;
}

double polyhedral_coupling(const polyhedral *p, const polyhedral_group *g, int i, int j) {
    int last = g->count - 1;
    if (g->contact < 0) {
        return g->count == 1 || i == j ? 0 : i < j ? 1 : -1;
    }
    if (i == last) {
        return j == 0 ? g->friction : shares_bound(p, g, j) ? -1 : 0;
    }
    if (j == last) {
        return shares_bound(p, g, i);
    }
    return i != j || shares_bound(p, g, i) || i == 0 ? 0
           : i == polyhedral_across(p)               ? g->cross_compliance / (1 + g->cross_compliance)
                                                     : 1;
}

/* Terms of M x outside X' W X: sigma, tau, cross_compliance. */
static void add_couplings(const polyhedral *p, const polyhedral_group *g, const double *x, double *y) {
    int half = p->directions / 2, across = polyhedral_across(p), last = g->count - 1;
    if (g->contact >= 0 && g->cross_compliance < 0) {
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
        y[across] = (y[across] + g->cross_compliance * x[across]) / (1 + g->cross_compliance);
        y[last] = g->friction * x[0] - x[1] - x[1 + half];
    } else if (g->count == 2) {
        y[0] += x[1];
        y[1] = -x[0];
    }
}

/* s = (W + R) X x. */
static void apply_unknowns(const polyhedral *p, const double *x, double *s) {
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

static void project_rows(const polyhedral *p, const double *x, const double *s, double *y) {
    for (int i = 0; i < p->n; i++) {
        y[i] = dot_along(&p->unknown[i], s);
    }
    for (int i = 0; i < p->groups; i++) {
        add_couplings(p, &p->group[i], x + p->group[i].first, y + p->group[i].first);
    }
}

void polyhedral_product(const polyhedral *p, const double *x, double *y) {
    apply_unknowns(p, x, p->pushed);
    project_rows(p, x, p->pushed, y);
}

void polyhedral_invalidate(const polyhedral *p) {
    if (p->n > 0) {
        p->last_x[0] = NAN;
    }
}

/* x is last_x. */
static bool is_last_point(const polyhedral *p, const double *x) {
    int i = 0;
    while (i < p->n && x[i] == p->last_x[i]) {
        i++;
    }
    return p->n > 0 && i == p->n;
}

void polyhedral_velocity(const polyhedral *p, const double *x, double *y) {
    if (is_last_point(p, x)) {
        memcpy(y, p->last_y, (size_t)p->n * sizeof *y);
        return;
    }
    apply_unknowns(p, x, p->s);
    project_rows(p, x, p->s, y);
    for (int i = 0; i < p->n; i++) {
        y[i] += p->q[i];
        p->last_x[i] = x[i];
        p->last_y[i] = y[i];
    }
    for (int k = 0; k < p->dual->n; k++) {
        p->s[k] += p->s_at_zero[k];
    }
}

/* Row i of M, through row i of X' (W + R). */
static void fill_matrix_row(const polyhedral *p, const polyhedral_group *g, int i, double *to) {
    const dual *d = p->dual;
    const polyhedral_unknown *x = &p->unknown[g->first + i];
    double felt = polyhedral_row_weight(p, g, i);
    memset(p->moved, 0, (size_t)d->n * sizeof *p->moved);
    for (int k = 0; k < x->rows; k++) {
        dense_axpy(d->n, felt * x->along[k], d->W + (size_t)(x->row + k) * (size_t)d->n, p->moved);
    }
    for (int j = 0; j < p->n; j++) {
        to[j] = dot_along(&p->unknown[j], p->moved);
    }
    for (int j = 0; j < g->count; j++) {
        to[g->first + j] += polyhedral_coupling(p, g, i, j);
    }
}

void polyhedral_matrix(const polyhedral *p, double *M) {
    for (int k = 0; k < p->groups; k++) {
        const polyhedral_group *g = &p->group[k];
        for (int i = 0; i < g->count; i++) {
            fill_matrix_row(p, g, i, M + (size_t)(g->first + i) * (size_t)p->n);
        }
    }
}

/* q, and s at x = 0; 2 b for each tau. */
static void fill_constants(const polyhedral *p) {
    const dual *d = p->dual;
    for (int k = 0; k < d->n; k++) {
        /* W is zero in given rows; their effect is in q */
        p->s_at_zero[k] = d->q[k] + dense_dot(d->n, d->W + (size_t)k * (size_t)d->n, p->rest);
    }
    for (int i = 0; i < p->n; i++) {
        p->q[i] = dot_along(&p->unknown[i], p->s_at_zero);
    }
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        if (g->count == 2) {
            p->q[g->first + 1] = -2 * p->rest[g->row] / g->scale;
        }
    }
}

/* max |X' q|, without the shift of bounds. */
static double free_speed(const polyhedral *p) {
    double free = 0, shifted = 0;
    for (int i = 0; i < p->n; i++) {
        const polyhedral_unknown *x = &p->unknown[i];
        free = x->rows ? fmax(free, fabs(dot_along(x, p->dual->q))) : free;
        shifted = fmax(shifted, fabs(p->q[i]));
    }
    return free > 0 ? free : shifted;
}

/* Velocities of rows at the start of the step; false without memory. */
static bool eval_velocities_before(draft *d, sim_arena *scratch) {
    const sim_problem *p = d->dual->problem;
    if (sim_problem_local(p) || !p->v_start) {
        return true;
    }
    d->before = ARENA_NEW(scratch, double, p->nrow);
    if (d->before) {
        problem_velocity(p, p->v_start, d->before);
    }
    return d->before != NULL;
}

bool polyhedral_make(polyhedral *p, const dual *of, const polyhedral_options *options, sim_arena *scratch) {
    draft d = {p, of, options, NULL};
    *p = (polyhedral){.dual = of, .directions = options->directions};
    /* count the unknowns */
    for (int i = 0; i < of->problem->nconstraint; i++) {
        const sim_constraint *c = &of->problem->constraint[i];
        p->n += count_bounded_unknowns(&d, c);
        for (int k = c->row; k < c->row + c->rows && c->kind != SIM_CONTACT && is_bilateral(&d, c); k++) {
            p->free += !of->given[k];
        }
    }
    p->n += p->free;
    size_t n = (size_t)p->n, rows = (size_t)of->n;
    /* allocate */
    p->q = ARENA_NEW(scratch, double, 3 * n);
    p->unknown = ARENA_NEW(scratch, polyhedral_unknown, n);
    p->group = ARENA_NEW(scratch, polyhedral_group, n);
    p->rest = ARENA_NEW(scratch, double, 5 * rows);
    if (!p->q || !p->unknown || !p->group || !p->rest || !eval_velocities_before(&d, scratch)) {
        return false;
    }
    p->s_at_zero = p->rest + rows;
    p->moved = p->rest + 2 * rows;
    p->s = p->rest + 3 * rows;
    p->pushed = p->rest + 4 * rows;
    p->last_x = p->q + n;
    p->last_y = p->q + 2 * n;
    polyhedral_invalidate(p);
    memcpy(p->s_at_zero, of->q, rows * sizeof *p->s_at_zero);
    /* groups, q and the speed of the free motion */
    place_unknowns(&d);
    fill_constants(p);
    p->speed = free_speed(p);
    return true;
}

int polyhedral_across(const polyhedral *p) { return 1 + p->directions / 4; }

/* Opposite directions are equal to the bit, up to sign. */
void polyhedral_turn(polyhedral *p, int group, const double *direction, double cross_compliance) {
    polyhedral_group *g = &p->group[group];
    int half = p->directions / 2, across = polyhedral_across(p);
    polyhedral_unknown *x = p->unknown + g->first + 1;
    g->cross_compliance = cross_compliance;
    polyhedral_invalidate(p);
    for (int j = 0; j < p->directions; j++) {
        double angle = 2 * M_PI * j / p->directions, cosine = cos(angle), sine = sin(angle);
        double *to = x[j].along;
        if (cross_compliance >= 0 && j + 1 == across) {
            cosine = 0;
            sine = 1;
        }
        to[0] = j < half ? g->scale * (cosine * direction[0] - sine * direction[1]) : -x[j - half].along[0];
        to[1] = j < half ? g->scale * (sine * direction[0] + cosine * direction[1]) : -x[j - half].along[1];
        x[j].free = cross_compliance >= 0 && j > 0 && j != half;
        p->q[g->first + 1 + j] = polyhedral_row_weight(p, g, 1 + j) * dot_along(&x[j], p->s_at_zero);
    }
}

void polyhedral_scale(polyhedral *p, double size) {
    for (int i = 0; i < p->n; i++) {
        p->q[i] /= size;
    }
    for (int k = 0; k < p->dual->n; k++) {
        p->s_at_zero[k] /= size;
    }
    p->speed /= size;
    polyhedral_invalidate(p);
}

void polyhedral_impulse(const polyhedral *p, const double *x, double *gamma) {
    memcpy(gamma, p->rest, (size_t)p->dual->n * sizeof *gamma);
    for (int i = 0; i < p->n; i++) {
        const polyhedral_unknown *u = &p->unknown[i];
        bool none = u->normal >= 0 && x[u->normal] == 0;
        for (int k = 0; k < u->rows && !none; k++) {
            gamma[u->row + k] += u->along[k] * x[i];
        }
    }
}

void polyhedral_split_friction(const polyhedral *p, const polyhedral_group *g, const double *friction, double *beta) {
    const polyhedral_unknown *u = p->unknown + g->first + 1;
    int step = g->cross_compliance >= 0 ? polyhedral_across(p) - 1 : 1, directions = p->directions;
    for (int j = 0; j < directions; j += g->cross_compliance >= 0 ? directions / 2 : 1) {
        int next = (j + step) % directions;
        const double *a = u[j].along, *b = u[next].along;
        double area = a[0] * b[1] - a[1] * b[0], first = (friction[0] * b[1] - friction[1] * b[0]) / area,
               second = (a[0] * friction[1] - a[1] * friction[0]) / area;
        if (g->cross_compliance >= 0 && first >= 0) { /* the direction across has no bound */
            beta[j] += first;
            beta[step] += next == step ? second : -second;
            return;
        }
        if (g->cross_compliance < 0 && first >= 0 && second >= 0) {
            beta[j] += first;
            beta[next] += second;
            return;
        }
    }
}

/* x[count], a sigma or tau, <- the value that raises the least of y to 0. */
static void raise_multiplier(const double *y, int count, double *x) {
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
            polyhedral_split_friction(p, g, gamma + g->row, x + g->first + 1);
        }
    }
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        if (g->count > 1) {
            int first = g->contact >= 0;
            raise_multiplier(y + g->first + first, g->count - first - 1, x + g->first + first);
        }
    }
}

/* 2 b of a row within +-b, or of its tau; 0: unbounded. */
static double bound_width(const polyhedral *p, int i) {
    int turned =
        i + 1 < p->n && !p->unknown[i].free && p->unknown[i].rows == 1 && p->unknown[i + 1].rows == 0 ? i + 1 : i;
    return p->unknown[turned].rows == 0 ? p->q[turned] : 0;
}

/* sigma and tau are velocities, their y impulses.  A bound may exceed all impulses by far: it scales its error only. */
double polyhedral_error(const polyhedral *p, const double *x, double *y) {
    double velocity = 0, impulse = 0, greatest = 0, rounded = 0;
    polyhedral_velocity(p, x, y);
    for (int i = 0; i < p->n; i++) {
        bool turned = p->unknown[i].rows == 0;
        greatest = turned ? greatest : fmax(greatest, fabs(x[i] - 0.5 * bound_width(p, i)));
        rounded = turned ? rounded : fmax(rounded, fabs(x[i]));
    }
    for (int i = 0; i < p->n; i++) {
        int turned = p->unknown[i].rows == 0, first = !p->unknown[i].free && !(x[i] > y[i]);
        double off = isnan(x[i] + y[i]) ? HUGE_VAL : fabs(first ? x[i] : y[i]);
        if (off > 0 && first == turned) {
            velocity = fmax(velocity, off / p->speed);
        } else if (off > 0) {
            impulse = fmax(impulse, off / fmax(fmax(p->speed, greatest), bound_width(p, i)));
        }
    }
    double error = fmax(velocity, impulse);
    return fmax(error, rounded > 0 ? NATURAL_ROUNDING * rounded / p->speed : 0);
}
