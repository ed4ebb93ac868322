#include "support/contenders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int option_of(const sim_solver_info *info, const char *name) {
    for (int k = 0; k < info->noptions; k++) {
        if (strcmp(info->option[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

static void set(contender *who, const char *name, double value) {
    int k = option_of(who->info, name);
    if (k >= 0) {
        const sim_solver_option *o = &who->info->option[k];
        who->option[k] = fmin(fmax(value, o->low), o->high);
    }
}

static sim_cone cone_named(const char *name, sim_cone otherwise) {
    for (int k = 0; k < SIM_CONES; k++) {
        if (strcmp(sim_cone_name((sim_cone)k), name) == 0) {
            return (sim_cone)k;
        }
    }
    return otherwise;
}

int contenders_all(contender list[MOST_CONTENDERS]) {
    int count = 0;
    for (int s = 0; s < sim_solver_count(); s++) {
        const sim_solver_info *info = sim_solver_at(s);
        if (info->study) { /* an interior point method stops a little inside its cones; its own tests know by how much */
            continue;
        }
        contender as_it_stands = {.info = info, .cone = info->cone};
        snprintf(as_it_stands.name, sizeof as_it_stands.name, "%s", info->name);
        for (int k = 0; k < info->noptions; k++) {
            as_it_stands.option[k] = info->option[k].default_value;
        }
        set(&as_it_stands, "tolerance", 1e-13);
        set(&as_it_stands, "max_iterations", 2e5);
        set(&as_it_stands, "rounds", 2e5);
        list[count++] = as_it_stands;
        int cone = option_of(info, "cone");
        for (int k = 0; cone >= 0 && info->option[cone].choices[k]; k++) {
            const char *choice = info->option[cone].choices[k];
            contender variant = as_it_stands;
            variant.cone = cone_named(choice, info->cone);
            variant.option[cone] = k;
            if (variant.cone != info->cone) {
                snprintf(variant.name, sizeof variant.name, "%s, %s", info->name, choice);
                list[count++] = variant;
            }
        }
    }
    return count;
}

int contender_takes(const contender *who, const sim_problem *p) {
    for (int i = 0; i < p->nconstraint; i++) {
        if (!(who->info->kinds >> p->constraint[i].kind & 1)) {
            return 0;
        }
    }
    return 1;
}

answer contest_entry(const sim_problem *p, double R) {
    answer a = answer_create(p, 1, 1e-3);
    sim_law_options o = sim_law_options_default();
    if (R == 0) {
        sim_regularise(p, SIM_RIGID, &o, NULL, a.R, a.target);
    }
    for (int k = 0; k < p->nrow && R > 0; k++) {
        a.R[k] = R;
    }
    return a;
}

void contest_hold(contest *c, const sim_problem *p, unsigned cones, double R) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    c->count = 0;
    for (int k = 0; k < count; k++) {
        if ((cones >> all[k].cone & 1) && contender_takes(&all[k], p)) {
            c->who[c->count] = all[k];
            c->of[c->count] = contest_entry(p, R);
            answer_find(&c->of[c->count], all[k].info->name, all[k].option);
            c->count++;
        }
    }
}

void contest_end(contest *c) {
    for (int k = 0; k < c->count; k++) {
        answer_free(&c->of[k]);
    }
}

double apart(int count, const double *x, const double *y) {
    double most = 0, size = 0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k] - y[k]));
        size = fmax(size, fmax(fabs(x[k]), fabs(y[k])));
    }
    return size > 0 ? most / size : most;
}
