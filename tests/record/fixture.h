/* A scene in motion and a place for its files. */
#ifndef TESTS_RECORD_FIXTURE_H
#define TESTS_RECORD_FIXTURE_H

#include <sim/sim.h>

typedef struct fixture {
    sim_scene *scene;
    sim_world *world;
    char folder[64];
    char path[512]; /* of the last file_in */
} fixture;

/* Of the scene tests/app/scenes/NAME.json. */
fixture fixture_open(const char *name);
void fixture_close(fixture *f); /* with all files in its folder */
const char *file_in(fixture *f, const char *name);
void steps(fixture *f, int count);
/* Steps and records `count` times, the first record before the first step. */
void record_steps(fixture *f, const char *path, int count);
void keep_checkpoint(fixture *f, const char *name);
/* Expects that a world with the options of `like` refuses the file with a sentence that holds `words`. */
void refuse_checkpoint(fixture *f, const char *name, const sim_world *like, const char *words);

#endif
