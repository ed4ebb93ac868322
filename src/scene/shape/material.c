/* Materials of a scene, and pairs of materials, for the builder. */
#include "base/nearest.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <string.h>

static sim_material material_from(const material_data *d) {
    sim_material m = sim_material_default();
    m.name = d->name;
    m.friction = d->friction.count ? d->friction.value[0] : m.friction;
    m.friction_across = d->friction.count > 1 ? d->friction.value[1] : 0;
    m.stiffness = node_member(d->at, "stiffness") ? d->stiffness : m.stiffness;
    m.modulus = node_member(d->at, "modulus") ? d->modulus : m.modulus;
    m.dissipation = node_member(d->at, "dissipation") ? d->dissipation : m.dissipation;
    m.restitution = node_member(d->at, "restitution") ? d->restitution : m.restitution;
    m.torsion = node_member(d->at, "torsion") ? d->torsion : m.torsion;
    m.rolling = node_member(d->at, "rolling") ? d->rolling : m.rolling;
    m.adhesion = node_member(d->at, "adhesion") ? d->adhesion : m.adhesion;
    m.adhesion_range = node_member(d->at, "adhesion_range") ? d->adhesion_range : m.adhesion_range;
    return m;
}

static const material_entry *find_material(const document *d, const char *name) {
    for (const material_entry *m = d->materials; m; m = m->next) {
        if (strcmp(m->name, name) == 0) {
            return m;
        }
    }
    return NULL;
}

static bool same_surface(const sim_material *a, const sim_material *b) {
    return a->friction == b->friction && a->friction_across == b->friction_across && a->stiffness == b->stiffness &&
           a->modulus == b->modulus && a->dissipation == b->dissipation && a->restitution == b->restitution &&
           a->torsion == b->torsion && a->rolling == b->rolling && a->adhesion == b->adhesion &&
           a->adhesion_range == b->adhesion_range;
}

/* The same name in two files must mean the same thing. */
static const material_entry *find_elsewhere(loader *l, const document *d, const material_data *data) {
    for (const document *other = l->documents; other; other = other->next) {
        const material_entry *twin = other == d ? NULL : find_material(other, data->name);
        if (twin && twin->index >= 0) {
            sim_material a = material_from(data), b = material_from(&twin->data);
            if (!same_surface(&a, &b)) {
                char place[256];
                report_name_place(twin->data.at, place, sizeof place);
                report_once(&l->report, data->at, NULL, "the material \"%.80s\" differs from the one at %s", data->name,
                            place);
            }
            return twin;
        }
    }
    return NULL;
}

/* Friction of two numbers, or one or both 0, has no ellipse. */
static bool check_friction(loader *l, const material_data *d) {
    const number_list *mu = &d->friction;
    if (mu->count < 2 || (mu->value[0] > 0 && mu->value[1] > 0)) {
        return true;
    }
    report_once(&l->report, node_member(d->at, "friction"), NULL,
                "friction that depends on direction needs two numbers above 0, not [%g, %g]", mu->value[0],
                mu->value[1]);
    return false;
}

/* A material with an error is listed too, with the index -1, so that a reference to it is no second error. */
static void add_material(loader *l, document *d, const node *n) {
    /* name */
    material_data data;
    bool good = loader_read(l, n, &table_material, &data);
    if (!data.name) {
        d->unnamed_material = true;
        return;
    }
    if (find_material(d, data.name)) {
        report_once(&l->report, node_member(n, "name"), NULL, "there is a material \"%.80s\" already", data.name);
        return;
    }
    /* limit */
    if (++l->materials > MAX_MATERIALS) {
        report_value(&l->report, n, NULL, "more than %d materials", MAX_MATERIALS);
        l->stopped = true;
        return;
    }
    /* entry, and the builder's number; of materials of one name in several files the same */
    material_entry *m = POOL_NEW(l->work, material_entry, 1);
    if (!m) {
        l->report.no_memory = true;
        return;
    }
    *m = (material_entry){.name = data.name, .data = data, .next = d->materials, .index = -1};
    good &= check_friction(l, &data);
    if (good) {
        const material_entry *twin = find_elsewhere(l, d, &data);
        sim_material surface = material_from(&data);
        m->index = twin ? twin->index : sim_builder_add_material(l->builder, &surface);
    }
    d->materials = m;
}

