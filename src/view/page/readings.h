/* Readings of a frame besides coordinates: sensors, actuators, phases, events. */
#ifndef VIEW_PAGE_READINGS_H
#define VIEW_PAGE_READINGS_H

#include <sim/world.h>

typedef enum view_reading_kind {
    VIEW_SENSOR,  /* a value of a sensor */
    VIEW_EFFORT,  /* force of an actuator, N or N m */
    VIEW_CTRL,    /* control input of an actuator, as set or by its track */
    VIEW_TARGET,  /* target of an actuator, likewise; NAN: a controller leads it, or nothing */
    VIEW_PHASE,   /* number of a state machine's phase, -1: before the first step */
    VIEW_ELAPSED, /* time since that phase began, s */
    VIEW_COUNT,   /* how often an event has happened */
    VIEW_AGE,     /* time since it happened last, s; NAN: it has not */
    VIEW_READING_KINDS,
} view_reading_kind;

/* A number of a frame; `of` is a value of all sensors, an actuator, a controller or an event. */
typedef struct view_reading {
    view_reading_kind kind;
    int of;
} view_reading;

typedef struct view_readings {
    const sim_model *model;
    view_reading *list; /* by kinds, in their order */
    int count;
    int first[VIEW_READING_KINDS + 1]; /* of each kind; the last: `count` */
    double *value;                     /* [count] of a frame */
} view_readings;

/* false: no memory. */
bool view_readings_plan(view_readings *readings, const sim_model *model);
void view_readings_free(view_readings *readings);
/* Sets `value` to the world's present state. */
void view_readings_take(view_readings *readings, sim_world *world);

const char *view_reading_word(view_reading_kind kind);
void view_reading_name(const sim_model *model, view_reading reading, char *text, size_t size);
const char *view_reading_unit(const sim_model *model, view_reading reading);
/* Ends of a control input or target; infinite where there are none. */
void view_reading_range(const sim_model *model, view_reading reading, double range[2]);

/* Does an actuator obey this input: SIM_CTRL or SIM_TARGET? */
bool view_input_counts(const sim_actuator *actuator, sim_input input);

#endif
