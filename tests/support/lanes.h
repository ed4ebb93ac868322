/* Random contacts and bodies for SubADMM's inner loops, and one iteration written out plainly. */
#ifndef SUPPORT_LANES_H
#define SUPPORT_LANES_H

#include "solver/subadmm/lanes/lanes.h"
#include "support/models.h"

/* Constraints and the bodies that they touch. Every number in the open, in the order of the input. */
typedef struct lanes_case {
    admm_input in;
    admm_contact *contact;
    char *solved;
    double (*J)[2][18];  /* [ncontact] */
    double (*weight)[2]; /* [ncontact] */
    double (*A)[36];     /* [nbody] */
    double (*x)[6];      /* [nbody] */
    double (*lambda)[3]; /* [ncontact] */
} lanes_case;

typedef struct lanes_recipe {
    int bodies, contacts;
    double general; /* the part of contacts whose rows are of no point */
    double world;   /* the part that has one body only */
    double decades; /* of masses, sizes, speeds, penalties: between 10^-decades and 10^decades */
} lanes_recipe;

lanes_case lanes_random(random_source *r, const lanes_recipe *recipe);
void lanes_free(lanes_case *c);
/* Contacts, then bodies. */
void lanes_plainly(lanes_case *c, double kappa);
/* The sums of natural.h at lambda, but for q. */
natural_sum lanes_natural_plainly(const lanes_case *c, const double *rho);
/* Contacts, then bodies, of what was packed. */
void lanes_iterate(admm_lanes *l, const admm_kernels *kernels);
/* Packs, weighs and factors; 0 without memory. */
int lanes_make(const lanes_case *c, const admm_kernels *kernels, double kappa, sim_arena *arena, admm_lanes *l);

#endif
