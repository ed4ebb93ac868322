/* Allocations counted, and one of them refused.  A program that includes this is built with watched.c and the linker
 * arguments `watched_links` (tests/support/meson.build), which send every allocation of the library there. */
#ifndef SUPPORT_WATCHED_H
#define SUPPORT_WATCHED_H

#include <stdatomic.h>

typedef struct watched_memory {
    atomic_long calls;   /* so far, by any thread */
    atomic_size_t bytes; /* asked for so far */
    long fail_at;        /* this call fails; 0: none */
} watched_memory;

extern watched_memory watched;

#endif
