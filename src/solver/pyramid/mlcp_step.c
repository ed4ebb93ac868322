/* Damped least squares, min |J dx + r|^2 + lambda |dx|^2, for unknowns coupled by few impulses.
 *
 * Of J = da + db M only db X' W X couples constraints: through the impulses X x, three for the six or more unknowns of
 * a contact.  With p = X dx and u = W p a group of unknowns has its own rows
 *
 *     [ A   db X' ] [dx; u] = -r,     sqrt(lambda) dx = 0,     X dx = p,     A = da + db (couplings)
 *
 * with dx = T (p, z), z the unknowns in excess of impulses.  Reflections of these rows, first for z, then u, then p,
 * give
 *
 *     R_zz z + R_zu u + R_zp p = c_z                    which yields z from u and p
 *              R_uu u + R_up p = c_u     }              least squares in p alone, with u = W p:
 *                       R_pp p = c_p     }              [ R_uu W + R_up ; R_pp ] p = [ c_u ; c_p ]
 *
 * The dx is that of the whole system, by reflections only, from half the unknowns: an eighth of the work.  The system
 * left, a triangle R_pp above a square, suits LAPACK's dtpqrt.  Up to MAX_DENSE_UNKNOWNS the dense J is faster
 * (least_squares.c). */
#include "linalg/dense/lapack.h"
#include "linalg/dense/lu.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"
#include "solver/matrices/least_squares.h"
#include "solver/pyramid/mlcp.h"

#include <math.h>
#include <string.h>

enum { MAX_GROUP_UNKNOWNS = 66, MAX_GROUP_ROWS = 3, MAX_GROUP_WIDTH = MAX_GROUP_UNKNOWNS + MAX_GROUP_ROWS + 1 };
enum { MAX_UNBLOCKED = 64, BLOCK_REFLECTIONS = 32 }; /* columns up to which unblocked reflections are faster */
enum { MAX_DENSE_UNKNOWNS = 24 };                    /* up to which the dense J is faster */

static const double NEGLIGIBLE_LAMBDA = 1e-15; /* below it Newton's step is tried */
static const double MAX_RESIDUAL_RATIO = 1e-2; /* |J dx + r| over |r| of a Newton step that is accepted */

/* Reduced rows of a group, row-major: columns z, u, p, c. */
typedef struct reduced {
    double *row; /* (count + dims) x (count + dims + 1) */
    int at;      /* index of its first p */
} reduced;

struct mlcp_step {
    int n;      /* of p */
    int stride; /* of the columns of B: n rounded up (lu.h) */
    reduced *group;
    int *row;         /* [n] of W */
    double *R, *B;    /* triangle [n + 1][n + 1] and square [n + 1][stride], by columns, the last the right side */
    double *T, *work; /* of LAPACK */
    double *lu_work;
    int *swap;           /* [n] */
    double *left;        /* [unknowns] */
    double *local;       /* 2 MAX_GROUP_UNKNOWNS x MAX_GROUP_WIDTH */
    double *impulse, *u; /* [rows of W] */
    double *M, *dense;   /* up to MAX_DENSE_UNKNOWNS: M, and J with its right side; else NULL */
};

static int width_of(const polyhedral_group *g) { return g->count + g->dims + 1; }
static int height_of(const polyhedral_group *g) { return g->count + g->dims; }

static struct mlcp_step *make_dense_step(const polyhedral *p, struct mlcp_step *s, sim_arena *scratch) {
    size_t square = (size_t)p->n * (size_t)p->n;
    double *all = ARENA_NEW(scratch, double, square + least_squares_work(p->n, p->n));
    if (!s || !all) {
        return NULL;
    }
    *s = (struct mlcp_step){.M = all, .dense = all + square};
    return s;
}

