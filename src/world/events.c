/* Events: moments at which a quantity g of the state passes from below 0 to 0 or above.
 *
 *     t = t_0 + dt g_0 / (g_0 - g_1)                      g_0 < 0 <= g_1 at the ends of the step
 *     t = t_0 + min t',  gap = u t' + 1/2 a t'^2         where a contact begins
 *     t = t_0 - dt/2 + dt p / (p_before - p)              where it breaks
 *
 *     t_0, dt   start and length of the step, s
 *     gap, u, a distance of the bodies at the start of the step, m; their speed of approach, m/s; its growth in the step
 *               before, m/s^2
 *     p         sum of the normal impulses of the last step with contact, and of the one before, N s
 *
 * A smooth g between two steps differs from a straight line by O(dt^2), and so does t.  Contacts are known step by step;
 * until one begins the bodies move freely.
 *
 * Cost: one quantity for each event and step; energy and points want the kinematics of the end of the step. */
#include "dyn/soft/soft_body.h"
#include "math/spatial.h"
#include "world/step.h"

#include <math.h>
#include <string.h>

static bool is_of(const sim_model *m, const sim_contact *c, const sim_event *e) {
    return is_pair_of(m, c->body_a, c->body_b, e->first, e->second);
}

/* Sum of normal impulses of a pair, N s. */
static double sum_impulses(const sim_model *m, const sim_state *state, const sim_event *e) {
    double sum = 0;
    for (int k = 0; k < state->ncontact; k++) {
        const sim_contact *c = &state->contact[k];
        sum += is_of(m, c, e) ? v3_dot(c->at.normal, state->impulse[k]) : 0;
    }
    return sum;
}

/* g in the present state. */
static double quantity_of(sim_world *w, const sim_event *e) {
    /* of a place, a contact, an energy or a reading */
    const sim_state *now = &w->now;
    double push;
    switch (e->type) {
    case SIM_LEAVES_BOX: {
        v3 p = sim_point_position(sim_world_derived(w), (sim_point){e->first, e->point});
        double x = fmax(e->low.x - p.x, p.x - e->high.x), y = fmax(e->low.y - p.y, p.y - e->high.y);
        return fmax(fmax(x, y), fmax(e->low.z - p.z, p.z - e->high.z));
    }
    case SIM_CONTACT_BEGINS:
        return sum_impulses(w->model, now, e) > 0 ? 1 : -1;
    case SIM_CONTACT_BREAKS:
        push = sum_impulses(w->model, now, e);
        return push > 0 ? -push : 1;
    case SIM_ENERGY_BELOW: {
        sim_energy energy = sim_world_energy(w);
        return e->level - energy.kinetic - (e->first ? energy.potential : 0);
    }
    case SIM_READING_ABOVE:
        return now->sensor[e->first] - e->level;
    default:
        return e->level - now->sensor[e->first];
    }
}

static v3 velocity_at(const sim_derived *d, int body, v3 point) {
    return motion_at_child(d->vel[body], v3_sub(point, d->pose[body].p)).lin;
}

/* Speed of approach at a contact, at the velocities v. */
static double closing_speed(sim_world *w, const sim_contact *c, const double *v) {
    sim_velocities(w->derived, sim_all(w->model), v);
    v3 p = c->at.position;
    return v3_dot(c->at.normal, v3_sub(velocity_at(w->derived, c->body_b, p), velocity_at(w->derived, c->body_a, p)));
}

/* The first of the pair's contacts to close; `next` of the world still holds the state at the start of the step. */
static double time_of_beginning(sim_world *w, const sim_event *e) {
    const sim_state *now = &w->now, *start = &w->next;
    double dt = w->options.step, soonest = 2 * dt; /* a law may act a step before bodies touch */
    sim_kinematics(w->derived, sim_all(w->model), start->q);
    w->shown = false;
    for (int k = 0; k < now->ncontact; k++) {
        const sim_contact *c = &now->contact[k];
        if (!is_of(w->model, c, e) || v3_dot(c->at.normal, now->impulse[k]) <= 0) {
            continue;
        }
        double u = closing_speed(w, c, start->v);
        double a = start->step ? (u - closing_speed(w, c, start->trail)) / dt : 0, t = u > 0 ? c->at.gap / u : 0;
        for (int pass = 0; pass < 3 && u > 0; pass++) {
            t = c->at.gap / fmax(u + 0.5 * a * t, 0.5 * u);
        }
        soonest = fmin(soonest, fmax(t, 0));
    }
    return start->time + soonest;
}

/* In the middle of the steps their mean impulses are those of the moment; one that does not fall ends with its step. */
static double time_of_breaking(const sim_world *w, const sim_happened *before) {
    const sim_state *start = &w->next;
    double dt = w->options.step, part = before->change > 0 ? -before->g / before->change : 0.5;
    return fmax(start->time - 0.5 * dt, fmin(start->time + dt, start->time - 0.5 * dt + part * dt));
}

void events_begin(sim_world *w) {
    for (int k = 0; k < w->model->nevent; k++) {
        sim_happened *h = &w->now.event[k];
        if (!h->known) {
            h->g = quantity_of(w, &w->model->event[k]);
            h->known = 1;
        }
    }
}

void events_find(sim_world *w) {
    double t0 = w->next.time, dt = w->options.step;
    w->stopped = -1;
    for (int k = 0; k < w->model->nevent; k++) {
        const sim_event *e = &w->model->event[k];
        const sim_happened *before = &w->next.event[k];
        sim_happened *h = &w->now.event[k];
        *h = *before;
        h->g = quantity_of(w, e);
        h->change = before->g < 0 ? h->g - before->g : 0;
        if (before->g < 0 && h->g >= 0) {
            h->count++;
            h->time = e->type == SIM_CONTACT_BEGINS   ? time_of_beginning(w, e)
                      : e->type == SIM_CONTACT_BREAKS ? time_of_breaking(w, before)
                                                      : t0 + dt * before->g / (before->g - h->g);
            w->stopped = e->stop && w->stopped < 0 ? k : w->stopped;
        }
    }
}
