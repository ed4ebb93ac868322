/* Links and joints of a URDF file as one tree, depth first.
 *
 * A link has at most one joint towards the root.  A mimic follows a joint of one degree of freedom, in any order of the
 * file, and mimics may follow mimics but not themselves. */
#include "base/nearest.h"
#include "scene/json/names.h"
#include "scene/urdf/urdf.h"
#include "scene/xml/robot.h"

#include <stdio.h>
#include <string.h>

static const char *const type_name[URDF_JOINT_TYPES + 1] = {"revolute", "continuous", "prismatic", "fixed",
                                                            "floating", "planar",     NULL};

static void refuse_robot(urdf_work *w) { w->good = false; }

static int count_children(const xml_element *root, const char *name) {
    int count = 0;
    for (const xml_element *e = xml_child(root, name); e; e = xml_next(e)) {
        count++;
    }
    return count;
}

/* Letters that names of scenes cannot have become '_'. */
static const char *scene_name(urdf_work *w, const xml_element *e) {
    const char *given = xml_text(e, "name");
    char *name = pool_text(w->pool, given);
    if (!name) {
        w->report->no_memory = true;
        return "";
    }
    if (xml_clean_name(name)) {
        xml_notice(w->report, e, "name", NULL, "the name becomes \"%.80s\"", name);
    }
    if (!*name) {
        xml_error(w->report, e, "name", NULL, "the name is empty");
        refuse_robot(w);
    }
    return name;
}

/* ---- names ---- */

static bool add_name(urdf_work *w, name_table *names, const xml_element *e, const char *name, int index) {
    if (names_find(names, name) >= 0) {
        xml_error(w->report, e, "name", NULL, "a second <%s> called \"%.80s\"", e->name, name);
        refuse_robot(w);
        return true;
    }
    return names_add(names, name, index);
}

static bool list_links(urdf_work *w, name_table *names) {
    urdf_robot *r = &w->robot;
    int k = 0;
    for (const xml_element *e = xml_child(r->root, "link"); e; e = xml_next(e), k++) {
        r->link[k] = (urdf_link){.at = e, .name = scene_name(w, e), .joint = -1, .first = -1, .next = -1};
        r->link[k].mass = urdf_mass(e);
        if (!add_name(w, names, e, xml_text(e, "name"), k)) {
            return false;
        }
    }
    return true;
}

/* Joints may hang on a link "world" that has no element. */
static bool add_world(urdf_work *w, name_table *names) {
    urdf_robot *r = &w->robot;
    bool used = false;
    for (const xml_element *e = xml_child(r->root, "joint"); e; e = xml_next(e)) {
        used |= strcmp(xml_text(xml_child(e, "parent"), "link"), "world") == 0;
    }
    if (!used || names_find(names, "world") >= 0) {
        return true;
    }
    r->link[r->nlink] = (urdf_link){.at = r->root, .name = "world", .joint = -1, .first = -1, .next = -1};
    return names_add(names, "world", r->nlink++);
}

static int find_type(const char *name) {
    int k = 0;
    while (type_name[k] && strcmp(type_name[k], name) != 0) {
        k++;
    }
    return k;
}

static bool list_joints(urdf_work *w, name_table *names) {
    urdf_robot *r = &w->robot;
    int k = 0;
    for (const xml_element *e = xml_child(r->root, "joint"); e; e = xml_next(e), k++) {
        r->joint[k] = (urdf_joint){.at = e,
                                   .name = scene_name(w, e),
                                   .type = (urdf_joint_type)find_type(xml_text(e, "type")),
                                   .parent = -1,
                                   .child = -1,
                                   .leader = -1};
        if (!add_name(w, names, e, xml_text(e, "name"), k)) {
            return false;
        }
    }
    return true;
}

/* Index of a name that an element refers to; -1 and reported: there is none. */
static int find_name(urdf_work *w, const name_table *names, const xml_element *at, const char *attribute,
                     const char *what) {
    const char *wanted = xml_text(at, attribute);
    int found = names_find(names, wanted);
    if (found < 0) {
        nearest near = {.wanted = wanted};
        char hint[200];
        for (size_t k = 0; k < names->room && !report_full(w->report); k++) {
            if (names->name[k]) {
                nearest_try(&near, names->name[k]);
            }
        }
        xml_error(w->report, at, attribute, nearest_hint(&near, hint, sizeof hint), "there is no %s \"%.80s\"", what,
                  wanted);
        refuse_robot(w);
    }
    return found;
}

/* ---- the tree ---- */

