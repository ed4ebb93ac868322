/* Output files of a command: distinct, and none of them an input.  Files are told apart by device and inode, whatever
 * their names.  None is emptied before all could be opened. */
#include "app/cli/outputs.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sim/record.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which ---- */

sim_status outputs_apart(const char *path, const char *input, const char *meaning, sim_error *error) {
    return path && input && file_same(path, input)
               ? sim_fail(error, SIM_BAD_INPUT, "%s is %s, and would be overwritten", path, meaning)
               : SIM_OK;
}

sim_status outputs_apart_from_scene(const char *path, const sim_scene *scene, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; path && k < scene->nfile && !status; k++) {
        status = outputs_apart(path, scene->file[k], "a file of the scene", error);
    }
    return status;
}

enum { OTHER_FILES = 4 };

static int count_written(const run_request *request) { return request->out.count + OTHER_FILES; }

/* The k-th file that a run writes: trajectories, summary, page, problem, checkpoint; NULL if it was not asked for. */
static const char *written_file(const run_request *request, int k) {
    const char *others[OTHER_FILES] = {request->summary, request->html, request->dump_file, request->checkpoint};
    return k < request->out.count ? request->out.item[k] : others[k - request->out.count];
}

/* No file may be read and written, or written twice, in one run.  --checkpoint may replace the file of --resume. */
static sim_status check_output_file(const run_request *request, int k, sim_error *error) {
    const char *path = written_file(request, k);
    const char *resume = path == request->checkpoint ? NULL : request->resume;
    if (!path) {
        return SIM_OK;
    }
    sim_status status = outputs_apart(path, request->scene, "the scene", error);
    status = status ? status : outputs_apart(path, resume, "the checkpoint to continue from", error);
    for (int j = 0; j < k && !status; j++) {
        if (written_file(request, j) && file_same(path, written_file(request, j))) {
            status = sim_fail(error, SIM_BAD_INPUT, "%s would be written twice", path);
        }
    }
    return status || k >= request->out.count ? status : sim_recorder_accepts(path, error);
}

sim_status outputs_check_request(const run_request *request, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; k < count_written(request) && !status; k++) {
        status = check_output_file(request, k, error);
    }
    return status;
}

sim_status outputs_check_scene(const run_request *request, const sim_scene *scene, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; k < count_written(request) && !status; k++) {
        status = outputs_apart_from_scene(written_file(request, k), scene, error);
    }
    return status;
}

/* ---- can they be opened ---- */

/* Errno, or 0; *made: it was not there before.  A file that another program locks is being written. */
static int try_open(const char *path, int *made) {
    struct stat about;
    *made = 0;
    if (stat(path, &about) == 0 && S_ISFIFO(about.st_mode)) {
        return 0; /* to open one may mean to wait for its reader */
    }
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC, 0666);
    *made = file >= 0;
    if (file < 0 && errno == EEXIST) {
        file = open(path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
    }
    if (file < 0) {
        return errno;
    }
    int ordinary = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    int locked = ordinary && flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    close(file);
    return locked ? EWOULDBLOCK : 0;
}

sim_status outputs_claim(const char *const *path, int count, sim_error *error) {
    int *made = calloc((size_t)count + 1, sizeof *made), trouble = 0, tried = 0;
    if (!made) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the outputs");
    }
    while (tried < count && !trouble) {
        const char *name = path[tried];
        trouble = name && strcmp(name, "-") != 0 ? try_open(name, &made[tried]) : 0;
        tried++;
    }
    for (int k = 0; k < tried && trouble; k++) {
        if (made[k]) {
            unlink(path[k]);
        }
    }
    free(made);
    return trouble ? sim_fail(error, SIM_NO_RESOURCE, "%s: cannot create: %s", path[tried - 1],
                              trouble == EWOULDBLOCK ? "it is open in another program" : strerror(trouble))
                   : SIM_OK;
}

sim_status outputs_claim_request(const run_request *request, sim_error *error) {
    int count = request->out.count;
    const char **path = calloc((size_t)count + 1, sizeof *path);
    if (!path) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the outputs");
    }
    for (int k = 0; k <= count; k++) {
        path[k] = k < count ? request->out.item[k] : request->summary;
    }
    sim_status status = outputs_claim(path, count + 1, error);
    free(path);
    return status;
}
