/* The reference page of the scene format, printed from the table that drives the parser. */
#include "base/words.h"
#include "scene/format/tables/fields.h"
#include "scene/format/tables/table_words.h"
#include "scene/json/document.h"
#include "scene/json/text.h"

#include <math.h>
#include <sim/scene.h>
#include <stdint.h>
#include <string.h>

static const char introduction[] =
    "# Scenes\n"
    "\n"
    "This page and the JSON Schema `scenes/scene.schema.json` are printed from the table that drives the parser "
    "(`src/scene/format/tables/tables.c`). A scene is one JSON file:\n"
    "\n"
    "```json\n"
    "{\n"
    "  \"sim\": 1,\n"
    "  \"bodies\": [\n"
    "    {\"name\": \"ball\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 1]},\n"
    "     \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"density\": 1000}],\n"
    "     \"v\": [2, 0, 3, 0, 0, 0]}\n"
    "  ]\n"
    "}\n"
    "```\n"
    "\n"
    "## General rules\n"
    "\n"
    "* SI units; angles in radians; right-handed frames, z up; quaternions (w, x, y, z) from body axes to outer axes. "
    "A key that ends in `_deg` takes degrees in place of its neighbour; for joints whose coordinates are all angles.\n"
    "* Unknown or misplaced keys, words of other formats and values out of range are errors, up to 20 of a file at "
    "once: `scene.json:42:17: error: /bodies/3/inertia: ...`. A `warning:` does not prevent loading.\n"
    "* Every object may hold a `comment`, which is ignored.\n"
    "* A body and its joint share one name; a joint may have another one besides. Names are unique, without `/`, `*`, "
    "comma, quote or backslash.\n"
    "* A body is at its `pose` in its parent when all coordinates of its joint are zero. Without a `joint` it is fixed "
    "to its parent. The pose of a free body is its initial pose. Pose, coordinates and velocity of a free body are "
    "relative to its named parent, to the instance, or to the world.\n"
    "* Mass properties follow from `inertia`, or from shapes with a `density` or a `mass`; not from both.\n"
    "* Names in a model refer to the model, and get the prefix of the instance: the body `tip` of an instance with the "
    "prefix `left_` is `left_tip`. With `repeat` and the prefix `link` the copies are `link0_tip`, `link1_tip`, ...\n"
    "* `--set PATH=VALUE` replaces any value before the scene is read: `--set world/step=0.002`, `--set "
    "bodies/arm/joint/damping=0.1`. Elements of arrays are given by name or by number from 0, a body by the name of "
    "its joint, too. A nameless actuator or load is given by its joint or body, a constraint by its first body, an "
    "instance by its prefix or model.\n";

static void add_limits(text *t) {
    text_add(t,
             "* A file has at most %d MiB, %d values and a nesting of %d; a scene at most 1,000,000 bodies and copies "
             "of models, 1,000 materials and 1,000 files. Copies nest at most 32 deep. Files of meshes have at most "
             "4 GiB together, the surface of an `sdf` some nine million triangles. Sizes lie between 1e-12 and 1e9 m, "
             "coordinates of points within 1e9 m, those of bodies within 1e15 m.\n\n",
             DOCUMENT_MAX_BYTES >> 20, DOCUMENT_MAX_VALUES, DOCUMENT_MAX_DEPTH);
}

/* A link to the section of a table.  Anchors have hyphens where titles have spaces. */
static void add_link(text *t, const table *to) {
    text_add(t, "[%s](#", to->name);
    for (const char *c = to->name; *c; c++) {
        text_add(t, "%c", *c == ' ' ? '-' : *c);
    }
    text_add(t, ")");
}

static void add_names(text *t, const field *f, int from, int to) {
    for (int i = from; i < to && f->name_of(i); i++) {
        text_add(t, "%s`%s`", i > from ? ", " : "", f->name_of(i));
    }
}

/* Bounds that only keep arithmetic finite stand in the general rules. */
static bool is_technical(double bound) { return fabs(bound) == 1e9 || fabs(bound) == 1e15; }

static void print_range(text *t, const range *r) {
    if (r->has_high && is_technical(r->high)) {
        if (!is_technical(r->low)) {
            text_add(t, r->low == MIN_LENGTH ? ", above 0" : ", at least %g", r->low);
        }
    } else if (r->has_low && r->has_high && r->low == r->high) {
        text_add(t, ", ");
        text_add_number(t, r->low);
    } else if (r->has_low && r->has_high) {
        text_add(t, r->above_low ? ", above " : ", from ");
        text_add_number(t, r->low);
        text_add(t, " to ");
        text_add_number(t, r->high);
    } else if (r->has_low) {
        text_add(t, r->above_low ? ", above " : ", at least ");
        text_add_number(t, r->low);
    }
}

