/* Contacts of a step: collision at the start of the step, input and output of the contact stage.
 *
 * Contacts are found at the start of the step, for the end velocities of the free motion.  The contact stage solves for
 * the end velocities; the state keeps each contact's impulse for the next step. */
#include "world/contact/contacts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool state_make_room(sim_state *state, int room) {
    sim_contact *contact = realloc(state->contact, (size_t)room * sizeof *contact);
    state->contact = contact ? contact : state->contact;
    sim_v3 *impulse = realloc(state->impulse, (size_t)room * sizeof *impulse);
    state->impulse = impulse ? impulse : state->impulse;
    sim_v3 *trend = realloc(state->impulse_trend, (size_t)room * sizeof *trend);
    state->impulse_trend = trend ? trend : state->impulse_trend;
    return contact && impulse && trend;
}

void state_free_contacts(sim_state *state) {
    free(state->contact);
    free(state->impulse);
    free(state->impulse_trend);
}

sim_status contacts_make_room(world_contacts *w, int count) {
    if (count <= w->room) {
        return SIM_OK;
    }
    int room = count < 64 ? 64 : count + count / 2;
    if (!state_make_room(w->now, room) || !state_make_room(w->next, room) ||
        (w->follower && (prediction_make_room(w, room) || separation_make_room(w, room)))) {
        return SIM_NO_RESOURCE;
    }
    w->room = room;
    return SIM_OK;
}

bool contacts_hold(const world_contacts *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        if (w->held[j] != 0) {
            return true;
        }
    }
    return false;
}

/* v* = v0 + dt (a - A^-1 held): removes the extrapolated forces of constraints from the end velocities.  Free motion
 * included them so that its forces are taken where the tree will move. */
static void remove_held(world_contacts *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    double *x = w->v_end;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        x[j] = w->options->step * w->held[j];
    }
    theta_mass_solve(w->motion, tree, x);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->v_free[j] -= x[j];
    }
}

void free_velocity(world_contacts *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->v_free[j] = w->now->v[j] + w->options->step * w->motion->a_out[j];
    }
    if (contacts_hold(w, tree)) {
        remove_held(w, tree);
    }
}

/* Poses at the start, and the bodies' velocities of the free motion there. */
static void move_tree_to_start(world_contacts *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    sim_range bodies = sim_tree_range(w->model, tree);
    if (w->start != w->motion->derived || t->nv == 0) { /* trees without dofs have no free motion */
        sim_kinematics(w->start, bodies, w->now->q);
    }
    free_velocity(w, tree);
    actuation_list_limited(w->motion, tree);
    sim_velocities(w->start, bodies, w->v_free);
}

/* A sleeping tree stays where it was. */
static void leave_at_start(world_contacts *w, int tree) {
    if (!w->sleep->posed[tree]) {
        sim_range bodies = sim_tree_range(w->model, tree);
        sim_kinematics(w->start, bodies, w->now->q);
        sim_velocities(w->start, bodies, w->now->v);
        w->sleep->posed[tree] = 1;
    }
}

static void move_trees_to_start(void *context, int worker, int first, int end) {
    world_contacts *w = context;
    (void)worker;
    for (int tree = first; tree < end; tree++) {
        if (sleep_has(w->sleep, tree)) {
            leave_at_start(w, tree);
        } else {
            move_tree_to_start(w, tree);
        }
    }
}

/* Free motion of trees woken by a contact. */
static void start_woken(void *context, int worker, int first, int end) {
    world_contacts *w = context;
    for (int tree = first; tree < end; tree++) {
        if (w->sleep->woken[tree]) {
            sim_step_info info;
            theta_free_motion(w->motion, tree, &info);
            add_step_info(&w->worker[worker].info, &info);
            move_tree_to_start(w, tree);
            w->sleep->woken[tree] = 0;
        }
    }
}

