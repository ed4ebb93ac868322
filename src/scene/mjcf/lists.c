/* Lists: elements of all files one by one, items of the scene one by one. */
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

mjcf_each mjcf_each_of(const mjcf_model *m, const char *section, const char *kind) {
    return (mjcf_each){.section = section, .kind = kind, .model = m, .scope = m->scopes};
}

static bool is_read(const mjcf_each *each, const xml_element *e) {
    return e->table && (!each->kind || strcmp(e->name, each->kind) == 0) && mjcf_stands_in(each->model, each->scope, e);
}

/* The first element of the kind from `e` on that is read. */
static const xml_element *next_read(const mjcf_each *each, const xml_element *e) {
    while (e && !is_read(each, e)) {
        e = e->next;
    }
    return e;
}

bool mjcf_next(mjcf_each *each) {
    const xml_element *e = each->at ? next_read(each, each->at->next) : NULL;
    while (!e && each->scope) {
        each->group = each->group ? xml_next(each->group) : xml_child(each->scope->file->root, each->section);
        if (each->group) {
            e = next_read(each, each->group->first);
        } else {
            bool last = !each->scope->next && !each->scope->around;
            each->scope = last ? each->model->copies : each->scope->next;
        }
    }
    each->at = e;
    return e != NULL;
}

void mjcf_open_item(mjcf_work *w, mjcf_list *list, const xml_element *at) {
    if (at) {
        mjcf_here(w, at);
    }
    if (!list->open) {
        writer_open(w->out, list->key, '[');
        list->open = true;
    }
    writer_open(w->out, NULL, '{');
}

void mjcf_close_list(mjcf_work *w, mjcf_list *list) {
    if (list->open) {
        writer_close(w->out, ']');
    }
    list->open = false;
}

const char *mjcf_joint_name(const mjcf_joint *j) { return j->name ? j->name : j->link; }

const char *mjcf_name_of(const name_table *names, int index) {
    for (size_t k = 0; k < names->room; k++) {
        if (names->name[k] && names->value[k] == index) {
            return names->name[k];
        }
    }
    return "";
}

void mjcf_put_delay(mjcf_work *w, const mjcf_item *i) {
    double delay = mjcf_number(i, "delay", 0), kept = floor(mjcf_number(i, "nsample", 0));
    if (!(delay > 0)) {
        return;
    }
    if (kept < 1) {
        xml_error(w->report, mjcf_holder(i, "delay"), "delay", NULL,
                  "a delay needs \"nsample\", the steps that are kept");
        mjcf_refuse(w);
        return;
    }
    double longest = kept * w->model.files->option.step;
    if (delay > longest * (1 + 1e-9)) {
        xml_notice(w->report, mjcf_holder(i, "delay"), "delay", NULL,
                   "the delay is %g s, as \"nsample\" keeps %.0f steps of %g s", longest, kept,
                   w->model.files->option.step);
    }
    writer_put_number(w->out, "delay", fmin(delay, longest));
}
