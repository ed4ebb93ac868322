/* Frame of the programs that run one scene in one engine each: reads the scene, times the steps, prints the states.
 *
 * The scene is text, a line an item; study/beside.py writes it.  SI units; quaternions (w, x, y, z) from body to world;
 * half-spaces are solid below z = 0 of their frame; a body without mass is fixed.  All surfaces have the same friction.
 *
 *     step 0.01
 *     steps 1000                     steps of the run
 *     every 10                       steps from record to record
 *     limit 60                       s of processor time in steps, after which the run stops
 *     gravity 0 0 -9.81
 *     friction 1                     Coulomb's coefficient of every pair
 *     ball|box|half_space  SIZE  MASS  INERTIA  POSITION  QUATERNION  VELOCITY  SPIN      numbers: 3 1 3 3 4 3 3
 *
 * SIZE is the radius and two zeros, or the edges; INERTIA the principal moments about the centre, in body axes; VELOCITY
 * and SPIN those of the centre, in world axes.
 *
 * Standard output is JSON lines: the engine, then each record with processor time in steps so far, steps whose solver
 * reported no solution (-1: it does not report), and 13 numbers a moving body: position, quaternion, velocity, spin. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef enum beside_shape { BESIDE_BALL, BESIDE_BOX, BESIDE_HALF_SPACE } beside_shape;

typedef struct beside_state {
    double position[3];   /* m */
    double quaternion[4]; /* w, x, y, z */
    double velocity[3];   /* m/s, world axes */
    double spin[3];       /* rad/s, world axes */
} beside_state;

typedef struct beside_body {
    beside_shape shape;
    double size[3];    /* m: radius; or edges */
    double mass;       /* kg; 0: fixed */
    double inertia[3]; /* kg m^2, about the body's axes */
    beside_state start;
} beside_body;

typedef struct beside_scene {
    const char *path;
    double step;  /* s */
    double limit; /* s of processor time */
    double gravity[3];
    double friction;
    int steps, every, count;
    int moving; /* bodies with mass; they come first */
    beside_body *body;
} beside_scene;

typedef struct beside_engine {
    const char *name;
    const char *variants; /* words that `make` takes, the default first */
    /* The world, or NULL after a message on standard error. */
    void *(*make)(const beside_scene *scene, const char *variant);
    const char *(*version)(void);
    /* 1: the step was not solved, 0: it was, -1: the engine does not report. */
    int (*step)(void *world);
    void (*read)(const void *world, int body, beside_state *state);
    void (*destroy)(void *world);
} beside_engine;

/* The components in world axes of a vector in body axes (or back, with the conjugate quaternion). */
void beside_rotate(const double quaternion[4], const double in[3], double out[3]);
void beside_rotate_back(const double quaternion[4], const double in[3], double out[3]);

/* The programs' main: PROGRAM SCENE VARIANT.  The exit status. */
int beside_main(int count, char **word, const beside_engine *engine);

#ifdef __cplusplus
}
#endif
