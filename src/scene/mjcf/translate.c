/* A model in MJCF as a scene: world, materials, bodies, constraints. */
#include "scene/mjcf/mjcf.h"

#include <string.h>

/* ---- the world ---- */

/* Does anything but contacts act as a constraint?  The integrator rk4 takes none. */
static bool has_constraints(const mjcf_model *m) {
    mjcf_each equality = mjcf_each_of(m, "equality", NULL), tendon = mjcf_each_of(m, "tendon", NULL);
    bool any = mjcf_next(&equality) || mjcf_next(&tendon);
    for (int k = 0; k < m->njoint; k++) {
        any |= m->joint[k].limited || m->joint[k].friction != 0;
    }
    return any;
}

static void put_integrator(mjcf_work *w) {
    const mjcf_option *o = &w->model.files->option;
    if (!o->integrator) {
        return;
    }
    if (strcmp(o->integrator, "Euler") == 0) {
        writer_put_text(w->out, "integrator", "symplectic");
    } else if (strcmp(o->integrator, "RK4") == 0 && o->no_contact && !has_constraints(&w->model)) {
        writer_put_text(w->out, "integrator", "rk4");
    }
}

static void put_world_options(mjcf_work *w) {
    const mjcf_option *o = &w->model.files->option;
    const double *g = o->gravity, none[3] = {0};
    writer_open(w->out, "world", '{');
    if (o->no_gravity || g[0] != 0 || g[1] != 0 || g[2] != -9.81) {
        writer_put_numbers(w->out, "gravity", 3, o->no_gravity ? none : g);
    }
    mjcf_put_fluid(w);
    writer_put_number(w->out, "step", o->step);
    put_integrator(w);
    if (o->no_contact) {
        writer_put_flag(w->out, "contacts", false);
    }
    writer_close(w->out, '}');
}

/* ---- cameras ---- */

static void put_cameras(mjcf_work *w) {
    const mjcf_model *m = &w->model;
    mjcf_list list = {.key = "cameras"};
    name_table names = {0};
    for (int k = 0; k < m->ncamera; k++) {
        const mjcf_camera *c = &m->camera[k];
        if (m->body[c->body].clump != 0 || !c->name || names_find(&names, c->name) >= 0) {
            continue;
        }
        w->report->no_memory |= !names_add(&names, c->name, k);
        /* it looks along its -z */
        sim_pose X = pose_product(m->body[c->body].world, mjcf_pose(c->place));
        sim_v3 target = v3_sub(X.p, X.R.z);
        mjcf_open_item(w, &list, c->item.at);
        writer_put_text(w->out, "name", c->name);
        writer_put_numbers(w->out, "position", 3, (const double[]){X.p.x, X.p.y, X.p.z});
        writer_put_numbers(w->out, "target", 3, (const double[]){target.x, target.y, target.z});
        writer_put_number(w->out, "fov_deg", mjcf_number(&c->item, "fovy", 45));
        writer_close(w->out, '}');
    }
    names_free(&names);
    mjcf_close_list(w, &list);
}

/* ---- loads ---- */

/* The part of its weight that a body does not feel. */
static void put_loads(mjcf_work *w) {
    const mjcf_model *m = &w->model;
    const mjcf_option *o = &m->files->option;
    mjcf_list list = {.key = "loads"};
    for (int k = 1; k < m->nbody; k++) {
        const mjcf_body *b = &m->body[k];
        double part = mjcf_number(&b->item, "gravcomp", 0);
        if (part == 0 || !b->massive || o->no_gravity) {
            continue;
        }
        const double *g = o->gravity, mass = b->inertia.mass;
        const double lift[3] = {-part * mass * g[0], -part * mass * g[1], -part * mass * g[2]};
        mjcf_open_item(w, &list, b->item.at);
        writer_put_text(w->out, "body", b->name);
        writer_put_numbers(w->out, "point", 3, (const double[]){b->inertia.com.x, b->inertia.com.y, b->inertia.com.z});
        writer_put_numbers(w->out, "force", 3, lift);
        writer_close(w->out, '}');
    }
    mjcf_close_list(w, &list);
}

/* ---- the scene ---- */

