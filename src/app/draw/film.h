/* Films: GIF and APNG by encoders of our own, others by ffmpeg. */
#ifndef APP_DRAW_FILM_H
#define APP_DRAW_FILM_H

#include "view/image/moving.h"
#include <sim/base.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct film {
    const char *path;
    apng *apng;
    gif *gif;
    pid_t child; /* ffmpeg; -1: none */
    int pipe;
} film;

/* Can a film of that name and rate be made: is there an ffmpeg, if it takes one?  Asked before a run, not after it. */
sim_status film_possible(const char *path, double rate, sim_error *error);
/* Starts a film of the kind that the ending of `path` names. */
sim_status film_open(film *f, const char *path, const moving_format *format, sim_error *error);
/* Red, green, blue. */
sim_status film_add(film *f, const unsigned char *rgb, size_t size, sim_error *error);
/* Writes the pictures so far, unless `good` is 0.  In any case no child process keeps running. */
sim_status film_close(film *f, int good, sim_error *error);

#endif
