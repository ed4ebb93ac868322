/* The reference page of the scene format, printed from the table that drives the parser. */
#include "scene/format/fields.h"
#include "scene/json/document.h"
#include "scene/json/text.h"

#include <math.h>
#include <sim/scene.h>
#include <string.h>

static const char introduction[] =
    "# Scenes\n\nThis page is printed from the table that drives the parser "
    "(`src/scene/format/tables.c`).\n`scenes/scene.schema.json` is the same as a JSON Schema, for completion and "
    "checks in editors.\n\nA scene is one JSON file. A minimal example:\n\n```json\n{\n  \"sim\": 1,\n  \"bodies\": "
    "[\n    {\"name\": \"ball\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 1]},\n     \"shapes\": "
    "[{\"type\": \"sphere\", \"radius\": 0.1, \"density\": 1000}],\n     \"v\": [2, 0, 3, 0, 0, 0]}\n  ]\n}\n```\n\n## "
    "General rules\n\n* SI units; angles in radians (keys that end in `_deg` take degrees); right-handed frames, z up; "
    "quaternions (w, x, y, z) from body axes to outer axes.\n* Nothing is ignored. Unknown or misplaced keys, values "
    "out of range and properties that are not simulated are errors, with their place: `scene.json:42:17: error: "
    "/bodies/3/inertia: ...`. Up to 20 errors of a file are reported together. A `warning:`, as for an open mesh, does "
    "not prevent loading.\n* Words of other formats (`revolute`, `limits`, `mu`, `mass` of a body ...) are errors, "
    "too; the message gives the term of this format.\n* Every object may hold a `comment`, which is ignored.\n* A body "
    "and its joint share one name; a joint may have another one besides. Names are unique, without `/`, `*`, comma, "
    "quote or backslash.\n* A body is at its "
    "`pose` in its parent when all coordinates of its joint are zero. The pose of a free body is its initial pose; its "
    "coordinates are those of the world (or of the body that it names as parent). Its velocity `v` is that of its "
    "origin in world axes, then the angular velocity in body axes. In a model both are relative to the pose of the "
    "instance.\n* Without a `joint` the body is fixed to its parent.\n* Mass properties follow from `inertia`, or from "
    "shapes with a `density` or a `mass`; not from both.\n* Names of bodies in a model get the prefix of the instance: "
    "the body `tip` of an instance with the prefix `left_` is `left_tip`. With `repeat` and the prefix `link` the "
    "copies are `link0_tip`, `link1_tip`, ...\n* Names in a model refer to the model. There `world`, the parent of its "
    "roots, is the `parent` and `pose` of the instance.\n* `--set PATH=VALUE` on the command line replaces any value "
    "before the scene is read: `--set world/step=0.002`, `--set bodies/arm/joint/damping=0.1`. Elements of arrays are "
    "given by name or by number from 0. Without a name an actuator is given by its joint, a load by its body or joint. "
    "A constraint is given by its first body, an instance by its prefix or model.\n* Shapes give bodies mass, contacts "
    "and a "
    "picture. `\"contacts\": false` in `world` switches contacts off; the integrator `rk4` requires that where shapes "
    "could touch.\n\n";

static void add_limits(text *t) {
    text_add(
        t,
        "* Limits: a file has at most %d MiB, %d values and a nesting of %d. A scene has at most 1,000,000 bodies "
        "and copies of models, 1,000 materials and 1,000 files. Copies nest at most 32 deep. Files of meshes have at "
        "most 4 GiB together (tens of millions of triangles). The surface of an `sdf` has "
        "at most some nine million triangles, fewer for fields of many parts; all solids of a scene together take "
        "minutes at most. A geometry is built once for all shapes and copies of models that use it.\n\n",
        DOCUMENT_MAX_BYTES >> 20, DOCUMENT_MAX_VALUES, DOCUMENT_MAX_DEPTH);
}

static void add_names(text *t, const field *f, int from, int to) {
    for (int i = from; i < to && f->name_of(i); i++) {
        text_add(t, "%s`%s`", i > from ? ", " : "", f->name_of(i));
    }
}

static void print_range(text *t, const range *r) {
    if (r->has_low && r->has_high && r->low == r->high) {
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
        text_add(t, "true or false");
        break;
    case FIELD_INTEGER:
        text_add(t, "whole number");
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
        if (f->count_least) {
            text_add(t, "%d or ", f->count_least);
        }
        text_add(t, "%d %s", f->count, f->integers ? "whole numbers" : "numbers");
        break;
    case FIELD_NUMBERS:
        text_add(t, f->count ? "number, or array of up to %d" : "number, or array of %d and more",
                 f->count ? f->count : 1);
        break;
    case FIELD_ROWS:
        text_add(t, "%d numbers, or array of such", f->count);
        break;
    case FIELD_FORMULA:
        text_add(t, f->count > 1 ? "%d formulas" : "formula", f->count);
        break;
    case FIELD_OBJECT:
        text_add(t, "[%s](#%s)", f->table->name, f->table->name);
        break;
    case FIELD_OBJECTS:
        text_add(t, "array of [%s](#%s)", f->table->name, f->table->name);
        break;
    case FIELD_MAP:
        text_add(t, "names to [%s](#%s)", f->table->name, f->table->name);
        break;
    case FIELD_VALUES:
        text_add(t, "names to values");
        break;
    }
    print_range(t, &f->range);
}

