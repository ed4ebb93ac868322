/* Tendons: fixed ones as sums of coordinates, spatial ones as paths over sites, geoms and pulleys. */
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

/* ---- sides ---- */

/* A site within a cylinder without its ends, but not in the ball of its radius, says the side of a string around it; in a
 * scene the string would run inside.  A point beside the cylinder says the same side.  NULL: there is none. */
static bool is_doubtful(const mjcf_model *m, int geom, int site, sim_v3 *local) {
    const mjcf_geom *g = &m->geom[geom];
    const mjcf_site *t = &m->site[site];
    sim_pose X = pose_product(m->body[g->body].world, mjcf_pose(g->place));
    *local = pose_point(pose_inverse(X), pose_point(m->body[t->body].world, t->place.p));
    return g->type == MJCF_CYLINDER && hypot(local->x, local->y) < g->size[0] && !(v3_norm(*local) < g->size[0]);
}

static const char *find_side(const mjcf_model *m, int geom, int site) {
    for (int k = 0; k < m->nside; k++) {
        if (m->side[k].geom == geom && m->side[k].site == site) {
            return m->side[k].name;
        }
    }
    return NULL;
}

static void list_side(mjcf_work *w, int geom, int site) {
    mjcf_model *m = &w->model;
    sim_v3 p;
    if (site < 0 || !is_doubtful(m, geom, site, &p) || find_side(m, geom, site)) {
        return;
    }
    /* as far out as twice the radius, if both are fixed to one body */
    mjcf_body *b = &m->body[m->geom[geom].body];
    double out = hypot(p.x, p.y), radius = m->geom[geom].size[0];
    if (b->clump != m->body[m->site[site].body].clump || !(out > 1e-9 * radius) ||
        !mjcf_add(w, m->site[site].item.at, (void **)&m->side, m->nside, &m->side_room, sizeof *m->side)) {
        return;
    }
    sim_v3 beside =
        pose_point(mjcf_pose(m->geom[geom].place), (sim_v3){p.x * 2 * radius / out, p.y * 2 * radius / out, p.z});
    const char *name = mjcf_add_point(w, b, beside, mjcf_joined(w, m->site[site].name, "_beside"));
    if (name) {
        m->side[m->nside++] = (mjcf_side){geom, site, name};
    }
}

/* ---- names, before anything refers to them ---- */

static bool is_round(const mjcf_geom *g) { return g->type == MJCF_SPHERE || g->type == MJCF_CYLINDER; }

/* Is it a string between points that are fixed to the world? */
static bool is_still(mjcf_work *w, const mjcf_tendon *t) {
    const mjcf_model *m = &w->model;
    bool found = false;
    for (const xml_element *e = t->at->first; e && strcmp(t->at->name, "spatial") == 0; e = e->next) {
        bool site = strcmp(e->name, "site") == 0;
        if (!e->table || !(site || strcmp(e->name, "geom") == 0)) {
            continue;
        }
        mjcf_item item = mjcf_plain(t->scope, e);
        int k = mjcf_find(w, t->scope, site ? &m->sites : &m->geoms, &item, e->name, e->name);
        if (k < 0 || (!site && !is_round(&m->geom[k])) || m->body[site ? m->site[k].body : m->geom[k].body].clump > 0) {
            return false;
        }
        found = true;
    }
    return found;
}

void mjcf_list_tendons(mjcf_work *w) {
    mjcf_model *m = &w->model;
    mjcf_each each = mjcf_each_of(m, "tendon", NULL);
    while (mjcf_next(&each)) {
        if (!mjcf_add(w, each.at, (void **)&m->tendon, m->ntendon, &m->tendon_room, sizeof *m->tendon)) {
            return;
        }
        const char *name = mjcf_name(w, each.scope, each.at);
        name = name ? name : mjcf_number_name(w, "tendon", m->ntendon);
        m->tendon[m->ntendon] = (mjcf_tendon){.scope = each.scope, .at = each.at};
        m->tendon[m->ntendon].still = is_still(w, &m->tendon[m->ntendon]);
        mjcf_add_name(w, &m->tendons, each.at, "tendon", name, m->ntendon++);
        /* geoms that it touches are kept, whatever else they are for */
        for (const xml_element *e = xml_child(each.at, "geom"); e; e = xml_next(e)) {
            mjcf_item item = mjcf_plain(each.scope, e);
            int found = mjcf_find(w, each.scope, &m->geoms, &item, "geom", "geom");
            if (found >= 0) {
                m->geom[found].around = true;
                list_side(w, found, mjcf_find(w, each.scope, &m->sites, &item, "sidesite", "site"));
            }
        }
    }
}

/* ---- paths ---- */

