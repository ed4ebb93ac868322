/* The slots of a judgement. */
#ifndef JUDGE_SLOTS_H
#define JUDGE_SLOTS_H

#include <sim/judge.h>

/* Squares of the norms that E is made of, one set for each law. */
enum {
    MAP_SIC,      /* F(1) */
    MAP_VELOCITY, /* F(rho_i) / rho_i */
    MAP_IMPULSE,  /* F(rho_i) */
    FREE,         /* q */
    SHIFTED,      /* s */
    UNDOING,      /* rho_i q_i, the impulse that would undo q, or that of `speed` (motion.h) if greater */
    MOVED,        /* gamma_i / rho_i, velocities that impulses give and take */
    LAW_SLOTS,
};

enum {
    RIGID = 0,
    OWN = LAW_SLOTS,
    IMPULSE = 2 * LAW_SLOTS, /* |gamma|^2 */
    BALANCE,                 /* |D (A (v - v*) - J' gamma)|^2 */
    MOMENTUM,                /* |D A v|^2 */
    CONTACT_MOMENTUM,        /* |D J' gamma|^2 */
    SLACK,                   /* sum |s_i . gamma_i|, own law */
    COST,                    /* gamma . (W + R) gamma / 2, own law */
    LEE,                     /* |gamma - P(gamma - s)|^2 */
    LEE_SCALED,
    GAIN,     /* J: T - T**, see energy.c ... */
    OF_STOPS, /* ... energy put in by targets of stops, and of equalities ... */
    OF_EQUALITIES,
    KINETIC, /* ... and the size of T */
    EXCESS,  /* J, of each island */
    SPEED,   /* `speed` of motion.h */
    SUMS,
};

enum { CONE, PENETRATION, PAST_RANGE, SLIP, DRIVE, MAP_WORST, MAP_WORST_OWN, MAXIMA };

_Static_assert(SUMS == sizeof((sim_judgement *)0)->sum / sizeof(double), "a slot for every sum");
_Static_assert(MAXIMA == sizeof((sim_judgement *)0)->most / sizeof(double), "a slot for every maximum");
_Static_assert(MAXIMA == sizeof((sim_judgement *)0)->at / sizeof(int), "a place for every maximum");

#endif
