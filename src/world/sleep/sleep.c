/* Sleeping islands: trees that a step leaves out.
 *
 * A tree may sleep when it has been at rest (rest_test.c) for its time T, with the same drives (applied forces, loads,
 * targets, switched constraints).  An island, trees that contacts or constraints connect, sleeps when all its trees may.  Then v = 0, and q,
 * contacts and impulses stay as they are.
 *
 * It wakes as a whole when an awake body touches one of its bodies, or when the drives of one of its trees change. It
 * wakes, too, if the q or v of a tree is not that with which it fell asleep.  A hash shows the last two: so the state
 * alone says which trees sleep, and a state that is restored, or changed by hand, continues correctly. */
#include "world/sleep/sleep.h"
#include "base/disjoint_set.h"
#include "base/hash.h"
#include "math/v3.h"

#include <math.h>
#include <string.h>

sim_status sleep_create(world_sleep *s, memory_pool *pool) {
    const sim_model *m = s->model;
    s->asleep = POOL_NEW(pool, char, m->ntree);
    s->woken = POOL_NEW(pool, char, m->ntree);
    s->ready = POOL_NEW(pool, char, m->ntree);
    s->upset = POOL_NEW(pool, char, m->ntree);
    s->still = POOL_NEW(pool, char, m->nbody);
    s->hash = POOL_NEW(pool, uint64_t, m->ntree);
    s->parent = POOL_NEW(pool, int, m->ntree);
    s->posed = POOL_NEW(pool, char, m->ntree);
    bool ok = s->asleep && s->woken && s->ready && s->upset && s->still && s->hash && s->parent && s->posed;
    return ok ? rest_test_create(s, pool) : SIM_NO_RESOURCE;
}

/* ---- hashes of drives ---- */

static uint64_t hash_add_all(uint64_t hash, const double *x, int count) {
    for (int k = 0; k < count; k++) {
        hash = hash_number(hash, x[k]);
    }
    return hash;
}

static uint64_t hash_wrench(uint64_t hash, int body, const sim_force *f) {
    const double value[7] = {body, f->ang.x, f->ang.y, f->ang.z, f->lin.x, f->lin.y, f->lin.z};
    return hash_add_all(hash, value, 7);
}

/* Of what acts on bodies: wrenches, and constraints that are switched otherwise than the model begins. */
static void begin_hashes(world_sleep *s) {
    const sim_model *m = s->model;
    for (int t = 0; t < m->ntree; t++) {
        s->hash[t] = 1;
    }
    for (int i = 1; i < m->nbody; i++) {
        int tree = m->body[i].tree;
        if (s->motion->parts[tree].pushed) {
            s->hash[tree] = hash_wrench(s->hash[tree], i, &s->now->wrench[i]);
        }
    }
    for (int k = 0; k < m->nequality; k++) {
        const sim_switched *to = &s->now->switched[k];
        const sim_equality *e = &m->equality[k];
        for (int side = 0; side < 2 && to->to != (e->off ? SIM_SWITCH_OFF : SIM_SWITCH_ON); side++) {
            int tree = m->body[e->body[side]].tree;
            if (tree >= 0) {
                const double is[2] = {k, (double)to->to};
                s->hash[tree] = hash_add_all(hash_add_all(s->hash[tree], is, 2), to->at, 7);
            }
        }
    }
}

/* Of the drives of a tree in this step. */
static uint64_t hash_drives(world_sleep *s, int tree) {
    const sim_model *m = s->model;
    const sim_tree *t = &m->tree[tree];
    const tree_parts *parts = &s->motion->parts[tree];
    double time = s->now->time + theta_time(s->options->integrator) * s->options->step;
    uint64_t hash = hash_add_all(s->hash[tree], s->now->applied + t->v0, t->nv);
    double end_time = s->now->time0 + (double)(s->now->step + 1) * s->options->step;
    actuation_set_inputs(s->motion, tree, &(law_point){.time = time, .end_time = end_time});
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const drive_law *law = &s->motion->law[k];
        const double inputs[] = {law->target, law->target_rate, law->feedforward, law->input};
        hash = hash_add_all(hash, inputs, 4);
    }
    for (int k = parts->load0; k < parts->load0 + parts->loads; k++) {
        const sim_load *load = &m->load[s->motion->load_order[k]];
        double value[6];
        sim_track_at(&load->track, time, value, NULL);
        hash = hash_add_all(hash, value, load->track.width);
    }
    return hash;
}

static uint64_t hash_sleep(const world_sleep *s, int tree, uint64_t drives, const sim_state *state) {
    const sim_tree *t = &s->model->tree[tree];
    return hash_add_all(hash_add_all(drives, state->q + t->q0, t->nq), state->v + t->v0, t->nv);
}

static void compare_hashes(void *context, int worker, int first, int end) {
    world_sleep *s = context;
    (void)worker;
    for (int tree = first; tree < end; tree++) {
        const sim_rest *rest = &s->now->rest[tree];
        uint64_t drives = s->hash[tree] = hash_drives(s, tree);
        s->upset[tree] = rest->island && rest->drive_hash != hash_sleep(s, tree, drives, s->now);
    }
}

