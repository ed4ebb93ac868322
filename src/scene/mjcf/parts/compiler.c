/* Options of a file: <compiler> and <option>, later ones in place of earlier ones. */
#include "math/angle.h"
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <string.h>

static bool is_word(const xml_element *e, const char *key, const char *word, bool otherwise) {
    const char *said = xml_text(e, key);
    return said ? strcmp(said, word) == 0 : otherwise;
}

static const char *with_slash(mjcf_work *w, const char *folder) {
    size_t length = strlen(folder);
    char *out = pool_alloc(w->pool, length + 2, 1);
    if (!out) {
        w->report->no_memory = true;
        return "";
    }
    strcpy(out, folder);
    if (length && folder[length - 1] != '/') {
        out[length] = '/';
    }
    return out;
}

static void read_euler(mjcf_work *w, const xml_element *e, mjcf_compiler *c) {
    const char *said = xml_text(e, "eulerseq");
    if (!said) {
        return;
    }
    if (strlen(said) != 3 || strspn(said, "xyzXYZ") != 3) {
        xml_error(w->report, e, "eulerseq", NULL, "expected three letters of x, y, z, X, Y, Z, not \"%.20s\"", said);
        mjcf_refuse(w);
        return;
    }
    memcpy(c->euler, said, 4);
}

static void read_compiler(mjcf_work *w, const xml_element *e, mjcf_compiler *c) {
    /* angles and files */
    c->degrees = is_word(e, "angle", "degree", c->degrees);
    c->global = is_word(e, "coordinate", "global", c->global);
    read_euler(w, e, c);
    c->strip_path = is_word(e, "strippath", "true", c->strip_path);
    const char *folder = xml_text(e, "meshdir") ? xml_text(e, "meshdir") : xml_text(e, "assetdir");
    c->mesh_folder = folder ? with_slash(w, folder) : c->mesh_folder;
    folder = xml_text(e, "texturedir") ? xml_text(e, "texturedir") : xml_text(e, "assetdir");
    c->texture_folder = folder ? with_slash(w, folder) : c->texture_folder;
    c->auto_limits = is_word(e, "autolimits", "true", c->auto_limits);
    c->discard_visual = is_word(e, "discardvisual", "true", c->discard_visual);
    c->fit_bounds = is_word(e, "fitaabb", "true", c->fit_bounds);
    /* mass properties */
    c->balance_inertia = is_word(e, "balanceinertia", "true", c->balance_inertia);
    c->inertia = is_word(e, "inertiafromgeom", "true", c->inertia == MJCF_INERTIA_ALWAYS)   ? MJCF_INERTIA_ALWAYS
                 : is_word(e, "inertiafromgeom", "false", c->inertia == MJCF_INERTIA_NEVER) ? MJCF_INERTIA_NEVER
                                                                                            : MJCF_INERTIA_AUTO;
    double groups[2] = {c->groups[0], c->groups[1]};
    xml_numbers(e, "inertiagrouprange", 2, groups);
    for (int k = 0; k < 2; k++) {
        c->groups[k] = (int)fmax(-1000, fmin(groups[k], 1000));
    }
    xml_numbers(e, "boundmass", 1, &c->bound_mass);
    xml_numbers(e, "boundinertia", 1, &c->bound_inertia);
    xml_numbers(e, "settotalmass", 1, &c->total_mass);
}

static void read_flags(const xml_element *e, mjcf_option *o) {
    if (!e) {
        return;
    }
    bool none = is_word(e, "constraint", "disable", false), passive = is_word(e, "passive", "disable", false);
    o->no_equality |= none || is_word(e, "equality", "disable", false);
    o->no_friction |= none || is_word(e, "frictionloss", "disable", false);
    o->no_limit |= none || is_word(e, "limit", "disable", false);
    o->no_contact |= none || is_word(e, "contact", "disable", false);
    o->no_spring |= passive || is_word(e, "spring", "disable", false);
    o->no_damper |= passive || is_word(e, "damper", "disable", false);
    o->no_gravity |= is_word(e, "gravity", "disable", false);
    o->no_actuation |= is_word(e, "actuation", "disable", false);
    o->no_clamp |= is_word(e, "clampctrl", "disable", false);
    o->across_joints |= is_word(e, "filterparent", "disable", false);
}

