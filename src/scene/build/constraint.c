/* Constraints between bodies: resolution of body and joint names; frames on `world` become frames on the parent. A
 * warning of rigid ones that do not hold in the initial state. */
#include "math/spatial.h"
#include "scene/loader/loader.h"
#include "scene/loader/placement.h"

#include <math.h>
#include <sim/dynamics.h>
#include <stdio.h>
#include <string.h>

static const double LEAST_OPEN = 1e-3;      /* gap that is doubted, over the distance of its points from their bodies */
static const double LEAST_OPEN_TURN = 1e-2; /* rad */
static const double ROUNDED = 1e-6;         /* of coordinates: written with six digits */

/* A body by name, its index in the builder, and where the frame that the name speaks of stands on it. */
typedef struct held_body {
    const entry *entry; /* NULL: the world itself */
    int index;
    pose frame;
} held_body;

/* `joint`: it may be named by its joint. */
static bool find_body(loader *l, const scope *s, const char *name, const node *at, bool joint, held_body *out) {
    bool world = strcmp(name, "world") == 0;
    int found = world ? s->world_parent : joint ? loader_find_joint(l, s, name, at) : loader_find(l, s, name, at);
    *out = (held_body){found >= 0 ? &l->entries[found] : NULL, found >= 0 ? l->entries[found].index : 0,
                       world ? s->world_frame : pose_identity()};
    return world || (found >= 0 && loader_has_frame(l, out->entry, at));
}

/* The body of a site, and its pose there. */
static bool find_held_site(loader *l, const scope *s, const char *name, const node *at, held_body *out) {
    const site_entry *site = loader_find_site(l, s, name, at);
    if (site) {
        const entry *e = &l->entries[site->body];
        *out = (held_body){e, e->index, site->pose};
    }
    return site;
}

/* Both sides of a constraint, each by a site or by a body. */
static bool find_sides(loader *l, const scope *s, const constraint_data *d, const node *const at[2], held_body out[2]) {
    static const char *const placed[2][3] = {{"first_site", "first_pose", "first_point"},
                                             {"second_site", "second_pose", "second_point"}};
    const char *site[2] = {d->first_site, d->second_site}, *body[2] = {d->first, d->second};
    for (int side = 0; side < 2; side++) {
        const node *frame = node_member(d->at, placed[side][1]);
        frame = frame ? frame : node_member(d->at, placed[side][2]);
        if (site[side] && frame) {
            report_once(&l->report, frame, "leave one of them out", "\"%s\" is a place on its body already",
                        placed[side][0]);
            return false;
        }
        if (site[side] ? !find_held_site(l, s, site[side], at[side], &out[side])
                       : !find_body(l, s, body[side], at[side], d->type == SIM_COUPLING, &out[side])) {
            return false;
        }
    }
    return true;
}

static bool check_coupled(loader *l, const held_body *b, int64_t dof, const node *at) {
    if (!b->entry) {
        report_once(&l->report, at, NULL, "a coupling needs two joints, and the world has none");
        return false;
    }
    sim_joint_type type = b->entry->type;
    int nv = type == SIM_BALL || type == SIM_FREE ? 0 : sim_joint_nv(type);
    if (b->entry->read && dof >= nv) {
        report_once(&l->report, at, NULL, "the %s joint of \"%.80s\" has no coordinate %d for a coupling",
                    sim_joint_name(type), b->entry->name, (int)dof);
        return false;
    }
    return b->entry->read;
}

/* Frames on the bodies as the builder wants them. */
static bool read_frames(loader *l, const constraint_data *d, const held_body *bodies, sim_equality *e) {
    const pose_data *given[2] = {&d->first_pose, &d->second_pose};
    const double *point[2] = {d->first_point, d->second_point};
    for (int side = 0; side < 2; side++) {
        pose X = pose_identity();
        if (e->type == SIM_WELD && given[side]->at && !placement_read(&l->report, given[side], &X)) {
            return false;
        }
        if (e->type != SIM_WELD) {
            X.p = v3_make(point[side][0], point[side][1], point[side][2]);
        }
        e->frame[side] = pose_product(bodies[side].frame, X);
    }
    return true;
}

