/* Replacements for a build without HDF5: each reports that it is missing. */
#include "record/file/hdf5_tree.h"
#include "record/run/trajectory.h"
#include "record/run/writer.h"

bool hdf5_present(void) { return false; }

void hdf5_disable_atexit(void) {}

writer *hdf5_open(const char *path, const sim_scene *scene, const channel_set *set, sim_error *error) {
    (void)scene, (void)set;
    sim_fail(error, SIM_BAD_INPUT, "%s: this build has no HDF5", path);
    return NULL;
}

bool store_file_is(const char *path, const char *format) { return (void)path, (void)format, false; }

sim_status store_parse(store *s, const void *bytes, size_t size, sim_error *error) {
    (void)s, (void)bytes, (void)size;
    return sim_fail(error, SIM_BAD_INPUT, "this build has no HDF5");
}

sim_status store_print(const store *s, void **bytes, size_t *size, sim_error *error) {
    (void)s, (void)size;
    *bytes = NULL;
    return sim_fail(error, SIM_BAD_INPUT, "this build has no HDF5");
}

sim_status trajectory_open_hdf5(trajectory *t, sim_error *error) {
    return sim_fail(error, SIM_BAD_INPUT, "%s: this build has no HDF5", t->path);
}

sim_status trajectory_rows(trajectory *t, const char *dataset, ptrdiff_t first, ptrdiff_t rows, ptrdiff_t width,
                           double *value, sim_error *error) {
    (void)first, (void)rows, (void)width, (void)value;
    return sim_fail(error, SIM_BAD_INPUT, "%s: has no dataset /%s", t->path, dataset);
}

const char *trajectory_text(trajectory *t, const char *name) {
    (void)t, (void)name;
    return NULL;
}

double trajectory_number(trajectory *t, const char *name, double standard) {
    (void)t, (void)name;
    return standard;
}
