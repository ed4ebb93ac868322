/* Files and words of other programs: kinds of files that are not scenes, and our words for theirs. */
#ifndef SCENE_FORMAT_FOREIGN_H
#define SCENE_FORMAT_FOREIGN_H

#include "scene/format/tables/fields.h"

enum { FOREIGN_HEAD_BYTES = 512 }; /* first bytes of a file, which identify its format */

typedef struct foreign_kind {
    const char *is;     /* "a robot in URDF" */
    const char *advice; /* message for a user who gives it as a scene */
    bool recorded;      /* may be a recorded run */
    bool xml;           /* the loader of scenes reads it, or says why not */
} foreign_kind;

/* The kind of a file that is no scene, from its name and its beginning; NULL: it may be a scene. */
const foreign_kind *foreign_find_kind(const char *path, const char *head, size_t length);

/* The word of this format for a key of others, where an object of `t` does not know it; NULL: nothing known. */
const char *foreign_find_key(const table *t, const char *key);
/* The same for the name of a value, into `text`. */
const char *foreign_find_value(const field *f, const char *value, char *text, size_t size);

#endif