/* Offset, ratio and higher coefficients; a polynomial has all of them. */
static bool read_polynomial(loader *l, const constraint_data *d, sim_equality *e) {
    const node *polynomial = node_member(d->at, "polynomial"), *offset = node_member(d->at, "offset");
    const node *other = offset ? offset : node_member(d->at, "ratio");
    e->offset = d->offset;
    e->ratio = d->ratio;
    if (polynomial && other) {
        report_once(&l->report, polynomial, "its first two coefficients are the offset and the ratio",
                    "\"polynomial\" and \"%s\" are both given", other->key);
        return false;
    }
    double c[5] = {0};
    for (int k = 0; polynomial && k < polynomial->count; k++) {
        c[k] = d->polynomial[k];
    }
    if (polynomial) {
        e->offset = c[0];
        e->ratio = c[1];
        memcpy(e->higher, c + 2, sizeof e->higher);
    }
    return true;
}

/* Its own name, or that of the first side, with the prefix of the instance; the world has none. */
static const char *name_constraint(loader *l, const scope *s, const constraint_data *d) {
    const char *first = d->first_site ? d->first_site : d->first;
    bool world = !d->name && strcmp(first, "world") == 0;
    return world ? first : loader_keep_name(l, s, d->name ? d->name : first, d->at);
}

static void add_constraint(loader *l, const sim_equality *e, const node *at) {
    if (loader_good(l)) {
        loader_note_part(l, &l->constraints, sim_builder_add_equality(l->builder, e), at);
    }
}

/* A constraint of one tendon, or of two. */
static void couple_tendons(loader *l, const scope *s, const constraint_data *d, sim_equality *e) {
    const node *first = node_member(d->at, "first"), *second = node_member(d->at, "second");
    e->tendon[0] = loader_find_tendon(l, s, d->first, first);
    e->tendon[1] = second ? loader_find_tendon(l, s, d->second, second) : -1;
    if (!second && (node_member(d->at, "ratio") || node_member(d->at, "polynomial"))) {
        report_once(&l->report, d->at, NULL, "a ratio or polynomial needs a second tendon");
    } else if (second && e->tendon[0] == e->tendon[1] && e->tendon[0] >= 0) {
        report_once(&l->report, second, NULL, "both are \"%.80s\"", d->second);
    } else {
        add_constraint(l, e, d->at);
    }
}

void read_constraint(loader *l, const scope *s, const node *n) {
    constraint_data d;
    held_body body[2];
    sim_equality e = sim_equality_default();
    if (!loader_read(l, n, &table_constraint, &d) || !read_polynomial(l, &d, &e)) {
        return;
    }
    /* parameters in SI units */
    e.name = name_constraint(l, s, &d);
    if (!e.name) {
        return;
    }
    e.type = (sim_equality_type)d.type;
    e.stiffness = node_member(n, "stiffness") ? d.stiffness : INFINITY;
    e.dissipation = d.dissipation;
    e.distance = e.type == SIM_SPRING_DAMPER ? d.rest : d.distance;
    e.damping = d.damping;
    e.off = !d.active;
    e.dof[0] = (int)d.first_dof;
    e.dof[1] = (int)d.second_dof;
    if (e.type == SIM_TENDON_COUPLING) {
        couple_tendons(l, s, &d, &e);
        return;
    }
    /* both bodies */
    const node *second = node_member(n, d.second_site ? "second_site" : "second");
    const node *at[2] = {node_member(n, d.first_site ? "first_site" : "first"), second ? second : n};
    if (!find_sides(l, s, &d, at, body)) {
        return;
    }
    if (d.type == SIM_SPRING_DAMPER && !node_member(n, "stiffness")) {
        report_once(&l->report, n, NULL, "a spring needs a stiffness");
        return;
    }
    /* coordinates of a coupling, or points and frames of the others */
    if (e.type == SIM_COUPLING) {
        if (!check_coupled(l, &body[0], d.first_dof, at[0]) || !check_coupled(l, &body[1], d.second_dof, at[1])) {
            return;
        }
    } else if (!read_frames(l, &d, body, &e)) {
        return;
    }
    /* the constraint needs two different bodies or coordinates */
    bool same = body[0].entry == body[1].entry && (e.type != SIM_COUPLING || e.dof[0] == e.dof[1]);
    if (same) {
        report_once(&l->report, at[1], NULL, "both are \"%.80s\"", body[1].entry ? body[1].entry->name : d.second);
    } else {
        e.body[0] = body[0].index;
        e.body[1] = body[1].index;
        add_constraint(l, &e, n);
    }
}

