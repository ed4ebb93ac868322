/* The triangles of a COLLADA file, versions 1.4 and 1.5.
 *
 * A vertex of a geometry that a node shows is at
 *
 *     p = s U T_1 T_2 ... T_n x        s: metres a unit (<unit meter>), U: up axis of the file to z,
 *                                      T: transforms of the nodes from the scene down (matrix, translate, rotate, scale)
 *
 * Read are <triangles>, <polylist>, <polygons>, <tristrips> and <trifans> of all geometries that the scene shows; without
 * a scene all there are.  Lines are passed over.  Skins, splines and skewed frames are refused by name.  Corners with
 * equal coordinates become one vertex.  Materials, cameras, lights and animations do not matter.
 *
 * Nodes may show a geometry many times: the corners of all copies are limited to a multiple of the file's length.
 *
 * Khronos Group, COLLADA 1.5.0 Specification, 2008, chapters 4 and 5. */
#include "geometry/import/collada_tree.h"
#include "math/angle.h"
#include "math/spatial.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COPIES = 8, MAX_NODE_DEPTH = 100 }; /* corners and nodes over bytes of the file; nodes within nodes */

/* Numbers of a <float_array>, kept for the next copy. */
typedef struct float_list {
    double *value;
    size_t count;
} float_list;

typedef struct collada {
    mesh_text *text;
    mesh_parts *parts;
    collada_tree tree;
    vertex_table table;
    int *named; /* elements with an id, by id */
    int nnamed;
    float_list *numbers; /* [elements] */
    int *corner;         /* of the polygon that is being read */
    size_t room;
    size_t budget; /* corners and nodes that may still come */
} collada;

/* Positions that a primitive names by their numbers. */
typedef struct positions {
    const double *value;
    size_t count, offset, stride;
    int input, ninput; /* which number of a corner is theirs */
} positions;

static sim_status report_wrong(const collada *c, int element, const char *what) {
    return text_wrong(c->text, c->tree.element[element].tag, "%s", what);
}

static sim_status spend_budget(collada *c, int element, size_t count) {
    if (count > c->budget) {
        return report_wrong(c, element, "nodes show more triangles or nodes than a file of this length may");
    }
    c->budget -= count;
    return SIM_OK;
}

/* ---- identifiers ---- */

static text_span id_of(const collada *c, int element) { return collada_attribute(&c->tree, element, "id"); }