/* ---- sleeping and waking ---- */

/* Islands with one upset tree wake; the number of trees that did. */
static int wake_upset(world_sleep *s) {
    const sim_model *m = s->model;
    const sim_rest *rest = s->now->rest;
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
    s->info->woken += count;
    return count;
}

void sleep_begin(world_sleep *s) {
    const sim_model *m = s->model;
    begin_hashes(s);
    threads_run(s->threads, m->ntree, compare_hashes, s);
    for (int t = 0; t < m->ntree; t++) {
        s->asleep[t] = s->now->rest[t].island != 0;
    }
    for (int i = 0; i < m->nbody; i++) {
        s->still[i] = !s->moves[i] || s->asleep[m->body[i].tree];
    }
    wake_upset(s);
    memset(s->woken, 0, (size_t)m->ntree);
}

int sleep_wake(world_sleep *s, const sim_contact *contact, int count) {
    memset(s->upset, 0, (size_t)s->model->ntree);
    for (int k = 0; k < count; k++) {
        int a = contact[k].body_a, b = contact[k].body_b;
        if (s->still[a] != s->still[b]) {
            int sleeper = s->still[a] ? a : b;
            if (s->moves[sleeper]) {
                s->upset[s->model->body[sleeper].tree] = 1;
            }
        }
    }
    return wake_upset(s);
}

/* ---- contacts, impulses and states that stay ---- */

static bool is_listed_after(const sim_contact *a, const sim_contact *b) {
    return a->shape_a != b->shape_a ? a->shape_a > b->shape_a : a->shape_b > b->shape_b;
}

static bool is_within_sleep(const world_sleep *s, const sim_contact *c) {
    return s->still[c->body_a] && s->still[c->body_b];
}

/* Both lists are sorted by shapes, and no pair is in both: from behind, so that there is room. */
void sleep_keep_contacts(world_sleep *s) {
    sim_contact *to = s->next->contact;
    int fresh = s->next->ncontact, kept = 0;
    for (int k = 0; k < s->now->ncontact; k++) {
        kept += is_within_sleep(s, &s->now->contact[k]);
    }
    s->info->asleep_contacts = kept;
    s->next->ncontact = fresh + kept;
    for (int k = s->now->ncontact - 1, at = fresh + kept - 1; kept > 0; k--) {
        const sim_contact *c = &s->now->contact[k];
        if (is_within_sleep(s, c)) {
            while (fresh > 0 && is_listed_after(&to[fresh - 1], c)) {
                to[at--] = to[--fresh];
            }
            to[at--] = *c;
            kept--;
        }
    }
}

void sleep_keep_impulses(world_sleep *s) {
    /* of contacts */
    const sim_model *m = s->model;
    for (int k = 0, old = 0; k < s->next->ncontact; k++) {
        if (is_within_sleep(s, &s->next->contact[k])) {
            while (!is_within_sleep(s, &s->now->contact[old])) {
                old++;
            }
            s->next->impulse[k] = s->now->impulse[old++];
            s->next->impulse_trend[k] = (sim_v3){0, 0, 0};
        }
    }
    /* of constraints */
    for (int k = 0; k < m->nequality; k++) {
        const int *body = m->equality[k].body;
        if (s->still[body[0]] && s->still[body[1]]) {
            size_t first = SIM_MAX_ROWS * (size_t)k;
            memcpy(s->next->equality_impulse + first, s->now->equality_impulse + first, SIM_MAX_ROWS * sizeof(double));
        }
    }
    /* of tendons */
    for (int k = 0; k < m->ntendon; k++) {
        if (s->asleep[m->tendon[k].tree[0]] && sim_tendon_acts(&m->tendon[k])) {
            memcpy(s->next->tendon_impulse + 4 * k, s->now->tendon_impulse + 4 * k, 4 * sizeof(double));
        }
    }
}

static void copy_range(double *to, const double *from, int first, int count) {
    if (count) {
        memcpy(to + first, from + first, (size_t)count * sizeof *to);
    }
}

int sleep_pass(world_sleep *s, int tree) {
    const sim_tree *t = &s->model->tree[tree];
    const sim_state *now = s->now, *next = s->next;
    copy_range(next->q, now->q, t->q0, t->nq);
    copy_range(next->v, now->v, t->v0, t->nv);
    copy_range(next->a, now->a, t->v0, t->nv);
    copy_range(next->joint_impulse, now->joint_impulse, SIM_JOINT_ROWS * t->v0, SIM_JOINT_ROWS * t->nv);
    copy_range(next->held, now->held, t->v0, t->nv);
    int saturated = 0;
    const tree_parts *parts = &s->motion->parts[tree];
    for (int i = parts->actuator0; i < parts->actuator0 + parts->actuators; i++) {
        int k = s->motion->actuator_order[i];
        next->effort[k] = now->effort[k];
        next->activation[k] = now->activation[k];
        saturated += actuator_at_limit(s->model, now->effort, k);
    }
    return saturated;
}

/* ---- falling asleep ---- */

