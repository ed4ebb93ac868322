/* Time limit of a run.
 *
 * After --time-limit the run ends like an interrupted one, when its step has ended.  If that takes more than
 * GRACE_SECONDS beyond, it ends in the state before the step.  So does a step that goes on for GRACE_SECONDS after
 * Ctrl-C. A solver asks once an iteration, from any thread, so shared members are atomic.  Once in a run, when a step
 * takes long, one line states its size and cheaper alternatives. */
#include "app/cli/time_limit.h"

#include "app/cli/interrupt.h"
#include "record/run/run_statistics.h"

#include <math.h>
#include <stdio.h>

static const double GRACE_SECONDS = 1; /* s */
static const double LARGE_MULTIPLICATIONS = 3e10,
                    MULTIPLICATIONS_PER_SECOND =
                        1e10;               /* multiplications that take visibly long; a second, of one core */
static const double SLOW_STEP_SECONDS = 10; /* s that a step takes before its user wonders */

static void print_step_note(run_time_limit *p, const sim_effort *e) {
    if (p->quiet || atomic_flag_test_and_set(&p->said)) {
        return;
    }
    fprintf(stderr, "sim: note: step %lld is large: %d constraints with %d rows in %s",
            (long long)sim_world_state(p->world)->step + 1, e->constraints, e->rows,
            e->islands == 1 ? "one island" : "an island");
    if (e->expected > 0) {
        fprintf(stderr,
                "; a factorisation takes %.1e multiplications, about %.2g s, and a solve may need tens of them "
                "(most_work limits that; --solver subadmm factors no island as a whole)",
                e->expected, e->expected / MULTIPLICATIONS_PER_SECOND);
    }
    fputs("; --time-limit limits the run\n", stderr);
}

static bool stop_when_late(void *context, const sim_effort *effort) {
    run_time_limit *p = context;
    double now = clock_seconds();
    if (interrupt_noted() && atomic_load(&p->give_up) > now + GRACE_SECONDS) {
        atomic_store(&p->give_up, now + GRACE_SECONDS);
    }
    if (now >= atomic_load(&p->give_up)) {
        atomic_store(&p->given_up, 1);
        return true;
    }
    if (effort->expected >= LARGE_MULTIPLICATIONS || now - p->began >= SLOW_STEP_SECONDS) {
        print_step_note(p, effort);
    }
    return false;
}

void time_limit_start(run_time_limit *p, double limit) {
    p->end = limit > 0 ? clock_seconds() + limit : HUGE_VAL;
    atomic_init(&p->give_up, p->end + GRACE_SECONDS);
    atomic_init(&p->given_up, 0);
    atomic_flag_clear(&p->said);
    interrupt_deadline(limit);
}

void time_limit_watch(run_time_limit *p, sim_world *world, int quiet) {
    p->watch = (sim_watch){stop_when_late, p};
    p->world = world;
    p->quiet = quiet;
    sim_world_watch(world, &p->watch);
}

void time_limit_begin_step(run_time_limit *p) { p->began = clock_seconds(); }

bool time_limit_reached(const run_time_limit *p) { return p->end < HUGE_VAL && clock_seconds() >= p->end; }

bool time_limit_gave_up(run_time_limit *p) { return atomic_load(&p->given_up); }
