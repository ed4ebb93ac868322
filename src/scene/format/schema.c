/* The scene format as JSON Schema (2020-12), printed from the table that drives the parser. */
#include "scene/format/keys.h"
#include "scene/format/tables/fields.h"
#include "scene/json/text.h"

#include <math.h>
#include <sim/scene.h>
#include <string.h>

static void add_range_keywords(text *t, const range *r) {
    if (r->has_low) {
        text_add(t, ", \"%s\": ", r->above_low ? "exclusiveMinimum" : "minimum");
        text_add_number(t, r->low);
    }
    if (r->has_high) {
        text_add(t, ", \"maximum\": ");
        text_add_number(t, r->high);
    }
}

/* Without those of the set `left_out`, one bit each. */
static void add_enum_names(text *t, const field *f, unsigned left_out) {
    bool any = false;
    text_add(t, "\"enum\": [");
    for (int i = 0; f->name_of(i) && !(f->simulated && i >= f->simulated); i++) {
        if (!(left_out & 1u << i)) {
            text_add(t, "%s\"%s\"", any ? ", " : "", f->name_of(i));
            any = true;
        }
    }
    text_add(t, "]");
}

/* Those that are no names of the list are a name with options behind it. */
static void add_names_with_settings(text *t, const field *f) {
    text_add(t, "\"anyOf\": [{");
    add_enum_names(t, f, 0);
    text_add(t, "}, {\"type\": \"string\", \"pattern\": \"^(");
    for (int i = 0; f->name_of(i); i++) {
        text_add(t, "%s%s", i ? "|" : "", f->name_of(i));
    }
    text_add(t, ")([:,][a-z_]+=[^:,=]+)+$\"}]");
}

static void add_number(text *t, const field *f) {
    text_add(t, "\"type\": \"%s\"", f->kind == FIELD_INTEGER || f->integers ? "integer" : "number");
    add_range_keywords(t, &f->range);
}

static void add_array(text *t, const field *f, int least, int most) {
    text_add(t, "\"type\": \"array\", \"minItems\": %d", least);
    if (most) {
        text_add(t, ", \"maxItems\": %d", most);
    }
    text_add(t, ", \"items\": {");
    add_number(t, f);
    text_add(t, "}");
}

static void add_rows(text *t, const field *f) {
    text_add(t, "\"anyOf\": [{");
    add_array(t, f, f->count, f->count);
    text_add(t, "}, {\"type\": \"array\", \"minItems\": 1, \"items\": {");
    add_array(t, f, f->count, f->count);
    text_add(t, "}}]");
}

static void add_name(text *t, const field *f) {
    const char *star = f->kind == FIELD_PATTERN ? "" : "*";
    text_add(t, "\"type\": \"string\", \"minLength\": %d, \"maxLength\": 128, ", f->kind == FIELD_PREFIX ? 0 : 1);
    text_add(t, "\"pattern\": \"^[^/%s,\\\"\\\\\\\\\\\\u0000-\\\\u001f\\\\u007f]*$\"", star);
}

static void add_formula(text *t, const field *f) {
    if (f->count > 1) {
        text_add(t, "\"type\": \"array\", \"minItems\": %d, \"maxItems\": %d, ", f->count, f->count);
        text_add(t, "\"items\": {\"type\": [\"string\", \"number\"]}");
    } else {
        text_add(t, "\"type\": \"string\"");
    }
}

static void add_all_names(text *t, const field *f) { add_enum_names(t, f, 0); }