struct mlcp_step *mlcp_step_make(const polyhedral *p, sim_arena *scratch) {
    /* a small problem needs the dense J only */
    struct mlcp_step *s = ARENA_NEW(scratch, struct mlcp_step, 1);
    if (p->n <= MAX_DENSE_UNKNOWNS) {
        return make_dense_step(p, s, scratch);
    }
    reduced *group = ARENA_NEW(scratch, reduced, p->groups);
    int *row = ARENA_NEW(scratch, int, p->dual->n);
    size_t numbers = 0, n = 0;
    int *swap = ARENA_NEW(scratch, int, p->dual->n);
    double *left = ARENA_NEW(scratch, double, p->n);
    if (!s || !group || !row || !swap || !left) {
        return NULL;
    }
    /* rows of W and sizes of the groups */
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        group[i].at = (int)n;
        for (int k = 0; k < g->dims; k++) {
            row[n++] = g->row + k;
        }
        numbers += (size_t)(width_of(g) * height_of(g));
    }
    /* one block of numbers for all matrices */
    size_t stride = (size_t)strip_stride((int)n), square = (n + 1) * (n + 1 + stride),
           blocks = n > MAX_UNBLOCKED ? 2 * (size_t)BLOCK_REFLECTIONS * (n + 1) : 0;
    double *all = arena_alloc(
        scratch, numbers + square + blocks + 2 * MAX_GROUP_UNKNOWNS * MAX_GROUP_WIDTH + 2 * (size_t)p->dual->n,
        sizeof *all);
    double *lu = ARENA_NEW(scratch, double, lu_work((int)n));
    if (!all || !lu) {
        return NULL;
    }
    /* addresses within it */
    *s = (struct mlcp_step){.n = (int)n,
                            .stride = (int)stride,
                            .lu_work = lu,
                            .group = group,
                            .row = row,
                            .swap = swap,
                            .left = left,
                            .local = all};
    s->impulse = all + 2 * MAX_GROUP_UNKNOWNS * MAX_GROUP_WIDTH;
    s->u = s->impulse + p->dual->n;
    s->R = s->u + p->dual->n;
    s->B = s->R + (n + 1) * (n + 1);
    s->T = s->R + square;
    s->work = s->T + blocks / 2;
    double *next = s->R + square + blocks;
    for (int i = 0; i < p->groups; i++) {
        group[i].row = next;
        next += width_of(&p->group[i]) * height_of(&p->group[i]);
    }
    return s;
}

/* dx = T (p, z): the normal and two directions, or the only unknown, express p; z are the others. */
typedef struct basis {
    int which[MAX_GROUP_ROWS];                      /* unknowns that express p */
    double inverse[MAX_GROUP_ROWS][MAX_GROUP_ROWS]; /* of their part of X */
} basis;

static basis make_basis(const polyhedral *p, const polyhedral_group *g) {
    const polyhedral_unknown *u = p->unknown + g->first;
    if (g->dims == 1) {
        return (basis){{0}, {{1 / u[0].along[0]}}};
    }
    int second = polyhedral_across(p);
    const double *a = u[1].along, *b = u[second].along;
    double area = a[0] * b[1] - a[1] * b[0];
    return (basis){{1, second, 0},
                   {{b[1] / area, -b[0] / area, 0}, {-a[1] / area, a[0] / area, 0}, {0, 0, 1 / u[0].along[0]}}};
}

static int index_in_basis(const basis *b, int dims, int j) {
    for (int k = 0; k < dims; k++) {
        if (b->which[k] == j) {
            return k;
        }
    }
    return -1;
}

/* Row i of A. */
static void fill_group_row(const mlcp *m, const polyhedral_group *g, int i, double *row) {
    const polyhedral *p = m->p;
    for (int j = 0; j < g->count; j++) {
        row[j] = m->db[g->first + i] * polyhedral_coupling(p, g, i, j);
    }
    row[i] += m->da[g->first + i] + m->db[g->first + i] * m->soft;
}

/* Transforms a row for dx into one for z and p. */
static void change_basis(const polyhedral *p, const polyhedral_group *g, const basis *b, const double *row, double *z,
                         double *to) {
    int at = 0;
    for (int k = 0; k < g->dims; k++) {
        to[k] = 0;
        for (int l = 0; l < g->dims; l++) {
            to[k] += row[b->which[l]] * b->inverse[l][k];
        }
    }
    for (int j = 0; j < g->count; j++) {
        const polyhedral_unknown *u = &p->unknown[g->first + j];
        if (index_in_basis(b, g->dims, j) < 0) {
            z[at] = row[j];
            for (int k = 0; k < u->rows; k++) {
                z[at] -= to[k] * u->along[k];
            }
            at++;
        }
    }
}

