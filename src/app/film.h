/* Films, by ffmpeg. */
#ifndef APP_FILM_H
#define APP_FILM_H

#include <sim/base.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct film {
    const char *path;
    pid_t child;
    int pipe;
} film;

/* Is there an ffmpeg?  Asked before a run, not after it. */
sim_status film_possible(sim_error *error);
/* Starts ffmpeg, which takes pictures of red, green, blue and writes a film of the kind that the ending of `path` names. */
sim_status film_open(film *f, const char *path, int width, int height, double fps, sim_error *error);
sim_status film_add(film *f, const unsigned char *rgb, size_t size, sim_error *error);
/* Whether it succeeded or not, ffmpeg is gone after this. */
sim_status film_close(film *f, sim_error *error);

#endif
