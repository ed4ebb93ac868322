/* Formulas of time with exact rates, by forward-mode differentiation on a stack machine.
 *
 *     x(t) and x'(t) = dx/dt together:  f(x)' = f'(x) x',  (x y)' = x' y + x y',  t' = 1
 *
 * Every term works on pairs (x, x'), so the rate is exact to rounding, without a step of differences.  t in s; x in the
 * unit of the track.
 *
 * Reference: A. Griewank, A. Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapter 3.
 *
 * Departures: some functions have points without a derivative (the corner of abs, min, max, ramp; the jumps of step,
 * mod, if and the comparisons). There the rate is that of the piece that holds from there on in x, and a jump adds
 * none.  A factor that is constant has rate 0 whatever multiplies it: sqrt of a constant 0 has rate 0, not NaN.
 *
 * Cost: one pass over the terms, no memory but a stack of 32 pairs. */
#include "model/track/formula.h"

#include <math.h>

typedef struct dual {
    double x, rate;
} dual;

/* Number of operands of an operator. */
int formula_takes(formula_op op) {
    switch (op) {
    case FORMULA_NUMBER:
    case FORMULA_TIME:
        return 0;
    case FORMULA_ADD:
    case FORMULA_SUBTRACT:
    case FORMULA_MULTIPLY:
    case FORMULA_DIVIDE:
    case FORMULA_POWER:
    case FORMULA_LESS:
    case FORMULA_AT_MOST:
    case FORMULA_MORE:
    case FORMULA_AT_LEAST:
    case FORMULA_ATAN2:
    case FORMULA_MIN:
    case FORMULA_MAX:
    case FORMULA_MOD:
        return 2;
    case FORMULA_SMOOTH:
    case FORMULA_IF:
        return 3;
    default:
        return 1;
    }
}

bool formula_is_proper(const sim_term *term, int terms, int width) {
    int depth = 0;
    for (int k = 0; k < terms; k++) {
        if (term[k].op < 0 || term[k].op >= FORMULA_OPS || !isfinite(term[k].number)) {
            return false;
        }
        depth -= formula_takes((formula_op)term[k].op);
        if (depth < 0 || ++depth > FORMULA_MAX_STACK) {
            return false;
        }
    }
    return depth == width;
}

/* f(a), where f has the slope `slope` at a. */
static dual chain_rule(double value, double slope, dual a) { return (dual){value, a.rate != 0 ? slope * a.rate : 0}; }

static dual add_duals(dual a, dual b) { return (dual){a.x + b.x, a.rate + b.rate}; }

static dual multiply_duals(dual a, dual b) {
    return (dual){a.x * b.x, (a.rate != 0 ? a.rate * b.x : 0) + (b.rate != 0 ? a.x * b.rate : 0)};
}

static dual divide_duals(dual a, dual b) {
    double x = a.x / b.x;
    return (dual){x, (a.rate != 0 ? a.rate / b.x : 0) - (b.rate != 0 ? x * (b.rate / b.x) : 0)};
}

static dual raise_dual(dual a, dual b) {
    double x = pow(a.x, b.x);
    double rate = a.rate != 0 && b.x != 0 ? b.x * pow(a.x, b.x - 1) * a.rate : 0;
    return (dual){x, b.rate != 0 ? rate + x * log(a.x) * b.rate : rate};
}

/* 0 up to `from`, 1 from `to` on, w = s^2 (3 - 2 s) between. */
static dual smooth_step(dual a, dual from, dual to) {
    dual way = {a.x - from.x, a.rate - from.rate}, span = {to.x - from.x, to.rate - from.rate};
    if (!(way.x > 0) || !(way.x < span.x)) {
        return (dual){isnan(way.x + span.x) ? NAN : way.x > 0 || (way.x == 0 && span.x <= 0), 0};
    }
    dual s = divide_duals(way, span);
    return chain_rule(s.x * s.x * (3 - 2 * s.x), 6 * s.x * (1 - s.x), s);
}

