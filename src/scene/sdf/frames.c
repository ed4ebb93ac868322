/* Models, links, joints and frames as one graph of places.
 *
 *     X_world(f) = X_world(base(f)) X(f)          base: `relative_to`, or else
 *
 *     link     frame of its model          joint    its child
 *     frame    `attached_to`               model    frame of the outer model, or the world
 *
 * Elements of a merged model have the names of the outer one, and places seen from a frame of their own.
 *
 * A frame moves with a link: a joint with its child, a frame with `attached_to`, a model with its canonical link.
 *
 * Reference: sdformat.org, "Pose Frame Semantics" (versions 1.7 and above; older ones have no `relative_to`).
 * Cost: linear in the number of frames. */
#include "base/nearest.h"
#include "scene/sdf/sdf.h"
#include "scene/xml/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NOT_FOUND = -2 };

static void refuse_model(sdf_work *w) { w->good = false; }

static void run_out(sdf_work *w) {
    w->report->no_memory = true;
    w->good = false;
}

/* Room for one item more: arrays double. */
static void *grow(sdf_work *w, void *array, int count, size_t size) {
    if (count & (count - 1)) {
        return array;
    }
    void *more = pool_alloc(w->pool, count ? 2 * (size_t)count : 1, size);
    if (more && count) {
        memcpy(more, array, (size_t)count * size);
    }
    if (!more) {
        run_out(w);
    }
    return more;
}

/* ---- names ---- */

static const char *join_names(sdf_work *w, const char *a, const char *b, const char *c) {
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *joined = pool_alloc(w->pool, size, 1);
    if (!joined) {
        run_out(w);
        return "";
    }
    snprintf(joined, size, "%s%s%s", a, b, c);
    return joined;
}

const char *sdf_clean_name(sdf_work *w, const char *prefix, const char *name) {
    char *joined = pool_text(w->pool, join_names(w, prefix, name, ""));
    if (!joined) {
        run_out(w);
        return "";
    }
    xml_clean_name(joined);
    return joined;
}

int sdf_find_frame(sdf_work *w, int scope, const char *name, const xml_element *at, const char *attribute) {
    if (strcmp(name, "world") == 0) {
        return SDF_WORLD;
    }
    const char *path = w->scope[scope].path;
    bool merged = w->scope[scope].names != scope;
    int found = merged && strcmp(name, "__model__") == 0 ? w->scope[scope].frame
                                                         : names_find(&w->names, join_names(w, path, name, ""));
    if (found >= 0) {
        return found;
    }
    /* the nearest name of that scope */
    nearest near = {.wanted = name};
    char hint[200];
    size_t length = strlen(path);
    for (size_t k = 0; k < w->names.room && !report_full(w->report); k++) {
        if (w->names.name[k] && strncmp(w->names.name[k], path, length) == 0) {
            nearest_try(&near, w->names.name[k] + length);
        }
    }
    xml_error(w->report, at, attribute, nearest_hint(&near, hint, sizeof hint), "there is no frame \"%.80s\"", name);
    refuse_model(w);
    return NOT_FOUND;
}

static int add_frame(sdf_work *w, sdf_kind kind, const xml_element *at, int scope, const char *path, const char *name) {
    /* within the limits, with a name of its own */
    if (w->nframe >= w->limit) {
        xml_error(w->report, at, NULL, NULL, "more than %d models, links, joints and frames", w->limit);
        refuse_model(w);
    }
    bool world = strcmp(name, "world") == 0 && kind != SDF_LINK;
    if (!*name || world || (strstr(name, "::") && kind == SDF_SCOPE)) {
        xml_error(w->report, at, "name", NULL, "\"%.80s\" is no name", name);
        refuse_model(w);
    }
    /* in the list and among the names */
    sdf_frame *all = w->good ? grow(w, w->frame, w->nframe, sizeof *all) : NULL;
    if (!all) {
        return 0;
    }
    w->frame = all;
    const char *full = join_names(w, path, name, "");
    if (names_find(&w->names, full) >= 0) {
        xml_error(w->report, at, "name", NULL, "a second element called \"%.80s\"", name);
        refuse_model(w);
    } else if (!names_add(&w->names, full, w->nframe)) {
        run_out(w);
    }
    w->frame[w->nframe] = (sdf_frame){.kind = kind, .at = at, .scope = scope, .base = -1, .follows = -1};
    w->frame[w->nframe].place = w->frame[w->nframe].world = pose_identity();
    w->frame[w->nframe].link = SDF_WORLD;
    return w->nframe++;
}

