/* A model or a world in SDFormat as a scene.
 *
 *     link      body of the same name; within models of a world, MODEL::NAME
 *     joint     joint of the body that it carries
 *     frame     site of the body that it moves with
 *     model     its links do not touch each other, unless self_collide says so */
#include "scene/sdf/sdf.h"

#include "scene/xml/robot.h"

#include <string.h>

/* ---- mass properties ---- */

static void read_moments(const xml_element *inertial, double J[6]) {
    static const char *const key[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const xml_element *inertia = xml_child(inertial, "inertia");
    for (int k = 0; k < 6; k++) {
        J[k] = k < 3;
        if (inertia) {
            xml_number(inertia, key[k], &J[k]);
        }
    }
}

/* Repairs moments that no body has, or reports them. */
static void check_moments(sdf_work *w, const xml_element *at, double mass, double J[6]) {
    sim_inertia I = {.mass = mass, .moment = {J[0], J[1], J[2], J[3], J[4], J[5]}};
    sim_error why;
    if (mass > 0 && !sim_inertia_check(&I, &why)) {
        return;
    }
    if (!(mass > 0)) {
        xml_error(w->report, at, "mass", NULL, "the mass of a link must be above 0, not %g", mass);
        w->good = false;
    } else if (!w->options.repair_inertia) {
        xml_error(w->report, at, NULL, "--repair-inertia takes the nearest that a body can have", "%s", why.text);
        w->good = false;
    } else {
        inertia_repair(J);
        xml_notice(w->report, at, NULL, NULL, "repaired: %s", why.text);
    }
}

static double mass_of(const sdf_work *w, int link) {
    const xml_element *inertial = xml_child(w->frame[w->link[link].frame].at, "inertial");
    double mass = 1;
    if (inertial) {
        xml_number(inertial, "mass", &mass);
    }
    return mass;
}

static sim_pose inertial_pose(sdf_work *w, int link) {
    const xml_element *inertial = xml_child(w->frame[w->link[link].frame].at, "inertial");
    return sdf_read_pose_in_link(w, link, xml_child(inertial, "pose"));
}

static void put_inertia(sdf_work *w, int link) {
    const xml_element *at = w->frame[w->link[link].frame].at, *inertial = xml_child(at, "inertial");
    double J[6], mass = mass_of(w, link);
    if (w->link[link].massless || sdf_is_auto(w, link) || (!inertial && w->link[link].fixed)) {
        return;
    }
    if (!inertial) {
        xml_notice(w->report, at, NULL, NULL, "a link without <inertial> has 1 kg and moments of 1 kg m^2");
    }
    read_moments(inertial, J);
    check_moments(w, inertial ? inertial : at, mass, J);
    mass /= w->link[link].parts;
    for (int k = 0; k < 6; k++) {
        J[k] /= w->link[link].parts;
    }
    sim_pose X = inertial_pose(w, link);
    quat q = quat_from_matrix(X.R);
    /* as a scene */
    sdf_here(w, inertial ? inertial : at);
    writer_open(w->out, "inertia", '{');
    writer_put_number(w->out, "mass", mass);
    if (X.p.x != 0 || X.p.y != 0 || X.p.z != 0) {
        writer_put_numbers(w->out, "com", 3, (const double[]){X.p.x, X.p.y, X.p.z});
    }
    bool plain = J[3] == 0 && J[4] == 0 && J[5] == 0;
    writer_put_numbers(w->out, plain ? "moments" : "matrix", plain ? 3 : 6, J);
    if (q.x != 0 || q.y != 0 || q.z != 0) {
        writer_put_numbers(w->out, "quaternion", 4, (const double[]){q.w, q.x, q.y, q.z});
    }
    writer_close(w->out, '}');
}

/* ---- bodies ---- */

/* Frames in the order of the links that they move with: `first` of a link, `next` of a frame. */
typedef struct site_lists {
    int *first, *next;
} site_lists;

static bool list_sites(sdf_work *w, site_lists *s) {
    s->first = POOL_NEW(w->pool, int, w->nlink);
    s->next = POOL_NEW(w->pool, int, w->nframe);
    if (!s->first || !s->next) {
        w->report->no_memory = true;
        return false;
    }
    for (int k = 0; k < w->nlink; k++) {
        s->first[k] = -1;
    }
    for (int k = w->nframe - 1; k >= 0; k--) {
        const sdf_frame *f = &w->frame[k];
        if (f->kind == SDF_FRAME && f->link != SDF_WORLD) {
            s->next[k] = s->first[f->link];
            s->first[f->link] = k;
        }
    }
    return true;
}

static void put_sites(sdf_work *w, const site_lists *s, int link) {
    if (s->first[link] < 0) {
        return;
    }
    writer_open(w->out, "sites", '[');
    for (int k = s->first[link]; k >= 0; k = s->next[k]) {
        sdf_here(w, w->frame[k].at);
        writer_open(w->out, NULL, '{');
        writer_put_text(w->out, "name", w->frame[k].name);
        sdf_put_pose(w, "pose", pose_relative(w->frame[w->link[link].frame].world, w->frame[k].world));
        writer_close(w->out, '}');
    }
    writer_close(w->out, ']');
}

static void put_body(sdf_work *w, const site_lists *s, int link) {
    sdf_open_body(w, link);
    put_inertia(w, link);
    sdf_put_shapes(w, link);
    put_sites(w, s, link);
    writer_close(w->out, '}');
}

/* Depth first, in the order of the file, without recursion. */
static void put_bodies(sdf_work *w, const site_lists *s, const xml_element *root) {
    sdf_here(w, root);
    writer_open(w->out, "bodies", '[');
    for (int base = 0; base < w->nlink; base++) {
        bool carried = w->link[base].joint >= 0 && w->joint[w->link[base].joint].parent != SDF_WORLD;
        int at = carried ? -1 : base;
        while (at >= 0) {
            put_body(w, s, at);
            /* down; else to the next link of the nearest above that has one */
            int next = w->link[at].first;
            while (next < 0 && at != base) {
                next = w->link[at].next;
                at = w->joint[w->link[at].joint].parent;
            }
            at = next;
        }
    }
    /* parts of links in loops */
    for (int k = 0; k < w->njoint; k++) {
        if (sdf_open_part(w, &w->joint[k])) {
            put_inertia(w, w->joint[k].child);
            writer_close(w->out, '}');
        }
    }
    sdf_here(w, root);
    writer_close(w->out, ']');
}

/* ---- the world ---- */

static void read_gravity(const sdf_work *w, double g[3]) {
    const xml_element *world = xml_child(w->file[0]->root, "world");
    g[0] = g[1] = 0;
    g[2] = -9.81;
    const xml_element *physics = xml_child(world, "physics");
    if (world && !(physics && !xml_text(world, "gravity") && xml_text(physics, "gravity"))) {
        xml_vector(world, "gravity", g);
    } else if (physics) {
        xml_vector(physics, "gravity", g);
    }
}

static void put_world(sdf_work *w) {
    const xml_element *world = xml_child(w->file[0]->root, "world"), *physics = xml_child(world, "physics");
    double g[3], step;
    if (!world) {
        return;
    }
    sdf_here(w, world);
    read_gravity(w, g);
    writer_open(w->out, "world", '{');
    writer_put_numbers(w->out, "gravity", 3, g);
    if (physics && xml_number(physics, "max_step_size", &step)) {
        sdf_here(w, physics);
        writer_put_number(w->out, "step", step);
    }
    writer_close(w->out, '}');
}

static void open_list(sdf_work *w, const char *key, bool *open) {
    if (!*open) {
        writer_open(w->out, key, '[');
    }
    *open = true;
}

/* Weights of links without gravity. */
static void put_loads(sdf_work *w) {
    bool open = false;
    double g[3];
    read_gravity(w, g);
    for (int k = 0; k < w->nlink; k++) {
        const sdf_frame *f = &w->frame[w->link[k].frame];
        if (w->link[k].fixed || w->link[k].massless || xml_flag(f->at, "gravity")) {
            continue;
        }
        if (sdf_is_auto(w, k)) {
            xml_error(w->report, f->at, NULL, "write mass and moments",
                      "a link without gravity whose <inertial> is `auto` is not supported");
            w->good = false;
            continue;
        }
        double mass = mass_of(w, k);
        sim_v3 com = inertial_pose(w, k).p;
        sdf_here(w, f->at);
        open_list(w, "loads", &open);
        writer_open(w->out, NULL, '{');
        writer_put_text(w->out, "body", f->name);
        writer_put_numbers(w->out, "point", 3, (const double[]){com.x, com.y, com.z});
        writer_put_numbers(w->out, "force", 3, (const double[]){-mass * g[0], -mass * g[1], -mass * g[2]});
        writer_close(w->out, '}');
    }
    if (open) {
        writer_close(w->out, ']');
    }
}

static bool has_shapes(const sdf_work *w, int link) {
    static const char *const word[2] = {"collision", "visual"};
    bool found = false;
    for (int k = 0; k < 2; k++) {
        for (const xml_element *e = xml_child(w->frame[w->link[link].frame].at, word[k]); e; e = xml_next(e)) {
            found |= sdf_shape_element(e) != NULL;
        }
    }
    return found;
}

static void put_exclusions(sdf_work *w) {
    /* links with shapes of each model in the world */
    int *count = POOL_NEW(w->pool, int, w->nscope);
    bool open = false;
    w->report->no_memory |= !count;
    for (int k = 0; count && k < w->nlink; k++) {
        int scope = w->frame[w->link[k].frame].scope;
        count[w->scope[scope].top] += has_shapes(w, k);
    }
    /* all pairs of those that have several */
    for (int k = 1; count && k < w->nscope; k++) {
        const sdf_scope *s = &w->scope[k];
        if (s->top != k || count[k] < 2 || s->fixed || xml_flag(s->at, "self_collide")) {
            continue;
        }
        const char *pattern = sdf_clean_name(w, s->prefix, "");
        char *all = pool_alloc(w->pool, strlen(pattern) + 2, 1);
        if (!all) {
            w->report->no_memory = true;
            return;
        }
        memcpy(all, pattern, strlen(pattern));
        all[strlen(pattern)] = '*';
        sdf_here(w, s->at);
        open_list(w, "exclusions", &open);
        writer_open(w->out, NULL, '{');
        writer_put_text(w->out, "first", all);
        writer_put_text(w->out, "second", all);
        writer_close(w->out, '}');
    }
    if (open) {
        writer_close(w->out, ']');
    }
}

/* ---- the scene ---- */

static void put_scene(sdf_work *w, const xml_element *root) {
    const xml_element *world = xml_child(root, "world"), *named = world ? world : w->scope[1].at;
    site_lists sites;
    if (!list_sites(w, &sites)) {
        return;
    }
    sdf_here(w, root);
    writer_open(w->out, NULL, '{');
    writer_put_number(w->out, "sim", 1);
    writer_put_text(w->out, "name", xml_text(named, "name"));
    put_world(w);
    put_bodies(w, &sites, root);
    sdf_put_surfaces(w);
    put_exclusions(w);
    put_loads(w);
    sdf_put_constraints(w);
    sdf_here(w, root);
    writer_close(w->out, '}');
    xml_say_undrawn(w->report, w->undrawn, w->nundrawn, "uri", w->undrawn_why);
}

static bool has_bits(const xml_element *collision) {
    const xml_element *contact = xml_child(xml_child(collision, "surface"), "contact");
    double bits = 65535;
    return contact && xml_number(contact, "collide_bitmask", &bits) && bits != 65535;
}

/* Looks at every <collision>: room for its surface, and whether bits tell shapes apart. */
static bool list_collisions(sdf_work *w) {
    int most = 0;
    for (int k = 0; k < w->nlink; k++) {
        for (const xml_element *e = xml_child(w->frame[w->link[k].frame].at, "collision"); e; e = xml_next(e)) {
            most++;
            w->masked |= has_bits(e);
        }
    }
    w->surface = POOL_NEW(w->pool, const xml_element *, most);
    w->report->no_memory |= !w->surface;
    return w->surface != NULL;
}

bool sdf_translate(sdf_work *w, xml_element *root) {
    w->file = POOL_NEW(w->pool, sdf_file *, SDF_MAX_FILES);
    w->report->no_memory |= !w->file;
    w->good = w->file != NULL;
    if (w->options.base != SIM_BASE_FIXED) {
        xml_error(w->report, root, NULL, "--base is for URDF", "the joints of a model say whether it moves");
        w->good = false;
    }
    const sdf_file *f = w->good ? sdf_add_file(w, w->path, root) : NULL;
    w->good = f && sdf_read_frames(w, f) && sdf_read_tree(w) && list_collisions(w);
    if (w->good) {
        put_scene(w, root);
    }
    w->good &= !w->wrong;
    names_free(&w->known);
    names_free(&w->names);
    names_free(&w->surfaces);
    w->report->no_memory |= w->out->out.failed;
    return w->good && !w->report->no_memory;
}