/* The schema keywords of a value. */
static void add_value_keywords(text *t, const field *f) {
    switch (f->kind) {
    case FIELD_TEXT:
        text_add(t, "\"type\": \"string\"");
        break;
    case FIELD_NAME:
    case FIELD_PREFIX:
    case FIELD_PATTERN:
        add_name(t, f);
        break;
    case FIELD_FLAG:
        text_add(t, "\"type\": \"boolean\"");
        break;
    case FIELD_INTEGER:
    case FIELD_NUMBER:
        add_number(t, f);
        break;
    case FIELD_ENUM:
        (f->settings ? add_names_with_settings : add_all_names)(t, f);
        break;
    case FIELD_ENUMS:
        text_add(t, "\"type\": \"array\", \"items\": {");
        add_enum_names(t, f, 0);
        text_add(t, "}");
        break;
    case FIELD_VECTOR:
        add_array(t, f, f->count_least ? f->count_least : f->count, f->count);
        break;
    case FIELD_NUMBERS:
        text_add(t, "\"anyOf\": [{");
        add_number(t, f);
        text_add(t, "}, {");
        add_array(t, f, 1, f->count);
        text_add(t, "}]");
        break;
    case FIELD_ROWS:
        add_rows(t, f);
        break;
    case FIELD_FORMULA:
        add_formula(t, f);
        break;
    case FIELD_OBJECT:
        text_add(t, "\"$ref\": \"#/$defs/%s\"", f->table->name);
        break;
    case FIELD_OBJECTS:
        text_add(t, "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/%s\"}", f->table->name);
        break;
    case FIELD_MAP:
        text_add(t, "\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/%s\"}, ", f->table->name);
        text_add(t, "\"properties\": {\"comment\": {\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/%s\"}]}}",
                 f->table->name);
        break;
    case FIELD_VALUES:
        text_add(t, "\"type\": \"object\"");
        break;
    case FIELD_LIST:
        text_add(t, "\"type\": \"array\", \"minItems\": 1");
        break;
    }
}

static void add_property(text *t, const field *f) {
    text_add(t, "        \"%s\": {", f->key);
    add_value_keywords(t, f);
    if (f->standard) {
        text_add(t, ", \"default\": %s", f->standard);
    }
    text_add(t, ", \"description\": ");
    text_add_quoted(t, f->help);
    if (f->unit) {
        text_add(t, ", \"$comment\": \"unit: %s\"", f->unit);
    }
    text_add(t, "},\n");
}

static void add_required(text *t, const table *tab, unsigned type_bit) {
    bool any = false;
    for (int i = 0; i < tab->count; i++) {
        const field *f = &tab->fields[i];
        if (type_bit ? (f->needed_by & type_bit) != 0 : f->required) {
            text_add(t, "%s\"%s\"", any ? ", " : "", f->key);
            any = true;
        }
    }
}

/* For each value of the type key: required keys, and keys that it excludes. */
static void add_type_rules(text *t, const table *tab, bool *any) {
    const field *type = NULL;
    for (int i = 0; tab->type_key && i < tab->count; i++) {
        type = strcmp(tab->fields[i].key, tab->type_key) == 0 ? &tab->fields[i] : type;
    }
    for (int v = 0; type && type->name_of(v) && !(type->simulated && v >= type->simulated); v++) {
        text_add(t, "%s\n        {\"if\": {\"properties\": {\"%s\": {\"const\": \"%s\"}}, \"required\": [\"%s\"]},",
                 *any ? "," : "", type->key, type->name_of(v), type->key);
        *any = true;
        text_add(t, "\n         \"then\": {\"required\": [");
        add_required(t, tab, 1u << v);
        text_add(t, "], \"properties\": {");
        bool first = true;
        for (int i = 0; i < tab->count; i++) {
            const field *f = &tab->fields[i];
            if (f->only && !(f->only & 1u << v)) {
                text_add(t, "%s\"%s\": false", first ? "" : ", ", f->key);
                first = false;
            }
        }
        text_add(t, "}}}");
    }
}

static void add_rival_rules(text *t, const table *tab, bool *any) {
    /* no two keys of a group */
    for (int i = 0; i < tab->count; i++) {
        for (int k = 0; k < i; k++) {
            if (tab->fields[i].rival && tab->fields[i].rival == tab->fields[k].rival) {
                text_add(t, "%s\n        {\"not\": {\"required\": [\"%s\", \"%s\"]}}", *any ? "," : "",
                         tab->fields[k].key, tab->fields[i].key);
                *any = true;
            }
        }
    }
    /* at least one key of each group that the table needs */
    for (int rival = 1; rival < 8; rival++) {
        if (!(tab->rivals_needed & 1u << rival)) {
            continue;
        }
        text_add(t, "%s\n        {\"anyOf\": [", *any ? "," : "");
        *any = true;
        bool first = true;
        for (int i = 0; i < tab->count; i++) {
            if (tab->fields[i].rival == rival) {
                text_add(t, "%s{\"required\": [\"%s\"]}", first ? "" : ", ", tab->fields[i].key);
                first = false;
            }
        }
        text_add(t, "]}");
    }
}

