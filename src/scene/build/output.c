/* Options of the world, recorded signals, cameras. */
#include "math/angle.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <string.h>

static const char *keep_output_text(loader *l, const char *content) {
    char *kept = pool_text(l->kept, content);
    l->report.no_memory |= !kept && content;
    return kept;
}

/* The file's name without folders and ending. */
static const char *title_from_path(loader *l, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *start = slash ? slash + 1 : path;
    size_t length = strlen(start);
    length = length > 5 && strcmp(start + length - 5, ".json") == 0 ? length - 5 : length;
    char *title = pool_alloc(l->kept, length + 1, 1);
    if (!title) {
        l->report.no_memory = true;
        return NULL;
    }
    return memcpy(title, start, length);
}

void read_world_options(loader *l) {
    /* title and options */
    const world_data *w = &l->data.world;
    sim_scene *scene = l->scene;
    scene->name = l->data.name ? keep_output_text(l, l->data.name) : title_from_path(l, l->main->from.name);
    scene->description = keep_output_text(l, l->data.description ? l->data.description : "");
    scene->options = (sim_options){.step = w->step,
                                   .integrator = (sim_integrator)w->integrator,
                                   .threads = (int)w->threads,
                                   .tolerance = w->tolerance,
                                   .max_iterations = (int)w->max_iterations,
                                   .contacts = w->contacts,
                                   .contact_margin = node_member(w->at, "contact_margin") ? w->contact_margin : NAN,
                                   .sleep = w->sleep,
                                   .sleep_speed = node_member(w->at, "sleep_speed") ? w->sleep_speed : NAN,
                                   .sleep_time = node_member(w->at, "sleep_time") ? w->sleep_time : NAN};
    read_contact_options(l);
    scene->duration = w->duration;
    scene->seed = l->seed;
    /* gravity, fluid */
    sim_builder_gravity(l->builder, (sim_v3){w->gravity[0], w->gravity[1], w->gravity[2]});
    const fluid_data *f = &w->fluid;
    sim_builder_fluid(l->builder, &(sim_fluid){f->density, f->viscosity, {f->wind[0], f->wind[1], f->wind[2]}});
}

/* Says so when the name stands in the list before. */
static void check_unique(loader *l, name_table *names, const node *n, const char *name) {
    if (names_find(names, name) >= 0) {
        report_once(&l->report, node_member(n, "name"), NULL, "the name \"%.100s\" is taken", name);
    } else if (!names_add(names, name, 0)) {
        l->report.no_memory = true;
    }
}

static void read_points(loader *l, const node *points) {
    struct sim_record_point *point = POOL_NEW(l->kept, struct sim_record_point, points ? points->count : 0);
    if (!point) {
        l->report.no_memory = true;
        return;
    }
    int count = 0;
    name_table names = {0};
    for (const node *n = points ? points->first : NULL; n; n = n->next) {
        point_data d;
        const scope *whole = l->scopes;
        while (whole->older) {
            whole = whole->older;
        }
        if (!loader_read(l, n, &table_point, &d)) {
            continue;
        }
        check_unique(l, &names, n, d.name);
        const site_entry *site = d.site ? loader_find_site(l, whole, d.site, node_member(n, "site")) : NULL;
        bool is_world = d.body && strcmp(d.body, "world") == 0;
        int found = site ? site->body : is_world || d.site ? -1 : loader_find(l, whole, d.body, node_member(n, "body"));
        if (found >= 0 && !d.site && !loader_has_frame(l, &l->entries[found], node_member(n, "body"))) {
            continue;
        }
        if (d.site && node_member(n, "point")) {
            report_once(&l->report, node_member(n, "point"), "leave one of them out",
                        "\"site\" is a place on its body already");
        }
        point[count].name = keep_output_text(l, d.name);
        point[count].point.local = site ? site->pose.p : (sim_v3){d.point[0], d.point[1], d.point[2]};
        point[count++].point.body = found; /* an entry until the model is there */
    }
    names_free(&names);
    l->scene->record.point = point;
    l->scene->record.npoint = count;
}

static void read_cameras(loader *l, const node *cameras) {
    sim_camera *camera = POOL_NEW(l->kept, sim_camera, cameras ? cameras->count : 0);
    if (!camera) {
        l->report.no_memory = true;
        return;
    }
    /* each camera from its keys */
    int count = 0;
    name_table names = {0};
    for (const node *n = cameras ? cameras->first : NULL; n; n = n->next) {
        camera_data d;
        if (!loader_read(l, n, &table_camera, &d)) {
            continue;
        }
        check_unique(l, &names, n, d.name);
        sim_camera *c = &camera[count++];
        c->name = keep_output_text(l, d.name);
        c->position = (sim_v3){d.position[0], d.position[1], d.position[2]};
        c->target = (sim_v3){d.target[0], d.target[1], d.target[2]};
        c->fov = node_member(n, "fov_deg") ? d.fov_deg * RADIANS_PER_DEGREE : d.fov;
        if (memcmp(d.position, d.target, sizeof d.position) == 0) {
            report_once(&l->report, n, NULL, "the position of the camera is its target");
        }
    }
    /* hand all of them to the scene */
    names_free(&names);
    l->scene->camera = camera;
    l->scene->ncamera = count;
}

void read_output(loader *l) {
    const record_data *r = &l->data.record;
    unsigned s = r->signals;
    l->scene->record = (sim_record_spec){.every = (int)r->every,
                                         .coordinates = s >> SIGNAL_COORDINATES & 1,
                                         .velocities = s >> SIGNAL_VELOCITIES & 1,
                                         .poses = s >> SIGNAL_POSES & 1,
                                         .twists = s >> SIGNAL_TWISTS & 1,
                                         .energy = s >> SIGNAL_ENERGY & 1,
                                         .momentum = s >> SIGNAL_MOMENTUM & 1,
                                         .efforts = s >> SIGNAL_EFFORTS & 1,
                                         .statistics = s >> SIGNAL_STATISTICS & 1,
                                         .contacts = s >> SIGNAL_CONTACTS & 1,
                                         .sensors = s >> SIGNAL_SENSORS & 1};
    read_points(l, r->points);
    read_cameras(l, l->data.cameras);
}

void resolve_output(loader *l) {
    struct sim_record_point *point = (struct sim_record_point *)l->scene->record.point;
    for (int i = 0; i < l->scene->record.npoint; i++) {
        int from = point[i].point.body;
        point[i].point.body = from < 0 ? 0 : sim_model_find_body(l->scene->model, l->entries[from].name);
    }
}
