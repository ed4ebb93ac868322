/* Files of a scene, parsed to trees, each read once. */
#include "base/file.h"
#include "scene/format/foreign.h"
#include "scene/loader/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads to the end of the file; the buffer doubles. */
static sim_status read_whole_file(int file, char **content, size_t *length, sim_error *error) {
    size_t room = 64 * 1024, have = 0;
    char *buffer = malloc(room + 1);
    while (buffer) {
        /* read */
        ssize_t got = read(file, buffer + have, room - have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            free(buffer);
            return sim_fail(error, SIM_NO_RESOURCE, "%s", strerror(errno));
        }
        have += (size_t)got;
        if (got == 0) {
            buffer[have] = 0;
            *content = buffer;
            *length = have;
            return SIM_OK;
            /* limit and room */
        }
        if (have > DOCUMENT_MAX_BYTES) {
            free(buffer);
            return sim_fail(error, SIM_BAD_INPUT, "a file of more than %d bytes", DOCUMENT_MAX_BYTES);
        }
        if (have == room) {
            room *= 2;
            char *more = realloc(buffer, room + 1);
            if (!more) {
                break;
            }
            buffer = more;
        }
    }
    free(buffer);
    return sim_fail(error, SIM_NO_RESOURCE, "no memory to read it");
}

/* The kind of a file that is no scene is said before its size or its letters are. */
static sim_status check_kind(const char *path, const char *head, ssize_t length, sim_error *error) {
    const foreign_kind *kind = length > 0 ? foreign_find_kind(path, head, (size_t)length) : NULL;
    return kind && !kind->xml ? sim_fail(error, SIM_BAD_INPUT, "%s, not a scene: %s", kind->is, kind->advice) : SIM_OK;
}

static sim_status read_scene(int file, const struct stat *about, const char *path, char **content, size_t *length,
                             sim_error *error) {
    /* a regular file is known by its first bytes and its size before it is read */
    char head[FOREIGN_HEAD_BYTES];
    sim_status status = SIM_OK;
    if (S_ISREG(about->st_mode)) {
        status = check_kind(path, head, pread(file, head, sizeof head, 0), error);
    }
    if (!status && S_ISREG(about->st_mode) && about->st_size > DOCUMENT_MAX_BYTES) {
        status = sim_fail(error, SIM_BAD_INPUT, "a file of %lld bytes; the limit is %d", (long long)about->st_size,
                          DOCUMENT_MAX_BYTES);
    }
    /* content; a pipe is known only after that */
    status = status ? status : read_whole_file(file, content, length, error);
    if (!status && !S_ISREG(about->st_mode)) {
        status = check_kind(path, *content, (ssize_t)*length, error);
        if (status) {
            free(*content);
            *content = NULL;
        }
    }
    return status;
}

sim_status read_scene_file(void *context, const char *path, bool included, char **content, size_t *length,
                           sim_error *error) {
    (void)context;
    struct stat about;
    /* Not to wait for the other end of a pipe that a scene names. */
    int file = open(path, included ? O_RDONLY | O_NONBLOCK | O_CLOEXEC : O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0) {
        int why = errno;
        if (file >= 0) {
            close(file);
        }
        return sim_fail(error, SIM_NO_RESOURCE, "%s", strerror(why));
    }
    sim_status status;
    if (S_ISDIR(about.st_mode) || (included && !S_ISREG(about.st_mode))) {
        status =
            sim_fail(error, SIM_NO_RESOURCE, S_ISDIR(about.st_mode) ? "a folder, not a file" : "not an ordinary file");
    } else {
        status = read_scene(file, &about, path, content, length, error);
    }
    close(file);
    return status;
}

bool scene_file_exists(void *context, const char *path) {
    (void)context;
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

sim_status read_mesh_file(void *context, const char *path, sim_v3 scale, int64_t *room, sim_triangles *out,
                          sim_error *error) {
    /* open without waiting, so that a pipe cannot block */
    (void)context;
    struct stat about;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0) {
        int why = errno;
        if (file >= 0) {
            close(file);
        }
        return sim_fail(error, SIM_NO_RESOURCE, "%.200s: %s", path, strerror(why));
    }
    close(file);
    /* a regular file within the bytes that are left */
    if (!S_ISREG(about.st_mode)) {
        return sim_fail(error, SIM_BAD_INPUT, "%.200s: %s", path,
                        S_ISDIR(about.st_mode) ? "a folder, not a file" : "not an ordinary file");
    }
    if (about.st_size > *room) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%.200s: a file of %lld bytes; the mesh files of the scene may have %lld more", path,
                        (long long)about.st_size, (long long)*room);
    }
    /* triangles */
    *room -= (int64_t)about.st_size;
    return sim_triangles_read(path, scale, out, error);
}

sim_status read_bytes_file(void *context, const char *path, int64_t *room, char **content, size_t *size,
                           sim_error *error) {
    (void)context;
    sim_status status = file_read(path, *room, content, size, error);
    *room -= status ? 0 : (int64_t)*size;
    return status;
}

/* ---- documents ---- */

document *loader_add_document(loader *l, const char *path, const char *content, size_t length) {
    document *d = POOL_NEW(l->work, document, 1);
    if (!d) {
        l->report.no_memory = true;
        return NULL;
    }
    d->from = (source){.name = path, .text = content, .length = length};
    document **link = &l->documents;
    while (*link) {
        link = &(*link)->next;
    }
    *link = d;
    bool main = d == l->documents;
    d->root = is_robot(content, length) ? parse_robot(l, d, main) : document_parse(&d->from, l->work, &l->report);
    return d;
}

static document *read_document(loader *l, const char *path, const node *at) {
    size_t length = 0;
    sim_error why = {0};
    bool counted = l->nfiles < l->limits.files;
    const char *content = loader_read_text(l, path, &length, &why);
    if (!content && why.text[0]) {
        bool own = counted && l->bytes <= l->limits.bytes;
        l->report.no_resource |= why.status == SIM_NO_RESOURCE;
        report_once(&l->report, at, NULL, own ? "\"%.200s\": %s" : "%.0s%s", path, why.text);
    }
    return content ? loader_add_document(l, path, content, length) : NULL;
}

document *loader_load_document(loader *l, const char *path, const node *at) {
    for (document *d = l->documents; d; d = d->next) {
        if (strcmp(d->from.name, path) == 0) {
            return d->root ? d : NULL;
        }
    }
    document *d = read_document(l, path, at);
    if (d && d->root) {
        check_object(&l->reader, d->root, &table_scene);
    }
    return d && d->root ? d : NULL;
}