/* ---- places ---- */

static sim_m3 matrix_of_rpy(double roll, double pitch, double yaw) {
    double cr = cos(roll), sr = sin(roll), cp = cos(pitch), sp = sin(pitch), cy = cos(yaw), sy = sin(yaw);
    return (sim_m3){{cy * cp, sy * cp, -sp},
                    {cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr},
                    {cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr}};
}

sim_pose sdf_read_pose(sdf_work *w, const xml_element *given) {
    /* numbers: six with angles, seven with a quaternion, or none */
    sim_pose X = pose_identity();
    double number[8];
    if (!given || !xml_text(given, "text")) {
        return X;
    }
    const char *format = xml_text(given, "rotation_format");
    bool turned = format && strcmp(format, "quat_xyzw") == 0;
    int count = xml_count_numbers(xml_text(given, "text"));
    if (count != (turned ? 7 : 6)) {
        xml_error(w->report, given, NULL, NULL, "expected %d numbers, not %d", turned ? 7 : 6, count);
        refuse_model(w);
        return X;
    }
    xml_numbers(given, "text", 8, number);
    /* as a matrix */
    X.p = (sim_v3){number[0], number[1], number[2]};
    if (!turned) {
        double unit = xml_flag(given, "degrees") ? acos(-1) / 180 : 1;
        X.R = matrix_of_rpy(unit * number[3], unit * number[4], unit * number[5]);
        return X;
    }
    sim_quat q = {number[6], number[3], number[4], number[5]};
    double norm = quat_norm(q);
    if (!(norm > 1e-3) || !(norm < 1e3)) {
        xml_error(w->report, given, NULL, NULL, "the quaternion has length %g", norm);
        refuse_model(w);
        return X;
    }
    X.R = quat_matrix(quat_normalised(q));
    return X;
}

sim_pose sdf_read_pose_in_link(sdf_work *w, int link, const xml_element *given) {
    const sdf_frame *f = &w->frame[w->link[link].frame];
    sim_pose X = sdf_read_pose(w, given);
    const char *name = given ? xml_text(given, "relative_to") : NULL;
    int from = name && *name ? sdf_find_frame(w, f->scope, name, given, "relative_to") : NOT_FOUND;
    if (from == NOT_FOUND) {
        return X;
    }
    sim_pose seen = from == SDF_WORLD ? pose_identity() : w->frame[from].world;
    return pose_product(pose_relative(f->world, seen), X);
}

void sdf_here(sdf_work *w, const xml_element *e) {
    w->out->here = e->at;
    w->out->behind = e->source;
}

void sdf_put_pose(sdf_work *w, const char *key, sim_pose X) {
    quat q = quat_from_matrix(X.R);
    bool turned = q.x != 0 || q.y != 0 || q.z != 0, moved = X.p.x != 0 || X.p.y != 0 || X.p.z != 0;
    if (!turned && !moved) {
        return;
    }
    writer_open(w->out, key, '{');
    if (moved) {
        writer_put_numbers(w->out, "position", 3, (const double[]){X.p.x, X.p.y, X.p.z});
    }
    if (turned) {
        writer_put_numbers(w->out, "quaternion", 4, (const double[]){q.w, q.x, q.y, q.z});
    }
    writer_close(w->out, '}');
}

/* ---- elements of models ---- */

