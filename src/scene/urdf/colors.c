/* Colours of visual shapes.  A material is given once, by the robot or by the first shape that shows it, and then named. */
#include "scene/urdf/urdf.h"

static bool add_color(urdf_work *w, const xml_element *material) {
    urdf_colors *c = &w->colors;
    const char *name = xml_text(material, "name");
    const xml_element *color = xml_child(material, "color");
    if (!name || !color || names_find(&c->names, name) >= 0) {
        return true;
    }
    c->color[c->count] = color;
    return names_add(&c->names, name, c->count++);
}

static int count_visuals(const xml_element *root) {
    int count = 0;
    for (const xml_element *link = xml_child(root, "link"); link; link = xml_next(link)) {
        for (const xml_element *e = xml_child(link, "visual"); e; e = xml_next(e)) {
            count++;
        }
    }
    return count;
}

bool urdf_list_colors(urdf_work *w, const xml_element *root) {
    /* room */
    int most = count_visuals(root);
    for (const xml_element *m = xml_child(root, "material"); m; m = xml_next(m)) {
        most++;
    }
    w->colors.color = POOL_NEW(w->pool, const xml_element *, most);
    bool good = w->colors.color != NULL;
    /* of the robot, then of its shapes */
    for (const xml_element *m = xml_child(root, "material"); m && good; m = xml_next(m)) {
        good = add_color(w, m);
    }
    for (const xml_element *link = xml_child(root, "link"); link && good; link = xml_next(link)) {
        for (const xml_element *e = xml_child(link, "visual"); e && good; e = xml_next(e)) {
            const xml_element *m = xml_child(e, "material");
            good = !m || add_color(w, m);
        }
    }
    w->report->no_memory |= !good;
    return good;
}

const xml_element *urdf_find_color(const urdf_work *w, const xml_element *visual) {
    const xml_element *material = xml_child(visual, "material"), *color = xml_child(material, "color");
    const char *name = material ? xml_text(material, "name") : NULL;
    int found = name && !color ? names_find(&w->colors.names, name) : -1;
    return found >= 0 ? w->colors.color[found] : color;
}
