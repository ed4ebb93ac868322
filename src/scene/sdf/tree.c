/* Links and joints as trees: the first joint of a link is its joint towards the world, others close loops.  Static models
 * stand on the world. */
#include "scene/sdf/sdf.h"

#include <string.h>

static void refuse_joint(sdf_work *w) { w->good = false; }

static int find_link(sdf_work *w, const sdf_frame *f, const char *key) {
    int found = sdf_find_frame(w, f->scope, xml_text(f->at, key), f->at, key);
    return found >= 0 ? w->frame[found].link : SDF_WORLD;
}

static void connect_joint(sdf_work *w, int index) {
    sdf_joint *j = &w->joint[index];
    const sdf_frame *f = &w->frame[j->frame];
    j->parent = find_link(w, f, "parent");
    j->child = find_link(w, f, "child");
    if (!w->good) {
        return;
    }
    /* a link that is fixed to the world, said the other way about */
    if (j->child == SDF_WORLD && j->parent != SDF_WORLD && strcmp(j->type, "fixed") == 0) {
        j->child = j->parent;
        j->parent = SDF_WORLD;
    }
    /* of static models */
    bool fixed = j->child != SDF_WORLD && w->link[j->child].fixed;
    if (fixed) {
        j->dropped = true;
        xml_notice(w->report, j->at, NULL, NULL, "the joint carries a static model: it is left out");
        return;
    }
    if (j->child == SDF_WORLD || j->child == j->parent) {
        xml_error(w->report, j->at, "child", j->child == SDF_WORLD ? "name the world as its parent" : NULL,
                  j->child == SDF_WORLD ? "the child of a joint is the world" : "a joint of a link with itself");
        refuse_joint(w);
        return;
    }
    sdf_link *carried = &w->link[j->child];
    sdf_loop loop = sdf_loop_of(j);
    if (carried->joint < 0 && loop != SDF_GEAR) {
        carried->joint = index;
        return;
    }
    /* a second one closes a loop */
    if (loop == SDF_PART && sdf_is_auto(w, j->child)) {
        xml_error(w->report, j->at, "child", "write its mass and moments",
                  "the link \"%.80s\" is in a loop, and its <inertial> is `auto`", w->frame[carried->frame].name);
        refuse_joint(w);
    }
    j->loop = loop;
    carried->parts += loop == SDF_PART;
}

/* A link called "world" is the world; one without mass that no joint carries stands still, as in Bullet. */
static void hold_links(sdf_work *w) {
    for (int k = 0; k < w->nlink; k++) {
        sdf_link *l = &w->link[k];
        const xml_element *at = w->frame[l->frame].at, *inertial = xml_child(at, "inertial");
        bool world = strcmp(xml_text(at, "name"), "world") == 0;
        double mass = 1;
        if (inertial) {
            xml_number(inertial, "mass", &mass);
        }
        l->massless = mass == 0;
        if (l->joint < 0 && !l->fixed && (world || l->massless)) {
            l->fixed = true;
            xml_notice(w->report, at, NULL, NULL,
                       world ? "a link called \"world\" stands still"
                             : "a link of mass 0 that no joint carries stands still");
        }
    }
}

/* Every link is walked over once: `walk` is the last walk that met it. */
static void check_circles(sdf_work *w) {
    int *walk = POOL_NEW(w->pool, int, w->nlink);
    w->report->no_memory |= !walk;
    for (int k = 0; walk && k < w->nlink && w->good; k++) {
        int at = k;
        while (at >= 0 && walk[at] == 0) {
            walk[at] = k + 1;
            at = w->link[at].joint >= 0 ? w->joint[w->link[at].joint].parent : -1;
        }
        if (at >= 0 && walk[at] == k + 1) {
            const sdf_frame *f = &w->frame[w->link[at].frame];
            xml_error(w->report, f->at, "name", NULL, "the joints of the link \"%.80s\" run in a circle", f->name);
            refuse_joint(w);
        }
    }
}

bool sdf_read_tree(sdf_work *w) {
    /* lists */
    w->link = POOL_NEW(w->pool, sdf_link, w->nlink);
    w->joint = POOL_NEW(w->pool, sdf_joint, w->nframe);
    if (!w->link || !w->joint) {
        w->report->no_memory = true;
        return false;
    }
    for (int k = 0; k < w->nframe; k++) {
        sdf_frame *f = &w->frame[k];
        if (f->kind == SDF_LINK) {
            w->link[f->link] = (sdf_link){.frame = k, .joint = -1, .first = -1, .next = -1, .parts = 1};
            w->link[f->link].fixed = w->scope[f->scope].fixed;
        } else if (f->kind == SDF_JOINT) {
            f->joint = w->njoint;
            w->joint[w->njoint++] = (sdf_joint){.at = f->at, .type = xml_text(f->at, "type"), .frame = k};
        }
    }
    /* one joint a link, no circles */
    for (int k = 0; k < w->njoint; k++) {
        connect_joint(w, k);
    }
    if (w->good) {
        hold_links(w);
        check_circles(w);
    }
    for (int k = w->nlink - 1; k >= 0 && w->good; k--) {
        int parent = w->link[k].joint >= 0 ? w->joint[w->link[k].joint].parent : SDF_WORLD;
        if (parent != SDF_WORLD) {
            w->link[k].next = w->link[parent].first;
            w->link[parent].first = k;
        }
    }
    return w->good && !w->report->no_memory;
}
