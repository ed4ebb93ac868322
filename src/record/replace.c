/* How does a file take the place of another, so that there is a whole one at any time?  Written beside the old one,
 * brought to the disk, and moved into its place. */
#include "record/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t done = write(file, bytes, size);
        if (done < 0 && errno != EINTR) {
            return 0;
        }
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
        }
    }
    return 1;
}

/* Makes the move itself outlast a power failure; where directories cannot be synchronised, nothing is lost by trying. */
static void sync_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    int file = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        (void)fsync(file);
        close(file);
    }
    free(folder);
}

/* Names the failed call's errno. */
static int move_in(const char *path, const char *fresh, const char *bytes, size_t size) {
    int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        return 0;
    }
    int good = write_all(file, bytes, size) && fsync(file) == 0;
    int number = errno;
    if (close(file) && good) {
        good = 0;
        number = errno;
    }
    if (good && rename(fresh, path)) {
        good = 0;
        number = errno;
    }
    if (!good) {
        unlink(fresh);
        errno = number;
    }
    return good;
}

sim_status replace_file(const char *path, const char *what, const void *bytes, size_t size, sim_error *error) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write %s: not an ordinary file", path, what);
    }
    size_t length = strlen(path) + 32;
    char *fresh = malloc(length);
    if (!fresh) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for %s", path, what);
    }
    snprintf(fresh, length, "%s.%ld.new", path, (long)getpid());
    sim_status result = SIM_OK;
    if (!move_in(path, fresh, bytes, size)) {
        result = sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write %s: %s", path, what, strerror(errno));
    } else {
        sync_folder_of(path);
    }
    free(fresh);
    return result;
}
