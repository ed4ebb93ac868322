/* List of contacts.  The contacts of one state, as JSON: one line a contact. */
#include "app/run/contacts.h"
#include "app/output/json_out.h"

#include <inttypes.h>

static void write_shape(json_out *out, const char *key, const sim_model *model, int index) {
    const sim_shape *shape = &model->shape[index];
    json_open_line(out, key, '{');
    json_text(out, "body", model->body[shape->body].name);
    json_text(out, "shape", shape->name);
    json_whole(out, "index", index);
    json_text(out, "type", sim_shape_name(shape->type));
    json_close(out, '}');
}

static void write_contact(json_out *out, const sim_model *model, const sim_contact *c) {
    char feature[24];
    snprintf(feature, sizeof feature, "%08" PRIx64 "-%08" PRIx64, c->at.feature >> 32, c->at.feature & 0xffffffffu);
    json_open_line(out, NULL, '{');
    write_shape(out, "a", model, c->shape_a);
    write_shape(out, "b", model, c->shape_b);
    json_vector(out, "position", c->at.position);
    json_vector(out, "normal", c->at.normal);
    json_real(out, "gap", c->at.gap);
    json_text(out, "feature", feature);
    json_real(out, "friction", c->friction);
    json_real(out, "stiffness", c->stiffness);
    json_real(out, "dissipation", c->dissipation);
    json_real(out, "restitution", c->restitution);
    json_real(out, "torsion", c->torsion);
    json_real(out, "rolling", c->rolling);
    json_real(out, "adhesion", c->adhesion);
    json_close(out, '}');
}

sim_status print_contacts(const run_context *run, sim_error *error) {
    /* contacts of the present state */
    const sim_contact *contact;
    int count;
    sim_status status = sim_world_contacts(run->world, &contact, &count, error);
    if (status) {
        return status;
    }
    /* what was run */
    json_out out = {.file = stdout};
    json_open(&out, NULL, '{');
    json_text(&out, "format", "sim contacts");
    json_whole(&out, "format_version", 1);
    json_text(&out, "sim_version", sim_version());
    json_text(&out, "scene", run->scene->name);
    json_text(&out, "scene_file", run->scene_file);
    json_text(&out, "scene_hash", run->scene->hash);
    json_real(&out, "time", sim_world_state(run->world)->time);
    json_real(&out, "step", run->scene->options.step);
    json_real(&out, "margin", run->scene->options.contact_margin);
    json_whole(&out, "count", count);
    /* each contact */
    json_open(&out, "contacts", '[');
    for (int k = 0; k < count; k++) {
        write_contact(&out, run->scene->model, &contact[k]);
    }
    json_close(&out, ']');
    json_close(&out, '}');
    putchar('\n');
    return SIM_OK;
}
