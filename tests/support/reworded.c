#include "support/reworded.h"

#include <math.h>
#include <stdlib.h>

static void put_row(const sim_problem *p, const sim_constraint *c, int side, const double *coefficient, int count,
                    double *out) {
    int n = p->tree[c->tree[side]].nv;
    for (int j = 0; j < n; j++) {
        out[j] = 0;
        for (int k = 0; k < count; k++) {
            out[j] += coefficient[k] * p->J[c->block[side] + k * n + j];
        }
    }
}

void reword(const sim_problem *p, const int *order, double angle, int swap, reworded *w) {
    int row = 0, at = 0, n = p->nconstraint;
    w->problem = *p;
    w->constraint = calloc((size_t)n, sizeof *w->constraint);
    w->J = calloc((size_t)(p->nrow * p->nv * 2), sizeof *w->J);
    w->offset = calloc((size_t)p->nrow, sizeof *w->offset);
    w->gap = calloc((size_t)p->nrow, sizeof *w->gap);
    for (int i = 0; i < n; i++) {
        const sim_constraint *c = &p->constraint[order[i]];
        sim_constraint *to = &w->constraint[i];
        int turned = c->kind == SIM_CONTACT, swapped = swap && c->tree[1] >= 0 && turned;
        double co = turned ? cos(angle * (1 + i)) : 1, si = turned ? sin(angle * (1 + i)) : 0;
        *to = *c;
        to->row = row;
        for (int k = 0; k < c->rows; k++) {
            double q[SIM_MAX_ROWS] = {0};
            q[k] = 1;
            if (turned && k < 2) {
                q[0] = k ? -si : co;
                q[1] = k ? co : si;
            }
            /* B over A along -n is A over B along n; t1 goes along, t2 must turn to keep the frame's hand: t x n */
            for (int j = 0; j < c->rows && swapped && k == 0; j++) {
                q[j] = -q[j];
            }
            for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                int from = swapped ? 1 - side : side, size = p->tree[c->tree[from]].nv;
                to->tree[side] = c->tree[from];
                to->block[side] = k ? to->block[side] : at;
                put_row(p, c, from, q, c->rows, w->J + to->block[side] + k * size);
                at += k ? 0 : c->rows * size;
            }
            for (int j = 0; j < c->rows; j++) {
                w->offset[row + k] += q[j] * p->offset[c->row + j];
            }
            w->gap[row + k] = p->gap[c->row + k];
        }
        row += c->rows;
    }
    w->problem.constraint = w->constraint;
    w->problem.J = w->J;
    w->problem.offset = w->offset;
    w->problem.gap = w->gap;
}

void reworded_free(reworded *w) {
    free(w->constraint);
    free(w->J);
    free(w->offset);
    free(w->gap);
}
