/* Constraints besides joints.
 *
 *     connect   points p1, p2 coincide: an anchor of the first body and where it is on the second at the reference pose
 *     weld      poses coincide: X2 = X1 relpose, taken at an anchor of the second body
 *     joint     q1 - r1 = p(q2 - r2), with the references r and a polynomial p; without a second joint q1 - r1 = p(0)
 *     tendon    the same of two lengths */
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The two bodies and, of sites, the places on them. */
typedef struct ends {
    int body[2];
    bool sites;
    mjcf_place place[2];
} ends;

static bool find_ends(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i, ends *out) {
    static const char *const site_key[2] = {"site1", "site2"}, *const body_key[2] = {"body1", "body2"};
    mjcf_model *m = &w->model;
    *out = (ends){.sites = mjcf_holder(i, "site1") || mjcf_holder(i, "site2")};
    for (int k = 0; k < 2; k++) {
        int found = out->sites ? mjcf_find(w, s, &m->sites, i, site_key[k], "site")
                               : mjcf_find(w, s, &m->bodies, i, body_key[k], "body");
        if (found == -2 && (k == 0 || out->sites)) {
            xml_error(w->report, i->at, NULL, NULL, "the attribute \"%s\" is missing",
                      out->sites ? site_key[k] : body_key[k]);
            mjcf_refuse(w);
        }
        if (found < 0 && !(found == -2 && k == 1 && !out->sites)) {
            return false;
        }
        out->body[k] = found < 0 ? 0 : out->sites ? m->site[found].body : found;
        out->place[k] = out->sites ? m->site[found].place : mjcf_identity();
    }
    return true;
}

static const char *body_name(const mjcf_model *m, int body) { return body > 0 ? m->body[body].name : "world"; }

static void put_bodies(mjcf_work *w, const ends *e) {
    writer_put_text(w->out, "first", body_name(&w->model, e->body[0]));
    writer_put_text(w->out, "second", body_name(&w->model, e->body[1]));
}

static void put_point(mjcf_work *w, const char *key, sim_v3 p) {
    if (p.x != 0 || p.y != 0 || p.z != 0) {
        writer_put_numbers(w->out, key, 3, (const double[]){p.x, p.y, p.z});
    }
}

static void put_connect(mjcf_work *w, const mjcf_item *i, const ends *e) {
    const mjcf_model *m = &w->model;
    sim_v3 first = e->place[0].p, second = e->place[1].p;
    if (!e->sites) {
        double anchor[3];
        if (mjcf_numbers(i, "anchor", 3, anchor) != 3) {
            xml_error(w->report, i->at, NULL, NULL, "the attribute \"anchor\" is missing");
            mjcf_refuse(w);
            return;
        }
        first = mjcf_vector(anchor);
        sim_v3 there = pose_point(m->body[e->body[0]].world, first);
        second = pose_point(pose_inverse(m->body[e->body[1]].world), there);
    }
    put_bodies(w, e);
    put_point(w, "first_point", first);
    put_point(w, "second_point", second);
}

static void put_weld(mjcf_work *w, const mjcf_item *i, const ends *e) {
    const mjcf_model *m = &w->model;
    mjcf_place first = e->place[0], second = e->place[1];
    if (!e->sites) {
        double relative[7] = {0, 1}, anchor[3] = {0};
        mjcf_numbers(i, "relpose", 7, relative);
        mjcf_numbers(i, "anchor", 3, anchor);
        first = (mjcf_place){mjcf_vector(relative), {relative[3], relative[4], relative[5], relative[6]}};
        if (quat_norm(first.q) < 1e-14) {
            sim_pose X = pose_relative(m->body[e->body[0]].world, m->body[e->body[1]].world);
            first = (mjcf_place){X.p, quat_from_matrix(X.R)};
        }
        second = (mjcf_place){mjcf_vector(anchor), {1, 0, 0, 0}};
        first = mjcf_product(first, second);
    }
    put_bodies(w, e);
    mjcf_put_place(w->out, "first_pose", first);
    mjcf_put_place(w->out, "second_pose", second);
}

/* A hinge or slide; NULL: reported, or the attribute is absent. */
static const mjcf_joint *find_joint(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i, const char *key) {
    int found = mjcf_find(w, s, &w->model.joints, i, key, "joint");
    const mjcf_joint *j = found >= 0 ? &w->model.joint[found] : NULL;
    if (j && j->type < MJCF_SLIDE) {
        xml_error(w->report, i->at, key, NULL, "\"%.80s\" is neither a hinge nor a slide", j->name);
        mjcf_refuse(w);
        return NULL;
    }
    return j;
}