/* Reflections for the first `columns` of `height` rows of `width` numbers. */
static void triangularise_rows(int height, int width, int columns, double *A) {
    for (int k = 0; k < columns && k < height; k++) {
        double square = 0, sum[MAX_GROUP_WIDTH];
        for (int i = k; i < height; i++) {
            square += A[i * width + k] * A[i * width + k];
        }
        if (!(square > 0)) {
            continue;
        }
        double diagonal = A[k * width + k] > 0 ? -sqrt(square) : sqrt(square), first = A[k * width + k] - diagonal;
        double scale = 1 / (diagonal * first); /* -2 / u . u */
        A[k * width + k] = first;
        memset(sum, 0, (size_t)width * sizeof *sum);
        for (int i = k; i < height; i++) {
            double u = A[i * width + k];
            for (int j = k + 1; u != 0 && j < width; j++) {
                sum[j] += u * A[i * width + j];
            }
        }
        for (int i = k; i < height; i++) {
            double u = scale * A[i * width + k];
            for (int j = k + 1; u != 0 && j < width; j++) {
                A[i * width + j] += u * sum[j];
            }
            A[i * width + k] = 0;
        }
        A[k * width + k] = diagonal;
    }
}

/* Rows of a group, reduced to a triangle. */
static void reduce_group(const mlcp *m, const polyhedral_group *g, const double *r, double damping, double *A,
                         double *to) {
    const polyhedral *p = m->p;
    basis b = make_basis(p, g);
    int more = g->count - g->dims, width = width_of(g), height = height_of(g),
        rows = damping > 0 ? 2 * g->count : g->count;
    /* rows of the group: equations, and damping sqrt(lambda) dx = 0 */
    memset(A, 0, (size_t)(2 * g->count * width) * sizeof *A);
    for (int i = 0; i < rows; i++) {
        double *row = A + i * width, own[MAX_GROUP_UNKNOWNS];
        memset(own, 0, (size_t)g->count * sizeof *own);
        /* (A | db X' | -r) */
        if (i < g->count) {
            const polyhedral_unknown *u = &p->unknown[g->first + i];
            fill_group_row(m, g, i, own);
            for (int k = 0; k < u->rows; k++) {
                row[more + u->row - g->row + k] = m->db[g->first + i] * polyhedral_row_weight(p, g, i) * u->along[k];
            }
            row[width - 1] = -r[g->first + i];
        } else {
            own[i - g->count] = damping;
        }
        /* unknowns (z, u, p) in place of dx */
        change_basis(p, g, &b, own, row, row + more + g->dims);
    }
    /* reflections; the triangle is kept */
    triangularise_rows(rows, width, height < rows ? height : rows, A);
    memcpy(to, A, (size_t)(height * width) * sizeof *to);
}

/* The square [R_uu W + R_up, c_u] and the triangle [R_pp, c_p]. */
static void assemble_system(const mlcp *m, struct mlcp_step *s) {
    const polyhedral *p = m->p;
    size_t n = (size_t)s->n, stride = (size_t)s->stride, rows = (size_t)p->dual->n;
    /* zero B and R */
    memset(s->B, 0, (n + 1) * stride * sizeof *s->B);
    memset(s->R, 0, (n + 1) * (n + 1) * sizeof *s->R);
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        int dims = g->dims, more = g->count - dims, width = width_of(g);
        size_t at = (size_t)s->group[i].at;
        for (int a = 0; a < dims; a++) {
            const double *upper = s->group[i].row + (more + a) * width + more, *lower = upper + dims * width;
            /* row a of R_uu W */
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (int k = a; k < dims; k++) {
                    sum += upper[k] * p->dual->W[(size_t)(g->row + k) * rows + (size_t)s->row[j]];
                }
                s->B[j * stride + at + (size_t)a] = sum;
            }
            /* R_up, R_pp */
            for (int k = 0; k < dims; k++) {
                s->B[(at + (size_t)k) * stride + at + (size_t)a] += upper[dims + k];
                s->R[(at + (size_t)k) * (n + 1) + at + (size_t)a] = k >= a ? lower[dims + k] : 0;
            }
            /* c_u, c_p */
            s->B[n * stride + at + (size_t)a] = upper[2 * dims];
            s->R[n * (n + 1) + at + (size_t)a] = lower[2 * dims];
        }
    }
}

