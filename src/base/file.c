/* Ordinary files: read whole, told apart, put in the place of others.
 *
 * A new file is written under no name (O_TMPFILE), brought to the disk, linked beside its place and moved into it by
 * rename. So there is a whole file at any time, and a killed program leaves none.  Where the file system has no files
 * without names, it stands beside its place under a name of its own until then. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

sim_status file_open(const char *path, int *file, int64_t *size, sim_error *error) {
    struct stat about;
    *file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*file < 0) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s", strerror(errno));
    }
    sim_status status = SIM_OK;
    if (fstat(*file, &about)) {
        status = sim_fail(error, SIM_NO_RESOURCE, "%s", strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        status =
            sim_fail(error, SIM_BAD_INPUT, S_ISDIR(about.st_mode) ? "a folder, not a file" : "not an ordinary file");
    }
    *size = (int64_t)about.st_size;
    if (status) {
        close(*file);
        *file = -1;
    }
    return status;
}

/* 0, or the errno; a file that has become shorter: EIO. */
static int read_exactly(int file, char *bytes, size_t size) {
    while (size > 0) {
        ssize_t got = read(file, bytes, size);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return got == 0 ? EIO : errno;
        }
        bytes += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return 0;
}

sim_status file_read(const char *path, int64_t most, char **bytes, size_t *size, sim_error *error) {
    /* size, within the limit */
    int file;
    int64_t length;
    *bytes = NULL;
    sim_status status = file_open(path, &file, &length, error);
    if (status) {
        return status;
    }
    if (length > most) {
        status = sim_fail(error, SIM_BAD_INPUT, "a file of %lld bytes; the limit is %lld", (long long)length,
                          (long long)most);
    } else if (!(*bytes = malloc((size_t)length + 1))) {
        status = sim_fail(error, SIM_NO_RESOURCE, "no memory to read it");
        /* content */
    } else {
        int trouble = read_exactly(file, *bytes, (size_t)length);
        (*bytes)[length] = 0;
        *size = (size_t)length;
        status = trouble ? sim_fail(error, SIM_NO_RESOURCE, "%s", strerror(trouble)) : SIM_OK;
    }
    close(file);
    /* a failure leaves nothing behind */
    if (status) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

/* ---- which file ---- */

/* "a/b/c": "a/b"; "/c": "/"; "c": ".".  NULL without memory. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int stat_folder(const char *path, struct stat *about) {
    char *folder = folder_of(path);
    int there = folder && stat(folder, about) == 0;
    free(folder);
    return there;
}

bool file_same(const char *a, const char *b) {
    struct stat one, other;
    if (strcmp(a, b) == 0) {
        return true;
    }
    bool first = stat(a, &one) == 0, second = stat(b, &other) == 0;
    if (!first && !second && strcmp(base_of(a), base_of(b)) == 0) {
        first = stat_folder(a, &one);
        second = stat_folder(b, &other);
    }
    return first && second && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* ---- in the place of another ---- */

/* The path behind symbolic links: the file is replaced, not the link. */
static char *resolve_link(const char *path) {
    struct stat about;
    char *end = lstat(path, &about) == 0 && S_ISLNK(about.st_mode) ? realpath(path, NULL) : NULL;
    return end ? end : strdup(path);
}

/* Without a name; -1 where the system cannot. */
static int open_unnamed(const char *path) {
    char *folder = access("/proc/self/fd", X_OK) == 0 ? folder_of(path) : NULL;
    int file = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    free(folder);
    return file;
}

int file_fresh_open(file_fresh *fresh, const char *path) {
    *fresh = (file_fresh){.file = -1, .path = resolve_link(path)};
    size_t length = fresh->path ? strlen(fresh->path) + 32 : 0;
    fresh->beside = fresh->path ? malloc(length) : NULL;
    if (!fresh->beside) {
        file_fresh_close(fresh);
        return ENOMEM;
    }
    snprintf(fresh->beside, length, "%s.%ld.new", fresh->path, (long)getpid());
    fresh->file = open_unnamed(fresh->path);
    if (fresh->file < 0) {
        fresh->file = open(fresh->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        fresh->named = fresh->file >= 0;
    }
    int trouble = fresh->file < 0 ? errno : 0;
    if (trouble) {
        file_fresh_close(fresh);
    }
    return trouble;
}

/* A file that was left under this name by a program that died is in the way. */
static int give_name(file_fresh *fresh) {
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fresh->file);
    unlink(fresh->beside);
    fresh->named = linkat(AT_FDCWD, self, AT_FDCWD, fresh->beside, AT_SYMLINK_FOLLOW) == 0;
    return fresh->named;
}

/* Makes the move itself outlast a power failure; where folders cannot be synchronised, nothing is lost by trying. */
static void sync_folder_of(const char *path) {
    char *folder = folder_of(path);
    int file = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        (void)fsync(file);
        close(file);
    }
    free(folder);
}

int file_fresh_commit(file_fresh *fresh) {
    if (fsync(fresh->file) || (!fresh->named && !give_name(fresh)) || rename(fresh->beside, fresh->path)) {
        return errno;
    }
    fresh->named = false;
    sync_folder_of(fresh->path);
    return 0;
}

void file_fresh_close(file_fresh *fresh) {
    if (fresh->file >= 0) {
        close(fresh->file);
    }
    if (fresh->named) {
        unlink(fresh->beside);
    }
    free(fresh->path);
    free(fresh->beside);
    *fresh = (file_fresh){.file = -1};
}