static void read_model(sdf_work *w, const sdf_file *f, const xml_element *at, int outer, const sdf_file *from,
                       const xml_element *include, int depth);

static void read_include(sdf_work *w, const sdf_file *f, const xml_element *at, int outer, int depth) {
    const sdf_file *file = sdf_include(w, f, at);
    const xml_element *model = file ? xml_child(file->root, "model") : NULL;
    if (file && !model) {
        xml_error(w->report, at, "uri", NULL, "\"%.200s\" holds no model", file->path);
    }
    if (!model) {
        refuse_model(w);
        return;
    }
    read_model(w, file, model, outer, f, at, depth);
}

static void read_children(sdf_work *w, const sdf_file *f, const xml_element *at, int scope, int depth) {
    static const char *const word[] = {[SDF_LINK] = "link", [SDF_JOINT] = "joint", [SDF_FRAME] = "frame"};
    /* links, joints and frames, each by its name; models within */
    for (const xml_element *e = at->first; e && w->good; e = e->next) {
        for (sdf_kind kind = SDF_LINK; kind <= SDF_FRAME && w->good; kind++) {
            if (kind == SDF_LINK && strcmp(e->name, "link") == 0 && scope > 0 && w->scope[scope].names == 0) {
                xml_error(w->report, e, NULL, NULL, "a link of a model that is merged into no other model");
                refuse_model(w);
            } else if (strcmp(e->name, word[kind]) == 0) {
                int k = add_frame(w, kind, e, scope, w->scope[scope].path, xml_text(e, "name"));
                bool world = strcmp(xml_text(e, "name"), "world") == 0;
                if (w->good) {
                    const char *name = world ? "world_link" : xml_text(e, "name");
                    w->frame[k].name = sdf_clean_name(w, w->scope[scope].prefix, name);
                }
            }
        }
        if (strcmp(e->name, "model") == 0) {
            read_model(w, f, e, scope, f, NULL, depth + 1);
        } else if (strcmp(e->name, "include") == 0) {
            read_include(w, f, e, scope, depth + 1);
        }
    }
}

/* Names and bodies of a merged model are those of the outer one. */
static void merge_scope(sdf_work *w, int scope) {
    sdf_scope *s = &w->scope[scope];
    const sdf_scope *into = &w->scope[s->outer];
    s->names = into->names;
    s->path = into->path;
    s->prefix = into->prefix;
    s->top = into->names > 0 ? into->top : scope;
}

/* A scope with its own frame, which its outer scope knows by `name`. */
static int add_scope(sdf_work *w, const sdf_file *f, const xml_element *at, int outer, const char *name, bool merged) {
    sdf_scope *all = grow(w, w->scope, w->nscope, sizeof *all);
    if (!all) {
        return 0;
    }
    w->scope = all;
    int k = w->nscope++;
    sdf_scope *s = &w->scope[k];
    *s = (sdf_scope){.at = at, .file = f, .named_in = f, .outer = outer, .names = k};
    s->top = outer > 0 && all[outer].names > 0 ? all[outer].top : k;
    s->path = outer < 0 ? "" : join_names(w, all[outer].path, name, "::");
    s->prefix = outer < 0 || !xml_child(w->file[0]->root, "world") ? "" : s->path;
    if (outer > 0 && !*s->prefix) { /* within the one model of a file */
        s->prefix = join_names(w, all[outer].prefix, name, "::");
    }
    if (merged) {
        merge_scope(w, k);
    }
    if (outer >= 0) {
        const char *own = merged ? join_names(w, "_merged__", name, "__model__") : name;
        s->frame = add_frame(w, SDF_SCOPE, at, k, all[outer].path, own);
    }
    if (w->good && !merged && outer >= 0 && !names_add(&w->names, join_names(w, s->path, "__model__", ""), s->frame)) {
        run_out(w);
    }
    return k;
}