static void connect_joint(urdf_work *w, const name_table *links, int index) {
    urdf_robot *r = &w->robot;
    urdf_joint *j = &r->joint[index];
    /* the two links */
    const xml_element *parent = xml_child(j->at, "parent"), *child = xml_child(j->at, "child");
    j->parent = find_name(w, links, parent, "link", "link");
    j->child = find_name(w, links, child, "link", "link");
    if (j->parent < 0 || j->child < 0) {
        return;
    }
    /* at most one joint carries a link */
    urdf_link *carried = &r->link[j->child];
    if (j->parent == j->child) {
        xml_error(w->report, child, "link", NULL, "a joint of the link \"%.80s\" with itself", carried->name);
        refuse_robot(w);
    } else if (carried->joint >= 0) {
        xml_error(w->report, child, "link", "a loop is closed by a constraint of the scene",
                  "the link \"%.80s\" is the child of two joints, \"%.80s\" and \"%.80s\"", carried->name,
                  r->joint[carried->joint].name, j->name);
        refuse_robot(w);
    } else {
        carried->joint = index;
    }
}

static void list_carried_joints(urdf_robot *r) {
    for (int k = r->njoint - 1; k >= 0; k--) { /* backwards: lists then run in the order of the file */
        urdf_joint *j = &r->joint[k];
        r->link[j->child].next = r->link[j->parent].first;
        r->link[j->parent].first = k;
    }
}

static void find_base(urdf_work *w) {
    /* the one link that no joint carries */
    urdf_robot *r = &w->robot;
    r->base = -1;
    for (int k = 0; k < r->nlink; k++) {
        if (r->link[k].joint >= 0) {
            continue;
        }
        if (r->base >= 0) {
            xml_error(w->report, r->link[k].at, "name", "connect them by a joint, or make two files of them",
                      "two links without a joint towards a root: \"%.80s\" and \"%.80s\"", r->link[r->base].name,
                      r->link[k].name);
            refuse_robot(w);
            return;
        }
        r->base = k;
    }
    if (r->base < 0) {
        xml_error(w->report, r->root, NULL, NULL, "every link is the child of a joint: the joints run in a circle");
        refuse_robot(w);
    }
}

/* Links depth first, children in the order of the file, without recursion. */
static void order_links(urdf_work *w) {
    urdf_robot *r = &w->robot;
    int count = 0, at = r->base;
    while (at >= 0) {
        r->order[count++] = at;
        /* down; else to the next joint of the nearest link above that has one left */
        int joint = r->link[at].first;
        while (joint < 0 && at != r->base) {
            joint = r->link[at].next;
            at = r->joint[r->link[at].joint].parent;
        }
        at = joint >= 0 ? r->joint[joint].child : -1;
    }
    if (count < r->nlink) {
        bool *seen = POOL_NEW(w->pool, bool, r->nlink);
        for (int k = 0; seen && k < count; k++) {
            seen[r->order[k]] = true;
        }
        int lost = 0;
        while (seen && seen[lost]) {
            lost++;
        }
        w->report->no_memory |= !seen;
        xml_error(w->report, r->link[lost].at, "name", NULL, "the joints of the link \"%.80s\" run in a circle",
                  r->link[lost].name);
        refuse_robot(w);
    }
}

/* kg that each link carries, itself included. */
static void add_masses(urdf_robot *r) {
    for (int k = r->nlink - 1; k >= 0; k--) {
        urdf_link *l = &r->link[r->order[k]];
        l->carried += l->mass;
        if (l->joint >= 0) {
            r->link[r->joint[l->joint].parent].carried += l->carried;
        }
    }
}

bool urdf_is_world(const urdf_robot *r, int link) {
    return (link == r->base || !r->whole) && strcmp(r->link[link].name, "world") == 0;
}

static void check_masses(urdf_work *w) {
    const urdf_robot *r = &w->robot;
    for (int k = 0; k < r->nlink; k++) {
        const urdf_link *l = &r->link[k];
        bool root_moves = l->joint < 0 && w->options.base != SIM_BASE_FIXED && !urdf_is_world(r, k);
        bool moves = root_moves || (l->joint >= 0 && r->joint[l->joint].type != URDF_FIXED);
        if (moves && l->carried == 0) {
            xml_error(w->report, l->at, "name", "give it an <inertial>, or fix its joint",
                      "the link \"%.80s\" moves, but neither it nor any link that it carries has mass", l->name);
            refuse_robot(w);
        }
    }
}

/* ---- mimics ---- */

static bool has_one_coordinate(urdf_joint_type type) {
    return type == URDF_REVOLUTE || type == URDF_CONTINUOUS || type == URDF_PRISMATIC;
}