/* Unblocked Householder reflections: column k is R_kk and column k of B. */
static void reflect_unblocked(int n, int stride, double *R, double *B) {
    for (int k = 0; k < n; k++) {
        double *u = B + (size_t)k * (size_t)stride, *corner = R + (size_t)k * (size_t)(n + 2);
        double length = sqrt(dense_dot(n, u, u) + *corner * *corner);
        if (!(length > 0)) {
            continue;
        }
        double diagonal = *corner > 0 ? -length : length, first = *corner - diagonal, scale = 1 / (diagonal * first);
        *corner = diagonal;
        for (int j = k + 1; j <= n; j++) {
            double *column = B + (size_t)j * (size_t)stride, *top = R + (size_t)j * (size_t)(n + 1) + k;
            double by = scale * (first * *top + dense_dot(n, u, column));
            *top += by * first;
            dense_axpy(n, by, u, column);
        }
    }
}

/* Blocked reflections; false: stopped. */
static bool reflect_blocked(struct mlcp_step *s, const panels_watch *watch) {
    const int n = s->n, more = n + 1, none = 0, block = BLOCK_REFLECTIONS;
    int info;
    if (n > PANELS_WHOLE) {
        return panels_reflect_stack(
            &(panels_stack){n, n, none, more, BLOCK_REFLECTIONS, more, s->stride, s->R, s->B, s->T, s->work}, watch);
    }
    dtpqrt_(&n, &more, &none, &block, s->R, &more, s->B, &s->stride, s->T, &block, s->work, &info);
    return true;
}

static void update_range(double diagonal, double *least, double *greatest) {
    *least = fmin(*least, fabs(diagonal));
    *greatest = fmax(*greatest, fabs(diagonal));
}

/* R p = c, c the last column. */
static void substitute_back(int n, double *R) {
    double *c = R + (size_t)n * (size_t)(n + 1);
    for (int k = n; k-- > 0;) {
        const double *column = R + (size_t)k * (size_t)(n + 1);
        c[k] /= column[k];
        dense_axpy(k, -c[k], column, c);
    }
}

/* z of a group, and dx = T (p, z). */
static void expand_group(const polyhedral *p, const polyhedral_group *g, const reduced *from, const double *u,
                         const double *impulse, double *dx) {
    int more = g->count - g->dims, width = width_of(g), at = 0;
    double z[MAX_GROUP_UNKNOWNS], left[MAX_GROUP_ROWS];
    basis b = make_basis(p, g);
    /* z by back substitution */
    for (int i = more; i-- > 0;) {
        const double *row = from->row + i * width;
        z[i] = row[width - 1];
        for (int k = 0; k < g->dims; k++) {
            z[i] -= row[more + k] * u[k] + row[more + g->dims + k] * impulse[k];
        }
        for (int j = i + 1; j < more; j++) {
            z[i] -= row[j] * z[j];
        }
        z[i] /= row[i];
    }
    /* the unknowns z, and the impulses left for the others */
    memcpy(left, impulse, (size_t)g->dims * sizeof *left);
    for (int j = 0; j < g->count; j++) {
        const polyhedral_unknown *x = &p->unknown[g->first + j];
        if (index_in_basis(&b, g->dims, j) < 0) {
            dx[j] = z[at++];
            for (int k = 0; k < x->rows; k++) {
                left[k] -= x->along[k] * dx[j];
            }
        }
    }
    /* the unknowns that express p */
    for (int l = 0; l < g->dims; l++) {
        dx[b.which[l]] = 0;
        for (int k = 0; k < g->dims; k++) {
            dx[b.which[l]] += b.inverse[l][k] * left[k];
        }
    }
}

