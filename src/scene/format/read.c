/* Reading of a JSON object into a struct by the table of its keys: types, ranges, defaults, nested tables.
 *
 * Errors are reported at their place and reading resumes, so that one pass finds all of them.  An unknown value is
 * compared with the known ones (base/nearest.h) and with the words of other formats (foreign.h); keys are in keys.c. */
#include "scene/format/read.h"
#include "base/nearest.h"
#include "scene/format/foreign.h"
#include "scene/format/keys.h"
#include "scene/format/tables/format.h"
#include "scene/json/names.h"
#include "scene/json/text.h"
#include "solver/words.h"

#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_NUMBERS = 512 };

static void *field_place(void *out, const field *f) { return (char *)out + f->offset; }

const char *table_shorthand(const table *t, const node *n) {
    bool worded = n->kind == NODE_TEXT;
    for (const node *item = n->kind == NODE_ARRAY ? n->first : NULL; item; item = item->next) {
        worded |= item->kind == NODE_TEXT;
    }
    return worded && t->text_stands_for ? t->text_stands_for : t->shorthand;
}

/* ---- defaults ---- */

static void default_vector(const char *standard, int count, double *out) {
    for (int i = 0; i < count; i++) {
        standard += strspn(standard, "[, ");
        char *end;
        out[i] = strtod(standard, &end);
        standard = end;
    }
}

/* The words that a field takes; those of solvers are the caller's to add to. */
static const char *word_at(const reader *r, const field *f, int i) {
    const sim_solver_info *info = f->settings ? sim_solver_registry_at(r->solvers, i) : NULL;
    return !f->settings ? f->name_of(i) : info ? info->name : NULL;
}

static int enum_value(const reader *r, const field *f, const char *name, size_t length) {
    for (int i = 0; word_at(r, f, i); i++) {
        if (strlen(word_at(r, f, i)) == length && strncmp(word_at(r, f, i), name, length) == 0) {
            return i;
        }
    }
    return -1;
}

/* Defaults of texts stand in the tables with quotes; those of names are words of the format. */
static const char *default_text(const char *standard) { return strcmp(standard, "\"world\"") == 0 ? "world" : ""; }

static unsigned default_set(const reader *r, const field *f) {
    unsigned set = 0;
    for (const char *c = strchr(f->standard, '"'); c; c = strchr(c, '"')) {
        size_t length = strcspn(c + 1, "\"");
        set |= 1u << enum_value(r, f, c + 1, length);
        c += length + 2;
    }
    return set;
}

/* The default of a field, from its JSON text in the table. */
static void set_default(const reader *r, const field *f, void *out) {
    /* an object: the defaults of its keys, and the value that stands for it */
    if (f->kind == FIELD_OBJECT) {
        read_object(r, NULL, f->table, out);
        const field *alone = f->standard && f->table->shorthand ? table_field(f->table, f->table->shorthand) : NULL;
        if (alone && alone->kind == FIELD_ENUM) {
            *(int *)field_place(out, alone) = enum_value(r, alone, f->standard + 1, strlen(f->standard) - 2);
        }
    } else if (f->kind == FIELD_ENUM && !f->standard) {
        *(int *)out = -1;
    } else if (f->standard) {
        double number;
        default_vector(f->standard, 1, &number);
        switch (f->kind) {
        case FIELD_NUMBER:
            *(double *)out = number;
            break;
        case FIELD_INTEGER:
            *(int64_t *)out = (int64_t)number;
            break;
        case FIELD_FLAG:
            *(bool *)out = strcmp(f->standard, "true") == 0;
            break;
        case FIELD_VECTOR:
            default_vector(f->standard, f->count, out);
            break;
        case FIELD_ENUM:
            *(int *)out = enum_value(r, f, f->standard + 1, strlen(f->standard) - 2);
            break;
        case FIELD_ENUMS:
            *(unsigned *)out = default_set(r, f);
            break;
        case FIELD_TEXT:
        case FIELD_NAME:
        case FIELD_PREFIX:
            *(const char **)out = default_text(f->standard);
            break;
        default:
            break;
        }
    }
}

