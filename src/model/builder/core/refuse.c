/* First error of a model that is being built. */
#include "model/builder/core/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

sim_status builder_refuse(sim_builder *b, sim_status status, const char *format, ...) {
    if (!b->error.status) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(b->error.text, sizeof b->error.text, format, arguments);
        va_end(arguments);
        b->error.status = status;
    }
    return b->error.status;
}

sim_status builder_grow(sim_builder *b, void **items, int count, int *room, size_t size) {
    if (count < *room) {
        return SIM_OK;
    }
    int more = *room ? 2 * *room : 16;
    void *moved = count < INT32_MAX / 4 ? realloc(*items, (size_t)more * size) : NULL;
    if (!moved) {
        return builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model of more than %d parts", count);
    }
    *items = moved;
    *room = more;
    return SIM_OK;
}
