/* Contacts: surfaces, and which shapes touch.
 *
 *     geoms a, b touch         contype_a & conaffinity_b | contype_b & conaffinity_a, or a <pair> names both
 *     shapes a, b touch        mask_a & group_b and mask_b & group_a
 *
 * Each kind of geom (contype, conaffinity) becomes one bit of `group`; its `mask` leaves out the kinds that it does not
 * touch.  Two surfaces together have the greater friction of the two, or that of the greater priority.  Pairs of
 * materials state it, because scenes take the geometric mean.
 *
 * A body does not touch the body that carries it, unless that is fixed to the world.  Exceptions are the geoms of a
 * <pair> and files that switch this off: their shapes say `across_joint`.  Between the links of a body with several
 * joints scenes do not see that by themselves: exclusions say it. */
#include "scene/mjcf/mjcf.h"
#include "scene/xml/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- kinds ---- */

static int find_kind(mjcf_work *w, mjcf_contacts *c, const mjcf_geom *g, int pair) {
    for (int k = 0; k < c->nkind; k++) {
        const mjcf_kind *kind = &c->kind[k];
        if (kind->contype == g->contype && kind->conaffinity == g->conaffinity && kind->pair == pair) {
            return k;
        }
    }
    if (c->nkind == MJCF_MAX_KINDS) {
        xml_error(w->report, g->item.at, NULL, NULL, "geoms of more than %d kinds of contype, conaffinity and pairs",
                  MJCF_MAX_KINDS - 1);
        mjcf_refuse(w);
        return 0;
    }
    c->kind[c->nkind] = (mjcf_kind){g->contype, g->conaffinity, pair, 0};
    return c->nkind++;
}

static bool kinds_touch(const mjcf_kind *a, const mjcf_kind *b) {
    return (a->contype & b->conaffinity) || (b->contype & a->conaffinity);
}

static void compare_kinds(mjcf_contacts *c) {
    for (int i = 0; i < c->nkind; i++) {
        for (int k = 0; k < c->nkind; k++) {
            c->kind[i].against |= kinds_touch(&c->kind[i], &c->kind[k]) ? 0 : 1u << k;
        }
    }
}

/* ---- surfaces ---- */

static bool same_surface(const mjcf_surface *a, const mjcf_surface *b) {
    return a->stiffness == b->stiffness && a->dissipation == b->dissipation && a->condim == b->condim &&
           a->priority == b->priority && a->pair == b->pair && a->adhesion == b->adhesion && a->gap == b->gap &&
           memcmp(a->friction, b->friction, sizeof a->friction) == 0;
}

/* As against a rigid surface: two soft ones are springs in series, as their inverse masses add. */
static void find_softness(mjcf_work *w, const mjcf_geom *g, mjcf_surface *s) {
    double stiffness, dissipation;
    if (g->soft.given && g->solmix > 0 && w->model.body[g->body].clump > 0 && mjcf_find_weights(w) &&
        mjcf_soften(w, MJCF_SOFT_CONTACTS, g->item.at, &g->soft, w->model.body[g->body].weight, &stiffness,
                    &dissipation)) {
        s->stiffness = stiffness;
        s->dissipation = dissipation;
    }
}

static int find_surface(mjcf_work *w, mjcf_contacts *c, const mjcf_geom *g, int pair) {
    /* one that is alike */
    mjcf_surface s = {.condim = g->condim,
                      .priority = g->priority,
                      .pair = pair,
                      .adhesion = g->adhesion,
                      .gap = g->adhesion > 0 || c->pulled ? fmax(g->gap, 0) : 0};
    memcpy(s.friction, g->friction, sizeof s.friction);
    find_softness(w, g, &s);
    for (int k = 0; k < c->nsurface; k++) {
        if (same_surface(&s, &c->surface[k])) {
            return k;
        }
    }
    /* or a new one */
    enum { MAX_SURFACES = 200 };
    if (c->nsurface == MAX_SURFACES) {
        xml_error(w->report, g->item.at, NULL, NULL, "geoms of more than %d kinds of friction", MAX_SURFACES);
        mjcf_refuse(w);
        return 0;
    }
    if (!mjcf_add(w, g->item.at, (void **)&c->surface, c->nsurface, &c->room, sizeof *c->surface)) {
        return 0;
    }
    c->surface[c->nsurface] = s;
    return c->nsurface++;
}

