/* M and q of the mixed linear complementarity problem, from the dense W + R and q of the impulses:
 *
 *     gamma = rest + X x,     M = X' (W + R) X + couplings,     q = X' (q + (W + R) rest) + bounds. */
#include "solver/polyhedral.h"
#include "math/dense.h"
#include "solver/natural.h"
#include "solver/products.h"

#include <math.h>
#include <string.h>

const char *const polyhedral_alignments[] = {"sliding", "fixed", NULL};

polyhedral_options polyhedral_options_of(const double *option) {
    return (polyhedral_options){(int)option[0] / 2 * 2, (int)option[1], option[2]};
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
    if (d->options->alignment == POLYHEDRAL_SLIDING && speed > STILL * size) {
        turn += atan2(-slip[1], -slip[0]);
    }
    direction[0] = cos(turn);
    direction[1] = sin(turn);
}

static void place_contact(const draft *d, int i, int at) {
    const sim_constraint *c = &d->dual->problem->constraint[i];
    polyhedral_unknown *x = d->p->unknown + at;
    double scale = 1 / sqrt(d->dual->w[i]), first[2];
    x[0] = (polyhedral_unknown){c->row + 2, 1, -1, {scale, 0}};
    if (!(c->friction > 0)) {
        return;
    }
    first_direction(d, c, first);
    for (int j = 0; j < d->options->directions; j++) {
        double angle = 2 * M_PI * j / d->options->directions, cosine = cos(angle), sine = sin(angle);
        if (2 * j >= d->options->directions) { /* to the bit the opposite of its counterpart */
            const double *other = x[1 + j - d->options->directions / 2].along;
            x[1 + j] = (polyhedral_unknown){c->row, 2, at, {-other[0], -other[1]}};
        } else {
            x[1 + j] = (polyhedral_unknown){
                c->row,
                2,
                at,
                {scale * (cosine * first[0] - sine * first[1]), scale * (sine * first[0] + cosine * first[1])}};
        }
    }
    x[1 + d->options->directions] = (polyhedral_unknown){.normal = -1};
}

static void place_rows(const draft *d, int i, int *free, int *at) {
    const sim_constraint *c = &d->dual->problem->constraint[i];
    double scale = 1 / sqrt(d->dual->w[i]);
    for (int k = c->row; k < c->row + c->rows; k++) {
        polyhedral_unknown x = {k, 1, -1, {scale, 0}};
        if (d->dual->given[k]) {
            continue;
        }
        if (bilateral(d, c)) {
            d->p->unknown[(*free)++] = x;
        } else {
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

/* X' (W + R) X row by row, through one row of X' (W + R) at a time. */
static void fill(const polyhedral *p, double *row) {
    const dual *d = p->dual;
    size_t rows = (size_t)d->n, n = (size_t)p->n;
    for (size_t i = 0; i < n; i++) {
        const polyhedral_unknown *x = &p->unknown[i];
        double q = 0;
        memset(row, 0, rows * sizeof *row);
        for (int k = 0; k < x->rows; k++) {
            dense_axpy(d->n, x->along[k], d->W + (size_t)(x->row + k) * rows, row);
            q += x->along[k] * d->q[x->row + k];
        }
        /* of rows that are given W is zero, and what they do is in q */
        p->q[i] = q + dense_dot(d->n, row, p->rest);
        for (size_t j = 0; j < n; j++) {
            p->M[i * n + j] = along(&p->unknown[j], row);
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

static void couple(const draft *d) {
    const polyhedral *p = d->p;
    const sim_problem *problem = d->dual->problem;
    size_t n = (size_t)p->n, at = (size_t)p->free;
    for (int i = 0; i < problem->nconstraint; i++) {
        const sim_constraint *c = &problem->constraint[i];
        size_t own = (size_t)unknowns(d, c), last = at + own - 1;
        if (c->kind == SIM_CONTACT && own > 1) {
            p->M[last * n + at] = c->friction;
            for (size_t j = at + 1; j < last; j++) {
                p->M[j * n + last] = 1;
                p->M[last * n + j] = -1;
            }
        } else if (bounded(c)) {
            for (size_t j = at; j < at + own; j += 2) {
                p->M[j * n + j + 1] = 1;
                p->M[(j + 1) * n + j] = -1;
                p->q[j + 1] = 2 * problem->step * c->bound * sqrt(d->dual->w[i]);
            }
        }
        at += own;
    }
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
    *p = (polyhedral){.dual = of};
    for (int i = 0; i < of->problem->nconstraint; i++) {
        const sim_constraint *c = &of->problem->constraint[i];
        p->n += unknowns(&d, c);
        for (int k = c->row; k < c->row + c->rows && c->kind != SIM_CONTACT && bilateral(&d, c); k++) {
            p->free += !of->given[k];
        }
    }
    p->n += p->free;
    size_t n = (size_t)p->n;
    p->M = sim_arena_alloc(scratch, n * n, sizeof *p->M);
    p->q = ARENA_NEW(scratch, double, n);
    p->unknown = ARENA_NEW(scratch, polyhedral_unknown, n);
    p->rest = ARENA_NEW(scratch, double, of->n);
    double *row = ARENA_NEW(scratch, double, of->n);
    if (!p->M || !p->q || !p->unknown || !p->rest || !row || !velocities_before(&d, scratch)) {
        return 0;
    }
    place(&d);
    fill(p, row);
    couple(&d);
    p->speed = free_speed(p);
    return 1;
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

void polyhedral_velocity(const polyhedral *p, const double *x, double *y) {
    for (int i = 0; i < p->n; i++) {
        y[i] = p->q[i] + dense_dot(p->n, p->M + (size_t)i * (size_t)p->n, x);
    }
}

/* Friction as a sum along the two directions that it lies between. */
static void share_out(const polyhedral_unknown *u, int directions, const double *friction, double *beta) {
    for (int j = 0; j < directions; j++) {
        const double *a = u[j].along, *b = u[(j + 1) % directions].along;
        double area = a[0] * b[1] - a[1] * b[0], first = (friction[0] * b[1] - friction[1] * b[0]) / area,
               second = (a[0] * friction[1] - a[1] * friction[0]) / area;
        if (first >= 0 && second >= 0) {
            beta[j] += first;
            beta[(j + 1) % directions] += second;
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
    for (int i = 0; i < p->n; i++) {
        const polyhedral_unknown *u = &p->unknown[i];
        int directions = 0;
        while (i + directions < p->n && u->normal >= 0 && u[directions].normal == u->normal) {
            directions++;
        }
        if (directions) {
            share_out(u, directions, gamma + u->row, x + i);
            i += directions - 1;
        } else if (u->rows) {
            double amount = (gamma[u->row] - p->rest[u->row]) / u->along[0];
            x[i] = i < p->free || amount > 0 ? amount : 0;
        }
    }
    polyhedral_velocity(p, x, y);
    for (int i = p->free; i < p->n; i++) {
        if (p->unknown[i].rows == 0) {
            int normal = p->unknown[i - 1].normal, first = normal >= 0 ? normal + 1 : i - 1;
            press(y + first, i - first, x + first);
        }
    }
}

/* 2 b of a row held within +-b, or of its tau; 0: there is no such bound. */
static double width(const polyhedral *p, int i) {
    int turned = i + 1 < p->n && i >= p->free && p->unknown[i].rows == 1 && p->unknown[i + 1].rows == 0 ? i + 1 : i;
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
        int turned = p->unknown[i].rows == 0, first = i >= p->free && !(x[i] > y[i]);
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
