/* Channels of a trajectory: one table, from which every writer takes names, units and numbers. */
#ifndef RECORD_RUN_CHANNELS_H
#define RECORD_RUN_CHANNELS_H

#include "base/pool.h"
#include <sim/scene.h>
#include <sim/world.h>

enum { CHANNEL_NAME_BYTES = 512 };

/* Where a record is taken from. */
typedef struct channel_source {
    const sim_scene *scene;
    sim_world *world;
    sim_quat *turn; /* [nbody] room to multiply the joints' quaternions along the trees */
    int64_t before; /* contacts that the file holds already */
    int contact;    /* of the state: the one to fetch */
} channel_source;

/* Numbers that belong together: `items` things (bodies, coordinates) with `width` components each. */
typedef struct channel_kind {
    const char *path; /* of the HDF5 dataset */
    const char *meaning;
    int rank;  /* 1: a number a record; 2: one a thing; 3: a vector a thing */
    int whole; /* counts, not measurements */
    int width;
    size_t flag;                   /* of sim_record_spec: wanted at all? */
    const char *column;            /* in CSV headers: "elbow" + "" or "box." + "pose." + "x" or "energy." + "kinetic";
                                      NULL: has no place in CSV */
    const char *const *components; /* [width] */
    int (*items)(const sim_scene *scene);
    void (*name)(const sim_scene *scene, int item, char *text, size_t size);
    const char *(*unit)(const sim_scene *scene, int item, int component);
    void (*fetch)(channel_source *source, double *out);
} channel_kind;

typedef struct record_channel {
    const channel_kind *kind;
    int items;
    size_t offset, count; /* in the row of one record */
} record_channel;

typedef struct channel_set {
    int count;
    record_channel *channel;
    size_t width;      /* numbers in a record */
    int contact_count; /* of each contact of a record there is a row of its own, where the scene asks for contacts */
    record_channel *contact_channel;
    size_t contact_width;
} channel_set;

/* Every kind that a record can hold, in order; NULL after the last. */
const channel_kind *channel_kind_at(int number);
/* The channels that the scene asks for, time first.  NULL when there is no memory. */
channel_set *channels_choose(const sim_scene *scene, memory_pool *pool);
void channels_fetch(const channel_set *set, channel_source *source, double *row);
/* Rows of the contacts of the step that led to the present state. */
int channels_contacts(const channel_set *set, const channel_source *source);
void channels_fetch_contacts(const channel_set *set, channel_source *source, double *rows);

#endif
