/* Status, errors, version: included by every other header. */
#ifndef SIM_BASE_H
#define SIM_BASE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SIM_API __attribute__((visibility("default")))
#define SIM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SIM_API
#define SIM_PRINTF(text, first)
#endif

/* The outcome of a call that can fail; also the exit status of the program `sim`. */
typedef enum sim_status {
    SIM_OK = 0,
    SIM_FAILED = 1,      /* the simulation failed: a value went non-finite, a check did not hold */
    SIM_BAD_INPUT = 2,   /* the caller's data or file is wrong */
    SIM_NO_RESOURCE = 3, /* memory, a file or a thread could not be had */
} sim_status;

/* The reason of a failure, in one sentence.  Callers own it; functions fill it only when they fail.  May be NULL. */
typedef struct sim_error {
    sim_status status;
    char text[512];
} sim_error;

/* Fill `error` (if not NULL) and return `status`. */
SIM_API sim_status sim_fail(sim_error *error, sim_status status, const char *format, ...) SIM_PRINTF(3, 4);

/* A clock of the caller, for profiles; the library reads its own for budgets of time alone.  Several threads may read
 * it at once. */
typedef struct sim_clock {
    double (*now)(void *context); /* s */
    void *context;
} sim_clock;

/* "0.2.0" */
SIM_API const char *sim_version(void);
/* Compiler, instruction set and options of this build, one line. */
SIM_API const char *sim_build_info(void);

#ifdef __cplusplus
}
#endif
#endif
