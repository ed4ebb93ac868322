/* Trajectories and checkpoints in files. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include <sim/base.h>
#include <sim/scene.h>
#include <sim/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A trajectory file; its kind by its ending: .csv (text, %.17g) or .h5 (HDF5, readable up to the last flush even if
 * the program is killed).  "-" is CSV on standard output.  What stands in it: docs/formats.md.  HDF5 keeps global state:
 * use .h5 recorders from one thread at a time. */
typedef struct sim_recorder sim_recorder;

/* Could a trajectory be written under this name?  Creates nothing. */
SIM_API sim_status sim_recorder_accepts(const char *path, sim_error *error);
/* `scene` must outlive the recorder. */
SIM_API sim_recorder *sim_recorder_open(const char *path, const sim_scene *scene, sim_world *world, sim_error *error);
/* Append the world's present state.  Flushes about once a second. */
SIM_API sim_status sim_recorder_write(sim_recorder *recorder, sim_world *world, sim_error *error);
SIM_API sim_status sim_recorder_flush(sim_recorder *recorder, sim_error *error);
/* Frees the recorder, in every case. */
SIM_API sim_status sim_recorder_close(sim_recorder *recorder, sim_error *error);

/* The world's state, whole: written to a new file that then replaces `path`, so a crash leaves the old one. */
SIM_API sim_status sim_checkpoint_write(const char *path, const sim_scene *scene, const sim_world *world,
                                        sim_error *error);
/* Refused if the checkpoint belongs to another model, another format, or another step, integrator or contact solver. */
SIM_API sim_status sim_checkpoint_read(const char *path, const sim_scene *scene, sim_world *world, sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
