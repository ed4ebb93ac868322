/* Formulas of time as programs for a stack: src/model/track/formula.c. */
#ifndef MODEL_FORMULA_H
#define MODEL_FORMULA_H

#include <sim/model.h>

enum { FORMULA_MAX_STACK = 32 }; /* values that wait at once */

/* Operations of terms on the stack; FORMULA_NUMBER pushes its number. */
typedef enum formula_op {
    FORMULA_NUMBER,
    FORMULA_TIME,
    FORMULA_NEGATE,
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE,
    FORMULA_POWER,
    FORMULA_LESS,
    FORMULA_AT_MOST,
    FORMULA_MORE,
    FORMULA_AT_LEAST,
    FORMULA_SIN,
    FORMULA_COS,
    FORMULA_TAN,
    FORMULA_ASIN,
    FORMULA_ACOS,
    FORMULA_ATAN,
    FORMULA_ATAN2,
    FORMULA_TANH,
    FORMULA_EXP,
    FORMULA_LOG,
    FORMULA_SQRT,
    FORMULA_ABS,
    FORMULA_MIN,
    FORMULA_MAX,
    FORMULA_MOD,
    FORMULA_STEP,
    FORMULA_RAMP,
    FORMULA_SMOOTH,
    FORMULA_IF,
    FORMULA_OPS,
} formula_op;

/* How many values an operation takes from the stack; each leaves one. */
int formula_takes(formula_op op);
/* Are the terms a program that leaves `width` values?  If not, its writer made a mistake. */
bool formula_is_proper(const sim_term *term, int terms, int width);
/* Values and rates (1/s) of the `width` values it leaves.  Either output may be NULL. */
void formula_at(const sim_term *term, int terms, int width, double time, double *value, double *rate);

#endif