/* ---- pairs ---- */

/* The two geoms of a <pair>; false: reported. */
static bool find_pair(mjcf_work *w, const mjcf_each *each, int geom[2]) {
    static const char *const key[2] = {"geom1", "geom2"};
    mjcf_item item = mjcf_item_of(w, each->scope, each->at, "pair", -1);
    for (int k = 0; k < 2; k++) {
        geom[k] = mjcf_find(w, each->scope, &w->model.geoms, &item, key[k], "geom");
        if (geom[k] == -2) {
            xml_error(w->report, each->at, NULL, NULL, "the attribute \"%s\" is missing", key[k]);
            mjcf_refuse(w);
        }
    }
    return geom[0] >= 0 && geom[1] >= 0;
}

/* Is one of two bodies carried by the other?  `links`: over more than one joint. */
static bool is_carried(const mjcf_model *m, int a, int b, bool *links) {
    int x = m->body[a].clump, y = m->body[b].clump;
    int above_x = x ? m->body[m->body[x].parent].clump : -1, above_y = y ? m->body[m->body[y].parent].clump : -1;
    int child = x && y && above_x == y ? x : x && y && above_y == x ? y : 0;
    int joint = m->body[child].joint;
    *links = child && joint >= 0 && m->joint[joint].next >= 0;
    return child > 0;
}

/* A pair of geoms that are fixed to each other, or that the caller allows to leave out. */
static bool is_left_out(const mjcf_work *w, const int geom[2]) {
    const mjcf_model *m = &w->model;
    int a = m->geom[geom[0]].body, b = m->geom[geom[1]].body;
    bool links, carried = is_carried(m, a, b, &links);
    return m->body[a].clump == m->body[b].clump || (carried && links && !m->files->option.across_joints);
}

/* Contacts of what is fixed to each other move nothing; others would be missed. */
static void say_left_out(mjcf_work *w, const mjcf_each *each, const int geom[2]) {
    const mjcf_model *m = &w->model;
    bool fixed = m->body[m->geom[geom[0]].body].clump == m->body[m->geom[geom[1]].body].clump;
    if (fixed || xml_allows(&w->allowed, "pair")) {
        xml_notice(w->report, each->at, NULL, NULL, "ignored: a pair of geoms of %s",
                   fixed ? "bodies that are fixed to each other" : "a body and its parent");
        return;
    }
    xml_error(w->report, each->at, NULL, "--allow pair leaves it out",
              "contacts of a body with its parent over several joints are not supported");
    mjcf_refuse(w);
}

static void list_paired(mjcf_work *w) {
    /* those of pairs */
    mjcf_model *m = &w->model;
    mjcf_each each = mjcf_each_of(m, "contact", "pair");
    while (mjcf_next(&each)) {
        int geom[2];
        if (!find_pair(w, &each, geom)) {
            continue;
        }
        if (is_left_out(w, geom)) {
            say_left_out(w, &each, geom);
            continue;
        }
        m->geom[geom[0]].paired = m->geom[geom[1]].paired = true;
        bool links;
        if (is_carried(m, m->geom[geom[0]].body, m->geom[geom[1]].body, &links)) {
            m->geom[geom[0]].across = m->geom[geom[1]].across = true;
        }
    }
    /* or all */
    for (int k = 0; k < m->ngeom && m->files->option.across_joints; k++) {
        m->geom[k].across = true;
    }
}