/* ---- values ---- */

static bool wrong_kind(const reader *r, const node *n, const char *expected) {
    report_value(r->report, n, NULL, "expected %s, not %s", expected, node_kind_name(n));
    return false;
}

/* "a number in m"; "a number" where it has no unit. */
static bool wrong_number(const reader *r, const node *n, const field *f, const char *expected) {
    char wanted[120];
    snprintf(wanted, sizeof wanted, "%s%s%s", expected, f->unit ? " in " : "", f->unit ? f->unit : "");
    return wrong_kind(r, n, wanted);
}

static bool in_range(const reader *r, const node *n, const field *f, double x) {
    const range *limit = &f->range;
    if (!isfinite(x)) {
        return false; /* said when the text was read */
    }
    bool above = !limit->has_low || (limit->above_low ? x > limit->low : x >= limit->low);
    if (above && !(limit->has_high && x > limit->high)) {
        return true;
    }
    const char *unit = f->unit ? f->unit : "", *space = f->unit ? " " : "";
    digits low = number_digits(limit->low), high = number_digits(limit->high), is = number_digits(x);
    if (limit->has_low && limit->has_high && limit->low == limit->high) {
        report_value(r->report, n, NULL, "must be %s, is %s", low.text, is.text);
    } else if (limit->has_low && limit->has_high && !limit->above_low) {
        report_value(r->report, n, NULL, "must be from %s to %s%s%s, is %s", low.text, high.text, space, unit, is.text);
    } else if (!above) {
        report_value(r->report, n, NULL, "must be %s %s, is %s%s%s", limit->above_low ? "above" : "at least", low.text,
                     is.text, space, unit);
    } else {
        report_value(r->report, n, NULL, "must be at most %s, is %s%s%s", high.text, is.text, space, unit);
    }
    return false;
}

static bool is_whole(const reader *r, const node *n, double x) {
    if (isfinite(x) && (x != floor(x) || fabs(x) > 9007199254740992.0)) {
        report_value(r->report, n, NULL, "expected a whole number of at most 2^53, is %.17g", x);
        return false;
    }
    return isfinite(x);
}

static bool read_number_field(const reader *r, const node *n, const field *f, double *out) {
    if (n->kind != NODE_NUMBER) {
        return wrong_number(r, n, f, f->kind == FIELD_INTEGER ? "a whole number" : "a number");
    }
    if ((f->kind == FIELD_INTEGER || f->integers) && !is_whole(r, n, n->number)) {
        return false;
    }
    *out = n->number;
    return in_range(r, n, f, n->number);
}

static bool read_vector(const reader *r, const node *n, const field *f, double *out) {
    /* length of the array */
    int least = f->count_least ? f->count_least : f->count;
    if (n->kind != NODE_ARRAY || n->count < least || n->count > f->count) {
        char expected[80];
        if (least < f->count) {
            snprintf(expected, sizeof expected, "an array of %d or %d numbers", least, f->count);
        } else {
            snprintf(expected, sizeof expected, "an array of %d numbers", f->count);
        }
        if (n->kind == NODE_ARRAY) {
            report_value(r->report, n, NULL, "expected %s%s%s, not of %d", expected, f->unit ? " in " : "",
                         f->unit ? f->unit : "", n->count);
            return false;
        }
        return wrong_number(r, n, f, expected);
    }
    /* its numbers */
    bool good = true;
    int i = 0;
    for (const node *item = n->first; item; item = item->next) {
        good &= read_number_field(r, item, f, &out[i++]);
    }
    return good;
}

/* Numbers are kept at the node they come from, so that copies of a model share them. Only one key reads a node, so its
 * numbers stay valid. */
static double *room_for_values(const reader *r, const node *n, int count) {
    node *owner = (node *)n;
    if (!owner->values) {
        owner->values = POOL_NEW(r->pool, double, count);
        r->report->no_memory |= !owner->values;
    }
    return (double *)owner->values;
}

