/* What does a build without HDF5 say? */
#include "record/store.h"
#include "record/writer.h"

int hdf5_present(void) { return 0; }

writer *hdf5_open(const char *path, const sim_scene *scene, const channel_set *set, sim_error *error) {
    (void)scene, (void)set;
    sim_fail(error, SIM_BAD_INPUT, "%s: this build has no HDF5", path);
    return NULL;
}

sim_status store_parse(store *s, const void *bytes, size_t size, sim_error *error) {
    (void)s, (void)bytes, (void)size;
    return sim_fail(error, SIM_BAD_INPUT, "this build has no HDF5");
}

sim_status store_print(const store *s, void **bytes, size_t *size, sim_error *error) {
    (void)s, (void)size;
    *bytes = NULL;
    return sim_fail(error, SIM_BAD_INPUT, "this build has no HDF5");
}