/* m between the points of a constraint, less its distance; rad between the frames of a weld. */
static double gap_of_points(const sim_derived *d, const sim_equality *e, double *turn) {
    pose X[2];
    double arms = e->type == SIM_DISTANCE ? e->distance : 0, far = 0;
    for (int side = 0; side < 2; side++) {
        X[side] = pose_product(d->pose[e->body[side]], e->frame[side]);
        arms += v3_norm(e->frame[side].p);
        far = fmax(far, v3_norm(X[side].p));
    }
    double gap = fabs(v3_norm(v3_sub(X[0].p, X[1].p)) - (e->type == SIM_DISTANCE ? e->distance : 0));
    m3 by = m3_product(X[0].R, m3_transpose(X[1].R));
    *turn = e->type == SIM_WELD ? v3_norm(quat_log(quat_from_matrix(by))) : 0;
    *turn = *turn > LEAST_OPEN_TURN ? *turn : 0;
    return gap > LEAST_OPEN * arms + ROUNDED * far ? gap : 0;
}

/* A rigid constraint that acts, between points or frames. */
static bool ties_points(const sim_equality *e) {
    return !e->off && isinf(e->stiffness) && (e->type == SIM_WELD || e->type == SIM_CONNECT || e->type == SIM_DISTANCE);
}

void doubt_open_constraints(loader *l) {
    /* the first that is open, and how many more */
    const sim_model *m = l->scene->model;
    const sim_equality *first = NULL;
    double gap = 0, turn = 0;
    int more = -1;
    const node **at =
        m->nequality ? loader_part_nodes(l, l->constraints, m->nequality) : NULL; /* NULL: of a soft body */
    sim_derived *d = at ? sim_derived_create(m, NULL) : NULL;
    if (!d) {
        l->report.no_memory |= m->nequality > 0;
        return;
    }
    sim_kinematics(d, sim_all(m), m->q_initial);
    for (int k = 0; k < m->nequality; k++) {
        const sim_equality *e = &m->equality[k];
        double by = 0, off = ties_points(e) ? gap_of_points(d, e, &by) : 0;
        if ((off > 0 || by > 0) && at[k]) {
            gap = first ? gap : off;
            turn = first ? turn : by;
            first = first ? first : e;
            more++;
        }
    }
    sim_derived_free(d);
    if (!first) {
        return;
    }
    /* with its size, at its own place */
    const char *a = m->body[first->body[0]].name, *b = m->body[first->body[1]].name;
    char size[48], others[48] = "";
    snprintf(size, sizeof size, "%.3g %s", gap > 0 ? gap : turn, gap > 0 ? "m" : "rad");
    if (more > 0) {
        snprintf(others, sizeof others, ", and %d more %s", more, more == 1 ? "is" : "are");
    }
    report_warning(&l->report, at[first - m->equality], NULL,
                   "the %s of \"%.80s\" and \"%.80s\" is open by %s at the start, and closes at law/undo, %g m/s%s",
                   sim_equality_name(first->type), a, b, size, l->scene->options.law.undo, others);
}
