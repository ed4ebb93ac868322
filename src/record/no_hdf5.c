/* What does a build without HDF5 say? */
#include "record/writer.h"

int hdf5_present(void) { return 0; }

writer *hdf5_open(const char *path, const sim_scene *scene, const channel_set *set, sim_error *error) {
    (void)scene, (void)set;
    sim_fail(error, SIM_BAD_INPUT, "%s: this build has no HDF5", path);
    return NULL;
}
