/* Formulas of time read by recursive descent, written as postfix programs.
 *
 *     formula = sum [("<" | "<=" | ">" | ">=") sum]
 *     sum     = product {("+" | "-") product}
 *     product = signed {("*" | "/") signed}
 *     signed  = {"+" | "-"} power
 *     power   = part ["^" signed]
 *     part    = number | "t" | "pi" | name "(" formula {"," formula} ")" | "(" formula ")"
 *
 * A comparison is 1 where it holds, else 0.  -t^2 is -(t^2), 2^3^2 is 2^(3^2).  t in s, angles in rad.
 *
 * Reference: N. Wirth, Compilerbau, 4th ed., Teubner 1986, chapter 4.
 *
 * Departures: nothing but time can be named: no variables, no assignments, no loops, so that a formula always ends.
 *
 * Cost: linear in the letters; nesting and waiting values are bounded. */
#include "base/nearest.h"
#include "model/track/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 32, MAX_WORD_LETTERS = 24 };

static const struct {
    const char *name;
    formula_op op;
} functions[] = {
    {"sin", FORMULA_SIN},   {"cos", FORMULA_COS},   {"tan", FORMULA_TAN},       {"asin", FORMULA_ASIN},
    {"acos", FORMULA_ACOS}, {"atan", FORMULA_ATAN}, {"atan2", FORMULA_ATAN2},   {"tanh", FORMULA_TANH},
    {"exp", FORMULA_EXP},   {"log", FORMULA_LOG},   {"sqrt", FORMULA_SQRT},     {"abs", FORMULA_ABS},
    {"min", FORMULA_MIN},   {"max", FORMULA_MAX},   {"mod", FORMULA_MOD},       {"step", FORMULA_STEP},
    {"ramp", FORMULA_RAMP}, {"if", FORMULA_IF},     {"smooth", FORMULA_SMOOTH},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

typedef struct parser {
    const char *at, *wrong; /* wrong: where the message points */
    sim_term *term;
    int room, terms, waiting, nesting;
    sim_error *error;
} parser;

static void skip_spaces(parser *p) { p->at += strspn(p->at, " \t\n"); }

/* The next word of the text, for a message. */
static const char *next_word(const parser *p, char word[MAX_WORD_LETTERS + 3]) {
    if (!*p->at) {
        return "the end";
    }
    size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    length = length ? length : 1;
    while ((p->at[length] & 0xc0) == 0x80) { /* the rest of a letter in UTF-8 */
        length++;
    }
    snprintf(word, MAX_WORD_LETTERS + 3, "'%.*s'", (int)(length < MAX_WORD_LETTERS ? length : MAX_WORD_LETTERS), p->at);
    return word;
}

static bool refuse_formula(parser *p, const char *at, const char *format, const char *first, const char *second) {
    p->wrong = at;
    sim_fail(p->error, SIM_BAD_INPUT, format, first, second);
    return false;
}

static bool append_term(parser *p, formula_op op, double number) {
    if (p->terms == p->room) {
        return refuse_formula(p, p->at, "the formula is too long%s%s", "", "");
    }
    p->waiting += 1 - formula_takes(op);
    if (p->waiting > FORMULA_MAX_STACK) {
        return refuse_formula(p, p->at, "the formula needs too many intermediate values%s%s", "", "");
    }
    p->term[p->terms++] = (sim_term){number, op};
    return true;
}

static bool take_sign(parser *p, const char *sign) {
    skip_spaces(p);
    size_t length = strlen(sign);
    if (strncmp(p->at, sign, length) != 0) {
        return false;
    }
    p->at += length;
    return true;
}

static bool expect_sign(parser *p, const char *sign) {
    char word[MAX_WORD_LETTERS + 3];
    return take_sign(p, sign) || refuse_formula(p, p->at, "expected '%s', found %s", sign, next_word(p, word));
}

static bool parse_formula(parser *p);
static bool parse_signed(parser *p);

static bool parse_number(parser *p) {
    char digits[64], word[MAX_WORD_LETTERS + 3];
    const char *start = p->at;
    size_t length = strspn(start, "0123456789.");
    if (start[length] == 'e' || start[length] == 'E') {
        size_t sign = start[length + 1] == '+' || start[length + 1] == '-';
        size_t exponent = strspn(start + length + 1 + sign, "0123456789");
        length += exponent ? 1 + sign + exponent : 0;
    }
    char *end = digits;
    snprintf(digits, sizeof digits, "%.*s", (int)(length < sizeof digits ? length : 0), start);
    double number = strtod(digits, &end);
    if (end == digits || *end || !isfinite(number)) {
        return refuse_formula(p, start, "%s is no number%s", next_word(p, word), "");
    }
    p->at += length;
    return append_term(p, FORMULA_NUMBER, number);
}

static bool parse_arguments(parser *p, const char *name, const char *start, formula_op op) {
    char wanted[40];
    int takes = formula_takes(op), count = 0;
    if (!expect_sign(p, "(")) {
        return false;
    }
    do {
        if (!parse_formula(p)) {
            return false;
        }
        count++;
    } while (count < takes && take_sign(p, ","));
    skip_spaces(p);
    if (count < takes || *p->at == ',') {
        snprintf(wanted, sizeof wanted, "%d value%s", takes, takes == 1 ? "" : "s");
        return refuse_formula(p, start, "%s takes %s", name, wanted);
    }
    return expect_sign(p, ")") && append_term(p, op, 0);
}

static bool parse_name(parser *p) {
    /* word */
    const char *names[FUNCTION_COUNT + 3] = {"t", "pi"}, *start = p->at;
    char word[MAX_WORD_LETTERS + 1], hint[80] = "";
    size_t length = strspn(start, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    snprintf(word, sizeof word, "%.*s", (int)(length < MAX_WORD_LETTERS ? length : MAX_WORD_LETTERS), start);
    p->at += length;
    /* time, pi, functions */
    if (strcmp(word, "t") == 0) {
        return append_term(p, FORMULA_TIME, 0);
    }
    if (strcmp(word, "pi") == 0) {
        return append_term(p, FORMULA_NUMBER, 3.14159265358979323846);
    }
    for (int k = 0; k < FUNCTION_COUNT; k++) {
        if (strcmp(word, functions[k].name) == 0) {
            return parse_arguments(p, functions[k].name, start, functions[k].op);
        }
        names[2 + k] = functions[k].name;
    }
    /* unknown: suggest the nearest */
    const char *near = nearest_word(word, names);
    if (near) {
        snprintf(hint, sizeof hint, " (did you mean '%s'?)", near);
    }
    return refuse_formula(p, start, "'%s' is neither t nor pi nor a function%s", word, hint);
}

static bool parse_part(parser *p) {
    char word[MAX_WORD_LETTERS + 3];
    skip_spaces(p);
    if (*p->at && strchr("0123456789.", *p->at)) {
        return parse_number(p);
    }
    if ((*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z') || *p->at == '_') {
        return parse_name(p);
    }
    if (take_sign(p, "(")) {
        return parse_formula(p) && expect_sign(p, ")");
    }
    return refuse_formula(p, p->at, "expected a number, t, pi, a function or '(', found %s%s", next_word(p, word), "");
}

static bool parse_power(parser *p) {
    if (!parse_part(p)) {
        return false;
    }
    return !take_sign(p, "^") || (parse_signed(p) && append_term(p, FORMULA_POWER, 0));
}

static bool parse_signed(parser *p) {
    bool negative = false;
    if (++p->nesting > MAX_NESTING) {
        return refuse_formula(p, p->at, "the formula is nested too deep%s%s", "", "");
    }
    for (;;) {
        if (take_sign(p, "-")) {
            negative = !negative;
        } else if (!take_sign(p, "+")) {
            break;
        }
    }
    bool good = parse_power(p) && (!negative || append_term(p, FORMULA_NEGATE, 0));
    p->nesting--;
    return good;
}

static bool parse_product(parser *p) {
    bool good = parse_signed(p);
    while (good) {
        formula_op op = take_sign(p, "*") ? FORMULA_MULTIPLY : take_sign(p, "/") ? FORMULA_DIVIDE : FORMULA_OPS;
        if (op == FORMULA_OPS) {
            break;
        }
        good = parse_signed(p) && append_term(p, op, 0);
    }
    return good;
}

static bool parse_sum(parser *p) {
    bool good = parse_product(p);
    while (good) {
        formula_op op = take_sign(p, "+") ? FORMULA_ADD : take_sign(p, "-") ? FORMULA_SUBTRACT : FORMULA_OPS;
        if (op == FORMULA_OPS) {
            break;
        }
        good = parse_product(p) && append_term(p, op, 0);
    }
    return good;
}

static bool parse_formula(parser *p) {
    if (!parse_sum(p)) {
        return false;
    }
    formula_op op = take_sign(p, "<=")   ? FORMULA_AT_MOST
                    : take_sign(p, ">=") ? FORMULA_AT_LEAST
                    : take_sign(p, "<")  ? FORMULA_LESS
                    : take_sign(p, ">")  ? FORMULA_MORE
                                         : FORMULA_OPS;
    return op == FORMULA_OPS || (parse_sum(p) && append_term(p, op, 0));
}

/* ---- the whole ---- */

sim_status sim_formula_parse(const char *text, sim_term *term, int room, int *terms, int *wrong_at, sim_error *error) {
    char word[MAX_WORD_LETTERS + 3];
    parser p = {.at = text, .wrong = text, .term = term, .room = room, .error = error};
    bool good = parse_formula(&p);
    skip_spaces(&p);
    if (good && *p.at) {
        good = refuse_formula(&p, p.at, "expected an operator or the end, found %s%s", next_word(&p, word), "");
    }
    *terms = good ? p.terms : 0;
    *wrong_at = (int)(p.wrong - text);
    return good ? SIM_OK : SIM_BAD_INPUT;
}
