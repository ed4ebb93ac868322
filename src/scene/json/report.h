/* Error messages about a scene, with their places: all messages go through here. */
#ifndef SCENE_JSON_REPORT_H
#define SCENE_JSON_REPORT_H

#include "scene/json/document.h"

#include <sim/scene.h>

/* A place of a text about which an error was given: what is written from there may be wrong for that reason alone. */
typedef struct blamed_place blamed_place;
struct blamed_place {
    const source *from;
    size_t at;
    const blamed_place *next;
};

typedef struct report {
    sim_diagnostics *found; /* never NULL */
    sim_diagnostics warned; /* reported once the scene is loaded; until then errors come first */
    memory_pool *pool;      /* of the messages */
    bool no_memory;
    bool no_resource; /* a file or memory could not be had */
    bool strict;      /* notices are errors */
    int muted;        /* > 0: messages are counted as failures but not kept */
    /* Files of robots: errors that follow from others are left out. */
    bool checking;              /* every error of the tables is said; later ones only at places without */
    const blamed_place *blamed; /* the newest */
    const void *lost;           /* elements that were left out for their errors, the newest */
    int64_t looked;             /* steps of searches in both */
} report;

/* At a place of a text.  `pointer` and `hint` may be NULL. */
void report_place(report *r, const source *from, size_t at, const char *pointer, const char *hint, const char *format,
                  ...) SIM_PRINTF(6, 7);
/* The same as a warning; with `strict` as an error. */
void report_notice(report *r, const source *from, size_t at, const char *pointer, const char *hint, const char *format,
                   ...) SIM_PRINTF(6, 7);
/* At a value; at the key of a member. */
void report_value(report *r, const node *at, const char *hint, const char *format, ...) SIM_PRINTF(4, 5);
void report_key(report *r, const node *at, const char *hint, const char *format, ...) SIM_PRINTF(4, 5);
/* At a value, but only the first about it: for checks that meet the same value once for every copy of a model. */
void report_once(report *r, const node *at, const char *hint, const char *format, ...) SIM_PRINTF(4, 5);
/* A warning at a value, the first about it; the scene can still be loaded. */
void report_warning(report *r, const node *at, const char *hint, const char *format, ...) SIM_PRINTF(4, 5);
/* Within a text: `offset` bytes from its beginning. */
void report_inside(report *r, const node *at, size_t offset, const char *hint, const char *format, ...)
    SIM_PRINTF(5, 6);
/* Are there as many messages as are kept?  Then no one needs a hint. */
bool report_full(const report *r);
/* By place: files in the order in which they were first spoken of. */
void report_sort(const report *r);
/* "arm.json:12" or the option, for messages that speak of a second place. */
void report_name_place(const node *at, char *name, size_t size);

#endif
