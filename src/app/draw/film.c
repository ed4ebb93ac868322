/* Encoding of films.  GIF and APNG are made here (view/image/moving.h).  The external program
 * ffmpeg encodes all other formats from raw frames on a pipe. */
#include "app/draw/film.h"
#include "base/words.h"
#include "record/file/atomic_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND_STATUS = 127, MAX_WORDS = 40 };

/* Films for players everywhere need even sizes and yuv420p. */
static void run_ffmpeg(const char *path, const char *size, const char *rate) {
    const char *head[] = {"ffmpeg", "-loglevel",   "error", "-nostdin",   "-y", "-f", "rawvideo", "-pixel_format",
                          "rgb24",  "-video_size", size,    "-framerate", rate, "-i", "pipe:0"};
    const char *video[] = {
        "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"};
    const char *word[MAX_WORDS] = {NULL};
    char name[4096 + 8];
    size_t count = sizeof head / sizeof head[0];
    memcpy(word, head, sizeof head);
    size_t more = sizeof video / sizeof video[0];
    memcpy(word + count, video, sizeof video);
    snprintf(name, sizeof name, "file:%s", path); /* a name with a colon is no protocol */
    word[count + more] = name;
    execvp(word[0], (char *const *)word);
    _exit(NOT_FOUND_STATUS);
}

static sim_status report_no_ffmpeg(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE,
                    "films in .mp4, .webm and .mkv need the program ffmpeg, which is not installed (on Debian: apt "
                    "install ffmpeg). .gif, .apng and numbered pictures (frames/%%04d.png) need none");
}

/* Looked for as execvp does. */
static sim_status find_ffmpeg(sim_error *error) {
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
    return report_no_ffmpeg(error);
}

sim_status film_possible(const char *path, double rate, sim_error *error) {
    if (ends_in(path, ".gif") && rate > MOVING_GIF_RATE) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "a GIF shows at most %d pictures a second, not %g (--fps); .apng shows more", MOVING_GIF_RATE,
                        rate);
    }
    return ends_in(path, ".gif") || ends_in(path, ".apng") ? SIM_OK : find_ffmpeg(error);
}

static sim_status cannot_start(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "ffmpeg could not be started: %s", strerror(errno));
}

static sim_status start_ffmpeg(film *f, const moving_format *format, sim_error *error) {
    int ends[2];
    char size[40], rate[40];
    snprintf(size, sizeof size, "%dx%d", format->width, format->height);
    snprintf(rate, sizeof rate, "%.6f", format->rate);
    if (pipe(ends)) {
        return cannot_start(error);
    }
    fflush(NULL);
    f->child = fork();
    if (f->child == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        run_ffmpeg(f->path, size, rate);
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

sim_status film_open(film *f, const char *path, const moving_format *format, sim_error *error) {
    *f = (film){.path = path, .child = -1, .pipe = -1};
    if (ends_in(path, ".gif")) {
        f->gif = gif_create(format);
    } else if (ends_in(path, ".apng")) {
        f->apng = apng_create(format);
    } else {
        return start_ffmpeg(f, format, error);
    }
    return f->gif || f->apng ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for a film", path);
}

static sim_status close_ffmpeg(film *f, sim_error *error) {
    int status = 0;
    if (f->pipe >= 0) {
        close(f->pipe);
        f->pipe = -1;
    }
    while (f->child > 0 && waitpid(f->child, &status, 0) < 0 && errno == EINTR) {
    }
    int ran = f->child > 0;
    f->child = -1;
    if (ran && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND_STATUS) {
        return report_no_ffmpeg(error);
    }
    if (ran && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: ffmpeg failed", f->path);
    }
    return SIM_OK;
}

static sim_status feed_ffmpeg(film *f, const unsigned char *rgb, size_t size, sim_error *error) {
    while (size > 0) {
        ssize_t done = write(f->pipe, rgb, size);
        if (done < 0 && errno != EINTR) {
            return close_ffmpeg(f, error)
                       ? error->status
                       : sim_fail(error, SIM_NO_RESOURCE, "%s: ffmpeg closed its input early", f->path);
        }
        rgb += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    return SIM_OK;
}

sim_status film_add(film *f, const unsigned char *rgb, size_t size, sim_error *error) {
    if (!f->gif && !f->apng) {
        return feed_ffmpeg(f, rgb, size, error);
    }
    return (f->gif ? gif_add(f->gif, rgb) : apng_add(f->apng, rgb))
               ? SIM_OK
               : sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for so many pictures", f->path);
}

static sim_status write_file(film *f, sim_error *error) {
    view_bytes file = {0};
    sim_status status = (f->gif ? gif_end(f->gif, &file) : apng_end(f->apng, &file))
                            ? replace_file(f->path, "a film", file.data, file.size, error)
                            : sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for a film", f->path);
    view_bytes_free(&file);
    return status;
}

sim_status film_close(film *f, int good, sim_error *error) {
    sim_status status = SIM_OK;
    if (f->gif || f->apng) {
        status = good ? write_file(f, error) : SIM_OK;
    } else {
        status = close_ffmpeg(f, error);
    }
    gif_free(f->gif);
    apng_free(f->apng);
    f->gif = NULL;
    f->apng = NULL;
    return status;
}