static void test_rest(void *context, int worker, int first, int end) {
    world_sleep *s = context;
    (void)worker;
    for (int tree = first; tree < end; tree++) {
        sim_rest *rest = &s->next->rest[tree];
        const sim_rest *before = &s->now->rest[tree];
        if (s->asleep[tree]) {
            *rest = *before;
            continue;
        }
        if (s->model->tree[tree].nv == 0) {
            continue;
        }
        uint64_t drives = s->hash[tree];
        bool goes_on = rest_test(s, tree) && !before->island && before->drive_hash == drives;
        *rest = (sim_rest){.steps = goes_on ? before->steps + 1 : 0, .drive_hash = drives};
    }
}

static void connect_bodies(const world_sleep *s, int *parent, int a, int b) {
    if (s->moves[a] && s->moves[b]) {
        disjoint_set_unite(parent, s->model->body[a].tree, s->model->body[b].tree);
    }
}

/* A slack one as well: the pull of one tree on the other wakes no sleeper. */
static bool ties_trees(const sim_tendon *t) { return t->tree[1] >= 0 && sim_tendon_acts(t); }

static void connect_islands(const world_sleep *s, int *parent) {
    const sim_model *m = s->model;
    for (int t = 0; t < m->ntree; t++) {
        parent[t] = t;
    }
    for (int k = 0; k < s->next->ncontact; k++) {
        connect_bodies(s, parent, s->next->contact[k].body_a, s->next->contact[k].body_b);
    }
    for (int k = 0; k < m->nequality; k++) {
        if (!s->equality[k].off) {
            connect_bodies(s, parent, m->equality[k].body[0], m->equality[k].body[1]);
        }
    }
    for (int k = 0; k < m->ntendon; k++) {
        if (ties_trees(&m->tendon[k])) {
            disjoint_set_unite(parent, m->tendon[k].tree[0], m->tendon[k].tree[1]);
        }
    }
}

static void fall_asleep(world_sleep *s, int tree, int island) {
    const sim_tree *t = &s->model->tree[tree];
    sim_rest *rest = &s->next->rest[tree];
    s->info->stilled += sim_kinetic_energy(s->motion->derived, sim_tree_range(s->model, tree), s->next->v);
    memset(s->next->v + t->v0, 0, (size_t)t->nv * sizeof(double));
    rest->island = 1 + island;
    rest->drive_hash = hash_sleep(s, tree, rest->drive_hash, s->next);
}

void sleep_end(world_sleep *s) {
    /* trees that have been at rest long enough */
    const sim_model *m = s->model;
    int any = 0;
    threads_run(s->threads, m->ntree, test_rest, s);
    for (int t = 0; t < m->ntree; t++) {
        s->info->asleep += s->asleep[t];
        s->info->asleep_bodies += s->asleep[t] ? m->tree[t].nbody : 0;
        s->ready[t] = !s->asleep[t] && m->tree[t].nv && s->next->rest[t].steps >= s->enough[t];
        any |= s->ready[t];
    }
    if (!any) {
        return;
    }
    /* an island sleeps as a whole */
    connect_islands(s, s->parent);
    for (int t = 0; t < m->ntree; t++) {
        s->ready[disjoint_set_find(s->parent, t)] &= s->ready[t];
    }
    for (int t = 0; t < m->ntree; t++) {
        int root = disjoint_set_find(s->parent, t);
        if (s->ready[root] && m->tree[t].nv) {
            fall_asleep(s, t, root);
        }
    }
}

/* ---- a state from elsewhere ---- */

sim_status sleep_check(const world_sleep *s, const sim_state *state, sim_error *error) {
    /* islands that there can be */
    const sim_model *m = s->model;
    for (int t = 0; t < m->ntree; t++) {
        const sim_rest *r = &state->rest[t];
        bool known = r->island >= 0 && r->island <= m->ntree && (r->island == 0 || m->tree[t].nv > 0);
        if (!known || r->steps < 0 || (r->island && state->rest[r->island - 1].island != r->island)) {
            return sim_fail(error, SIM_BAD_INPUT, "the tree of body \"%s\" cannot sleep as the state says",
                            m->body[m->tree[t].body0].name);
        }
    }
    /* what tendons and constraints tie sleeps together */
    for (int k = 0; k < m->ntendon; k++) {
        const sim_tendon *t = &m->tendon[k];
        if (ties_trees(t) && state->rest[t->tree[0]].island != state->rest[t->tree[1]].island) {
            return sim_fail(error, SIM_BAD_INPUT, "of the two trees that tendon \"%s\" ties the state has one asleep",
                            t->name);
        }
    }
    for (int k = 0; k < m->nequality; k++) {
        const int *body = m->equality[k].body;
        bool on = state->switched ? state->switched[k].to != SIM_SWITCH_OFF : !m->equality[k].off;
        if (on && s->moves[body[0]] && s->moves[body[1]] &&
            state->rest[m->body[body[0]].tree].island != state->rest[m->body[body[1]].tree].island) {
            return sim_fail(error, SIM_BAD_INPUT, "of the two ends of constraint \"%s\" the state has one asleep",
                            m->equality[k].name);
        }
    }
    return SIM_OK;
}
