/* Who is left out of the step, and what brings him back?
 *
 * A tree may sleep when it has been still (still.c) for its time T, in which what drives it (applied forces, loads,
 * targets) stayed as it was; an island, trees that contacts or constraints hold together, sleeps when all its trees may.
 * Then v = 0, and q, contacts and impulses stay as they are.
 *
 * It wakes, whole, in the step in which something awake comes into contact with one of its bodies, or what drives one of
 * its trees changes, or its q or v is not what it fell asleep with.  The last two are told by a hash, the seal: so nothing
 * but the state says who sleeps, and a state taken up again, or changed by hand, goes on as it should. */
#include "contact/problem/joined.h"
#include "math/v3.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

int world_sleep_create(sim_world *w) {
    const sim_model *m = w->model;
    sim_pool *pool = w->pool;
    world_sleep *s = w->sleep = POOL_NEW(pool, world_sleep, 1);
    w->now.rest = POOL_NEW(pool, sim_rest, m->ntree);
    w->next.rest = POOL_NEW(pool, sim_rest, m->ntree);
    if (!s || !w->now.rest || !w->next.rest) {
        return 0;
    }
    s->asleep = POOL_NEW(pool, char, m->ntree);
    s->woken = POOL_NEW(pool, char, m->ntree);
    s->ready = POOL_NEW(pool, char, m->ntree);
    s->upset = POOL_NEW(pool, char, m->ntree);
    s->still = POOL_NEW(pool, char, m->nbody);
    s->seal = POOL_NEW(pool, uint64_t, m->ntree);
    s->parent = POOL_NEW(pool, int, m->ntree);
    s->posed = POOL_NEW(pool, char, m->ntree);
    return s->asleep && s->woken && s->ready && s->upset && s->still && s->seal && s->parent && s->posed &&
           world_still_create(w);
}

/* ---- what a sleep hangs on ---- */

static uint64_t mixed(uint64_t hash, double x) {
    uint64_t bits;
    x += 0.0; /* -0 is 0 */
    memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t mixed_all(uint64_t hash, const double *x, int count) {
    for (int k = 0; k < count; k++) {
        hash = mixed(hash, x[k]);
    }
    return hash;
}

/* Of what drives a tree in this step. */
static uint64_t seal_of_drives(sim_world *w, int tree) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    const tree_parts *parts = &w->parts[tree];
    double time = w->now.time + world_theta_time(w->options.integrator) * w->options.step;
    uint64_t hash = mixed_all(1, w->applied + t->v0, t->nv);
    world_set_targets(w, tree, time, w->now.time0 + (double)(w->now.step + 1) * w->options.step);
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        hash = mixed(mixed(mixed(hash, w->target[k]), w->target_rate[k]), w->feedforward[k]);
    }
    for (int k = parts->load0; k < parts->load0 + parts->loads; k++) {
        const sim_load *load = &m->load[w->load_order[k]];
        double value[6];
        sim_track_at(&load->track, time, value, NULL);
        hash = mixed_all(hash, value, load->track.width);
    }
    return hash;
}

static uint64_t seal_of_sleep(const sim_world *w, int tree, uint64_t drives, const sim_state *state) {
    const sim_tree *t = &w->model->tree[tree];
    return mixed_all(mixed_all(drives, state->q + t->q0, t->nq), state->v + t->v0, t->nv);
}

static void seal_trees(void *context, int worker, int first, int end) {
    sim_world *w = context;
    (void)worker;
    for (int tree = first; tree < end; tree++) {
        const sim_rest *rest = &w->now.rest[tree];
        uint64_t seal = w->sleep->seal[tree] = seal_of_drives(w, tree);
        w->sleep->upset[tree] = rest->island && rest->seal != seal_of_sleep(w, tree, seal, &w->now);
    }
}

/* ---- sleeping and waking ---- */

/* Islands with one upset tree wake; the number of trees that did. */
static int wake_upset(sim_world *w) {
    const sim_model *m = w->model;
    const sim_rest *rest = w->now.rest;
    world_sleep *s = w->sleep;
    int count = 0;
    for (int t = 0; t < m->ntree; t++) {
        s->upset[rest[t].island ? rest[t].island - 1 : t] |= s->upset[t];
    }
    for (int t = 0; t < m->ntree; t++) {
        s->woken[t] = s->asleep[t] && s->upset[rest[t].island - 1];
        if (s->woken[t]) {
            count++;
            s->asleep[t] = s->posed[t] = 0;
            for (int i = m->tree[t].body0; i < m->tree[t].body0 + m->tree[t].nbody; i++) {
                s->still[i] = !s->moves[i];
            }
        }
    }
    w->info.woken += count;
    return count;
}

