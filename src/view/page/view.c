/* Page of a run.  Surfaces first, then frames in blocks as they are computed, at the end their number, the tracks and
 * the scene.  The page is around them. */
#include "view/mesh/drawing.h"
#include "view/mesh/extent.h"
#include "view/mesh/frame.h"
#include "view/page/live.h"
#include "view/page/pack.h"
#include "view/page/page.h"
#include "view/page/tracks.h"
#include "view/page/writer.h"

#include <stdlib.h>

/* A block is read as a whole: a second, as frames usually come. */
enum { BLOCK_FRAMES = 60 };

struct sim_view {
    const sim_scene *scene;
    view_sheet *sheet;
    view_sizes sizes;
    view_drawing drawing;
    view_contact_packer *contacts;
    view_readings readings;
    view_tracks *tracks;
    int64_t *code; /* [nbody - 1][VIEW_POSE_NUMBERS][BLOCK_FRAMES] */
    int pending, frames;
    view_extent extent;    /* of the frames so far */
    view_contact *contact; /* of a world, for sim_view_write */
    int contact_room;
    int live;
};

static void free_view(sim_view *view) {
    view_sizes_free(&view->sizes);
    view_drawing_free(&view->drawing);
    view_contact_packer_free(view->contacts);
    view_tracks_free(view->tracks);
    view_readings_free(&view->readings);
    free(view->code);
    free(view->contact);
    free(view);
}

static bool prepare_view(sim_view *view, const sim_scene *scene) {
    const sim_model *model = scene->model;
    view->scene = scene;
    view->extent = view_extent_empty();
    view->code = calloc((size_t)model->nbody * VIEW_POSE_NUMBERS * BLOCK_FRAMES, sizeof *view->code);
    view->tracks = view_readings_plan(&view->readings, model) ? view_tracks_create(model, &view->readings) : NULL;
    view->contacts = view_contact_packer_create(model, &view->sizes, scene->options.step);
    return view->code && view->tracks && view->contacts && view_sizes_find(&view->sizes, model) &&
           view_drawing_plan(&view->drawing, model);
}

static bool put_meshes(sim_view *view) {
    int detail = view_drawing_detail(view->scene->model->nshape);
    bool good = true;
    for (int k = 0; good && k < view->drawing.count; k++) {
        view_bytes bytes = {0};
        view_mesh *mesh = view_mesh_create(&view->drawing.base[k], detail);
        good = mesh != NULL;
        if (good) {
            view_pack_mesh(&bytes, mesh);
            view_sheet_block(view->sheet, "mesh", &bytes);
        }
        view_mesh_free(mesh);
        view_bytes_free(&bytes);
    }
    return good;
}

/* Takes the sheet. */
static sim_view *begin_view(view_sheet *sheet, const char *name, const sim_scene *scene, sim_error *error) {
    sim_view *view = sheet ? calloc(1, sizeof *view) : NULL;
    if (!view) {
        view_sheet_discard(sheet);
        if (sheet) {
            sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for a page", name);
        }
        return NULL;
    }
    view->sheet = sheet;
    view_sheet_text(sheet, view_page_head, view_page_head_size);
    if (!prepare_view(view, scene) || !put_meshes(view)) {
        sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for the surfaces of its shapes", name);
        sim_view_discard(view);
        return NULL;
    }
    return view;
}

sim_view *sim_view_open(const char *path, const sim_scene *scene, sim_error *error) {
    return begin_view(view_sheet_open(path, error), path, scene, error);
}

/* ---- frames ---- */

static int64_t *column_of(sim_view *view, int body, int component) {
    return view->code + ((size_t)(body - 1) * VIEW_POSE_NUMBERS + (size_t)component) * BLOCK_FRAMES;
}

static void pack_block(sim_view *view, view_bytes *bytes) {
    view_put_number(bytes, (uint64_t)view->pending);
    for (int i = 1; i < view->scene->model->nbody; i++) {
        for (int c = 0; c < VIEW_POSE_NUMBERS; c++) {
            view_put_column(bytes, column_of(view, i, c), view->pending);
        }
    }
    view_contact_packer_put(view->contacts, bytes);
    view->pending = 0;
}

static void put_block(sim_view *view) {
    view_bytes bytes = {0};
    pack_block(view, &bytes);
    view_sheet_block(view->sheet, "frames", &bytes);
    view_bytes_free(&bytes);
}

sim_status view_add_frame(sim_view *view, const view_frame *frame, sim_error *error) {
    if (!view_contact_packer_add(view->contacts, frame) || !view_tracks_add(view->tracks, frame)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a frame of the page");
    }
    for (int i = 1; i < view->scene->model->nbody; i++) {
        int64_t code[VIEW_POSE_NUMBERS];
        view_pack_pose(&frame->pose[i], view->sizes.body[i], code);
        for (int c = 0; c < VIEW_POSE_NUMBERS; c++) {
            column_of(view, i, c)[view->pending] = code[c];
        }
    }
    view_extent_add(&view->extent, view->scene->model, frame->pose);
    view->frames++;
    if (++view->pending == BLOCK_FRAMES) {
        put_block(view);
    }
    return SIM_OK;
}