static void put_around(mjcf_work *w, const mjcf_scope *s, const xml_element *e) {
    /* the geom */
    const mjcf_model *m = &w->model;
    mjcf_item item = mjcf_plain(s, e);
    int geom = mjcf_find(w, s, &m->geoms, &item, "geom", "geom");
    int side = mjcf_find(w, s, &m->sites, &item, "sidesite", "site");
    if (geom < 0 || side == -1) {
        return;
    }
    const mjcf_geom *g = &m->geom[geom];
    if (!is_round(g)) {
        xml_error(w->report, e, "geom", NULL, "tendons wrap over spheres and cylinders only");
        mjcf_refuse(w);
        return;
    }
    /* the site on its side */
    writer_put_text(w->out, "around", g->name);
    if (side < 0) {
        return;
    }
    sim_v3 local;
    const char *beside = find_side(m, geom, side);
    if (!beside && is_doubtful(m, geom, side, &local)) {
        xml_error(w->report, e, "sidesite", "move it along the axis to the middle, or out of the cylinder",
                  "the site is within the cylinder, but farther from its middle than its radius");
        mjcf_refuse(w);
    }
    writer_put_text(w->out, "side", beside ? beside : m->site[side].name);
}

static void put_path(mjcf_work *w, const mjcf_each *each) {
    /* site by site */
    writer_open(w->out, "path", '[');
    for (const xml_element *e = each->at->first; e; e = e->next) {
        if (!e->table) {
            continue;
        }
        mjcf_here(w, e);
        mjcf_item item = mjcf_plain(each->scope, e);
        writer_open(w->out, NULL, '{');
        if (strcmp(e->name, "site") == 0) {
            int site = mjcf_find(w, each->scope, &w->model.sites, &item, "site", "site");
            writer_put_text(w->out, "site", site >= 0 ? w->model.site[site].name : "");
        } else if (strcmp(e->name, "geom") == 0) {
            put_around(w, each->scope, e);
        } else {
            double divisor = 1;
            xml_numbers(e, "divisor", 1, &divisor);
            writer_put_number(w->out, "pulley", divisor);
        }
        writer_close(w->out, '}');
    }
    writer_close(w->out, ']');
}

static void put_sum(mjcf_work *w, const mjcf_each *each) {
    /* term by term */
    writer_open(w->out, "joints", '[');
    for (const xml_element *e = xml_child(each->at, "joint"); e; e = xml_next(e)) {
        double factor = 1;
        xml_numbers(e, "coef", 1, &factor);
        mjcf_item item = mjcf_plain(each->scope, e);
        int joint = mjcf_find(w, each->scope, &w->model.joints, &item, "joint", "joint");
        if (joint < 0) {
            continue;
        }
        const mjcf_joint *j = &w->model.joint[joint];
        if (j->type < MJCF_SLIDE) {
            xml_error(w->report, e, "joint", "MuJoCo takes the first number of its quaternion or position",
                      "\"%.80s\" is neither a hinge nor a slide: it has no coordinate to sum", j->name);
            mjcf_refuse(w);
        }
        mjcf_here(w, e);
        writer_open(w->out, NULL, '{');
        writer_put_text(w->out, "joint", mjcf_joint_name(j));
        writer_put_number(w->out, "coefficient", factor);
        writer_close(w->out, '}');
    }
    writer_close(w->out, ']');
}

/* ---- springs and limits ---- */

static void put_positive(mjcf_work *w, const char *key, double number) {
    if (number > 0) {
        writer_put_number(w->out, key, number);
    }
}

static void put_range(mjcf_work *w, const mjcf_each *each, const mjcf_item *i) {
    double range[2] = {0};
    if (w->model.files->option.no_limit || !mjcf_is_limited(w, each->scope->file, i, "limited", "range")) {
        return;
    }
    mjcf_numbers(i, "range", 2, range);
    if (range[0] < range[1]) {
        mjcf_narrow_range(range, mjcf_number(i, "margin", 0));
    }
    writer_put_numbers(w->out, "range", 2, range);
}

/* Does a spring of a joint that moves the body have its rest elsewhere than at the reference? */
static bool is_sprung_aside(const mjcf_model *m, int body) {
    for (int b = body; b > 0; b = m->body[b].parent) {
        for (int k = m->body[b].joint; k >= 0; k = m->joint[k].next) {
            if (m->joint[k].type > MJCF_BALL && m->joint[k].springref != m->joint[k].ref) {
                return true;
            }
        }
    }
    return false;
}

/* Without a length of its own the spring is slack where those of the joints are. */
static void put_rest_of_joints(mjcf_work *w, const mjcf_each *each) {
    const mjcf_model *m = &w->model;
    bool fixed = strcmp(each->at->name, "fixed") == 0, aside = false;
    double length = 0;
    for (const xml_element *e = each->at->first; e; e = e->next) {
        const name_table *names = strcmp(e->name, "joint") == 0  ? &m->joints
                                  : strcmp(e->name, "site") == 0 ? &m->sites
                                  : strcmp(e->name, "geom") == 0 ? &m->geoms
                                                                 : NULL;
        mjcf_item item = mjcf_plain(each->scope, e);
        int found = e->table && names ? mjcf_find(w, each->scope, names, &item, e->name, e->name) : -1;
        if (found < 0) {
            continue;
        }
        if (fixed) {
            double coefficient = 1;
            xml_numbers(e, "coef", 1, &coefficient);
            length += coefficient * m->joint[found].springref;
            aside |= m->joint[found].springref != m->joint[found].ref;
        } else {
            aside |= is_sprung_aside(m, names == &m->sites ? m->site[found].body : m->geom[found].body);
        }
    }
    if (fixed && aside) {
        writer_put_number(w->out, "rest", length);
    } else if (aside) {
        xml_notice(w->report, each->at, NULL, "give it a springlength",
                   "its spring is slack at the reference pose, in MuJoCo where the springs of its joints are");
    }
}