void world_sleep_begin(sim_world *w) {
    const sim_model *m = w->model;
    world_sleep *s = w->sleep;
    sim_threads_run(w->threads, m->ntree, seal_trees, w);
    for (int t = 0; t < m->ntree; t++) {
        s->asleep[t] = w->now.rest[t].island != 0;
    }
    for (int i = 0; i < m->nbody; i++) {
        s->still[i] = !s->moves[i] || s->asleep[m->body[i].tree];
    }
    wake_upset(w);
    memset(s->woken, 0, (size_t)m->ntree);
}

int world_sleep_wake(sim_world *w, const sim_contact *contact, int count) {
    world_sleep *s = w->sleep;
    memset(s->upset, 0, (size_t)w->model->ntree);
    for (int k = 0; k < count; k++) {
        int a = contact[k].body_a, b = contact[k].body_b;
        if (s->still[a] != s->still[b]) {
            int sleeper = s->still[a] ? a : b;
            if (s->moves[sleeper]) {
                s->upset[w->model->body[sleeper].tree] = 1;
            }
        }
    }
    return wake_upset(w);
}

/* ---- what stays ---- */

static int stands_after(const sim_contact *a, const sim_contact *b) {
    return a->shape_a != b->shape_a ? a->shape_a > b->shape_a : a->shape_b > b->shape_b;
}

static int within_sleep(const world_sleep *s, const sim_contact *c) {
    return s->still[c->body_a] && s->still[c->body_b];
}

/* Both lists are sorted by shapes, and no pair is in both: from behind, so that there is room. */
void world_sleep_keep_contacts(sim_world *w) {
    const world_sleep *s = w->sleep;
    sim_contact *to = w->next.contact;
    int fresh = w->next.ncontact, kept = 0;
    for (int k = 0; k < w->now.ncontact; k++) {
        kept += within_sleep(s, &w->now.contact[k]);
    }
    w->info.asleep_contacts = kept;
    w->next.ncontact = fresh + kept;
    for (int k = w->now.ncontact - 1, at = fresh + kept - 1; kept > 0; k--) {
        const sim_contact *c = &w->now.contact[k];
        if (within_sleep(s, c)) {
            while (fresh > 0 && stands_after(&to[fresh - 1], c)) {
                to[at--] = to[--fresh];
            }
            to[at--] = *c;
            kept--;
        }
    }
}

void world_sleep_keep_impulses(sim_world *w) {
    const sim_model *m = w->model;
    const world_sleep *s = w->sleep;
    for (int k = 0, old = 0; k < w->next.ncontact; k++) {
        if (within_sleep(s, &w->next.contact[k])) {
            while (!within_sleep(s, &w->now.contact[old])) {
                old++;
            }
            w->next.impulse[k] = w->now.impulse[old++];
        }
    }
    for (int k = 0; k < m->nequality; k++) {
        const int *body = m->equality[k].body;
        if (s->still[body[0]] && s->still[body[1]]) {
            size_t first = SIM_MAX_ROWS * (size_t)k;
            memcpy(w->next.equality_impulse + first, w->now.equality_impulse + first, SIM_MAX_ROWS * sizeof(double));
        }
    }
}

static void copy(double *to, const double *from, int first, int count) {
    if (count) {
        memcpy(to + first, from + first, (size_t)count * sizeof *to);
    }
}

int world_sleep_pass(sim_world *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    const sim_state *now = &w->now, *next = &w->next;
    copy(next->q, now->q, t->q0, t->nq);
    copy(next->v, now->v, t->v0, t->nv);
    copy(next->a, now->a, t->v0, t->nv);
    copy(next->joint_impulse, now->joint_impulse, 3 * t->v0, 3 * t->nv);
    copy(next->held, now->held, t->v0, t->nv);
    int saturated = 0;
    const tree_parts *parts = &w->parts[tree];
    for (int i = parts->actuator0; i < parts->actuator0 + parts->actuators; i++) {
        int k = w->actuator_order[i];
        next->effort[k] = now->effort[k];
        saturated += fabs(now->effort[k]) >= w->model->actuator[k].effort;
    }
    return saturated;
}