static void read_option(mjcf_work *w, const xml_element *e, mjcf_option *o) {
    /* step, gravity, fluid */
    if (xml_numbers(e, "timestep", 1, &o->step) && !(o->step > 0)) {
        xml_error(w->report, e, "timestep", NULL, "must be above 0, is %g s", o->step);
        mjcf_refuse(w);
    }
    xml_numbers(e, "gravity", 3, o->gravity);
    xml_numbers(e, "wind", 3, o->wind);
    xml_numbers(e, "density", 1, &o->density);
    xml_numbers(e, "viscosity", 1, &o->viscosity);
    if (o->density < 0 || o->viscosity < 0) {
        const char *key = o->density < 0 ? "density" : "viscosity";
        xml_error(w->report, e, key, NULL, "the %s of the fluid is negative", key);
        mjcf_refuse(w);
    }
    /* integrator, groups of actuators, flags */
    o->integrator = xml_text(e, "integrator") ? xml_text(e, "integrator") : o->integrator;
    double group[32];
    int count = xml_numbers(e, "actuatorgroupdisable", 32, group);
    for (int k = 0; k < count; k++) {
        if (group[k] >= 0 && group[k] <= 30 && group[k] == floor(group[k])) {
            o->no_group |= 1u << (int)group[k];
        } else {
            xml_error(w->report, e, "actuatorgroupdisable", NULL, "expected groups from 0 to 30, not %g", group[k]);
            mjcf_refuse(w);
        }
    }
    read_flags(xml_child(e, "flag"), o);
}

/* Elements with more than one orientation are errors, from `e` on; principal axes are one. */
static void check_orientations(mjcf_work *w, const xml_element *e) {
    static const char *const orientation[] = {"axisangle", "xyaxes", "zaxis", "euler", "quat", "fullinertia"};
    const char *first = NULL;
    for (size_t k = 0; k < sizeof orientation / sizeof orientation[0] && e->table; k++) {
        if (first && xml_text(e, orientation[k])) {
            xml_error(w->report, e, orientation[k], NULL, "\"%s\" and \"%s\" exclude each other", first,
                      orientation[k]);
            mjcf_refuse(w);
            break;
        }
        first = xml_text(e, orientation[k]) ? orientation[k] : first;
    }
    for (const xml_element *child = e->first; child; child = child->next) {
        if (!child->left_out) {
            check_orientations(w, child);
        }
    }
}

bool mjcf_read_file(mjcf_work *w, mjcf_file *f) {
    f->compiler = (mjcf_compiler){.degrees = true,
                                  .auto_limits = true,
                                  .euler = "xyz",
                                  .mesh_folder = "",
                                  .texture_folder = "",
                                  .inertia = MJCF_INERTIA_AUTO,
                                  .groups = {0, 5},
                                  .total_mass = -1};
    f->option = (mjcf_option){.step = 0.002, .gravity = {0, 0, -9.81}};
    for (const xml_element *e = xml_child(f->root, "compiler"); e; e = xml_next(e)) {
        read_compiler(w, e, &f->compiler);
    }
    for (const xml_element *e = xml_child(f->root, "option"); e; e = xml_next(e)) {
        read_option(w, e, &f->option);
    }
    bool read = mjcf_list_classes(w->report, w->pool, f->root, &f->classes) && mjcf_list_assets(w, f) && w->good;
    check_orientations(w, f->root); /* further errors may be found beside these */
    return read;
}

void mjcf_free_file(mjcf_file *f) {
    names_free(&f->classes.names);
    names_free(&f->assets);
}

double mjcf_angle(const mjcf_file *f, double given) { return f->compiler.degrees ? given * RADIANS_PER_DEGREE : given; }