static void read_model(sdf_work *w, const sdf_file *f, const xml_element *at, int outer, const sdf_file *from,
                       const xml_element *include, int depth) {
    if (depth > SDF_MAX_DEPTH) {
        xml_error(w->report, include ? include : at, NULL, NULL, "models nested more than %d deep", SDF_MAX_DEPTH);
        refuse_model(w);
        return;
    }
    /* what an <include> replaces */
    const char *given = include ? xml_text(include, "name") : NULL;
    bool merged = include && xml_flag(include, "merge");
    int k = add_scope(w, f, at, outer, given ? given : xml_text(at, "name"), merged);
    if (!w->good) {
        return;
    }
    sdf_scope *s = &w->scope[k];
    bool placed = include && xml_child(include, "pose");
    s->pose = xml_child(placed ? include : at, "pose");
    s->named_in = placed ? from : f;
    s->placement = include ? xml_text(include, "placement_frame") : NULL;
    s->placement = s->placement ? s->placement : xml_text(at, "placement_frame");
    bool replaced = include && xml_text(include, "static");
    s->fixed = (outer >= 0 && w->scope[outer].fixed) || (!merged && xml_flag(replaced ? include : at, "static"));
    read_children(w, f, at, k, depth);
}

/* ---- what frames are seen from, and move with ---- */

static int find_canonical(sdf_work *w, int scope) {
    const sdf_scope *s = &w->scope[scope];
    const char *name = xml_text(s->at, "canonical_link");
    if (name) {
        return sdf_find_frame(w, scope, name, s->at, "canonical_link");
    }
    int nested = NOT_FOUND;
    for (int k = s->frame + 1; k < w->nframe; k++) {
        const sdf_frame *f = &w->frame[k];
        if (f->kind == SDF_LINK && (f->scope == scope || w->scope[f->scope].names == scope)) {
            return k;
        }
        if ((f->kind == SDF_SCOPE ? w->scope[f->scope].outer : f->scope) < scope) {
            break; /* behind the model */
        }
        bool inner = f->kind == SDF_SCOPE && w->scope[f->scope].outer == scope;
        nested = nested == NOT_FOUND && inner ? k : nested;
    }
    if (nested == NOT_FOUND && !s->fixed) {
        xml_error(w->report, s->at, NULL, NULL, "the model has no link");
        refuse_model(w);
    }
    return nested == NOT_FOUND ? SDF_WORLD : nested;
}

static int find_attached(sdf_work *w, const sdf_frame *f) {
    const sdf_scope *s = &w->scope[f->scope];
    const char *name;
    int own = f->scope > 0 ? s->frame : SDF_WORLD;
    switch (f->kind) {
    case SDF_SCOPE:
        return find_canonical(w, f->scope);
    case SDF_JOINT:
        return sdf_find_frame(w, f->scope, xml_text(f->at, "child"), f->at, "child");
    case SDF_FRAME:
        name = xml_text(f->at, "attached_to");
        return name && *name ? sdf_find_frame(w, f->scope, name, f->at, "attached_to") : own;
    default:
        return SDF_WORLD;
    }
}

static void connect_frame(sdf_work *w, int index) {
    /* its scope, seen from which its place is */
    sdf_frame *f = &w->frame[index];
    const sdf_scope *s = &w->scope[f->scope];
    bool model = f->kind == SDF_SCOPE;
    int around = model ? s->outer : f->scope, own = around > 0 ? w->scope[around].frame : SDF_WORLD;
    f->follows = find_attached(w, f);
    /* its place */
    const xml_element *given = model ? s->pose : xml_child(f->at, "pose");
    const char *from = given ? xml_text(given, "relative_to") : NULL;
    bool moves = f->kind == SDF_JOINT || f->kind == SDF_FRAME;
    f->place = sdf_read_pose(w, given);
    f->base = from && *from ? sdf_find_frame(w, around, from, given, "relative_to") : moves ? f->follows : own;
    if (f->base == index) {
        xml_error(w->report, given ? given : f->at, NULL, NULL, "a frame that is seen from itself");
        refuse_model(w);
    }
}