/* dx from p, in the last column of R. */
static void expand_step(const mlcp *m, struct mlcp_step *s, double *dx) {
    const polyhedral *p = m->p;
    memset(s->impulse, 0, (size_t)p->dual->n * sizeof *s->impulse);
    for (int k = 0; k < s->n; k++) {
        s->impulse[s->row[k]] = s->R[(size_t)s->n * (size_t)(s->n + 1) + (size_t)k];
    }
    for (int k = 0; k < p->dual->n; k++) {
        s->u[k] = dense_dot(p->dual->n, p->dual->W + (size_t)k * (size_t)p->dual->n, s->impulse);
    }
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        expand_group(p, g, &s->group[i], s->u + g->row, s->impulse + g->row, dx + g->first);
    }
}

/* J dx = -r by LU; false: singular, or the residual is too large. */
static bool solve_newton_step(const mlcp *m, const double *r, double *dx) {
    const polyhedral *p = m->p;
    struct mlcp_step *s = m->step;
    for (int i = 0; i < p->groups; i++) {
        reduce_group(m, &p->group[i], r, 0, s->local, s->group[i].row);
    }
    assemble_system(m, s);
    const int n = s->n;
    if (!lu_factor(n, s->stride, s->B, s->swap, s->lu_work, &p->dual->watch)) { /* of B' */
        return false;
    }
    double *right = s->B + (size_t)n * (size_t)s->stride;
    lu_solve_transposed(n, s->stride, s->B, s->swap, right);
    memcpy(s->R + (size_t)n * (size_t)(n + 1), right, (size_t)n * sizeof *right);
    expand_step(m, s, dx);
    mlcp_jacobian_times(m, dx, s->left);
    double left = 0, size = 0;
    for (int i = 0; i < p->n; i++) {
        left += (s->left[i] + r[i]) * (s->left[i] + r[i]);
        size += r[i] * r[i];
    }
    return left <= MAX_RESIDUAL_RATIO * MAX_RESIDUAL_RATIO * size;
}

void mlcp_step_prepare(const mlcp *m) {
    if (m->step->M) {
        polyhedral_matrix(m->p, m->step->M);
    }
}

/* Dense least squares: J by columns, with room for the rows of lambda. */
static bool solve_dense_step(const mlcp *m, const double *r, double lambda, double *dx, double *range) {
    int n = m->p->n;
    double *A = m->step->dense;
    for (int j = 0; j < n; j++) {
        double *column = A + 2 * n * j;
        for (int i = 0; i < n; i++) {
            column[i] = m->db[i] * m->step->M[i * n + j];
        }
        column[j] += m->da[j] + m->db[j] * m->soft;
    }
    for (int i = 0; i < n; i++) {
        A[2 * n * n + i] = -r[i];
    }
    return least_squares_solve(n, n, A, lambda, dx, range, NULL);
}

bool mlcp_step_solve(const mlcp *m, const double *r, double lambda, double *dx, double *range) {
    const polyhedral *p = m->p;
    struct mlcp_step *s = m->step;
    double least = HUGE_VAL, greatest = 0;
    /* a small problem, or Newton's step */
    if (s->M) {
        return solve_dense_step(m, r, lambda, dx, range);
    }
    if (s->n > 0 && lambda <= NEGLIGIBLE_LAMBDA && m->soft > 0 && solve_newton_step(m, r, dx)) {
        *range = 1;
        return true;
    }
    /* triangles of the groups, then of the system in p */
    for (int i = 0; i < p->groups; i++) {
        const polyhedral_group *g = &p->group[i];
        reduce_group(m, g, r, sqrt(lambda), s->local, s->group[i].row);
        for (int k = 0; k < g->count - g->dims; k++) {
            update_range(s->group[i].row[k * (width_of(g) + 1)], &least, &greatest);
        }
    }
    assemble_system(m, s);
    if (s->n <= MAX_UNBLOCKED) {
        reflect_unblocked(s->n, s->stride, s->R, s->B);
    } else if (!reflect_blocked(s, &p->dual->watch)) {
        memset(dx, 0, (size_t)p->n * sizeof *dx);
        *range = HUGE_VAL;
        return false;
    }
    for (int k = 0; k < s->n; k++) {
        update_range(s->R[(size_t)k * (size_t)(s->n + 2)], &least, &greatest);
    }
    /* p, then dx */
    *range = greatest / least;
    substitute_back(s->n, s->R);
    expand_step(m, s, dx);
    return least > 0 && isfinite(*range);
}