static int compare_spans(text_span a, text_span b) {
    size_t least = a.length < b.length ? a.length : b.length;
    int order = least ? memcmp(a.at, b.at, least) : 0;
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* Merge sort of c->named by id: equal ids keep their order. */
static bool sort_named(collada *c) {
    int n = c->nnamed, *from = c->named, *to = malloc(((size_t)n + 1) * sizeof(int)), *spare = to;
    if (!to) {
        return false;
    }
    for (int width = 1; width < n; width *= 2) {
        for (int low = 0; low < n; low += 2 * width) {
            int middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n;
            for (int k = low, a = low, b = middle; k < high; k++) {
                bool first = b == high || (a < middle && compare_spans(id_of(c, from[a]), id_of(c, from[b])) <= 0);
                to[k] = from[first ? a++ : b++];
            }
        }
        int *swap = from;
        from = to;
        to = swap;
    }
    c->named = from;
    free(from == spare ? to : spare);
    return true;
}

static bool list_named(collada *c) {
    c->named = malloc(((size_t)c->tree.count + 1) * sizeof(int));
    for (int k = 0; c->named && k < c->tree.count; k++) {
        if (id_of(c, k).length) {
            c->named[c->nnamed++] = k;
        }
    }
    return c->named && sort_named(c);
}

/* The element that the attribute names as "#id"; -1 and the error if there is none. */
static int find_referenced(const collada *c, int element, const char *attribute, sim_status *status) {
    text_span name = collada_attribute(&c->tree, element, attribute);
    if (name.length && *name.at == '#') {
        text_span id = {name.at + 1, name.length - 1};
        int low = 0, high = c->nnamed;
        while (low < high) {
            int middle = low + (high - low) / 2;
            if (compare_spans(id_of(c, c->named[middle]), id) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < c->nnamed && compare_spans(id_of(c, c->named[low]), id) == 0) {
            return c->named[low];
        }
    }
    *status = text_wrong(c->text, name.at ? name.at : c->tree.element[element].tag,
                         name.length ? "%s: there is no such element in this file" : "the attribute \"%s\" is missing",
                         attribute);
    return -1;
}

/* ---- numbers ---- */

static mesh_text numbers_of(const collada *c, int element) {
    const collada_element *e = &c->tree.element[element];
    return (mesh_text){c->text->name, c->text->start, e->end, e->text, c->text->error, false};
}

static bool numbers_end(mesh_text *t) {
    while (t->at < t->end && (text_is_blank(*t->at) || *t->at == '\n' || *t->at == '\r')) {
        t->at++;
    }
    return t->at >= t->end;
}

/* An index of `below` things. */
static sim_status take_index(mesh_text *t, size_t below, size_t *index) {
    double x;
    const char *at = t->at;
    if (numbers_end(t)) {
        return text_wrong(t, t->end, "expected another index");
    }
    at = t->at;
    if (!text_number(t, &x)) {
        return SIM_BAD_INPUT;
    }
    if (!(x >= 0 && x < (double)below) || x != floor(x)) {
        return text_wrong(t, at, "expected an index below %zu, found %g", below, x);
    }
    *index = (size_t)x;
    return SIM_OK;
}

/* Exactly `count` numbers. */
static sim_status take_numbers(const collada *c, int element, int count, double *value) {
    mesh_text t = numbers_of(c, element);
    for (int k = 0; k < count; k++) {
        if (numbers_end(&t)) {
            return text_wrong(&t, t.end, "expected %d numbers, found %d", count, k);
        }
        if (!text_number(&t, &value[k])) {
            return SIM_BAD_INPUT;
        }
    }
    return numbers_end(&t) ? SIM_OK : text_wrong(&t, t.at, "expected %d numbers, found more", count);
}

static sim_status read_floats(collada *c, int element, float_list *list) {
    /* known already */
    *list = c->numbers[element];
    if (list->value) {
        return SIM_OK;
    }
    /* read them all */
    mesh_text t = numbers_of(c, element);
    size_t room = (size_t)(t.end - t.at) / 2 + 1;
    list->value = malloc(room * sizeof(double));
    if (!list->value) {
        return mesh_report_no_memory(c->text);
    }
    c->numbers[element] = *list;
    while (!numbers_end(&t)) {
        if (!text_number(&t, &list->value[list->count])) {
            return SIM_BAD_INPUT;
        }
        list->count++;
    }
    c->numbers[element] = *list;
    return SIM_OK;
}

/* A whole number of an attribute, or the standard one. */
static size_t whole_attribute(const collada *c, int element, const char *name, size_t standard) {
    text_span text = collada_attribute(&c->tree, element, name);
    size_t value = 0;
    for (size_t k = 0; k < text.length; k++) {
        if (text.at[k] < '0' || text.at[k] > '9' || value > INT_MAX / 10) {
            return INT_MAX;
        }
        value = 10 * value + (size_t)(text.at[k] - '0');
    }
    return text.length ? value : standard;
}

/* ---- primitives ---- */

static int input_with(const collada *c, int element, const char *semantic) {
    int input = collada_child(&c->tree, element, "input");
    while (input >= 0 && !span_is(collada_attribute(&c->tree, input, "semantic"), semantic)) {
        input = collada_from(&c->tree, c->tree.element[input].next, "input");
    }
    return input;
}

/* From the inputs of a primitive to the floats of its positions: VERTEX, <vertices>, POSITION, <source>, accessor. */
static sim_status find_positions(collada *c, int primitive, positions *p) {
    sim_status status = SIM_OK;
    *p = (positions){0};
    for (int k = collada_child(&c->tree, primitive, "input"); k >= 0;
         k = collada_from(&c->tree, c->tree.element[k].next, "input")) {
        size_t offset = whole_attribute(c, k, "offset", 0);
        p->ninput = offset >= 1000 ? -1 : (int)offset >= p->ninput ? (int)offset + 1 : p->ninput;
        if (p->ninput < 0) {
            return report_wrong(c, k, "expected an offset below 1000");
        }
    }
    int vertex = input_with(c, primitive, "VERTEX");
    int vertices = vertex >= 0 ? find_referenced(c, vertex, "source", &status) : -1;
    int input = vertices >= 0 ? input_with(c, vertices, "POSITION") : -1;
    int from = input >= 0 ? find_referenced(c, input, "source", &status) : -1;
    int array = collada_child(&c->tree, from, "float_array");
    if (status || array < 0) {
        return status ? status : report_wrong(c, primitive, "the vertices have no positions in a <float_array>");
    }
    /* accessor */
    int accessor = collada_child(&c->tree, collada_child(&c->tree, from, "technique_common"), "accessor");
    float_list list;
    status = read_floats(c, array, &list);
    p->input = (int)whole_attribute(c, vertex, "offset", 0);
    p->value = list.value;
    p->offset = accessor >= 0 ? whole_attribute(c, accessor, "offset", 0) : 0;
    p->stride = accessor >= 0 ? whole_attribute(c, accessor, "stride", 3) : 3;
    if (!status && (p->stride < 3 || p->stride > 1000 || p->offset > list.count)) {
        status = report_wrong(c, accessor, "positions need a stride of 3 to 1000 and an offset within their numbers");
    }
    size_t left = status || p->offset + 3 > list.count ? 0 : list.count - p->offset;
    p->count = left ? (left - 3) / p->stride + 1 : 0;
    return status;
}

/* A corner: its numbers in <p>, of which one is that of the position. */
static sim_status take_corner(collada *c, mesh_text *t, const positions *p, pose place, int *vertex) {
    size_t index = 0, other;
    for (int k = 0; k < p->ninput; k++) {
        sim_status status = k == p->input ? take_index(t, p->count, &index) : take_index(t, INT_MAX, &other);
        if (status) {
            return status;
        }
    }
    const double *x = p->value + p->offset + index * p->stride;
    v3 at = pose_point(place, (v3){x[0], x[1], x[2]});
    if (!v3_finite(at)) {
        return text_wrong(t, t->at, "a corner is not finite once its nodes have moved it");
    }
    *vertex = vertex_table_find(&c->table, c->parts, at);
    return *vertex < 0 ? mesh_report_no_memory(c->text) : SIM_OK;
}

static sim_status take_corners(collada *c, mesh_text *t, const positions *p, pose place, size_t count) {
    if (count > c->room) {
        int *more = count > INT_MAX / 2 ? NULL : realloc(c->corner, 2 * count * sizeof(int));
        if (!more) {
            return mesh_report_no_memory(c->text);
        }
        c->corner = more;
        c->room = 2 * count;
    }
    sim_status status = SIM_OK;
    for (size_t k = 0; k < count && !status; k++) {
        status = take_corner(c, t, p, place, &c->corner[k]);
    }
    return status;
}

/* Corners that are left in <p>. */
static size_t corners_left(const mesh_text *from, const positions *p) {
    mesh_text t = *from;
    size_t count = 0;
    while (!numbers_end(&t)) {
        while (t.at < t.end && !text_is_blank(*t.at) && *t.at != '\n' && *t.at != '\r') {
            t.at++;
        }
        count++;
    }
    return p->ninput > 0 ? count / (size_t)p->ninput : 0;
}

typedef enum assembly_rule { SINGLE, POLYGON, LISTED, STRIP, FAN } assembly_rule;

static sim_status add_run(collada *c, assembly_rule rule, const char *at, size_t count) {
    const int *v = c->corner;
    if (rule == POLYGON) {
        return count < 3 ? SIM_OK : mesh_add_polygon(c->text, at, c->parts, c->corner, (int)count);
    }
    for (size_t k = 2; k < count; k++) {
        int turned = rule == STRIP && k % 2;
        int a = rule == FAN ? v[0] : v[k - 2 + (size_t)turned], b = v[k - 1 - (size_t)turned];
        if (!mesh_add_triangle(c->parts, a, b, v[k])) {
            return mesh_report_no_memory(c->text);
        }
    }
    return SIM_OK;
}

/* One <p>: triangles, or a polygon, strip or fan; with <vcount>, polygons one after the other. */
static sim_status read_corners(collada *c, int element, int vcount, assembly_rule rule, const positions *p,
                               pose place) {
    mesh_text t = numbers_of(c, element), counts = vcount >= 0 ? numbers_of(c, vcount) : t;
    size_t left = corners_left(&t, p);
    sim_status status = spend_budget(c, element, left + 1);
    while (!status && left > 0) {
        size_t count = rule == SINGLE ? 3 : left;
        if (rule == LISTED) {
            status = numbers_end(&counts) ? SIM_OK : take_index(&counts, (size_t)INT_MAX, &count);
        }
        if (!status && (count == 0 || count > left)) {
            return count ? report_wrong(c, element, "the corners do not suffice for the last face") : SIM_OK;
        }
        numbers_end(&t);
        const char *at = t.at;
        status = status ? status : take_corners(c, &t, p, place, count);
        status = status ? status : add_run(c, rule == LISTED ? POLYGON : rule == SINGLE ? FAN : rule, at, count);
        left -= count;
    }
    return status;
}

static sim_status read_primitive(collada *c, int primitive, assembly_rule rule, pose place) {
    positions p;
    if (collada_child(&c->tree, primitive, "ph") >= 0) {
        return report_wrong(c, primitive, "polygons with holes (<ph>) are not read: cut them into triangles");
    }
    int element = collada_child(&c->tree, primitive, "p");
    int vcount = rule == LISTED ? collada_child(&c->tree, primitive, "vcount") : -1;
    if (element < 0) {
        return SIM_OK;
    }
    if (rule == LISTED && vcount < 0) {
        return report_wrong(c, primitive, "a <polylist> needs a <vcount>");
    }
    sim_status status = find_positions(c, primitive, &p);
    while (!status && element >= 0) {
        status = read_corners(c, element, vcount, rule, &p, place);
        element = collada_from(&c->tree, c->tree.element[element].next, "p");
    }
    return status;
}

/* ---- scene ---- */

static sim_status read_geometry(collada *c, int geometry, pose place) {
    static const struct {
        const char *name;
        assembly_rule rule;
    } kinds[] = {
        {"triangles", SINGLE}, {"polylist", LISTED}, {"polygons", POLYGON}, {"tristrips", STRIP}, {"trifans", FAN}};
    int mesh = collada_child(&c->tree, geometry, "mesh");
    if (mesh < 0) {
        return report_wrong(c, geometry, "of geometries only <mesh> is read");
    }
    size_t before = c->parts->ntriangle;
    sim_status status = spend_budget(c, geometry, 1);
    for (int e = c->tree.element[mesh].first; e >= 0 && !status; e = c->tree.element[e].next) {
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !status; k++) {
            if (collada_is(&c->tree, e, kinds[k].name)) {
                status = read_primitive(c, e, kinds[k].rule, place);
            }
        }
    }
    /* a frame that mirrors turns triangles round */
    double volume = v3_dot(place.R.x, v3_cross(place.R.y, place.R.z));
    for (size_t i = before; i < c->parts->ntriangle && volume < 0; i++) {
        int *v = c->parts->triangle[i], swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
    return status;
}

/* Appends the transform of one child of a node. */
static sim_status read_transform(const collada *c, int element, pose *place) {
    double x[16];
    sim_status status = SIM_OK;
    pose step = pose_identity();
    if (collada_is(&c->tree, element, "matrix")) {
        status = take_numbers(c, element, 16, x);
        step = (pose){{{x[0], x[4], x[8]}, {x[1], x[5], x[9]}, {x[2], x[6], x[10]}}, {x[3], x[7], x[11]}};
        if (!status && (x[12] != 0 || x[13] != 0 || x[14] != 0 || x[15] != 1)) {
            return report_wrong(c, element, "the last row of a matrix must be 0 0 0 1");
        }
    } else if (collada_is(&c->tree, element, "translate")) {
        status = take_numbers(c, element, 3, x);
        step.p = (v3){x[0], x[1], x[2]};
    } else if (collada_is(&c->tree, element, "scale")) {
        status = take_numbers(c, element, 3, x);
        step.R = (m3){{x[0], 0, 0}, {0, x[1], 0}, {0, 0, x[2]}};
    } else if (collada_is(&c->tree, element, "rotate")) {
        status = take_numbers(c, element, 4, x);
        double length = status ? 0 : v3_norm((v3){x[0], x[1], x[2]});
        if (length > 0) {
            step.R = m3_axis_angle(v3_scale(1 / length, (v3){x[0], x[1], x[2]}), x[3] * (PI / 180));
        }
    } else if (collada_is(&c->tree, element, "skew") || collada_is(&c->tree, element, "lookat")) {
        status = report_wrong(c, element, "of transforms matrix, translate, rotate and scale are read");
    }
    if (!status) {
        *place = pose_product(*place, step);
    }
    return status;
}

/* All that a node shows, with the transforms that stand before it. */
static sim_status read_node(collada *c, int node, pose place, int depth) {
    sim_status status = spend_budget(c, node, 1);
    if (depth > MAX_NODE_DEPTH) {
        return report_wrong(c, node, "nodes within nodes, more than 100 deep: one may hold itself");
    }
    for (int e = c->tree.element[node].first; e >= 0 && !status; e = c->tree.element[e].next) {
        int other = -1;
        if (collada_is(&c->tree, e, "node")) {
            status = read_node(c, e, place, depth + 1);
        } else if (collada_is(&c->tree, e, "instance_node")) {
            other = find_referenced(c, e, "url", &status);
            status = status ? status : read_node(c, other, place, depth + 1);
        } else if (collada_is(&c->tree, e, "instance_geometry")) {
            other = find_referenced(c, e, "url", &status);
            status = status ? status : read_geometry(c, other, place);
        } else if (collada_is(&c->tree, e, "instance_controller")) {
            status = report_wrong(c, e, "skins and morphs (<instance_controller>) are not read");
        } else {
            status = read_transform(c, e, &place);
        }
    }
    return status;
}

/* Metres, z up.  A file that does not say is in metres, y up. */
static sim_status read_asset(const collada *c, pose *place) {
    int asset = collada_child(&c->tree, 0, "asset");
    int unit = collada_child(&c->tree, asset, "unit"), axis = collada_child(&c->tree, asset, "up_axis");
    text_span meter = unit >= 0 ? collada_attribute(&c->tree, unit, "meter") : (text_span){0};
    double scale = meter.length ? strtod(meter.at, NULL) : 1;
    if (!(isfinite(scale) && scale > 0)) {
        return text_wrong(c->text, meter.at, "expected metres a unit, above 0");
    }
    const collada_element *e = axis >= 0 ? &c->tree.element[axis] : NULL;
    text_span up = e ? (text_span){e->text, (size_t)(e->end - e->text)} : (text_span){"Y_UP", 4};
    m3 R = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
    if (span_is(up, "Z_UP")) {
        R = m3_identity();
    } else if (span_is(up, "X_UP")) {
        R = (m3){{0, 0, 1}, {-1, 0, 0}, {0, -1, 0}};
    } else if (!span_is(up, "Y_UP")) {
        return report_wrong(c, axis, "expected X_UP, Y_UP or Z_UP");
    }
    *place = (pose){{v3_scale(scale, R.x), v3_scale(scale, R.y), v3_scale(scale, R.z)}, {0, 0, 0}};
    return SIM_OK;
}

static sim_status read_scene(collada *c, pose place) {
    sim_status status = SIM_OK;
    int shown = collada_child(&c->tree, collada_child(&c->tree, 0, "scene"), "instance_visual_scene");
    int scene = shown >= 0
                    ? find_referenced(c, shown, "url", &status)
                    : collada_child(&c->tree, collada_child(&c->tree, 0, "library_visual_scenes"), "visual_scene");
    if (status || scene >= 0) {
        return status ? status : read_node(c, scene, place, 0);
    }
    int library = collada_child(&c->tree, 0, "library_geometries");
    for (int k = collada_child(&c->tree, library, "geometry"); k >= 0 && !status;
         k = collada_from(&c->tree, c->tree.element[k].next, "geometry")) {
        status = read_geometry(c, k, place);
    }
    return status;
}

sim_status mesh_read_collada(mesh_text *text, mesh_parts *parts) {
    collada c = {.text = text, .parts = parts, .budget = MAX_COPIES * (size_t)(text->end - text->start)};
    pose place = pose_identity();
    sim_status status = collada_tree_read(text, &c.tree);
    /* what is looked up */
    if (!status && !collada_is(&c.tree, 0, "COLLADA")) {
        status = report_wrong(&c, 0, "expected the element <COLLADA>");
    }
    if (!status) {
        c.numbers = calloc((size_t)c.tree.count, sizeof *c.numbers);
        status = c.numbers && list_named(&c) ? SIM_OK : mesh_report_no_memory(text);
    }
    /* the scene */
    status = status ? status : read_asset(&c, &place);
    status = status ? status : read_scene(&c, place);
    /* clean up */
    for (int k = 0; c.numbers && k < c.tree.count; k++) {
        free(c.numbers[k].value);
    }
    free(c.numbers);
    free(c.named);
    free(c.corner);
    free(c.table.slot);
    collada_tree_free(&c.tree);
    return status;
}