/* Geoms of bodies that carry each other touch only where a pair names both, not where it names each with another. */
static void part_carried(const mjcf_model *m, mjcf_contacts *c) {
    for (int i = 0; i < c->nkind * c->nkind; i++) {
        mjcf_kind *a = &c->kind[i / c->nkind], *b = &c->kind[i % c->nkind];
        bool links;
        if (a->pair >= 0 && b->pair >= 0 && m->geom[a->pair].across && m->geom[b->pair].across &&
            is_carried(m, m->geom[a->pair].body, m->geom[b->pair].body, &links)) {
            a->against |= 1u << (b - c->kind);
            b->against |= 1u << (a - c->kind);
        }
    }
}

static void connect_pairs(mjcf_work *w, mjcf_contacts *c) {
    mjcf_model *m = &w->model;
    if (!m->files->option.across_joints) {
        part_carried(m, c);
    }
    mjcf_each each = mjcf_each_of(m, "contact", "pair");
    while (w->good && mjcf_next(&each)) { /* else not all geoms have a kind */
        int geom[2];
        if (find_pair(w, &each, geom) && !is_left_out(w, geom)) {
            int a = m->geom[geom[0]].touching, b = m->geom[geom[1]].touching;
            c->kind[a].against &= ~(1u << b);
            c->kind[b].against &= ~(1u << a);
        }
    }
}

void mjcf_find_contacts(mjcf_work *w, mjcf_contacts *c) {
    mjcf_model *m = &w->model;
    c->kind[c->nkind++] = (mjcf_kind){1, 1, -1, 0};
    mjcf_each actuator = mjcf_each_of(m, "actuator", NULL);
    while (mjcf_next(&actuator)) {
        c->pulled |= xml_text(actuator.at, "body") != NULL;
    }
    list_paired(w);
    for (int k = 0; k < m->ngeom && w->good; k++) {
        mjcf_geom *g = &m->geom[k];
        if (!g->visual || g->paired) {
            g->touching = find_kind(w, c, g, g->paired ? k : -1);
            g->surface = find_surface(w, c, g, g->paired ? k : -1);
        }
    }
    compare_kinds(c);
    connect_pairs(w, c);
}

/* ---- materials ---- */

static const char *surface_name(const mjcf_contacts *c, int k, char name[32]) {
    snprintf(name, 32, c->nsurface == 1 ? "surface" : "surface%d", k + 1);
    return name;
}

/* Friction that counts: none where a contact has one dimension, torsion from four on, rolling with six. */
static double sliding_friction(const mjcf_surface *s) { return s->condim == 1 ? 0 : s->friction[0]; }
static double torsional_friction(const mjcf_surface *s) { return s->condim >= 4 ? s->friction[1] : 0; }
static double rolling_friction(const mjcf_surface *s) { return s->condim == 6 ? s->friction[2] : 0; }

static mjcf_surface combine_surfaces(const mjcf_surface *a, const mjcf_surface *b) {
    if (a->priority != b->priority) {
        return a->priority > b->priority ? *a : *b;
    }
    mjcf_surface s = {.condim = a->condim > b->condim ? a->condim : b->condim,
                      .adhesion = a->adhesion + b->adhesion,
                      .gap = a->gap + b->gap};
    for (int k = 0; k < 3; k++) {
        s.friction[k] = fmax(a->friction[k], b->friction[k]);
    }
    return s;
}

/* Friction of a <pair>, in place of that of the geoms. */
static void read_pair(mjcf_work *w, const mjcf_each *each, mjcf_surface *s) {
    mjcf_item item = mjcf_item_of(w, each->scope, each->at, "pair", -1);
    double friction[5] = {s->friction[0], s->friction[0], s->friction[1], s->friction[2], s->friction[2]};
    int count = mjcf_numbers(&item, "friction", 5, friction);
    s->condim = (int)mjcf_number(&item, "condim", s->condim);
    s->adhesion = mjcf_number(&item, "adhesion", s->adhesion);
    if (count == 1) {
        friction[1] = friction[0];
    }
    if (friction[0] != friction[1] || friction[3] != friction[4]) {
        xml_error(w->report, mjcf_holder(&item, "friction"), "friction", NULL,
                  "friction of a pair that depends on the direction is not supported");
        mjcf_refuse(w);
    }
    s->friction[0] = friction[0];
    s->friction[1] = friction[2];
    s->friction[2] = friction[3];
}

