/* What was made for other programs: files that are no scenes, and words that mean something here. */
#ifndef SCENE_FOREIGN_H
#define SCENE_FOREIGN_H

#include "scene/fields.h"

enum { FOREIGN_HEAD = 512 }; /* bytes that tell what a file is */

/* What a file is and what to do with it, in one sentence without its name; NULL: it may be a scene.  `head` is how it begins. */
const char *sim_foreign_file(const char *path, const char *head, size_t length);

/* What a key of other formats is called here, where an object of `t` does not know it; NULL: nothing known. */
const char *sim_foreign_key(const table *t, const char *key);
/* The same for the name of a value, into `text`. */
const char *sim_foreign_value(const field *f, const char *value, char *text, size_t size);

#endif
