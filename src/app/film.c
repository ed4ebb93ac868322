/* Who makes a film of pictures?  ffmpeg, a program of its own: it reads the bare pictures from a pipe. */
#include "app/film.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_THERE = 127, MOST_WORDS = 40 };

static int is_gif(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".gif") == 0;
}

/* Films for players everywhere need even sizes and yuv420p; a GIF its own colours, chosen from all pictures. */
static void run_ffmpeg(const char *path, const char *size, const char *rate) {
    const char *head[] = {"ffmpeg", "-loglevel",   "error", "-nostdin",   "-y", "-f", "rawvideo", "-pixel_format",
                          "rgb24",  "-video_size", size,    "-framerate", rate, "-i", "pipe:0"};
    const char *gif[] = {"-filter_complex",
                         "[0:v]split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=none"};
    const char *video[] = {
        "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"};
    const char *word[MOST_WORDS] = {NULL};
    char name[4096 + 8];
    size_t count = sizeof head / sizeof head[0];
    memcpy(word, head, sizeof head);
    const char **more = is_gif(path) ? gif : video;
    size_t more_count = is_gif(path) ? sizeof gif / sizeof gif[0] : sizeof video / sizeof video[0];
    memcpy(word + count, more, more_count * sizeof *more);
    snprintf(name, sizeof name, "file:%s", path); /* a name with a colon is no protocol */
    word[count + more_count] = name;
    execvp(word[0], (char *const *)word);
    _exit(NOT_THERE);
}

static sim_status no_ffmpeg(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE,
                    "films need the program ffmpeg, which is not installed (on Debian: apt install ffmpeg); pictures "
                    "do not: --out frames/%%04d.png");
}

/* Looked for as execvp does. */
sim_status film_possible(sim_error *error) {
    const char *path = getenv("PATH");
    char name[4096];
    for (const char *at = path ? path : ""; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");
        snprintf(name, sizeof name, "%.*s/ffmpeg", (int)length, at);
        if (length > 0 && access(name, X_OK) == 0) {
            return SIM_OK;
        }
        at += length;
    }
    return no_ffmpeg(error);
}

static sim_status cannot_start(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "ffmpeg could not be started: %s", strerror(errno));
}

sim_status film_open(film *f, const char *path, int width, int height, double fps, sim_error *error) {
    int ends[2];
    char size[40], rate[40];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%.6f", fps);
    *f = (film){.path = path, .child = -1, .pipe = -1};
    if (pipe(ends)) {
        return cannot_start(error);
    }
    fflush(NULL);
    f->child = fork();
    if (f->child == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        run_ffmpeg(path, size, rate);
    }
    close(ends[0]);
    f->pipe = ends[1];
    if (f->child < 0) {
        close(f->pipe);
        f->pipe = -1;
        return cannot_start(error);
    }
    signal(SIGPIPE, SIG_IGN); /* if it ends early, its exit status says why */
    return SIM_OK;
}

sim_status film_add(film *f, const unsigned char *rgb, size_t size, sim_error *error) {
    while (size > 0) {
        ssize_t done = write(f->pipe, rgb, size);
        if (done < 0 && errno != EINTR) {
            return film_close(f, error)
                       ? error->status
                       : sim_fail(error, SIM_NO_RESOURCE, "%s: ffmpeg wants no more pictures", f->path);
        }
        rgb += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    return SIM_OK;
}

sim_status film_close(film *f, sim_error *error) {
    int status = 0;
    if (f->pipe >= 0) {
        close(f->pipe);
        f->pipe = -1;
    }
    while (f->child > 0 && waitpid(f->child, &status, 0) < 0 && errno == EINTR) {
    }
    int ran = f->child > 0;
    f->child = -1;
    if (ran && WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE) {
        return no_ffmpeg(error);
    }
    if (ran && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: ffmpeg could not make the film", f->path);
    }
    return SIM_OK;
}