static dual atan2_of(dual y, dual x) {
    double square = x.x * x.x + y.x * y.x;
    double turn = (y.rate != 0 ? x.x * y.rate : 0) - (x.rate != 0 ? y.x * x.rate : 0);
    return (dual){atan2(y.x, x.x), turn != 0 ? turn / square : 0};
}

static dual eval_unary(formula_op op, dual a) {
    double x;
    switch (op) {
    case FORMULA_NEGATE:
        return (dual){-a.x, -a.rate};
    case FORMULA_SIN:
        return chain_rule(sin(a.x), cos(a.x), a);
    case FORMULA_COS:
        return chain_rule(cos(a.x), -sin(a.x), a);
    case FORMULA_TAN:
        x = tan(a.x);
        return chain_rule(x, 1 + x * x, a);
    case FORMULA_ASIN:
        return chain_rule(asin(a.x), 1 / sqrt(1 - a.x * a.x), a);
    case FORMULA_ACOS:
        return chain_rule(acos(a.x), -1 / sqrt(1 - a.x * a.x), a);
    case FORMULA_ATAN:
        return chain_rule(atan(a.x), 1 / (1 + a.x * a.x), a);
    case FORMULA_TANH:
        x = tanh(a.x);
        return chain_rule(x, 1 - x * x, a);
    case FORMULA_EXP:
        x = exp(a.x);
        return chain_rule(x, x, a);
    case FORMULA_LOG:
        return chain_rule(log(a.x), 1 / a.x, a);
    case FORMULA_SQRT:
        x = sqrt(a.x);
        return chain_rule(x, 0.5 / x, a);
    case FORMULA_ABS:
        return a.x < 0 ? (dual){-a.x, -a.rate} : a;
    case FORMULA_STEP:
        return (dual){isnan(a.x) ? NAN : a.x >= 0, 0};
    default: /* FORMULA_RAMP */
        return a.x < 0 ? (dual){0, 0} : a;
    }
}

static dual eval_binary(formula_op op, dual a, dual b) {
    switch (op) {
    case FORMULA_ADD:
        return add_duals(a, b);
    case FORMULA_SUBTRACT:
        return add_duals(a, (dual){-b.x, -b.rate});
    case FORMULA_MULTIPLY:
        return multiply_duals(a, b);
    case FORMULA_DIVIDE:
        return divide_duals(a, b);
    case FORMULA_POWER:
        return raise_dual(a, b);
    case FORMULA_LESS:
        return (dual){a.x < b.x, 0};
    case FORMULA_AT_MOST:
        return (dual){a.x <= b.x, 0};
    case FORMULA_MORE:
        return (dual){a.x > b.x, 0};
    case FORMULA_AT_LEAST:
        return (dual){a.x >= b.x, 0};
    case FORMULA_ATAN2:
        return atan2_of(a, b);
    case FORMULA_MIN:
        return isnan(a.x) || a.x < b.x ? a : b;
    case FORMULA_MAX:
        return isnan(a.x) || a.x > b.x ? a : b;
    default: { /* FORMULA_MOD */
        double whole = floor(a.x / b.x);
        return (dual){a.x - whole * b.x, a.rate - (b.rate != 0 ? whole * b.rate : 0)};
    }
    }
}

void formula_at(const sim_term *term, int terms, int width, double time, double *value, double *rate) {
    dual stack[FORMULA_MAX_STACK], *top = stack; /* top: the next free place */
    for (int k = 0; k < terms; k++) {
        formula_op op = (formula_op)term[k].op;
        int takes = formula_takes(op);
        top -= takes;
        if (takes == 0) {
            *top = op == FORMULA_TIME ? (dual){time, 1} : (dual){term[k].number, 0};
        } else if (takes == 1) {
            *top = eval_unary(op, top[0]);
        } else if (takes == 2) {
            *top = eval_binary(op, top[0], top[1]);
        } else if (op == FORMULA_SMOOTH) {
            *top = smooth_step(top[0], top[1], top[2]);
        } else {
            *top = top[0].x != 0 ? top[1] : top[2];
        }
        top++;
    }
    for (int k = 0; k < width; k++) {
        if (value) {
            value[k] = stack[k].x;
        }
        if (rate) {
            rate[k] = stack[k].rate;
        }
    }
}