static void connect_mimic(urdf_work *w, const name_table *joints, int index) {
    /* the joint that it follows */
    urdf_joint *j = &w->robot.joint[index];
    const xml_element *mimic = xml_child(j->at, "mimic");
    if (!mimic) {
        return;
    }
    j->leader = find_name(w, joints, mimic, "joint", "joint");
    if (j->leader < 0) {
        return;
    }
    if (j->type == URDF_FIXED) {
        xml_notice(w->report, mimic, NULL, NULL, "a fixed joint follows no other: its mimic is ignored");
        j->leader = -1;
        return;
    }
    /* both have one coordinate */
    const urdf_joint *leader = &w->robot.joint[j->leader];
    if (!has_one_coordinate(j->type) || !has_one_coordinate(leader->type)) {
        bool own = !has_one_coordinate(j->type);
        xml_error(w->report, mimic, own ? NULL : "joint", NULL,
                  "a mimic needs joints with one coordinate; \"%.80s\" is %s", own ? j->name : leader->name,
                  type_name[own ? j->type : leader->type]);
        refuse_robot(w);
    }
}

/* One sentence with the joints of a circle, the first few of a long one. */
static void refuse_circle(urdf_work *w, int first) {
    enum { MAX_LISTED = 5, ROOM = 80 };
    const urdf_robot *r = &w->robot;
    char list[(MAX_LISTED + 3) * ROOM];
    int at = r->joint[first].leader, count = 0;
    int length = snprintf(list, ROOM, "\"%.60s\"", r->joint[first].name);
    for (; at != first && count < MAX_LISTED; at = r->joint[at].leader, count++) {
        length += snprintf(list + length, ROOM, " follows \"%.60s\"", r->joint[at].name);
    }
    snprintf(list + length, 2 * ROOM, "%s follows \"%.60s\"", at == first ? "" : " ...", r->joint[first].name);
    xml_error(w->report, xml_child(r->joint[first].at, "mimic"), "joint", NULL, "the mimics run in a circle: %s", list);
    refuse_robot(w);
}

/* Every joint is walked over once: `walk` is the last walk that met it. */
static void check_mimic_circles(urdf_work *w) {
    const urdf_robot *r = &w->robot;
    int *walk = POOL_NEW(w->pool, int, r->njoint);
    w->report->no_memory |= !walk;
    for (int k = 0; walk && k < r->njoint; k++) {
        int at = k;
        while (at >= 0 && walk[at] == 0) {
            walk[at] = k + 1;
            at = r->joint[at].leader;
        }
        if (at >= 0 && walk[at] == k + 1) {
            refuse_circle(w, at);
        }
    }
}

/* Was a link, a joint or something unknown left out? */
static bool is_part_lost(const urdf_work *w) {
    for (const xml_element *e = w->report->lost; e; e = e->lost) {
        if (e->parent == w->robot.root) {
            return true;
        }
    }
    return false;
}

static bool is_link_blamed(const urdf_robot *r) {
    for (int k = 0; k < r->nlink; k++) {
        if (r->link[k].at->blamed) {
            return true;
        }
    }
    return false;
}

/* Every link by itself, so that what each holds can be checked. */
static void separate_links(urdf_robot *r) {
    r->base = -1;
    for (int k = 0; k < r->nlink; k++) {
        r->order[k] = k;
    }
}

bool urdf_read_tree(urdf_work *w, xml_element *root) {
    /* memory */
    urdf_robot *r = &w->robot;
    *r = (urdf_robot){.root = root, .nlink = count_children(root, "link"), .njoint = count_children(root, "joint")};
    r->link = POOL_NEW(w->pool, urdf_link, r->nlink + 1);
    r->joint = POOL_NEW(w->pool, urdf_joint, r->njoint);
    r->order = POOL_NEW(w->pool, int, r->nlink + 1);
    name_table links = {0}, joints = {0};
    bool memory =
        r->link && r->joint && r->order && list_links(w, &links) && add_world(w, &links) && list_joints(w, &joints);
    w->report->no_memory |= !memory;
    /* links of joints, leaders of mimics */
    for (int k = 0; memory && k < r->njoint; k++) {
        connect_joint(w, &links, k);
        connect_mimic(w, &joints, k);
    }
    names_free(&links);
    names_free(&joints);
    if (!memory) {
        return false;
    }
    /* one tree, where nothing is missing */
    check_mimic_circles(w);
    r->whole = w->good && !is_part_lost(w);
    if (r->whole) {
        find_base(w);
    }
    if (r->whole && w->good) {
        list_carried_joints(r);
        order_links(w);
    }
    if (r->whole && w->good && !is_link_blamed(r)) {
        add_masses(r);
        check_masses(w);
    }
    r->whole &= w->good;
    if (!r->whole) {
        separate_links(r);
    }
    return true;
}
