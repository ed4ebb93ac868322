/* First error of a model that is being built. */
#include "model/builder/builder.h"

#include <stdarg.h>
#include <stdio.h>

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