int material_index_of(loader *l, const document *d, const char *name, const node *at) {
    const material_entry *m = find_material(d, name);
    if (!m && (d->unnamed_material || l->unnamed_material)) {
        return -1;
    }
    if (!m) {
        nearest near = {.wanted = name};
        char hint[160];
        for (const material_entry *other = d->materials; other; other = other->next) {
            nearest_try(&near, other->name);
        }
        report_once(&l->report, at, nearest_hint(&near, hint, sizeof hint), "there is no material \"%.80s\"", name);
        return -1;
    }
    return m->index;
}

double note_material(loader *l, int index, bool over_area) {
    for (document *d = l->documents; d; d = d->next) {
        for (material_entry *m = d->materials; m; m = m->next) {
            if (m->index == index) {
                m->over_area |= over_area;
                m->at_points |= !over_area;
                return node_member(m->data.at, "modulus") ? m->data.modulus : 0;
            }
        }
    }
    return 0;
}

void doubt_moduli(loader *l) {
    for (document *d = l->documents; d; d = d->next) {
        for (const material_entry *m = d->materials; m; m = m->next) {
            const node *at = node_member(m->data.at, "modulus");
            if (at && m->at_points && !m->over_area) {
                report_warning(&l->report, at, "add \"compliance\": \"field\" to soft shapes",
                               "no shape of the material \"%.80s\" uses its modulus: they touch at points", m->name);
            }
        }
    }
}

static double given_or_nan(const material_data *d, const char *key, double value) {
    return node_member(d->at, key) ? value : NAN;
}

static void add_material_pair(loader *l, const document *d, const node *n) {
    /* both materials */
    material_data data;
    if (!loader_read(l, n, &table_material_pair, &data)) {
        return;
    }
    int first = material_index_of(l, d, data.name, node_member(n, "first"));
    int second = material_index_of(l, d, data.other, node_member(n, "second"));
    if (first < 0 || second < 0 || !loader_good(l)) {
        return;
    }
    /* what is not given is combined from both */
    sim_material_pair pair = {.first = first,
                              .second = second,
                              .friction = given_or_nan(&data, "friction", data.pair_friction),
                              .stiffness = given_or_nan(&data, "stiffness", data.stiffness),
                              .dissipation = given_or_nan(&data, "dissipation", data.dissipation),
                              .restitution = given_or_nan(&data, "restitution", data.restitution),
                              .torsion = given_or_nan(&data, "torsion", data.torsion),
                              .rolling = given_or_nan(&data, "rolling", data.rolling),
                              .adhesion = given_or_nan(&data, "adhesion", data.adhesion),
                              .adhesion_range = given_or_nan(&data, "adhesion_range", data.adhesion_range)};
    sim_builder_add_material_pair(l->builder, &pair);
}

/* The main file comes first; pairs of the same materials in included files come later and have no effect. */
static void add_material_pairs(loader *l) {
    for (const document *d = l->documents; d; d = d->next) {
        const node *list = node_member(d->root, "material_pairs");
        for (const node *n = list && list->kind == NODE_ARRAY ? list->first : NULL; n; n = n->next) {
            add_material_pair(l, d, n);
        }
    }
}

void build_materials(loader *l) {
    for (document *d = l->documents; d; d = d->next) {
        const node *list = node_member(d->root, "materials");
        for (const node *n = list && list->kind == NODE_ARRAY ? list->first : NULL; n && !l->stopped; n = n->next) {
            add_material(l, d, n);
        }
    }
    add_material_pairs(l);
}
