/* Slopes of R and target of a row, by its inverse mass, its gap, its impulse of the step before, its stiffness and its
 * dissipation.
 *
 *     friction    R = r w,                              target = R g- (elastic), 0 (near-rigid)
 *     stops, equalities
 *                 R = max(r w, 1 / (dt k (dt + tau))) b,    target = -phi b / (dt + tau),    b = min(1, V (dt + tau) / |phi|)
 *     elastic stops, r w the greater
 *                 R = r w,     target = -phi / dt  for phi >= 0,  else  R g- + min(push (-phi / dt - R g-), V)
 *
 *     r      beta^2 / (4 pi^2);  sigma for near-rigid friction
 *     w      |W_ii|_F / 3 over three rows (their number, if fewer), or law_normal_inverse_mass of the first three rows of an
 *            elastic contact, 1/kg
 *     phi    gap, m; of equalities |phi| is that of three rows;  V: fastest undoing, m/s
 *     g-     impulse of the step before, N s;  dt [s], k [N/m], tau [s] as in laws.c
 *
 * R and target that are computed here and differ from the given ones are of another rule, and have no slopes.
 * Reference: laws.c.  Cost: some ten operations a row. */
#include "problem/law_slopes.h"

#include "problem/laws.h"

#include <math.h>
#include <string.h>

static const double MIN_COMPLIANCE_PART = 1e-6; /* of R: as in laws.c */
static const double MAX_RELATIVE_ERROR = 1e-9;  /* of R and target from those of the step: more is another rule */
static const double KINK_WIDTH = 1e-9;          /* of the way dt V */

static bool is_tangent(const sim_constraint *c, int k) { return c->kind == SIM_CONTACT && k != 2; }

static int group_start(int k) { return k / 3 * 3; }
static int group_end(const sim_constraint *c, int k) {
    int end = group_start(k) + 3;
    return end < c->rows ? end : c->rows;
}

/* That of an elastic contact, or the norm of a block of W. */
double law_mass_weights(sim_compliance compliance, const sim_constraint *c, const double *W, int k, double *weight) {
    int rows = c->rows, first = group_start(k), end = group_end(c, k);
    memset(weight, 0, sizeof *weight * (size_t)rows * (size_t)rows);
    if (compliance == SIM_ELASTIC && c->kind == SIM_CONTACT && first < SIM_CONTACT_ROWS) {
        bool floored;
        double w = law_normal_inverse_mass(rows, W, &floored);
        weight[2 * rows + 2] = floored ? 0 : 1;
        weight[0] = weight[rows + 1] = floored ? w / (W[0] + W[rows + 1]) : 0;
        return w;
    }
    double sum = 0, count = end - first;
    for (int i = first; i < end; i++) {
        for (int j = first; j < end; j++) {
            sum += W[i * rows + j] * W[i * rows + j];
        }
    }
    double w = sqrt(sum) / count;
    for (int i = first; i < end; i++) {
        for (int j = first; j < end && w > 0; j++) {
            weight[i * rows + j] = W[i * rows + j] / (count * count * w);
        }
    }
    return w;
}

static bool is_near(double found, double due) {
    return fabs(found - due) <= MAX_RELATIVE_ERROR * fmax(fabs(found), fabs(due));
}

/* A row of a law, as far as it depends on w, gap and guess. */
typedef struct law_row {
    const sim_problem *p;
    const sim_constraint *c;
    const sim_law_options *options;
    int k;
    double w, guess, gap, near;
    double R, target; /* found here */
} law_row;

static void friction_slopes(law_row *l, sim_compliance compliance, row_slopes *out) {
    bool elastic = compliance == SIM_ELASTIC;
    double part = elastic ? l->options->beta * l->options->beta / (4 * M_PI * M_PI) : l->options->sigma;
    l->R = part * l->w;
    l->target = elastic ? l->R * l->guess : 0;
    out->R_w = part;
    out->target_w = elastic ? part * l->guess : 0;
    out->target_guess = elastic ? l->R : 0;
}