/* Friction, and what is not that of a scene's two materials: the greater. */
static void put_pair(mjcf_work *w, const mjcf_contacts *c, mjcf_list *list, int i, int k, const mjcf_surface *both) {
    char name[32];
    const mjcf_surface *a = &c->surface[i], *b = &c->surface[k];
    mjcf_open_item(w, list, NULL);
    writer_put_text(w->out, "first", surface_name(c, i, name));
    writer_put_text(w->out, "second", surface_name(c, k, name));
    writer_put_number(w->out, "friction", sliding_friction(both));
    if (torsional_friction(both) != fmax(torsional_friction(a), torsional_friction(b))) {
        writer_put_number(w->out, "torsion", torsional_friction(both));
    }
    if (rolling_friction(both) != fmax(rolling_friction(a), rolling_friction(b))) {
        writer_put_number(w->out, "rolling", rolling_friction(both));
    }
    if (both->adhesion != fmax(a->adhesion, b->adhesion)) {
        writer_put_number(w->out, "adhesion", both->adhesion);
    }
    if (both->gap != fmax(a->gap, b->gap)) {
        writer_put_number(w->out, "adhesion_range", both->gap);
    }
    writer_close(w->out, '}');
}

/* Two surfaces together are not what a scene makes of their materials. */
static bool differs_from_materials(const mjcf_surface *a, const mjcf_surface *b, const mjcf_surface *both) {
    return sliding_friction(both) != sqrt(sliding_friction(a) * sliding_friction(b)) ||
           torsional_friction(both) != fmax(torsional_friction(a), torsional_friction(b)) ||
           rolling_friction(both) != fmax(rolling_friction(a), rolling_friction(b)) ||
           both->adhesion != fmax(a->adhesion, b->adhesion) || both->gap != fmax(a->gap, b->gap);
}

static void put_pairs(mjcf_work *w, const mjcf_contacts *c) {
    mjcf_model *m = &w->model;
    /* the greater friction, where a scene has the mean, and what a greater condim brings */
    mjcf_list list = {.key = "material_pairs"};
    for (int i = 0; i < c->nsurface; i++) {
        for (int k = i; k < c->nsurface; k++) {
            mjcf_surface both = combine_surfaces(&c->surface[i], &c->surface[k]);
            if (differs_from_materials(&c->surface[i], &c->surface[k], &both)) {
                put_pair(w, c, &list, i, k, &both);
            }
        }
    }
    /* that of a <pair> */
    mjcf_each each = mjcf_each_of(m, "contact", "pair");
    while (mjcf_next(&each)) {
        int geom[2];
        if (find_pair(w, &each, geom)) {
            int i = m->geom[geom[0]].surface, k = m->geom[geom[1]].surface;
            mjcf_surface both = combine_surfaces(&c->surface[i], &c->surface[k]);
            read_pair(w, &each, &both);
            put_pair(w, c, &list, i, k, &both);
        }
    }
    mjcf_close_list(w, &list);
}

static void put_surface(mjcf_work *w, const mjcf_contacts *c, int k) {
    /* friction */
    char name[32];
    const mjcf_surface *s = &c->surface[k];
    writer_open(w->out, NULL, '{');
    writer_put_text(w->out, "name", surface_name(c, k, name));
    writer_put_number(w->out, "friction", sliding_friction(s));
    if (torsional_friction(s) > 0) {
        writer_put_number(w->out, "torsion", torsional_friction(s));
    }
    if (rolling_friction(s) > 0) {
        writer_put_number(w->out, "rolling", rolling_friction(s));
    }
    /* along the normal */
    if (s->adhesion > 0) {
        writer_put_number(w->out, "adhesion", s->adhesion);
    }
    if (s->gap > 0) {
        writer_put_number(w->out, "adhesion_range", s->gap);
    }
    if (s->stiffness > 0) {
        writer_put_number(w->out, "stiffness", s->stiffness);
        writer_put_number(w->out, "dissipation", s->dissipation);
    }
    writer_close(w->out, '}');
}