/* Moves a model so that its placement frame stands at its pose. */
static void place_model(sdf_work *w, int scope) {
    const sdf_scope *s = &w->scope[scope];
    if (scope == 0 || !s->placement || !*s->placement || !w->good) {
        return;
    }
    sim_pose X = pose_identity();
    int at = sdf_find_frame(w, scope, s->placement, s->at, NULL), steps = 0;
    for (; at >= 0 && at != s->frame && steps <= w->nframe; steps++) {
        X = pose_product(w->frame[at].place, X);
        at = w->frame[at].base;
    }
    if (at != s->frame) {
        xml_error(w->report, s->at, "placement_frame", NULL, "the place of \"%.80s\" does not depend on the model",
                  s->placement);
        refuse_model(w);
        return;
    }
    sdf_frame *f = &w->frame[s->frame];
    f->place = pose_product(f->place, pose_inverse(X));
}

/* Walks from each frame to one that is known, and back.  `way`: the frames on it. */
static void resolve_frames(sdf_work *w, bool places) {
    int *way = POOL_NEW(w->pool, int, w->nframe);
    bool *known = POOL_NEW(w->pool, bool, w->nframe);
    if (!way || !known) {
        run_out(w);
        return;
    }
    for (int k = 0; k < w->nframe; k++) {
        int at = k, count = 0;
        while (at >= 0 && !known[at] && count < w->nframe) {
            way[count++] = at;
            at = places ? w->frame[at].base : w->frame[at].follows;
        }
        if (at >= 0 && !known[at]) {
            xml_error(w->report, w->frame[k].at, NULL, NULL,
                      places ? "the frames that it is seen from run in a circle"
                             : "the frames that it is attached to run in a circle");
            refuse_model(w);
            return;
        }
        while (count-- > 0) {
            sdf_frame *f = &w->frame[way[count]];
            int from = places ? f->base : f->follows;
            if (places) {
                f->world = from >= 0 ? pose_product(w->frame[from].world, f->place) : f->place;
            } else if (f->kind != SDF_LINK) {
                f->link = from >= 0 ? w->frame[from].link : SDF_WORLD;
            }
            known[way[count]] = true;
        }
    }
}

/* ---- the file ---- */

bool sdf_read_frames(sdf_work *w, const sdf_file *f) {
    /* elements */
    const xml_element *world = xml_child(f->root, "world"), *model = xml_child(f->root, "model");
    const xml_element *include = xml_child(f->root, "include"), *one = world ? world : model ? model : include;
    if ((world != NULL) + (model != NULL) + (include != NULL) != 1) {
        xml_error(w->report, f->root, NULL, NULL, "expected one <model>, one <include> or one <world>");
        refuse_model(w);
        return false;
    }
    if (xml_next(one)) {
        xml_error(w->report, xml_next(one), NULL, "put the models into a <world>", "a second <%s> in the file",
                  one->name);
        refuse_model(w);
        return false;
    }
    add_scope(w, f, world ? world : f->root, -1, "", false);
    if (w->good && world) {
        read_children(w, f, world, 0, 0);
    } else if (w->good && model) {
        read_model(w, f, model, 0, f, NULL, 1);
    } else if (w->good) {
        read_include(w, f, include, 0, 1);
    }
    /* links count through the file */
    for (int k = 0; k < w->nframe && w->good; k++) {
        if (w->frame[k].kind == SDF_LINK) {
            w->frame[k].link = w->nlink++;
        }
    }
    /* places; all references that fail are said */
    bool placed = w->good;
    for (int k = 0; k < w->nframe && placed; k++) {
        connect_frame(w, k);
    }
    for (int k = 0; k < w->nscope && w->good; k++) {
        place_model(w, k);
    }
    for (int pass = 0; pass < 2 && w->good; pass++) {
        resolve_frames(w, pass == 0);
    }
    return w->good;
}
