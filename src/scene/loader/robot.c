/* Files of robots as documents: the XML text becomes the text of a scene, which is parsed as any other. */
#include "scene/loader/loader.h"
#include "scene/urdf/urdf.h"

#include <string.h>

bool is_robot(const char *content, size_t length) {
    if (length >= 3 && memcmp(content, "\xef\xbb\xbf", 3) == 0) { /* a byte-order mark */
        content += 3;
        length -= 3;
    }
    while (length && (*content == ' ' || *content == '\t' || *content == '\r' || *content == '\n')) {
        content++;
        length--;
    }
    return length && *content == '<';
}

/* The text and the places of the writer, kept as long as the load. */
static bool keep_written(loader *l, document *d, json_writer *out) {
    source *behind = POOL_NEW(l->work, source, 1);
    char *written = pool_alloc(l->work, out->out.length + 1, 1);
    source_place *place = POOL_NEW(l->work, source_place, out->nplace);
    if (!behind || !written || !place) {
        l->report.no_memory = true;
        return false;
    }
    memcpy(written, out->out.start, out->out.length + 1);
    memcpy(place, out->place, (size_t)out->nplace * sizeof *place);
    *behind = d->from;
    d->from = (source){d->from.name, written, out->out.length, behind, place, out->nplace};
    return true;
}

static const struct {
    const char *root, *is;
} other_formats[] = {{"mujoco", "a model of MuJoCo (MJCF)"}, {"sdf", "a model in SDFormat"}};

static bool check_format(loader *l, const xml_element *root) {
    for (size_t k = 0; k < sizeof other_formats / sizeof other_formats[0]; k++) {
        if (strcmp(root->name, other_formats[k].root) == 0) {
            xml_error(&l->report, root, NULL, "sim reads scenes in JSON and robots in URDF", "%s is not read",
                      other_formats[k].is);
            return false;
        }
    }
    return true;
}

node *parse_robot(loader *l, document *d, sim_base base) {
    /* elements */
    source *xml = POOL_NEW(l->work, source, 1);
    if (!xml) {
        l->report.no_memory = true;
        return NULL;
    }
    *xml = d->from;
    xml_element *root = xml_parse(xml, l->work, &l->report);
    if (!root || !check_format(l, root)) {
        return NULL;
    }
    /* text of the scene */
    json_writer out = {0};
    urdf_work w = {.report = &l->report,
                   .pool = l->work,
                   .path = d->from.name,
                   .options = l->import,
                   .allowed = {l->import.nallow, l->import.allow},
                   .files = {l->files.exists, l->files.context},
                   .out = &out};
    w.options.base = base;
    bool good = urdf_translate(&w, root) && keep_written(l, d, &out);
    writer_free(&out);
    /* its tree */
    return good ? document_parse(&d->from, l->work, &l->report) : NULL;
}
