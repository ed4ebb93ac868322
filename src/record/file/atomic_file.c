/* Atomic replacement of a file: a whole file is there at any time. */
#include "record/file/atomic_file.h"
#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or the errno. */
static int write_whole(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t done = write(file, bytes, size);
        if (done < 0 && errno != EINTR) {
            return errno;
        }
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
        }
    }
    return 0;
}

sim_status replace_file(const char *path, const char *what, const void *bytes, size_t size, sim_error *error) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write %s: not an ordinary file", path, what);
    }
    file_fresh fresh;
    int trouble = file_fresh_open(&fresh, path);
    if (!trouble) {
        trouble = write_whole(fresh.file, bytes, size);
        trouble = trouble ? trouble : file_fresh_commit(&fresh);
        file_fresh_close(&fresh);
    }
    return trouble ? sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write %s: %s", path, what, strerror(trouble))
                   : SIM_OK;
}