/* Fails where a problem holds numbers that no solver can use; at the first contact whose impulse is not finite. */
static sim_status check_numbers(const world_contacts *w, sim_error *error) {
    const sim_model *m = w->model;
    if (w->info->certificate.nonfinite) {
        const int *body = w->info->worst_body[SIM_WORST_E];
        return sim_fail(error, SIM_FAILED,
                        "the contact problem of \"%s\" and \"%s\" holds numbers that are not finite, or whose squares "
                        "are not, in step %lld, t = %.9g s",
                        m->body[body[0] > 0 ? body[0] : 0].name, m->body[body[1] > 0 ? body[1] : 0].name,
                        (long long)w->now->step + 1, w->now->time + w->options->step);
    }
    for (int k = 0; k < w->next->ncontact; k++) {
        const sim_contact *c = &w->next->contact[k];
        sim_v3 g = w->next->impulse[k];
        if (!isfinite(g.x + g.y + g.z)) {
            return sim_fail(error, SIM_FAILED,
                            "the impulse of the contact of \"%s\" and \"%s\" is not finite in step %lld, t = %.9g s",
                            m->body[c->body_a].name, m->body[c->body_b].name, (long long)w->now->step + 1,
                            w->now->time + w->options->step);
        }
    }
    return SIM_OK;
}

/* Counts and certificate of the stage. */
static void copy_info(world_contacts *w, const contact_info *info) {
    w->info->contacts = w->next->ncontact;
    w->info->islands = info->islands;
    w->info->solver_iterations = info->iterations;
    w->info->solver_total = info->total;
    w->info->unsolved = info->unsolved;
    memcpy(w->info->gave_up, info->gave_up, sizeof w->info->gave_up);
    memcpy(w->info->finished, info->finished, sizeof w->info->finished);
    w->info->factorisations = info->factorisations;
    w->info->multiplications = info->multiplications;
    w->info->stuck = info->stuck;
    memcpy(w->info->stuck_body, info->stuck_body, sizeof w->info->stuck_body);
    w->info->stuck_depth = info->stuck_depth;
    w->info->refused = info->refused;
    w->info->undone = info->undone;
    w->info->certificate = info->certificate;
    memcpy(w->info->worst_body, info->worst_body, sizeof w->info->worst_body);
    memcpy(w->info->sag_body, info->sag_body, sizeof w->info->sag_body);
    w->info->sag = info->sag;
    w->info->sag_part = info->sag_part;
    w->info->lift = info->lift;
    memcpy(w->info->lift_body, info->lift_body, sizeof w->info->lift_body);
}

static bool is_within_pull(const sim_model *m, const sim_contact *c, int body) {
    return (c->body_a == body || c->body_b == body) &&
           c->at.gap <=
               sim_material_together(m, m->shape[c->shape_a].material, m->shape[c->shape_b].material).adhesion_range;
}

/* Actuators that pull at contacts: equal parts of the force to all of their body. */
static void add_pulls(world_contacts *w) {
    const sim_model *m = w->model;
    for (int i = 0; i < m->nactuator; i++) {
        const sim_actuator *a = &m->actuator[w->motion->actuator_order[i]];
        double force =
            a->transmission == SIM_BY_CONTACTS && !sleep_has(w->sleep, a->tree) ? actuation_pull(w->motion, i) : 0;
        int count = 0;
        for (int k = 0; k < w->next->ncontact && force > 0; k++) {
            count += is_within_pull(m, &w->next->contact[k], a->body);
        }
        for (int k = 0; k < w->next->ncontact && count; k++) {
            sim_contact *c = &w->next->contact[k];
            c->adhesion += is_within_pull(m, c, a->body) ? force / count : 0;
        }
    }
}

/* The contacts of the step into `next`: all on which the law may act.  With fewer it would act on the ends of a sliding
 * body in turns.  Each pass of the loop wakes at least one island. */