void mjcf_put_surfaces(mjcf_work *w, const mjcf_contacts *c) {
    if (!c->nsurface || !w->good) {
        return;
    }
    writer_open(w->out, "materials", '[');
    for (int k = 0; k < c->nsurface; k++) {
        put_surface(w, c, k);
    }
    writer_close(w->out, ']');
    put_pairs(w, c);
}

void mjcf_put_contact(mjcf_work *w, const mjcf_contacts *c, const mjcf_geom *g) {
    if (g->touching < 0) {
        return;
    }
    char name[32];
    const mjcf_kind *kind = &c->kind[g->touching];
    writer_put_text(w->out, "material", surface_name(c, g->surface, name));
    if (g->touching > 0) {
        writer_put_number(w->out, "group", (double)(1u << g->touching));
    }
    if (kind->against) {
        writer_put_number(w->out, "mask", (double)~kind->against);
    }
    if (g->across) {
        writer_put_flag(w->out, "across_joint", true);
    }
}

/* ---- exclusions ---- */

static void put_exclusion(mjcf_work *w, mjcf_list *list, const xml_element *at, const char *first, const char *second) {
    mjcf_open_item(w, list, at);
    writer_put_text(w->out, "first", first);
    writer_put_text(w->out, "second", second);
    writer_close(w->out, '}');
}

static void put_excludes(mjcf_work *w, mjcf_list *list) {
    mjcf_model *m = &w->model;
    mjcf_each each = mjcf_each_of(m, "contact", "exclude");
    while (mjcf_next(&each)) {
        mjcf_item item = mjcf_plain(each.scope, each.at);
        int a = mjcf_find(w, each.scope, &m->bodies, &item, "body1", "body");
        int b = mjcf_find(w, each.scope, &m->bodies, &item, "body2", "body");
        if (a >= 0 && b >= 0 && a != b) {
            put_exclusion(w, list, each.at, m->body[a].name, m->body[b].name);
        }
    }
}

static bool has_contacts(const mjcf_model *m, const mjcf_body *b) {
    for (int k = b->geom; k >= 0; k = m->geom[k].next) {
        if (m->geom[k].touching >= 0) {
            return true;
        }
    }
    return false;
}

/* Bodies of two clumps, one of which carries the other over several joints. */
static void put_clump_pairs(mjcf_work *w, mjcf_list *list, int carrier, int carried) {
    mjcf_model *m = &w->model;
    for (int i = 1; i < m->nbody; i++) {
        if (m->body[i].clump != carrier || !has_contacts(m, &m->body[i])) {
            continue;
        }
        for (int k = 1; k < m->nbody && w->good; k++) {
            if (m->body[k].clump == carried && has_contacts(m, &m->body[k]) && mjcf_spend(w, m->body[k].item.at)) {
                put_exclusion(w, list, m->body[k].item.at, m->body[i].name, m->body[k].name);
            }
        }
    }
}

void mjcf_put_exclusions(mjcf_work *w) {
    mjcf_model *m = &w->model;
    mjcf_list list = {.key = "exclusions"};
    put_excludes(w, &list);
    for (int k = 1; k < m->nbody; k++) {
        const mjcf_body *b = &m->body[k];
        int carrier = m->body[b->parent].clump;
        bool chain = b->joint >= 0 && m->joint[b->joint].next >= 0;
        if (chain && carrier > 0 && !m->files->option.across_joints) {
            put_clump_pairs(w, &list, carrier, k);
        }
    }
    mjcf_close_list(w, &list);
}
