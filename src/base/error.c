/* Errors: a status with one formatted sentence, cut to the size of sim_error. */
#include <sim/base.h>

#include <stdarg.h>
#include <stdio.h>

sim_status sim_fail(sim_error *error, sim_status status, const char *format, ...) {
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        error->status = status;
    }
    return status;
}