static void put_spring(mjcf_work *w, const mjcf_each *each, const mjcf_item *i, const mjcf_tendon *t) {
    /* the spring */
    const mjcf_option *o = &w->model.files->option;
    double rest[2] = {-1, -1}, spring[2], damper[2];
    double stiffness = mjcf_polynomial(w, i, "stiffness", spring), damping = mjcf_polynomial(w, i, "damping", damper);
    bool any = !o->no_spring && (stiffness > 0 || spring[0] != 0 || spring[1] != 0);
    if (any) {
        put_positive(w, "stiffness", stiffness);
        mjcf_put_terms(w, "spring_terms", spring);
    }
    /* where it is slack */
    int count = mjcf_numbers(i, "springlength", 2, rest);
    if (any && rest[0] >= 0) {
        bool range = count == 2 && rest[1] > rest[0];
        if (range) {
            writer_put_numbers(w->out, "rest", 2, rest);
        } else {
            writer_put_number(w->out, "rest", rest[0]);
        }
    } else if (any) {
        put_rest_of_joints(w, each);
    }
    /* what brakes */
    if (!o->no_damper) {
        put_positive(w, "damping", damping + t->geared[0]);
        mjcf_put_terms(w, "damper_terms", (const double[]){damper[0] + t->geared[1], damper[1] + t->geared[2]});
    }
    put_positive(w, "friction", o->no_friction ? 0 : mjcf_number(i, "frictionloss", 0));
    put_positive(w, "armature", mjcf_number(i, "armature", 0) + t->armature);
}

static void put_look(mjcf_work *w, const mjcf_item *i) {
    double rgba[4] = {0.5, 0.5, 0.5, 1};
    const xml_element *width = mjcf_holder(i, "width");
    if (width) {
        writer_put_number(w->out, "width", 2 * mjcf_number(i, "width", 0));
    }
    if (mjcf_numbers(i, "rgba", 4, rgba)) {
        for (int k = 0; k < 4; k++) {
            rgba[k] = fmin(fmax(rgba[k], 0), 1);
        }
        writer_put_numbers(w->out, "color", rgba[3] == 1 ? 3 : 4, rgba);
    }
}

/* The range of a ball joint is one of its angle, as of a tendon.  The angle is never below 0, so any low end below it
 * serves: one of -1 leaves a range to a joint that is held at 0. */
static void put_ball_ranges(mjcf_work *w, mjcf_list *list) {
    for (int k = 0; k < w->model.njoint; k++) {
        const mjcf_joint *j = &w->model.joint[k];
        if (j->type != MJCF_BALL || !j->limited) {
            continue;
        }
        /* name and angle */
        mjcf_open_item(w, list, j->item.at);
        writer_put_text(w->out, "name", mjcf_joined(w, mjcf_joint_name(j), "_range"));
        writer_open(w->out, "joints", '[');
        writer_open(w->out, NULL, '{');
        writer_put_text(w->out, "joint", mjcf_joint_name(j));
        writer_put_number(w->out, "coefficient", 1);
        writer_close(w->out, '}');
        writer_close(w->out, ']');
        /* range */
        const double range[2] = {j->range[1] > 0 ? 0 : -1, j->range[1]};
        writer_put_numbers(w->out, "range", 2, range);
        if (j->limit.given) {
            mjcf_put_limit_softness(w, j);
        }
        writer_close(w->out, '}');
    }
}

void mjcf_put_tendons(mjcf_work *w) {
    mjcf_list list = {.key = "tendons"};
    mjcf_each each = mjcf_each_of(&w->model, "tendon", NULL);
    for (int number = 0; mjcf_next(&each) && number < w->model.ntendon; number++) {
        /* name and length */
        mjcf_item item = mjcf_item_of(w, each.scope, each.at, "tendon", -1);
        const char *name = mjcf_name(w, each.scope, each.at);
        bool fixed = strcmp(each.at->name, "fixed") == 0;
        const mjcf_tendon *t = &w->model.tendon[number];
        if (t->still) {
            xml_notice(w->report, each.at, NULL, NULL, "ignored: a tendon that no joint moves");
            continue;
        }
        mjcf_open_item(w, &list, each.at);
        writer_put_text(w->out, "name", name ? name : mjcf_number_name(w, "tendon", number));
        if (fixed) {
            put_sum(w, &each);
        } else {
            put_path(w, &each);
        }
        /* what acts along it */
        mjcf_here(w, each.at);
        put_range(w, &each, &item);
        put_spring(w, &each, &item, t);
        mjcf_put_tendon_effort(w, t);
        if (!fixed) {
            put_look(w, &item);
        }
        writer_close(w->out, '}');
    }
    put_ball_ranges(w, &list);
    mjcf_put_lone_tendons(w, &list);
    mjcf_close_list(w, &list);
}
