/* Contact solver of a scene, its options and its contact law.  Names and ranges of a solver's options come from its
 * info. */
#include "base/nearest.h"
#include "collide/collision.h"
#include "contact/stage.h"
#include "scene/format/keys.h"
#include "scene/loader/loader.h"
#include "solver/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int option_of(const sim_solver_info *info, const char *name) {
    for (int k = 0; k < info->noptions; k++) {
        if (strcmp(info->option[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

static void report_unknown_option(loader *l, const node *n, const sim_solver_info *info) {
    nearest near = {.wanted = n->key};
    char hint[512];
    size_t length = (size_t)snprintf(hint, sizeof hint, info->noptions ? "it has " : "it has none");
    for (int k = 0; k < info->noptions && length < sizeof hint - 40; k++) {
        nearest_try(&near, info->option[k].name);
        length += (size_t)snprintf(hint + length, sizeof hint - length, "%s%s", k ? ", " : "", info->option[k].name);
    }
    if (near.best) {
        nearest_hint(&near, hint, sizeof hint);
    }
    report_key(&l->report, n, hint, "the solver %s has no option \"%.80s\"", info->name, n->key);
}

static void read_choice(loader *l, const node *n, const sim_solver_option *o, double *value) {
    nearest near = {.wanted = n->kind == NODE_TEXT ? n->text : ""};
    char all[256] = "", hint[160];
    for (int k = 0; o->choices[k]; k++) {
        if (n->kind == NODE_TEXT && strcmp(o->choices[k], n->text) == 0) {
            *value = k;
            return;
        }
        nearest_try(&near, o->choices[k]);
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", o->choices[k]);
    }
    if (n->kind != NODE_TEXT) {
        report_value(&l->report, n, NULL, "expected one of %s, not %s", all, node_kind_name(n));
        return;
    }
    report_value(&l->report, n, nearest_hint(&near, hint, sizeof hint), "\"%.80s\" is none of: %s", n->text, all);
}

static void read_option_number(loader *l, const node *n, const sim_solver_option *o, double *value) {
    const char *kind = o->integer ? "a whole number" : "a number";
    if (n->kind != NODE_NUMBER) {
        report_value(&l->report, n, NULL, "expected %s, not %s", kind, node_kind_name(n));
    } else if (!(n->number >= o->low && n->number <= o->high) || (o->integer && n->number != floor(n->number))) {
        char most[40] = "";
        snprintf(most, sizeof most, isfinite(o->high) ? " to %g" : " on", o->high);
        report_value(&l->report, n, NULL, "must be %s from %g%s, is %.17g", kind, o->low, most, n->number);
    } else {
        *value = n->number;
    }
}

/* `words`: the solver as it was named, with options behind its name that hold over those given. */
static void read_solver_options(loader *l, const sim_solver_info *info, const node *words, const node *given) {
    double *value = POOL_NEW(l->kept, double, info->noptions);
    if (!value) {
        l->report.no_memory = true;
        return;
    }
    for (int k = 0; k < info->noptions; k++) {
        value[k] = info->option[k].default_value;
    }
    for (const node *n = given ? given->first : NULL; n; n = n->next) {
        int k = option_of(info, n->key);
        if (k < 0 && strcmp(n->key, "comment") == 0 && n->kind == NODE_TEXT) {
            continue;
        }
        if (k < 0) {
            report_unknown_option(l, n, info);
        } else if (info->option[k].choices) {
            read_choice(l, n, &info->option[k], &value[k]);
        } else {
            read_option_number(l, n, &info->option[k], &value[k]);
        }
    }
    if (words && words->kind == NODE_TEXT) {
        sim_error unused; /* said when the file was read */
        solver_words_options(info, words->text, strlen(words->text), value, &unused);
    }
    l->scene->options.solver_option = l->scene->options.scene_option = value;
    l->scene->options.scene_solver = info;
}

/* Options belong to the solver that is meant, which is not known then. */
static bool is_solver_misspelt(const world_data *w) {
    bool found = false;
    for (const node *n = w->at ? w->at->first : NULL; n; n = n->next) {
        found |= !table_field(&table_world, n->key) && is_meant(&table_world, n->key, "solver");
    }
    return found;
}

void read_contact_options(loader *l) {
    const world_data *w = &l->data.world;
    sim_options *o = &l->scene->options;
    o->solver = sim_solver_registry_at(l->solvers, w->solver);
    o->compliance = w->compliance - 1;
    o->law = (sim_law_options){w->law.beta,    w->law.sigma, w->law.push, w->law.threshold,
                               w->law.carried, w->law.slop,  w->law.undo};
    o->budget = (sim_budget){(int)w->budget.iterations, w->budget.time};
    if (o->solver && !is_solver_misspelt(w)) {
        read_solver_options(l, o->solver, node_member(w->at, "solver"), w->solver_options);
    }
}

void check_contact_options(loader *l) {
    /* explicit steps have no stage of constraints */
    const sim_options *o = &l->scene->options;
    if (o->integrator != SIM_RK4) {
        return;
    }
    if (contact_stage_needed(l->scene->model)) {
        report_once(&l->report, node_member(l->data.world.at, "integrator"), NULL,
                    "the integrator %s takes no joint ranges, no dry friction, no tendons, no velocity limits and no "
                    "constraints between bodies: choose another",
                    sim_integrator_name(o->integrator));
    }
    /* nor of contacts */
    if (!o->contacts) {
        return;
    }
    int possible = collision_possible(l->scene->model);
    l->report.no_memory |= possible < 0;
    if (possible > 0) {
        report_once(&l->report, node_member(l->data.world.at, "integrator"), NULL,
                    "the integrator %s takes no contacts: choose another, or set /world/contacts to false",
                    sim_integrator_name(o->integrator));
    }
}