static void print_numbers(text *t, const field *f) {
    if (f->kind == FIELD_NUMBERS && !f->count) {
        text_add(t, "1 or more numbers");
        return;
    }
    int least = f->kind == FIELD_NUMBERS ? 1 : f->count_least;
    if (least) {
        text_add(t, f->kind == FIELD_NUMBERS ? "%d to " : "%d or ", least);
    }
    text_add(t, "%d %s%s", f->count, f->integers ? "integers" : "numbers",
             f->kind == FIELD_ROWS ? ", or rows of them" : "");
}

/* The column "value" of a key: kind, number of elements, range. */
static void print_value(text *t, const field *f) {
    int simulated = f->simulated ? f->simulated : 1000;
    switch (f->kind) {
    case FIELD_TEXT:
        text_add(t, "text");
        break;
    case FIELD_NAME:
    case FIELD_PREFIX:
        text_add(t, "name");
        break;
    case FIELD_PATTERN:
        text_add(t, "name or pattern");
        break;
    case FIELD_FLAG:
        text_add(t, "boolean");
        break;
    case FIELD_INTEGER:
        text_add(t, "integer");
        break;
    case FIELD_NUMBER:
        text_add(t, "number");
        break;
    case FIELD_ENUM:
        add_names(t, f, 0, simulated);
        break;
    case FIELD_ENUMS:
        text_add(t, "array of ");
        add_names(t, f, 0, simulated);
        break;
    case FIELD_VECTOR:
    case FIELD_NUMBERS:
    case FIELD_ROWS:
        print_numbers(t, f);
        break;
    case FIELD_FORMULA:
        text_add(t, f->count > 1 ? "%d formulas" : "formula", f->count);
        break;
    case FIELD_OBJECT:
        add_link(t, f->table);
        break;
    case FIELD_OBJECTS:
        text_add(t, "array of ");
        add_link(t, f->table);
        break;
    case FIELD_MAP:
        text_add(t, "names to ");
        add_link(t, f->table);
        break;
    case FIELD_VALUES:
        text_add(t, "names to values");
        break;
    case FIELD_LIST:
        text_add(t, "array of values");
        break;
    }
    print_range(t, &f->range);
}

static const field *type_of(const table *tab) {
    for (int i = 0; tab->type_key && i < tab->count; i++) {
        if (strcmp(tab->fields[i].key, tab->type_key) == 0) {
            return &tab->fields[i];
        }
    }
    return NULL;
}

/* " Only of `a`, `b`.", or where that is shorter " Not of `c`." */
static void print_types(text *t, const table *tab, const field *f) {
    const field *type = type_of(tab);
    int with = 0, without = 0;
    for (int v = 0; type && f->only && type->name_of(v); v++) {
        *(f->only & 1u << v ? &with : &without) += 1;
    }
    bool negated = without < with;
    bool any = false;
    for (int v = 0; with && type->name_of(v); v++) {
        if (!(f->only & 1u << v) == negated) {
            text_add(t, "%s`%s`", any ? ", " : negated ? " Not of " : " Only of ", type->name_of(v));
            any = true;
        }
    }
    if (any) {
        text_add(t, ".");
    }
}

/* `angle_deg` after `angle`: the same in degrees. */
static bool in_degrees(const table *tab, int i) {
    size_t length = i > 0 ? strlen(tab->fields[i - 1].key) : 0;
    return length && strncmp(tab->fields[i].key, tab->fields[i - 1].key, length) == 0 &&
           strcmp(tab->fields[i].key + length, "_deg") == 0;
}

static void add_field(text *t, const table *tab, int i) {
    const field *f = &tab->fields[i];
    /* key, value, default */
    text_add(t, "| `%s`", f->key);
    if (i + 1 < tab->count && in_degrees(tab, i + 1)) {
        text_add(t, ", `%s`", tab->fields[i + 1].key);
    }
    text_add(t, " | ");
    print_value(t, f);
    text_add(t, f->unit ? " [%s] | " : " | ", f->unit);
    if (f->required || (f->needed_by && !f->rival)) {
        text_add(t, "**required**");
    } else if (f->standard) {
        text_add(t, "`%s`", f->standard);
    }
    /* meaning */
    text_add(t, " | %s", f->help);
    print_types(t, tab, f);
    if (f->simulated && f->name_of(f->simulated)) {
        text_add(t, " *Refused, as not simulated yet:* ");
        add_names(t, f, f->simulated, 1000);
        text_add(t, ".");
    }
    text_add(t, " |\n");
}

static bool same_field(const field *a, const field *b) {
    return strcmp(a->key, b->key) == 0 && a->kind == b->kind && a->count == b->count && a->table == b->table &&
           a->required == b->required && !a->only && !b->only && same_text(a->unit, b->unit) &&
           same_text(a->standard, b->standard) && same_text(a->help, b->help);
}

