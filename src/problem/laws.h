/* Rules of the contact law that the stage which solves it needs, too. */
#ifndef PROBLEM_LAWS_H
#define PROBLEM_LAWS_H

#include <sim/problem.h>

#include <stdbool.h>

/* Does a rigid constraint with its gap in this row close within the step, faster than the threshold [m/s]?  Then it
 * bounces, if it has a restitution. */
bool law_strikes(const sim_problem *problem, double threshold, const sim_constraint *c, int row);

/* max(|J_A (v* - v0)|, |J_B (v* - v0)|) over all rows: the velocity that forces alone give either side in the step, m/s
 * or rad/s. It is g dt under gravity, also at a wall and between bodies that fall together. */
double law_free_change(const sim_problem *problem, const sim_constraint *c);

/* w of an elastic contact, 1/kg: W_nn of its block W of `rows` rows, or, `floored`, a part of the mean of W_tt. */
double law_normal_inverse_mass(int rows, const double *W, bool *floored);

/* (v* - v0)' A (v* - v0), J, in `work` of twice nv. */
double law_force_energy(const sim_problem *problem, double *work);

/* The speed V from which the factor c = V / du of a contact follows; LOAD_NONE: c = 1, LOAD_MOST: c is at its bound. */
typedef enum load_kind { LOAD_NONE, LOAD_CARRIED, LOAD_CLOSING, LOAD_STRIKE, LOAD_MOST } load_kind;

/* The load of a contact by the elastic law (load_stiffening in laws.c), without the limit of loads. */
typedef struct contact_load {
    load_kind kind;
    double stiffer;       /* c */
    double part;          /* V over W_nn times the mean impulse, or over the closing speed of a constraint */
    double speed, change; /* V, and du of the side `side`, m/s; -1: no force acts, and du is fixed */
    int side, first, end; /* contacts [first, end) carry the mean impulse */
    double impulse;       /* that mean, N s */
    int strike;           /* the constraint that closes fastest; -1: none */
    bool kink;            /* do two rules give the same c, or nearly: with speeds within `near`, m/s? */
} contact_load;

/* Loads of a problem: its fastest strike, found once, and the mean impulse of the pair of bodies asked last. */
typedef struct load_scan {
    bool known;     /* the problem has loads */
    double strike;  /* m/s, of the fastest one ... */
    int strike_at;  /* ... and its constraint; -1: none */
    double impulse; /* N s, mean of contacts [first, end) */
    int first, end;
} load_scan;

load_scan law_scan_loads(const sim_problem *problem, const sim_law_options *options);

/* That of the i-th constraint, a contact, whose block of the Delassus operator is W. Constraints asked in their order
 * cost as much together as their number. */
contact_load law_contact_load(const sim_problem *problem, const sim_law_options *options, load_scan *scan, int i,
                              const double *W, double near);

#endif