/* ---- falling asleep ---- */

static void watch_trees(void *context, int worker, int first, int end) {
    sim_world *w = context;
    (void)worker;
    for (int tree = first; tree < end; tree++) {
        sim_rest *rest = &w->next.rest[tree];
        const sim_rest *before = &w->now.rest[tree];
        if (w->sleep->asleep[tree]) {
            *rest = *before;
            continue;
        }
        if (w->model->tree[tree].nv == 0) {
            continue;
        }
        uint64_t seal = w->sleep->seal[tree];
        int goes_on = world_still(w, tree) && !before->island && before->seal == seal;
        *rest = (sim_rest){.steps = goes_on ? before->steps + 1 : 0, .seal = seal};
    }
}

static void join_bodies(const sim_world *w, int *parent, int a, int b) {
    if (w->sleep->moves[a] && w->sleep->moves[b]) {
        joined_add(parent, w->model->body[a].tree, w->model->body[b].tree);
    }
}

static void join_islands(const sim_world *w, int *parent) {
    const sim_model *m = w->model;
    for (int t = 0; t < m->ntree; t++) {
        parent[t] = t;
    }
    for (int k = 0; k < w->next.ncontact; k++) {
        join_bodies(w, parent, w->next.contact[k].body_a, w->next.contact[k].body_b);
    }
    for (int k = 0; k < m->nequality; k++) {
        join_bodies(w, parent, m->equality[k].body[0], m->equality[k].body[1]);
    }
}

static void fall_asleep(sim_world *w, int tree, int island) {
    const sim_tree *t = &w->model->tree[tree];
    sim_rest *rest = &w->next.rest[tree];
    w->info.stilled += sim_kinetic_energy(w->derived, sim_tree_range(w->model, tree), w->next.v);
    memset(w->next.v + t->v0, 0, (size_t)t->nv * sizeof(double));
    rest->island = 1 + island;
    rest->seal = seal_of_sleep(w, tree, rest->seal, &w->next);
}

void world_sleep_end(sim_world *w) {
    const sim_model *m = w->model;
    world_sleep *s = w->sleep;
    int any = 0;
    sim_threads_run(w->threads, m->ntree, watch_trees, w);
    for (int t = 0; t < m->ntree; t++) {
        w->info.asleep += s->asleep[t];
        w->info.asleep_bodies += s->asleep[t] ? m->tree[t].nbody : 0;
        s->ready[t] = !s->asleep[t] && m->tree[t].nv && w->next.rest[t].steps >= s->enough[t];
        any |= s->ready[t];
    }
    if (!any) {
        return;
    }
    join_islands(w, s->parent);
    for (int t = 0; t < m->ntree; t++) {
        s->ready[joined_root(s->parent, t)] &= s->ready[t];
    }
    for (int t = 0; t < m->ntree; t++) {
        int root = joined_root(s->parent, t);
        if (s->ready[root] && m->tree[t].nv) {
            fall_asleep(w, t, root);
        }
    }
}

/* ---- a state from elsewhere ---- */

sim_status world_sleep_check(const sim_world *w, const sim_state *state, sim_error *error) {
    const sim_model *m = w->model;
    for (int t = 0; t < m->ntree; t++) {
        const sim_rest *r = &state->rest[t];
        int known = r->island >= 0 && r->island <= m->ntree && (r->island == 0 || m->tree[t].nv > 0);
        if (!known || r->steps < 0 || (r->island && state->rest[r->island - 1].island != r->island)) {
            return sim_fail(error, SIM_BAD_INPUT, "the tree of body \"%s\" cannot sleep as the state says",
                            m->body[m->tree[t].body0].name);
        }
    }
    for (int k = 0; k < m->nequality; k++) {
        const int *body = m->equality[k].body;
        if (w->sleep->moves[body[0]] && w->sleep->moves[body[1]] &&
            state->rest[m->body[body[0]].tree].island != state->rest[m->body[body[1]].tree].island) {
            return sim_fail(error, SIM_BAD_INPUT, "of the two ends of constraint \"%s\" the state has one asleep",
                            m->equality[k].name);
        }
    }
    return SIM_OK;
}
