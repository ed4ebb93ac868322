/* Writer of trajectories as CSV.  A header of names and units, then a line a record; %.17g brings every number back
 * bit for bit.  Contacts, of which each record has another number, have no place here. */
#define _DEFAULT_SOURCE /* flock */

#include "record/run/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef struct csv {
    writer base;
    FILE *file;
    const channel_set *set;
    char *path;
} csv;

static sim_status cannot_write(const csv *self, sim_error *error) {
    const char *name = self->file == stdout ? "standard output" : self->path;
    return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write: %s", name, strerror(errno));
}

/* Quoted if a name holds a separator. */
static void write_cell(FILE *file, const char *text) {
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
    fputc('"', file);
}

static void write_name(FILE *file, const sim_scene *scene, const channel_kind *kind, int item, int component) {
    char name[CHANNEL_NAME_BYTES], head[2 * CHANNEL_NAME_BYTES];
    kind->name(scene, item, name, sizeof name);
    const char *unit = kind->unit(scene, item, component);
    int bare = strcmp(unit, "1") == 0;
    const char *open = bare ? "" : " [", *close = bare ? "" : "]";
    if (kind->rank < 3) {
        snprintf(head, sizeof head, "%s%s%s%s%s", kind->column, name, open, bare ? "" : unit, close);
    } else {
        snprintf(head, sizeof head, "%s.%s%s%s%s%s", name, kind->column, kind->components[component], open,
                 bare ? "" : unit, close);
    }
    write_cell(file, head);
}

static void write_header(FILE *file, const sim_scene *scene, const channel_set *set) {
    for (int s = 0; s < set->count; s++) {
        const record_channel *channel = &set->channel[s];
        if (!channel->kind->column) {
            continue;
        }
        for (size_t k = 0; k < channel->count; k++) {
            if (s + k > 0) {
                fputc(',', file);
            }
            int width = channel->kind->width;
            write_name(file, scene, channel->kind, (int)k / width, (int)k % width);
        }
    }
    fputc('\n', file);
}

static void write_number(FILE *file, double value) {
    char text[32];
    int length = snprintf(text, sizeof text, "%.17g", value);
    char *comma = strchr(text, ','); /* the caller's locale may write one */
    if (comma) {
        *comma = '.';
    }
    fwrite(text, 1, (size_t)length, file);
}

static sim_status write_csv_recorder(writer *base, const double *row, const double *contact, int contacts,
                                     sim_error *error) {
    csv *self = (csv *)base;
    (void)contact, (void)contacts;
    for (int s = 0; s < self->set->count; s++) {
        const record_channel *channel = &self->set->channel[s];
        for (size_t k = channel->offset; channel->kind->column && k < channel->offset + channel->count; k++) {
            if (k > 0) {
                fputc(',', self->file);
            }
            write_number(self->file, row[k]);
        }
    }
    fputc('\n', self->file);
    return ferror(self->file) ? cannot_write(self, error) : SIM_OK;
}

static sim_status flush_csv_recorder(writer *base, sim_error *error) {
    csv *self = (csv *)base;
    return fflush(self->file) || ferror(self->file) ? cannot_write(self, error) : SIM_OK;
}

static sim_status close_csv_recorder(writer *base, sim_error *error) {
    csv *self = (csv *)base;
    sim_status status = flush_csv_recorder(base, error);
    if (self->file != stdout && fclose(self->file) && !status) {
        status = cannot_write(self, error);
    }
    free(self->path);
    free(self);
    return status;
}

/* The file, emptied once no one else writes it; the lock ends with it.  NULL: see errno. */
static FILE *open_alone(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return NULL;
    }
    bool taken = flock(descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    bool emptied = !taken && (!ftruncate(descriptor, 0) || errno == EINVAL); /* EINVAL: a pipe or a device */
    FILE *file = emptied ? fdopen(descriptor, "w") : NULL;
    if (!file) {
        int why = errno;
        close(descriptor);
        errno = why;
    }
    return file;
}

writer *csv_open(const char *path, const sim_scene *scene, const channel_set *set, sim_error *error) {
    csv *self = calloc(1, sizeof *self);
    char *name = self ? strdup(path) : NULL;
    if (!name) {
        free(self);
        sim_fail(error, SIM_NO_RESOURCE, "%s: no memory", path);
        return NULL;
    }
    FILE *file = strcmp(path, "-") == 0 ? stdout : open_alone(path);
    if (!file) {
        sim_fail(error, SIM_NO_RESOURCE, "%s: cannot create: %s", path,
                 errno == EWOULDBLOCK ? "it is open in another program or recording" : strerror(errno));
        free(name);
        free(self);
        return NULL;
    }
    *self = (csv){{write_csv_recorder, flush_csv_recorder, close_csv_recorder}, file, set, name};
    write_header(file, scene, set);
    return &self->base;
}
