/* The step.
 *
 *     control -> sleep -> extrapolated forces -> free motion of every tree -> contact -> positions -> checks
 *         -> separation -> sleep -> next state
 *
 * Every stage reads `now` and writes `next`, and takes only its own work space.  A step happens whole or not at all:
 * the two states change places if every number is finite and nothing is faster than light. */
#include "world/step.h"

#include <math.h>

/* A stage over trees, shared out among threads. */
typedef struct tree_stage {
    motion_work *motion;
    world_contacts *contacts;
    world_sleep *sleep; /* NULL: nothing sleeps */
    worker_info *worker;
    bool contact; /* can there be constraints? */
} tree_stage;

/* Free motion; the whole step where there can be no constraint. */
static void move_freely(void *context, int worker, int first, int end) {
    const tree_stage *s = context;
    motion_work *w = s->motion;
    worker_info *mine = &s->worker[worker];
    bool rk4 = w->options->integrator == SIM_RK4;
    for (int tree = first; tree < end; tree++) {
        sim_step_info info;
        /* trees that stand still, or sleep */
        if (w->model->tree[tree].nv == 0) {
            continue;
        }
        if (sleep_has(s->sleep, tree)) {
            mine->info.saturated += s->contact ? 0 : sleep_pass(s->sleep, tree);
            continue;
        }
        /* free motion */
        if (rk4) {
            rk4_step(w, tree, &info);
        } else {
            theta_free_motion(w, tree, &info);
        }
        add_step_info(&mine->info, &info);
        /* without contact the step is whole */
        if (!s->contact) {
            if (!rk4) {
                theta_finish(w, tree);
            }
            check_tree(w, tree, mine);
        }
    }
}

/* The free motion without forces of constraints, of a tree that nothing holds any more. */
static void move_released(world_contacts *c, int tree, worker_info *mine) {
    const sim_tree *t = &c->model->tree[tree];
    sim_step_info info;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        c->held[j] = 0;
    }
    theta_free_motion(c->motion, tree, &info);
    add_step_info(&mine->info, &info);
}

/* The free motion of damped trees again, and of soft bodies, whose matrices the contact stage has changed. */
static void move_damped(void *context, int worker, int first, int end) {
    const tree_stage *s = context;
    motion_work *w = s->motion;
    for (int tree = first; tree < end; tree++) {
        if (w->model->tree[tree].nv && (w->damped[tree] || soft_of(w, tree))) {
            sim_step_info info;
            theta_free_motion(w, tree, &info);
            add_step_info(&s->worker[worker].info, &info);
        }
    }
}

/* End velocities and positions, after the contact stage. */
static void finish_trees(void *context, int worker, int first, int end) {
    const tree_stage *s = context;
    world_contacts *c = s->contacts;
    worker_info *mine = &s->worker[worker];
    for (int tree = first; tree < end; tree++) {
        if (sleep_has(s->sleep, tree)) {
            mine->info.saturated += sleep_pass(s->sleep, tree);
        } else if (c->in_contact[tree]) {
            sim_step_info info;
            theta_finish_in_contact(s->motion, tree, c->v_end, c->shift, &info);
            add_step_info(&mine->info, &info);
        } else if (c->model->tree[tree].nv) {
            if (contacts_hold(c, tree)) {
                move_released(c, tree, mine);
            }
            theta_finish(s->motion, tree);
        }
        check_tree(s->motion, tree, mine);
    }
}

/* Contacts, the contact problems, and their solution: velocities and impulses. */
static sim_status solve_contacts(world_contacts *c, contact_output *out, const sim_watch *watch, step_timer *timer,
                                 sim_error *error) {
    contact_input in;
    sim_status status = contacts_find(c, &in, error);
    profile_lap(timer, SIM_TIME_COLLIDE);
    *out = contacts_output(c);
    status = status ? status : contact_stage_build(c->stage, &in, c->threads, error);
    profile_lap(timer, SIM_TIME_BUILD);
    in.clock = timer->profile && timer->profile->parts ? &timer->profile->clock : NULL;
    in.watch = watch;
    status = status ? status : contact_stage_solve(c->stage, c->threads, out, error);
    status = status ? status : soft_newton(c, &in, out, error);
    profile_lap(timer, SIM_TIME_SOLVE);
    if (!status) {
        profile_add_parts(timer, &out->info);
    }
    return status;
}

/* The same, again while soft bodies would gain energy by their scheme. */
static sim_status step_contacts(tree_stage *trees, const sim_watch *watch, step_timer *timer, sim_error *error) {
    world_contacts *c = trees->contacts;
    contact_output out;
    sim_status status = SIM_OK;
    bool again = soft_damp_tied(c);
    do {
        if (again) {
            threads_run(c->threads, c->model->ntree, move_damped, trees);
            soft_damp_tied(c);
        }
        status = solve_contacts(c, &out, watch, timer, error);
        again = !status && soft_damp(c);
    } while (again);
    return status ? status : contacts_report(c, &out.info, error);
}