/* Bit i: key i stands in table `other` in the same words. */
static uint64_t shared_fields(const table *tab, const table *other) {
    uint64_t shared = 0;
    for (int i = 0; i < tab->count && i < 64; i++) {
        for (int k = 0; k < other->count; k++) {
            shared |= (uint64_t)same_field(&tab->fields[i], &other->fields[k]) << i;
        }
    }
    return shared;
}

/* The earlier table that shares most keys with tables[at], and those keys; a single key is no reason to turn back. */
static const table *find_twin(const table *const *tables, int at, uint64_t *shared) {
    const table *twin = NULL;
    int most = 1;
    *shared = 0;
    for (int i = 0; i < at; i++) {
        uint64_t found = shared_fields(tables[at], tables[i]);
        if (__builtin_popcountll(found) > most) {
            most = __builtin_popcountll(found);
            twin = tables[i];
            *shared = found;
        }
    }
    return twin;
}

static void print_shared(text *t, const table *tab, const table *twin, uint64_t shared) {
    bool any = false;
    for (int i = 0; i < tab->count; i++) {
        if (shared >> i & 1) {
            text_add(t, "%s`%s`", any ? ", " : "\n", tab->fields[i].key);
            any = true;
        }
    }
    text_add(t, ": as in ");
    add_link(t, twin);
    text_add(t, ".\n");
}

/* A key and the same in degrees are one row and no rivals. */
static void print_rivals(text *t, const table *tab) {
    for (int rival = 1; rival < 8; rival++) {
        const char *first = NULL;
        int count = 0;
        bool needed = tab->rivals_needed >> rival & 1, by_type = false;
        for (int i = 0; i < tab->count; i++) {
            by_type |= tab->fields[i].rival == rival && tab->fields[i].needed_by;
        }
        needed |= by_type;
        for (int i = 0; i < tab->count; i++) {
            if (tab->fields[i].rival != rival || in_degrees(tab, i)) {
                continue;
            }
            if (count == 0) {
                first = tab->fields[i].key;
            } else if (count == 1) {
                text_add(t, "\n%s one of `%s`, `%s`", needed ? "Exactly" : "At most", first, tab->fields[i].key);
            } else {
                text_add(t, ", `%s`", tab->fields[i].key);
            }
            count++;
        }
        if (count > 1) {
            text_add(t, by_type ? " is given, of those that the type has.\n" : " is given.\n");
        }
    }
}

void reference_add_table(text *t, const table *const *tables, int at) {
    const table *tab = tables[at];
    uint64_t shared;
    const table *twin = find_twin(tables, at, &shared);
    text_add(t, "## %s\n\n%s\n\n| key | value | default | meaning |\n|---|---|---|---|\n", tab->name, tab->help);
    for (int i = 0; i < tab->count; i++) {
        if (!in_degrees(tab, i) && !(i < 64 && shared >> i & 1)) {
            add_field(t, tab, i);
        }
    }
    if (twin) {
        print_shared(t, tab, twin, shared);
    }
    print_rivals(t, tab);
    text_add(t, "\n");
}

/* ---- solvers ---- */

/* The page of a solver is that of its family: mncp-rlm stands in solvers/mncp.md. */
static void add_solver(text *t, const sim_solver_info *info) {
    text_add(t, "| [`%s`](solvers/%.*s.md) | %s (%s) | %s | %s |\n", info->name, (int)strcspn(info->name, "-"),
             info->name, info->method, info->paper, sim_cone_name(info->cone), sim_compliance_name(info->default_law));
}

static void print_solver_options(text *t) {
    text_add(t,
             "## solver_options\n\nThe page of a solver has its options; `sim --list-solvers` prints all. Options are "
             "given here, or after the name of the solver: `\"pgs:max_iterations=100,tolerance=1e-8\"`, as in "
             "`--solver` of every command.\n\n| solver | method | law | compliance |\n|---|---|---|---|\n");
    for (int k = 0; k < sim_solver_count(); k++) {
        if (!sim_solver_at(k)->study) {
            add_solver(t, sim_solver_at(k));
        }
    }
    text_add(t, "\n");
}

char *sim_scene_reference(void) {
    text t = {0};
    text_add(&t, "%s", introduction);
    add_limits(&t);
    for (int i = 0; all_tables[i]; i++) {
        reference_add_table(&t, all_tables, i);
        if (all_tables[i] == &table_law) {
            print_solver_options(&t);
        }
    }
    t.length -= t.length > 0; /* the empty line at the end */
    if (t.start) {
        t.start[t.length] = 0;
    }
    return text_take(&t);
}
