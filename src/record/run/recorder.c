/* Recorder of a world into a file.  Chooses the writer by the ending, packs one row a record, flushes now and then. */
#include "base/clock.h"
#include "record/run/writer.h"
#include <sim/record.h>

#include <stdlib.h>
#include <string.h>

/* So much work at most is lost when the program is killed.  The clock decides about flushing, never about data. */
static const double FLUSH_SECONDS = 1.0;

struct sim_recorder {
    memory_pool *pool;
    channel_set *set;
    channel_source source;
    double *row, *contact;
    size_t contact_room; /* numbers */
    writer *writer;
    double last_flush;
};

typedef writer *open_function(const char *, const sim_scene *, const channel_set *, sim_error *);

static open_function *writer_for(const char *path) {
    static const struct {
        const char *ending;
        open_function *open;
    } kinds[] = {{".csv", csv_open}, {".h5", hdf5_open}};
    if (strcmp(path, "-") == 0) {
        return csv_open;
    }
    size_t length = strlen(path);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        size_t tail = strlen(kinds[k].ending);
        if (length > tail && strcmp(path + length - tail, kinds[k].ending) == 0) {
            return kinds[k].open;
        }
    }
    return NULL;
}

sim_status sim_recorder_accepts(const char *path, sim_error *error) {
    open_function *open = writer_for(path);
    if (!open) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: a trajectory file ends in .csv or .h5", path);
    }
    if (open == hdf5_open && !hdf5_present()) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: this build has no HDF5; choose a file that ends in .csv", path);
    }
    return SIM_OK;
}

static sim_recorder *create_recorder(const sim_scene *scene, sim_world *world) {
    memory_pool *pool = pool_create();
    sim_recorder *recorder = pool ? POOL_NEW(pool, sim_recorder, 1) : NULL;
    channel_set *set = recorder ? channels_choose(scene, pool) : NULL;
    double *row = set ? POOL_NEW(pool, double, set->width) : NULL;
    sim_quat *turn = row ? POOL_NEW(pool, sim_quat, scene->model->nbody) : NULL;
    if (!turn) {
        pool_free(pool);
        return NULL;
    }
    *recorder = (sim_recorder){.pool = pool,
                               .set = set,
                               .source = {.scene = scene, .world = world, .turn = turn},
                               .row = row,
                               .last_flush = wall_seconds()};
    return recorder;
}

sim_recorder *sim_recorder_open(const char *path, const sim_scene *scene, sim_world *world, sim_error *error) {
    if (sim_recorder_accepts(path, error)) {
        return NULL;
    }
    sim_recorder *recorder = create_recorder(scene, world);
    if (!recorder) {
        sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for a record of this scene", path);
        return NULL;
    }
    recorder->writer = writer_for(path)(path, scene, recorder->set, error);
    if (!recorder->writer) {
        pool_free(recorder->pool);
        return NULL;
    }
    return recorder;
}

static bool grow_recorder(sim_recorder *recorder, size_t numbers) {
    if (numbers > recorder->contact_room) {
        double *more = realloc(recorder->contact, 2 * numbers * sizeof *more);
        recorder->contact = more ? more : recorder->contact;
        recorder->contact_room = more ? 2 * numbers : recorder->contact_room;
    }
    return numbers <= recorder->contact_room;
}

sim_status sim_recorder_write(sim_recorder *recorder, sim_world *world, sim_error *error) {
    recorder->source.world = world;
    int contacts = channels_contacts(recorder->set, &recorder->source);
    if (!grow_recorder(recorder, (size_t)contacts * recorder->set->contact_width)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a record of %d contacts", contacts);
    }
    channels_fetch(recorder->set, &recorder->source, recorder->row);
    channels_fetch_contacts(recorder->set, &recorder->source, recorder->contact);
    sim_status status = recorder->writer->write(recorder->writer, recorder->row, recorder->contact, contacts, error);
    double time = wall_seconds();
    if (status || time - recorder->last_flush < FLUSH_SECONDS) {
        return status;
    }
    recorder->last_flush = time;
    return recorder->writer->flush(recorder->writer, error);
}

sim_status sim_recorder_flush(sim_recorder *recorder, sim_error *error) {
    recorder->last_flush = wall_seconds();
    return recorder->writer->flush(recorder->writer, error);
}

sim_status sim_recorder_close(sim_recorder *recorder, sim_error *error) {
    if (!recorder) {
        return SIM_OK;
    }
    sim_status status = recorder->writer->close(recorder->writer, error);
    free(recorder->contact);
    pool_free(recorder->pool);
    return status;
}