static bool fetch_contacts(sim_view *view, const sim_state *state) {
    if (state->ncontact > view->contact_room) {
        view_contact *more = realloc(view->contact, 2 * (size_t)state->ncontact * sizeof *more);
        if (!more) {
            return false;
        }
        view->contact = more;
        view->contact_room = 2 * state->ncontact;
    }
    for (int k = 0; k < state->ncontact; k++) {
        const sim_contact *c = &state->contact[k];
        view->contact[k] = (view_contact){c->shape_a,        c->shape_b, c->at.position, c->at.normal,
                                          state->impulse[k], c->at.gap,  c->at.area};
    }
    return true;
}

sim_status sim_view_write(sim_view *view, sim_world *world, sim_error *error) {
    /* contacts and energy */
    const sim_state *state = sim_world_state(world);
    const sim_step_info *info = sim_world_info(world);
    sim_energy energy = sim_world_energy(world);
    if (!fetch_contacts(view, state)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the %d contacts of a frame", state->ncontact);
    }
    view_readings_take(&view->readings, world);
    /* frame */
    view_frame frame = {.time = state->time,
                        .pose = sim_world_derived(world)->pose,
                        .q = state->q,
                        .ncontact = state->ncontact,
                        .contact = view->contact,
                        .scalar = {[VIEW_KINETIC] = energy.kinetic,
                                   [VIEW_POTENTIAL] = energy.potential,
                                   [VIEW_TOTAL] = energy.kinetic + energy.potential,
                                   [VIEW_CONTACTS] = state->ncontact,
                                   [VIEW_ITERATIONS] = info->solver_iterations,
                                   [VIEW_OWN] = info->certificate.own,
                                   [VIEW_E] = info->certificate.E,
                                   [VIEW_PENETRATION] = info->certificate.penetration,
                                   [VIEW_PAST_RANGE] = info->certificate.past_range,
                                   [VIEW_SLIP] = info->certificate.slip},
                        .reading = view->readings.value};
    return view_add_frame(view, &frame, error);
}

/* ---- the end ---- */

static void put_end(sim_view *view) {
    /* what is pending */
    view_bytes bytes = {0};
    if (view->pending > 0) {
        put_block(view);
    }
    view_tracks_put(view->tracks, &bytes);
    view_sheet_block(view->sheet, "tracks", &bytes);
    view_bytes_free(&bytes);
    /* description of the scene, which has the counts of all blocks */
    view_description d = {.scene = view->scene,
                          .sizes = &view->sizes,
                          .mesh_of_shape = view->drawing.mesh_of,
                          .scale = (const double(*)[3])view->drawing.scale,
                          .meshes = view->drawing.count,
                          .frames = view->frames,
                          .block_frames = BLOCK_FRAMES,
                          .track = view_tracks_names(view->tracks),
                          .unit = view_tracks_units(view->tracks),
                          .body = view_tracks_bodies(view->tracks),
                          .coordinate = view_tracks_coordinates(view->tracks),
                          .tracks = view_tracks_count(view->tracks),
                          .readings = &view->readings,
                          .extent = &view->extent,
                          .usual_force = view_contact_packer_usual(view->contacts),
                          .live = view->live};
    view_describe(&bytes, &d);
    view_sheet_block(view->sheet, "scene", &bytes);
    view_bytes_free(&bytes);
    view_sheet_text(view->sheet, view_page_tail, view_page_tail_size);
}

sim_status sim_view_close(sim_view *view, sim_error *error) {
    if (!view) {
        return SIM_OK;
    }
    put_end(view);
    sim_status status = view_sheet_close(view->sheet, error);
    free_view(view);
    return status;
}

void sim_view_discard(sim_view *view) {
    if (view) {
        view_sheet_discard(view->sheet);
        free_view(view);
    }
}

/* ---- a run that goes on ---- */

sim_view *view_live_open(const sim_scene *scene, sim_world *world, char **page, size_t *size, sim_error *error) {
    /* page in memory */
    view_sheet *sheet = view_sheet_memory(page, size);
    if (!sheet) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a page");
        return NULL;
    }
    sim_view *view = begin_view(sheet, scene->name, scene, error);
    if (!view) {
        return NULL;
    }
    view->live = 1;
    /* first frame, so that a page has something to show */
    sim_status status = sim_view_write(view, world, error);
    if (status) {
        sim_view_discard(view);
        return NULL;
    }
    /* end of the page */
    put_end(view);
    view->sheet = NULL;
    if (view_sheet_close(sheet, error)) {
        free_view(view);
        return NULL;
    }
    view_tracks_forget(view->tracks);
    return view;
}

sim_status view_live_frame(sim_view *view, sim_world *world, view_bytes *out, sim_error *error) {
    sim_status status = sim_view_write(view, world, error);
    if (!status) {
        view_tracks_put(view->tracks, out);
        pack_block(view, out);
        view_tracks_forget(view->tracks);
        status = out->starved ? sim_fail(error, SIM_NO_RESOURCE, "no memory for a frame") : SIM_OK;
    }
    return status;
}