/* Actuators at their limit: the count of the free motion may not be that with contacts. */
static int count_saturated(const sim_model *m, const double *effort) {
    int count = 0;
    for (int k = 0; k < m->nactuator; k++) {
        count += actuator_at_limit(m, effort, k);
    }
    return count;
}

/* Sums the counts of all threads; fails at the first tree that is not finite. */
static sim_status gather_workers(sim_world *w, sim_error *error) {
    w->info.damped = soft_damped_count(&w->contacts);
    for (int k = 0; k < threads_count(w->threads); k++) {
        add_step_info(&w->info, &w->worker[k].info);
        if (w->worker[k].bad_tree >= 0) {
            return explain_failure(&w->motion, &w->contacts, w->worker[k].bad_tree, error);
        }
    }
    return SIM_OK;
}

/* `next` at its time becomes `now`. */
static void commit_state(sim_world *w) {
    actuation_keep_history(&w->motion);
    sim_state *now = &w->now, *next = &w->next;
    next->step = now->step + 1;
    next->time0 = now->time0;
    next->time = next->time0 + (double)next->step * w->options.step;
    sim_state before = *now;
    *now = *next;
    *next = before;
    w->stepped = true;
}

/* Counts at zero; trees on which the caller's wrenches act. */
static void begin_step(sim_world *w) {
    motion_find_pushed(&w->motion);
    soft_damp_none(&w->contacts);
    w->shown = w->touched = w->stepped = false;
    w->info = (sim_step_info){0};
    for (int k = 0; k < threads_count(w->threads); k++) {
        w->worker[k] = (worker_info){.bad_tree = -1};
    }
}

sim_status sim_world_step(sim_world *w, sim_error *error) {
    bool contact = w->contacts.stage != NULL;
    tree_stage trees = {&w->motion, &w->contacts, w->sleep, w->worker, contact};
    sim_status status = SIM_OK;
    events_begin(w);
    begin_step(w);
    profile_start(&w->timer);
    /* controllers: commands of actuators, constraints switched */
    status = control_stage(w, error);
    if (status) {
        return status;
    }

    /* sleep: trees that this step leaves out */
    if (w->sleep) {
        sleep_begin(w->sleep);
    }
    /* forces of constraints, extrapolated from the last two steps */
    if (contact) {
        extrapolate_forces(&w->contacts);
    }
    /* free motion: every tree without its constraints */
    threads_run(w->threads, w->model->ntree, move_freely, &trees);
    profile_lap(&w->timer, SIM_TIME_FREE);
    /* contact: end velocities and impulses of trees with constraints, then the positions of all */
    if (contact) {
        status = step_contacts(&trees, w->watch, &w->timer, error);
        if (status) {
            control_stage_undo(w);
            return status;
        }
        threads_run(w->threads, w->model->ntree, finish_trees, &trees);
    }
    /* checks */
    status = gather_workers(w, error);
    /* separation: positions of bodies that struck and overlap */
    if (contact && !status) {
        status = separate_bodies(&w->contacts, error);
    }
    if (status) {
        control_stage_undo(w);
        return status;
    }
    /* sleep: islands that have been at rest for long enough */
    if (w->sleep) {
        sleep_end(w->sleep);
    }
    /* counts and trail for the next step; the states change places */
    if (contact) {
        w->info.saturated = count_saturated(w->model, w->next.effort);
    }
    keep_trail(w->model, &w->now, &w->next);
    commit_state(w);
    if (w->sensors) {
        sensors_read(w->sensors, &w->now, &w->next);
    }
    events_find(w);
    profile_lap(&w->timer, SIM_TIME_INTEGRATE);
    return SIM_OK;
}

/* ---- the contact problem of the next step ---- */

bool sim_world_has_problems(const sim_world *w) { return w->contacts.stage != NULL; }

sim_problem *sim_world_problem(sim_world *w, sim_error *error) {
    world_contacts *c = &w->contacts;
    contact_input in;
    if (!c->stage) {
        sim_fail(error, SIM_BAD_INPUT, "no contact is possible: there is no contact problem");
        return NULL;
    }
    sim_step_info last = w->info;
    tree_stage trees = {&w->motion, c, w->sleep, w->worker, true};
    begin_step(w);
    if (control_stage(w, error)) {
        w->info = last;
        return NULL;
    }
    if (w->sleep) {
        sleep_begin(w->sleep);
    }
    extrapolate_forces(c);
    threads_run(w->threads, w->model->ntree, move_freely, &trees);
    sim_status status = contacts_find(c, &in, error);
    status = status ? status : contact_stage_build(c->stage, &in, w->threads, error);
    control_stage_undo(w);
    w->info = last; /* trees that this search has woken sleep on */
    return status ? NULL : contact_stage_problem(c->stage, error);
}