static void say_left_out(mjcf_work *w) {
    if (w->unpainted) {
        xml_notice(w->report, w->unpainted, "file", "pictures show the colour of the material",
                   "%d textures are left out: \"%.200s\" is not found, or no PNG file", w->nunpainted,
                   xml_text(w->unpainted, "file"));
    }
    const char *hint = "pictures show the other geoms of a body";
    if (w->undrawn && w->undrawn_why) {
        xml_notice(w->report, w->undrawn, "file", hint,
                   "geoms of meshes without contacts are left out (%d): \"%.200s\" %.390s", w->nundrawn,
                   xml_text(w->undrawn, "file"), w->undrawn_why);
    } else if (w->undrawn) {
        xml_notice(w->report, w->undrawn, "file", hint,
                   "geoms of meshes without contacts are left out (%d): \"%.200s\" is not found, or neither an OBJ, "
                   "STL nor MSH file",
                   w->nundrawn, xml_text(w->undrawn, "file"));
    }
}

static void check_tries(mjcf_work *w) { mjcf_check_tries(w); }

/* Each finds its own errors. */
static void (*const parts[])(mjcf_work *w) = {
    mjcf_list_tendons,   mjcf_list_centres,  mjcf_add_geared,    mjcf_put_bodies, mjcf_put_tendons,
    mjcf_put_exclusions, mjcf_put_actuators, mjcf_put_keyframes, put_loads,       mjcf_put_equalities,
    mjcf_put_sensors,    check_tries,        put_cameras};

/* Are there memory and numbers left for more? */
static bool has_room(const mjcf_work *w) { return !w->report->no_memory && w->items <= w->limit; }

static void put_scene(mjcf_work *w, const xml_element *root) {
    /* the whole, in the order of the format */
    mjcf_here(w, root);
    writer_open(w->out, NULL, '{');
    writer_put_number(w->out, "sim", 1);
    if (xml_text(root, "model")) {
        writer_put_text(w->out, "name", xml_text(root, "model"));
    }
    put_world_options(w);
    bool good = w->good;
    for (size_t k = 0; k < sizeof parts / sizeof parts[0] && has_room(w); k++) {
        w->good = true;
        parts[k](w);
        good &= w->good;
    }
    w->good = good;
    mjcf_here(w, root);
    writer_close(w->out, '}');
}

static void free_model(mjcf_model *m) {
    for (mjcf_file *f = m->files; f; f = f->next) {
        mjcf_free_file(f);
    }
    names_free(&m->bodies);
    names_free(&m->joints);
    names_free(&m->geoms);
    names_free(&m->sites);
    names_free(&m->actuators);
    names_free(&m->tendons);
    names_free(&m->links);
    names_free(&m->given);
}

static bool is_any_blamed(const xml_element *e) {
    bool any = e->blamed;
    for (const xml_element *child = e->first; child && !any; child = child->next) {
        any = is_any_blamed(child);
    }
    return any;
}

/* Is there an error where all elements take values from? */
static bool is_ground_blamed(const xml_element *root) {
    static const char *const ground[] = {"compiler", "option", "default"};
    for (const xml_element *e = root->first; e; e = e->next) {
        for (int k = 0; k < 3; k++) {
            if (strcmp(e->name, ground[k]) == 0 && is_any_blamed(e)) {
                return true;
            }
        }
    }
    return false;
}

bool mjcf_translate(mjcf_work *w, xml_element *root) {
    /* the file with what it includes */
    mjcf_file *f = POOL_NEW(w->pool, mjcf_file, 1);
    if (!f) {
        w->report->no_memory = true;
        return false;
    }
    *f = (mjcf_file){.path = w->path, .root = root};
    w->model = (mjcf_model){.files = f};
    w->good = true;
    if (w->options.base != SIM_BASE_FIXED) {
        xml_error(w->report, root, NULL, "--base is for URDF",
                  "the bodies of a model say themselves whether they move");
        w->good = false;
    }
    w->good = mjcf_include(w->report, w->pool, &w->files, w->path, root) && w->good;
    /* by the tables; later stages find their errors in what is left */
    bool right = w->good && xml_check(w->report, w->pool, root, &mjcf_table_model, &w->allowed);
    w->good = w->good && !root->unusable && !is_ground_blamed(root);
    /* parts, then the scene */
    if (w->good && mjcf_read_file(w, f) && mjcf_read_tree(w)) {
        right &= w->good;
        w->good = true;
        mjcf_read_inertia(w);
        put_scene(w, root);
        say_left_out(w);
        mjcf_say_softened(w);
    } else {
        w->good = false;
    }
    w->good &= right;
    free_model(&w->model);
    w->report->no_memory |= w->out->out.failed;
    return w->good && !w->out->out.failed;
}
