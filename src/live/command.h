/* Commands of viewers of a live run. */
#ifndef LIVE_COMMAND_H
#define LIVE_COMMAND_H

#include <sim/math.h>
#include <sim/solver.h>
#include <sim/world.h>

typedef enum live_verb {
    LIVE_PLAY,
    LIVE_PAUSE,
    LIVE_STEP,
    LIVE_RESET,
    LIVE_SPEED,
    LIVE_SOLVER,
    LIVE_DRAG,
    LIVE_RELEASE,
    LIVE_JOINT,
    LIVE_INPUT,
    LIVE_VERBS,
} live_verb;

/* Of a solver and its options. */
enum { LIVE_MAX_WORDS_BYTES = 400 };

typedef struct live_command {
    live_verb verb;
    int count;                        /* steps */
    double speed;                     /* simulated seconds a second */
    const sim_solver_info *solver;    /* of contacts ... */
    char words[LIVE_MAX_WORDS_BYTES]; /* ... as it was named, with options (solver/words.h) */
    int body;                         /* to drag: not the world ... */
    sim_v3 point, target;             /* ... by this point of it, in its frame, to that of the world */
    int coordinate;                   /* of the body's joint, to be moved ... */
    double value;                     /* ... to this, rad or m; of an input: NAN gives it back to its track */
    int actuator;                     /* ... of which ... */
    sim_input input;                  /* ... this input is set: SIM_CTRL or SIM_TARGET */
} live_command;

/* A command is short; longer ones are refused unread. */
enum { LIVE_MAX_COMMAND_BYTES = 1000, LIVE_MAX_STEPS = 100000 };

/* From JSON, as docs/pages.md has it, for bodies and actuators of a model.  Everything in it may be wrong. */
sim_status live_command_read(const char *text, size_t length, const sim_model *model, live_command *command,
                             sim_error *error);

#endif