/* Polynomials of coordinates less their references, as polynomials of the coordinates: p(x - r) by Horner's rule. */
static void shift_polynomial(double a[5], double r) {
    for (int i = 0; i < 4; i++) {
        for (int k = 3; k >= i; k--) {
            a[k] -= r * a[k + 1];
        }
    }
}

static void put_polynomial(mjcf_work *w, const double a[5]) {
    if (a[2] != 0 || a[3] != 0 || a[4] != 0) {
        writer_put_numbers(w->out, "polynomial", 5, a);
        return;
    }
    if (a[0] != 0) {
        writer_put_number(w->out, "offset", a[0]);
    }
    if (a[1] != 1) {
        writer_put_number(w->out, "ratio", a[1]);
    }
}

/* A joint alone keeps its coordinate: q - r = a0, which a tendon of this joint says. */
static const char *lone_tendon(mjcf_work *w, const mjcf_joint *j) {
    return mjcf_joined(w, mjcf_joint_name(j), "_alone");
}

static bool is_alone(const xml_element *at, const mjcf_item *i) {
    return strcmp(at->name, "joint") == 0 && !mjcf_holder(i, "joint2");
}

void mjcf_put_lone_tendons(mjcf_work *w, mjcf_list *list) {
    mjcf_each each = mjcf_each_of(&w->model, "equality", NULL);
    name_table names = {0};
    while (!w->model.files->option.no_equality && mjcf_next(&each)) {
        mjcf_item item = mjcf_item_of(w, each.scope, each.at, "equality", -1);
        /* a joint that is held alone, once */
        const mjcf_joint *j = is_alone(each.at, &item) ? find_joint(w, each.scope, &item, "joint1") : NULL;
        const char *name = j ? lone_tendon(w, j) : NULL;
        if (!name || names_find(&names, name) >= 0) {
            continue;
        }
        w->report->no_memory |= !names_add(&names, name, 0);
        /* its tendon */
        mjcf_open_item(w, list, each.at);
        writer_put_text(w->out, "name", name);
        writer_open(w->out, "joints", '[');
        writer_open(w->out, NULL, '{');
        writer_put_text(w->out, "joint", mjcf_joint_name(j));
        writer_put_number(w->out, "coefficient", 1);
        writer_close(w->out, '}');
        writer_close(w->out, ']');
        writer_close(w->out, '}');
    }
    names_free(&names);
}

static void put_lone(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i) {
    double a[5] = {0, 1};
    mjcf_numbers(i, "polycoef", 5, a);
    const mjcf_joint *j = find_joint(w, s, i, "joint1");
    if (j) {
        writer_put_text(w->out, "first", lone_tendon(w, j));
        if (a[0] != 0) {
            writer_put_number(w->out, "offset", a[0]);
        }
    }
}

static void put_coupling(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i) {
    /* joints and coefficients */
    double a[5] = {0, 1};
    mjcf_numbers(i, "polycoef", 5, a);
    const mjcf_joint *first = find_joint(w, s, i, "joint1"), *second = find_joint(w, s, i, "joint2");
    if (!first || !second) {
        return;
    }
    /* as a scene */
    shift_polynomial(a, second->ref);
    a[0] += first->ref;
    writer_put_text(w->out, "first", mjcf_joint_name(first));
    writer_put_text(w->out, "second", mjcf_joint_name(second));
    put_polynomial(w, a);
}

/* Of the inverse inertia that it meets. */
static void put_softness(mjcf_work *w, const mjcf_item *i, double weight) {
    mjcf_softness soft = mjcf_read_softness(i, "solref", "solimp");
    double stiffness, dissipation;
    if (soft.given && mjcf_soften(w, MJCF_SOFT_EQUALITIES, i->at, &soft, weight, &stiffness, &dissipation)) {
        writer_put_number(w->out, "stiffness", stiffness);
        writer_put_number(w->out, "dissipation", dissipation);
    }
}