static bool read_numbers(const reader *r, const node *n, const field *f, number_list *out) {
    /* a number alone counts as an array of one */
    const node *first = n->kind == NODE_ARRAY ? n->first : n;
    int count = n->kind == NODE_ARRAY ? n->count : 1;
    if (n->kind != NODE_ARRAY && n->kind != NODE_NUMBER) {
        return wrong_number(r, n, f, "a number or an array of numbers");
    }
    if (count == 0 || (f->count && count > f->count)) {
        report_value(r->report, n, NULL, count ? "an array of %d numbers is too long" : "an array of %d numbers",
                     count);
        return false;
    }
    /* a copy of the model has read the same node */
    if (n->nvalues) {
        *out = (number_list){n->nvalues, n->values};
        return true;
    }
    /* read and keep the numbers */
    double *value = room_for_values(r, n, count);
    if (!value) {
        return false;
    }
    bool good = true;
    int i = 0;
    for (const node *item = first; i < count; item = item->next) {
        good &= read_number_field(r, item, f, &value[i++]);
    }
    ((node *)n)->nvalues = good ? count : 0;
    *out = (number_list){count, value};
    return good;
}

static bool read_rows(const reader *r, const node *n, const field *f, number_list *out) {
    /* one row, or an array of rows */
    bool one = n->kind == NODE_ARRAY && n->first && n->first->kind == NODE_NUMBER;
    int rows = one ? 1 : n->count;
    if (n->kind != NODE_ARRAY || rows == 0) {
        char expected[80];
        snprintf(expected, sizeof expected, "an array of %d numbers, or an array of such arrays", f->count);
        if (n->kind == NODE_ARRAY) {
            report_value(r->report, n, NULL, "expected %s, not an empty one", expected);
            return false;
        }
        return wrong_kind(r, n, expected);
    }
    /* a copy of the model has read the same node */
    if (n->nvalues) {
        *out = (number_list){n->nvalues, n->values};
        return true;
    }
    /* read and keep the rows */
    double *value = room_for_values(r, n, rows * f->count);
    if (!value) {
        return false;
    }
    bool good = true;
    int i = 0;
    for (const node *row = one ? n : n->first; i < rows; row = row->next) {
        good &= read_vector(r, row, f, value + f->count * i++);
    }
    ((node *)n)->nvalues = good ? rows * f->count : 0;
    *out = (number_list){rows * f->count, value};
    return good;
}

static bool list_names(const reader *r, const field *f, char *names) {
    size_t length = 0;
    for (int i = 0; word_at(r, f, i) && !(f->simulated && i >= f->simulated); i++) {
        length += (size_t)snprintf(names + length, LIST_NUMBERS - length, "%s%s", i ? ", " : "", word_at(r, f, i));
        if (length + 40 > LIST_NUMBERS) {
            return false;
        }
    }
    return true;
}

static bool read_enum(const reader *r, const node *n, const field *f, int *out) {
    if (n->kind != NODE_TEXT) {
        return wrong_kind(r, n, "a text");
    }
    /* the name, and for solvers the options after it */
    size_t length = f->settings ? solver_words_name(n->text) : strlen(n->text);
    int value = enum_value(r, f, n->text, length);
    if (value >= 0 && n->text[length]) {
        sim_error why;
        if (solver_words_check(r->solvers, n->text, &why)) {
            report_value(r->report, n, NULL, "%s", why.text);
            return false;
        }
    }
    if (value >= 0 && f->simulated && value >= f->simulated) {
        report_value(r->report, n, NULL, "%s \"%s\" is not simulated yet", f->key, n->text);
        return false;
    }
    /* no such name: suggest the nearest, or the word for that of another format */
    if (value < 0) {
        nearest near = {.wanted = n->text};
        char names[LIST_NUMBERS] = "", hint[160];
        list_names(r, f, names);
        for (int i = 0; word_at(r, f, i); i++) {
            nearest_try(&near, word_at(r, f, i));
        }
        const char *said = foreign_find_value(f, n->text, hint, sizeof hint);
        report_value(r->report, n, said ? said : nearest_hint(&near, hint, sizeof hint), "\"%.80s\" is none of: %s",
                     n->text, names);
        return false;
    }
    *out = value;
    return true;
}