static void add_solver_option(text *t, const sim_solver_option *o) {
    text_add(t, "\"%s\": {", o->name);
    if (o->choices) {
        text_add(t, "\"enum\": [");
        for (int k = 0; o->choices[k]; k++) {
            text_add(t, "%s\"%s\"", k ? ", " : "", o->choices[k]);
        }
        text_add(t, "], \"default\": \"%s\"", o->choices[(int)o->default_value]);
    } else {
        range r = {.has_low = true, .has_high = isfinite(o->high), .low = o->low, .high = o->high};
        text_add(t, "\"type\": \"%s\"", o->integer ? "integer" : "number");
        add_range_keywords(t, &r);
        text_add(t, ", \"default\": ");
        text_add_number(t, o->default_value);
    }
    text_add(t, ", \"description\": ");
    text_add_quoted(t, o->help);
    text_add(t, "}, ");
}

/* The keys of solver_options for each solver; those of the default solver also where none is named. */
static void add_solver_rules(text *t, bool *any) {
    const char *standard = table_field(&table_world, "solver")->standard;
    for (int k = 0; k < sim_solver_count(); k++) {
        const sim_solver_info *info = sim_solver_at(k);
        bool named = strncmp(standard + 1, info->name, strlen(standard) - 2) != 0;
        text_add(t, "%s\n        {\"if\": {\"properties\": {\"solver\": {\"pattern\": \"^%s([:,]|$)\"}}%s},",
                 *any ? "," : "", info->name, named ? ", \"required\": [\"solver\"]" : "");
        *any = true;
        text_add(t, "\n         \"then\": {\"properties\": {\"solver_options\": {\"properties\": {");
        for (int i = 0; i < info->noptions; i++) {
            add_solver_option(t, &info->option[i]);
        }
        text_add(t, "\"comment\": {\"type\": \"string\"}}, \"additionalProperties\": false}}}}");
    }
}

static void add_object(text *t, const table *tab) {
    text_add(t, "\n      \"type\": \"object\",\n      \"properties\": {\n");
    for (int i = 0; i < tab->count; i++) {
        add_property(t, &tab->fields[i]);
    }
    text_add(t, "        \"comment\": {\"type\": \"string\", \"description\": \"Not read.\"}\n      },\n");
    text_add(t, "      \"additionalProperties\": false,\n      \"required\": [");
    add_required(t, tab, 0);
    text_add(t, "],\n      \"allOf\": [");
    bool any = false;
    add_type_rules(t, tab, &any);
    add_rival_rules(t, tab, &any);
    if (tab == &table_world) {
        add_solver_rules(t, &any);
    }
    text_add(t, "%s]", any ? "\n      " : "{}");
}

/* The value that stands for a whole object; a type that needs more keys cannot stand alone. */
static void add_shorthand(text *t, const table *tab, const char *key) {
    unsigned needy = 0;
    for (int i = 0; i < tab->count; i++) {
        needy |= tab->fields[i].needed_by;
    }
    for (int i = 0; i < tab->count; i++) {
        const field *f = &tab->fields[i];
        if (strcmp(f->key, key) == 0 && f->kind == FIELD_ENUM) {
            add_enum_names(t, f, needy);
        } else if (strcmp(f->key, key) == 0) {
            add_value_keywords(t, f);
        }
    }
}

static void add_definition(text *t, const table *tab) {
    text_add(t, "    \"%s\": {\n      \"description\": ", tab->name);
    text_add_quoted(t, tab->help);
    text_add(t, ",");
    if (tab->shorthand) {
        text_add(t, "\n      \"anyOf\": [{");
        add_shorthand(t, tab, tab->shorthand);
        text_add(t, "}, {");
        if (tab->text_stands_for) {
            add_shorthand(t, tab, tab->text_stands_for);
            text_add(t, "}, {");
        }
        add_object(t, tab);
        text_add(t, "}]");
    } else {
        add_object(t, tab);
    }
    text_add(t, "\n    }");
}

char *sim_scene_schema(void) {
    text t = {0};
    text_add(&t, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                 "  \"title\": \"Scene of sim, version 1\",\n  \"$ref\": \"#/$defs/scene\",\n  \"$defs\": {\n");
    for (int i = 0; all_tables[i]; i++) {
        add_definition(&t, all_tables[i]);
        text_add(&t, all_tables[i + 1] ? ",\n" : "\n");
    }
    text_add(&t, "  }\n}\n");
    return text_take(&t);
}