static double weight_of(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i, bool coupling, const ends *e) {
    mjcf_model *m = &w->model;
    if (!mjcf_read_softness(i, "solref", "solimp").given || !mjcf_find_weights(w)) {
        return 0;
    }
    if (!coupling) {
        return m->body[e->body[0]].weight + m->body[e->body[1]].weight;
    }
    const mjcf_joint *first = find_joint(w, s, i, "joint1"), *second = find_joint(w, s, i, "joint2");
    return (first ? mjcf_joint_weight(m, first) : 0) + (second ? mjcf_joint_weight(m, second) : 0);
}

/* Tendons that an equality names; NULL: none, or one that no joint moves, of constant length. */
typedef struct tie {
    const char *name[2];
} tie;

static tie find_tie(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i) {
    static const char *const key[2] = {"tendon1", "tendon2"};
    const mjcf_model *m = &w->model;
    tie t = {{NULL}};
    for (int k = 0; k < 2; k++) {
        int found = mjcf_find(w, s, &m->tendons, i, key[k], "tendon");
        if (found >= 0 && !m->tendon[found].still) {
            t.name[k] = mjcf_name_of(&m->tendons, found);
        } else if (found == -1) {
            t.name[k] = ""; /* reported */
        }
    }
    return t;
}

/* l1 = p(l2), both from their reference; where one of the two is constant the other keeps the length that this says. */
static void put_tie(mjcf_work *w, const mjcf_item *i, const tie *t) {
    double a[5] = {0, 1};
    mjcf_numbers(i, "polycoef", 5, a);
    if (t->name[0] && t->name[1]) {
        writer_put_text(w->out, "first", t->name[0]);
        writer_put_text(w->out, "second", t->name[1]);
        put_polynomial(w, a);
        return;
    }
    bool linear = a[1] != 0 && a[2] == 0 && a[3] == 0 && a[4] == 0;
    if (!t->name[0] && !linear) {
        xml_error(w->report, i->at, "polycoef", "name the other tendon first",
                  "the first tendon does not move, and the length of the second has no single value");
        mjcf_refuse(w);
        return;
    }
    double offset = t->name[0] ? a[0] : -a[0] / a[1];
    writer_put_text(w->out, "first", t->name[0] ? t->name[0] : t->name[1]);
    if (offset != 0) {
        writer_put_number(w->out, "offset", offset);
    }
}

/* Does it hold together what does not move apart? */
static bool is_idle(mjcf_work *w, const mjcf_each *each, const ends *e, const tie *t, bool of_tendons) {
    const mjcf_model *m = &w->model;
    bool within = m->body[e->body[0]].clump == m->body[e->body[1]].clump;
    if (of_tendons ? t->name[0] || t->name[1] : !within) {
        return false;
    }
    xml_notice(w->report, each->at, NULL, NULL, "ignored: it holds together what does not move apart");
    return true;
}

void mjcf_put_equalities(mjcf_work *w) {
    mjcf_list list = {.key = "constraints"};
    mjcf_each each = mjcf_each_of(&w->model, "equality", NULL);
    while (!w->model.files->option.no_equality && mjcf_next(&each)) {
        const xml_element *at = each.at;
        /* what it holds together */
        mjcf_item item = mjcf_item_of(w, each.scope, at, "equality", -1);
        ends e = {0};
        bool coupling = strcmp(at->name, "joint") == 0, tied = strcmp(at->name, "tendon") == 0;
        tie t = tied ? find_tie(w, each.scope, &item) : (tie){{NULL}};
        if (!coupling && ((!tied && !find_ends(w, each.scope, &item, &e)) || is_idle(w, &each, &e, &t, tied))) {
            continue;
        }
        /* as a scene */
        mjcf_open_item(w, &list, at);
        const char *name = mjcf_name(w, each.scope, at);
        if (name) {
            writer_put_text(w->out, "name", name);
        }
        bool alone = is_alone(at, &item);
        writer_put_text(w->out, "type", alone ? "tendon" : coupling ? "coupling" : at->name);
        if (alone) {
            put_lone(w, each.scope, &item);
        } else if (coupling) {
            put_coupling(w, each.scope, &item);
        } else if (tied) {
            put_tie(w, &item, &t);
        } else if (strcmp(at->name, "weld") == 0) {
            put_weld(w, &item, &e);
        } else {
            put_connect(w, &item, &e);
        }
        if (mjcf_says(&item, "active", "false")) {
            writer_put_flag(w->out, "active", false);
        }
        if (!tied) {
            put_softness(w, &item, weight_of(w, each.scope, &item, coupling, &e));
        }
        writer_close(w->out, '}');
    }
    mjcf_close_list(w, &list);
}