static sim_status find_step_contacts(world_contacts *w, sim_error *error) {
    /* collision at the start of the step, over the distance in which the law may act */
    double reach = sim_law_reach(sim_options_compliance(w->options), w->options->step);
    collision_input shapes = {.pose = w->start->pose,
                              .velocity = w->start->vel,
                              .step = reach,
                              .glide = w->options->solver->cone == SIM_CONE_CONVEX ? reach : 0,
                              .one_point = theta_travel(w->options->integrator) == 1,
                              .before = w->now->contact,
                              .nbefore = w->now->ncontact,
                              .still = w->sleep ? w->sleep->still : NULL};
    const sim_contact *contact;
    int count;
    for (;;) {
        sim_status status = collision_update(w->collision, &shapes, w->threads, error);
        if (status) {
            return status;
        }
        contact = collision_contacts(w->collision, &count);
        if (!w->sleep || !sleep_wake(w->sleep, contact, count)) {
            break;
        }
        threads_run(w->threads, w->model->ntree, start_woken, w);
    }
    /* into the next state, at the points where the impulses act */
    int room = count + (w->sleep ? w->now->ncontact : 0);
    if (contacts_make_room(w, room)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", room);
    }
    w->next->ncontact = count;
    if (count) {
        memcpy(w->next->contact, contact, (size_t)count * sizeof *contact);
    }
    for (int k = 0; k < count; k++) {
        sim_contact *c = &w->next->contact[k];
        c->at.position = acting_point(w->model, c, c->at.position, c->at.normal, c->at.gap);
    }
    add_pulls(w);
    if (w->sleep) {
        sleep_keep_contacts(w->sleep);
    }
    return SIM_OK;
}

sim_status contacts_find(world_contacts *w, contact_input *in, sim_error *error) {
    /* kinematics, and contacts at the start and predicted ones */
    threads_run(w->threads, w->model->ntree, move_trees_to_start, w);
    w->next->ncontact = 0;
    if (w->collides) {
        sim_status status = find_step_contacts(w, error);
        status = status ? status : predict_contacts(w, error);
        if (status) {
            return status;
        }
    }
    /* everything that the contact stage reads */
    *in = (contact_input){.start = w->start,
                          .middle = w->collides ? w->middle : w->start,
                          .end = w->end,
                          .v_ahead = w->v_ahead,
                          .place = prediction_place(w->options),
                          .followed = w->followed,
                          .holds = theta_is_implicit(w->options->integrator),
                          .mass = w->motion->derived,
                          .extra = w->motion->extra,
                          .body_extra = w->motion->body_extra,
                          .soft = w->motion->soft,
                          .q_start = w->now->q,
                          .v_start = w->now->v,
                          .v_free = w->v_free,
                          .index = w->now->step,
                          .step = w->options->step,
                          .position = theta_position(w->options->integrator),
                          .travel = theta_travel(w->options->integrator),
                          .elastic = elastic_place(theta_scheme_of(w->options->integrator)),
                          .damped = w->motion->damped,
                          .contact = w->next->contact,
                          .ncontact = w->next->ncontact,
                          .asleep = w->sleep ? w->sleep->asleep : NULL,
                          .before = w->now->contact,
                          .impulse_before = w->now->impulse,
                          .trend_before = w->now->impulse_trend,
                          .nbefore = w->now->ncontact,
                          .equality = w->equality,
                          .joint_before = w->now->joint_impulse,
                          .equality_before = w->now->equality_impulse,
                          .tendon_before = w->now->tendon_impulse,
                          .actuator = w->motion->limited,
                          .nactuator = w->motion->nlimited,
                          .effort_before = w->now->effort};
    return SIM_OK;
}

contact_output contacts_output(world_contacts *w) {
    return (contact_output){.v = w->v_end,
                            .shift = w->shift,
                            .touched = w->in_contact,
                            .unsolved = w->unsolved,
                            .parted = w->tie_parted,
                            .impulse = w->next->impulse,
                            .impulse_trend = w->next->impulse_trend,
                            .contact = w->next->contact,
                            .joint_impulse = w->next->joint_impulse,
                            .equality_impulse = w->next->equality_impulse,
                            .tendon_impulse = w->next->tendon_impulse,
                            .held = w->next->held,
                            .pressed = w->next->trail + 2 * (ptrdiff_t)w->model->nv,
                            .unheld = w->unheld,
                            .effort = w->row_effort,
                            .promised = w->promised,
                            .elastic_work = w->elastic_work,
                            .tied_work = w->tied_work};
}

sim_status contacts_report(world_contacts *w, const contact_info *info, sim_error *error) {
    copy_info(w, info);
    drop_unbalanced_forces(w);
    if (w->sleep) {
        sleep_keep_impulses(w->sleep);
    }
    return check_numbers(w, error);
}
