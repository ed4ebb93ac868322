/* Trajectories, checkpoints and contact problems in files. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include <sim/base.h>
#include <sim/problem.h>
#include <sim/scene.h>
#include <sim/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A trajectory file; its kind by its ending: .csv (text, %.17g) or .h5 (HDF5, readable up to the last flush even if the
 * program is killed).  "-" is CSV on standard output.  Its content: docs/formats.md.  HDF5 keeps global state:
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
/* The scene text in a checkpoint, with the caller's values in place of those of the file; the folder from which the names
 * of files in it count, NULL where it is not known.  Both are malloc'd. */
SIM_API sim_status sim_checkpoint_scene(const char *path, char **text, size_t *length, char **folder, sim_error *error);

/* A contact problem in a file: FCLIB's HDF5, which other programs write and read, and the rest in a group of our
 * own (docs/formats.md).  The content of a file is kept, so it can be written again unchanged: the same groups, arrays
 * and texts, bit by bit. */
typedef struct sim_problem_file sim_problem_file;

/* Refused, with the place in the file and the reason, if it is not a contact problem through and through. */
SIM_API sim_problem_file *sim_problem_file_read(const char *path, sim_error *error);
/* The same, but ends with SIM_FAILED once `stop` returns true; asked after every array and in long loops. */
SIM_API sim_problem_file *sim_problem_file_read_until(const char *path, bool (*stop)(void *context), void *context,
                                                      sim_error *error);
/* A file to be of a problem, of which it keeps a copy; read again, it gives the same problem to the bit. */
SIM_API sim_problem_file *sim_problem_file_create(const sim_problem *problem, const char *title,
                                                  const char *description, sim_error *error);
/* The same with the numbers of the law under which it is to be answered; NULL: as they stand by default. */
SIM_API sim_problem_file *sim_problem_file_create_under(const sim_problem *problem, const sim_law_options *law,
                                                        const char *title, const char *description, sim_error *error);
SIM_API void sim_problem_file_free(sim_problem_file *file);
/* Takes the place of an older file in one move. */
SIM_API sim_status sim_problem_file_write(const sim_problem_file *file, const char *path, sim_error *error);
/* The problem of the file; it lives as long as the file.  Global files with unsymmetric M give local problems. */
SIM_API const sim_problem *sim_problem_file_problem(const sim_problem_file *file);
/* The numbers of its law; as they stand by default where the file tells of none. */
SIM_API sim_law_options sim_problem_file_law(const sim_problem_file *file);
/* "title", "description", "math_info"; NULL: not there. */
SIM_API const char *sim_problem_file_info(const sim_problem_file *file, const char *name);
/* The answer that stands in the file, from whatever program: v [nv] and impulse [nrow].  Where v is missing it follows
 * from the impulses. */
SIM_API sim_status sim_problem_file_stored(const sim_problem_file *file, double *v, double *impulse, sim_error *error);
/* Put an answer into FCLIB's /solution: r, and u and v as they follow from r.  `impulse` as the problem has its rows;
 * `made_by` becomes an attribute. */
SIM_API sim_status sim_problem_file_answer(sim_problem_file *file, const double *impulse, const char *made_by,
                                           sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