static void print_types(text *t, const table *tab, const field *f) {
    const field *type = NULL;
    for (int i = 0; tab->type_key && i < tab->count; i++) {
        type = strcmp(tab->fields[i].key, tab->type_key) == 0 ? &tab->fields[i] : type;
    }
    if (!type || !f->only) {
        return;
    }
    bool any = false;
    text_add(t, " Only of ");
    for (int v = 0; type->name_of(v); v++) {
        if (f->only & 1u << v) {
            text_add(t, "%s`%s`", any ? ", " : "", type->name_of(v));
            any = true;
        }
    }
    text_add(t, ".");
}

static void add_field(text *t, const table *tab, const field *f) {
    text_add(t, "| `%s` | ", f->key);
    print_value(t, f);
    text_add(t, " | %s | ", f->unit ? f->unit : "");
    if (f->required || f->needed_by) {
        text_add(t, "**required**");
    } else if (f->standard) {
        text_add(t, "`%s`", f->standard);
    }
    text_add(t, " | %s", f->help);
    print_types(t, tab, f);
    if (f->simulated && f->name_of(f->simulated)) {
        text_add(t, " *Refused, as not simulated yet:* ");
        add_names(t, f, f->simulated, 1000);
        text_add(t, ".");
    }
    text_add(t, " |\n");
}

static void print_rivals(text *t, const table *tab) {
    for (int rival = 1; rival < 8; rival++) {
        int count = 0;
        for (int i = 0; i < tab->count; i++) {
            if (tab->fields[i].rival == rival) {
                bool needed = tab->rivals_needed & 1u << rival;
                text_add(t, "%s`%s`",
                         count    ? ", "
                         : needed ? "\nExactly one of "
                                  : "\nAt most one of ",
                         tab->fields[i].key);
                count++;
            }
        }
        if (count) {
            text_add(t, " is given.\n");
        }
    }
}

static void add_table(text *t, const table *tab) {
    text_add(t, "## %s\n\n%s\n\n| key | value | unit | default | meaning |\n|---|---|---|---|---|\n", tab->name,
             tab->help);
    for (int i = 0; i < tab->count; i++) {
        add_field(t, tab, &tab->fields[i]);
    }
    print_rivals(t, tab);
    text_add(t, "\n");
}

/* ---- solvers ---- */

static void add_solver_value(text *t, const sim_solver_option *o) {
    for (int k = 0; o->choices && o->choices[k]; k++) {
        text_add(t, "%s`%s`", k ? ", " : "", o->choices[k]);
    }
    if (!o->choices) {
        range r = {.has_low = true, .has_high = isfinite(o->high), .low = o->low, .high = o->high};
        text_add(t, o->integer ? "whole number" : "number");
        print_range(t, &r);
    }
}

static void add_solver(text *t, const sim_solver_info *info) {
    /* heading with method, paper, law */
    text_add(t, "### %s\n\nMethod: %s (%s). Law: %s. Default compliance: %s.\n\n", info->name, info->method,
             info->paper, sim_cone_name(info->cone), sim_compliance_name(info->default_law));
    /* one row for each option that is not for studies alone */
    int shown = 0;
    for (int k = 0; k < info->noptions; k++) {
        shown += !info->option[k].study;
    }
    if (shown) {
        text_add(t, "| key | value | default | meaning |\n|---|---|---|---|\n");
    }
    for (int k = 0; k < info->noptions; k++) {
        const sim_solver_option *o = &info->option[k];
        if (o->study) {
            continue;
        }
        text_add(t, "| `%s` | ", o->name);
        add_solver_value(t, o);
        text_add(t, " | `");
        if (o->choices) {
            text_add(t, "\"%s\"", o->choices[(int)o->default_value]);
        } else {
            text_add_number(t, o->default_value);
        }
        text_add(t, "` | %s |\n", o->help);
    }
    text_add(t, shown ? "\n" : "");
}

static void print_solver_options(text *t) {
    text_add(
        t, "## solver_options\n\nContact solvers and their options. `sim --list-solvers` prints the same, and with "
           "`--study` also options for experiments with a method. Options are given here, or after the name of the "
           "solver: `\"pgs:max_iterations=100,tolerance=1e-8\"`. `--solver` takes the same text in every command.\n\n");
    for (int k = 0; k < sim_solver_count(); k++) {
        add_solver(t, sim_solver_at(k));
    }
}

char *sim_scene_reference(void) {
    text t = {0};
    text_add(&t, "%.*s", (int)sizeof introduction - 2, introduction);
    add_limits(&t);
    for (int i = 0; all_tables[i]; i++) {
        add_table(&t, all_tables[i]);
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