static bool read_enums(const reader *r, const node *n, const field *f, unsigned *out) {
    if (n->kind != NODE_ARRAY) {
        return wrong_kind(r, n, "an array of texts");
    }
    bool good = true;
    *out = 0;
    for (const node *item = n->first; item; item = item->next) {
        int value = 0;
        if (read_enum(r, item, f, &value)) {
            if (*out >> value & 1) {
                report_warning(r->report, item, NULL, "\"%s\" is listed twice", item->text);
            }
            *out |= 1u << value;
        } else {
            good = false;
        }
    }
    return good;
}

static bool read_text(const reader *r, const node *n, const field *f, const char **out) {
    /* texts are free */
    if (n->kind != NODE_TEXT) {
        return wrong_kind(r, n, "a text");
    }
    *out = n->text;
    if (f->kind == FIELD_TEXT) {
        return true;
    }
    /* names have a length of 1 to 128 bytes, and none of the reserved characters */
    size_t length = strlen(n->text);
    if (length == 0 && f->kind != FIELD_PREFIX) {
        report_value(r->report, n, NULL, "a name must not be empty");
        return false;
    }
    if (length > 128) {
        report_value(r->report, n, NULL, "a name of %zu bytes; the limit is 128", length);
        return false;
    }
    for (const char *c = n->text; *c; c++) {
        bool star = *c == '*' && f->kind != FIELD_PATTERN;
        if (star || (unsigned char)*c < 0x20 || *c == 0x7f || strchr("/,\"\\", *c)) {
            report_value(r->report, n, NULL, "a name must not hold %s",
                         (unsigned char)*c < 0x20 || *c == 0x7f ? "control characters"
                         : *c == '*'                            ? "'*'"
                         : *c == '/'                            ? "'/'"
                         : *c == ','                            ? "','"
                                                                : "quotes and backslashes");
            return false;
        }
    }
    return true;
}

static bool read_formula_field(const reader *r, const node *n, const field *f, const node **out) {
    sim_term term[MAX_FORMULA_TERMS];
    int terms;
    *out = n;
    if (f->count == 1) {
        return (n->kind == NODE_TEXT || wrong_kind(r, n, "a text")) && read_formula_terms(r->report, n, term, &terms);
    }
    if (n->kind != NODE_ARRAY || n->count != f->count) {
        char expected[80];
        snprintf(expected, sizeof expected, "an array of %d formulas", f->count);
        return wrong_kind(r, n, expected);
    }
    bool good = true;
    for (const node *item = n->first; item; item = item->next) {
        good &= read_formula_terms(r->report, item, term, &terms);
    }
    return good;
}

/* ---- objects ---- */

static bool read_members(const reader *r, const node *n, const table *t, void *out, bool deep);

static bool check_elements(const reader *r, const node *n, const field *f) {
    bool good = true;
    for (const node *item = n->first; item; item = item->next) {
        bool comment = f->kind == FIELD_MAP && strcmp(item->key, "comment") == 0 && item->kind == NODE_TEXT;
        good &= comment || check_object(r, item, f->table);
    }
    return good;
}