static void elastic_slopes(law_row *l, double part, row_slopes *out) {
    double dt = l->p->step, push = l->options->push, held = part * l->w * fmax(0, l->guess);
    l->R = part * l->w;
    out->R_w = part;
    double width = fmax(l->near, KINK_WIDTH * l->options->undo); /* m/s */
    out->kink = fabs(l->gap) <= width * dt;
    if (l->gap >= 0) {
        l->target = -l->gap / dt;
        out->target_gap[l->k % 3] = -1 / dt;
        return;
    }
    double correction = push * (-l->gap / dt - held);
    bool bounded = correction > l->options->undo;
    out->kink = out->kink || fabs(correction - l->options->undo) <= width;
    l->target = held + fmin(correction, l->options->undo);
    out->target_w = l->guess > 0 ? part * l->guess * (bounded ? 1 : 1 - push) : 0;
    out->target_guess = l->guess > 0 ? l->R * (bounded ? 1 : 1 - push) : 0;
    out->target_gap[l->k % 3] = bounded ? 0 : -push / dt;
}

/* |phi| of the overlap of a row, or of the three rows of an equality; its slopes by their gaps. */
static double overlap_of(const law_row *l, double slope[3]) {
    const double *gap = l->p->gap + l->c->row;
    int first = group_start(l->k), end = group_end(l->c, l->k);
    double size = 0;
    slope[0] = slope[1] = slope[2] = 0;
    if (l->c->kind != SIM_EQUALITY) {
        slope[l->k % 3] = l->gap < 0 ? -1 : 0;
        return fmax(-l->gap, 0);
    }
    for (int i = first; i < end; i++) {
        size += gap[i] * gap[i];
    }
    size = sqrt(size);
    for (int i = first; i < end && size > 0; i++) {
        slope[i - first] = gap[i] / size;
    }
    return size;
}

static void compliant_slopes(law_row *l, sim_compliance compliance, row_slopes *out) {
    const sim_constraint *c = l->c;
    double dt = l->p->step, part = l->options->beta * l->options->beta / (4 * M_PI * M_PI), slope[3];
    bool rigid = isinf(c->stiffness);
    double tau = rigid && c->dissipation == 0 && compliance == SIM_NEAR_RIGID ? dt : c->dissipation;
    double softest = part * l->w, own = 1 / (dt * c->stiffness * (dt + tau)), time = dt + tau;
    if (compliance == SIM_ELASTIC && own < softest && c->kind != SIM_EQUALITY) {
        elastic_slopes(l, part, out);
        return;
    }
    /* b and its slope over itself, by |phi| */
    double size = overlap_of(l, slope), undo = l->options->undo, b = 1, change = 0;
    if (own < softest && size > undo * time) {
        b = undo * time / size;
        change = -1 / size;
    }
    out->kink = own < softest && fabs(size - undo * time) <= fmax(l->near, KINK_WIDTH * undo) * time;
    double used = fmax(b, MIN_COMPLIANCE_PART);
    l->R = fmax(softest, own) * used;
    l->target = -l->gap / time * b;
    out->R_w = own < softest ? part * used : 0;
    out->R_stiffness = own < softest || rigid ? 0 : -l->R / c->stiffness;
    bool fixed = tau != c->dissipation; /* it is a step */
    double change_time = change != 0 ? b / time : 0;
    out->R_dissipation = fixed || b <= MIN_COMPLIANCE_PART ? 0
                         : own < softest                   ? l->R / used * change_time
                                                           : -l->R / time;
    out->target_dissipation = fixed ? 0 : l->gap / time * (b / time - change_time);
    for (int i = 0; i < 3; i++) {
        out->R_gap[i] = b > MIN_COMPLIANCE_PART ? l->R * change * slope[i] : 0;
        out->target_gap[i] = l->target * change * slope[i] - (i == l->k % 3 ? b / time : 0);
    }
}

bool law_row_slopes(const sim_problem *p, sim_compliance compliance, const sim_law_options *options,
                    const sim_regularisation *law, const sim_constraint *c, int k, double w, double near,
                    row_slopes *out) {
    int row = c->row + k;
    law_row l = {.p = p, .c = c, .options = options, .k = k, .w = w, .gap = p->gap[row], .near = near};
    l.guess = p->impulse_guess ? p->impulse_guess[row] : 0;
    *out = (row_slopes){0};
    if (is_tangent(c, k) || c->kind == SIM_FRICTION) {
        friction_slopes(&l, compliance, out);
    } else {
        compliant_slopes(&l, compliance, out);
    }
    return is_near(law->R[row], l.R) && is_near(law->target[row], l.target);
}
