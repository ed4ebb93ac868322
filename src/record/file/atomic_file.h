/* Atomic replacement of a file. */
#ifndef RECORD_FILE_ATOMIC_FILE_H
#define RECORD_FILE_ATOMIC_FILE_H

#include <sim/base.h>
#include <stddef.h>

/* `what`, for messages: "a checkpoint". */
sim_status replace_file(const char *path, const char *what, const void *bytes, size_t size, sim_error *error);

#endif