static bool read_value(const reader *r, const node *n, const field *f, void *out, bool deep) {
    double number = 0;
    /* kinds whose value is read here */
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_NAME:
    case FIELD_PREFIX:
    case FIELD_PATTERN:
        return read_text(r, n, f, out);
    case FIELD_FLAG:
        *(bool *)out = n->number != 0;
        return n->kind == NODE_FLAG || wrong_kind(r, n, "true or false");
    case FIELD_INTEGER:
        if (!read_number_field(r, n, f, &number)) {
            return false;
        }
        *(int64_t *)out = (int64_t)number;
        return true;
    case FIELD_NUMBER:
        return read_number_field(r, n, f, out);
    case FIELD_ENUM:
        return read_enum(r, n, f, out);
    case FIELD_ENUMS:
        return read_enums(r, n, f, out);
    case FIELD_VECTOR:
        return read_vector(r, n, f, out);
    case FIELD_NUMBERS:
        return read_numbers(r, n, f, out);
    case FIELD_ROWS:
        return read_rows(r, n, f, out);
    case FIELD_FORMULA:
        return read_formula_field(r, n, f, out);
    case FIELD_OBJECT:
        return read_members(r, n, f->table, out, deep);
    case FIELD_OBJECTS:
    case FIELD_MAP:
    case FIELD_VALUES:
    case FIELD_LIST:
        break;
    }
    /* kinds whose elements their user reads one by one */
    node_kind kind = f->kind == FIELD_OBJECTS || f->kind == FIELD_LIST ? NODE_ARRAY : NODE_OBJECT;
    if (f->kind == FIELD_LIST && n->kind == NODE_ARRAY && !n->first) {
        report_value(r->report, n, NULL, "expected an array of one or more values, not an empty one");
        return false;
    }
    if (n->kind != kind) {
        return wrong_kind(r, n,
                          kind == NODE_OBJECT     ? "an object"
                          : f->kind == FIELD_LIST ? "an array of one or more values"
                                                  : "an array of objects");
    }
    *(const node **)out = n;
    return f->kind == FIELD_VALUES || f->kind == FIELD_LIST || !deep || check_elements(r, n, f);
}

/* Value of the key that says which of the others belong; -1 if there is none or it is wrong. */
static int type_of(const reader *r, const node *n, const table *t) {
    const field *f = t->type_key ? table_field(t, t->type_key) : NULL;
    const node *member = f ? node_member(n, t->type_key) : NULL;
    return member && member->kind == NODE_TEXT ? enum_value(r, f, member->text, strlen(member->text)) : -1;
}

/* `suggested`: the keys meant by unknown ones so far. */
static bool read_member(const reader *r, const node *n, const table *t, int type, void *out, bool deep,
                        uint64_t *suggested) {
    const field *f = table_field(t, n->key);
    if (strcmp(n->key, "comment") == 0) {
        return n->kind == NODE_TEXT || wrong_kind(r, n, "a text");
    }
    if (!f) {
        *suggested |= report_unknown_key(r->report, n, t);
        return false;
    }
    return check_key_of_type(r->report, n, t, f, type) && read_value(r, n, f, field_place(out, f), deep);
}

static bool read_members(const reader *r, const node *n, const table *t, void *out, bool deep) {
    memset(out, 0, t->size);
    *(const node **)out = n;
    for (int i = 0; i < t->count; i++) {
        set_default(r, &t->fields[i], field_place(out, &t->fields[i]));
    }
    if (!n) {
        return true;
    }
    if (n->kind != NODE_OBJECT) {
        const char *key = table_shorthand(t, n);
        const field *alone = key ? table_field(t, key) : NULL;
        if (!alone || n->kind == NODE_NULL || n->kind == NODE_FLAG) {
            return wrong_kind(r, n, "an object");
        }
        bool is_type = alone->kind == FIELD_ENUM;
        return read_value(r, n, alone, field_place(out, alone), deep) &&
               (!is_type || check_missing(r->report, n, t, *(const int *)field_place(out, alone), alone, 0));
    }
    int type = type_of(r, n, t);
    const field *type_field = t->type_key ? table_field(t, t->type_key) : NULL;
    if (type_field && type_field->simulated && type >= type_field->simulated) {
        int unused;
        return read_enum(r, node_member(n, t->type_key), type_field, &unused); /* its other keys come later too */
    }
    bool good = true;
    uint64_t suggested = 0;
    for (const node *member = n->first; member; member = member->next) {
        good &= read_member(r, member, t, type, out, deep, &suggested);
    }
    good &= check_missing(r->report, n, t, type, NULL, suggested);
    good &= check_rivals(r->report, n, t, suggested);
    return good;
}

bool read_object(const reader *r, const node *n, const table *t, void *out) {
    return read_members(r, n, t, out, false);
}

bool check_object(const reader *r, const node *n, const table *t) {
    alignas(max_align_t) char scratch[sizeof(instance_data) + sizeof(body_data) + sizeof(scene_data)];
    return read_members(r, n, t, scratch, true);
}
