/* Each allocation of a program refused in turn, libraries' too: malloc itself is replaced.  For one file of a program.
 * REFUSING is 0 where that cannot be done. */
#ifndef SUPPORT_REFUSING_H
#define SUPPORT_REFUSING_H

#include <criterion/criterion.h>
#include <sim/base.h>
#include <stdlib.h>

/* The sanitizer has an allocator of its own, which gcc and clang tell in different ways. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

#if defined(__GLIBC__) && !SANITIZED
#define REFUSING 1
#else
#define REFUSING 0
#endif

#if REFUSING

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static long left = -1; /* allocations until one fails; below 0: none does */
static long held;      /* allocations that were not freed */

static int refuse_now(void) { return left >= 0 && left-- == 0; }

static void *count(void *memory) {
    held += memory != NULL;
    return memory;
}

void *malloc(size_t size) { return refuse_now() ? NULL : count(__libc_malloc(size)); }
void *calloc(size_t n, size_t size) { return refuse_now() ? NULL : count(__libc_calloc(n, size)); }
void *aligned_alloc(size_t alignment, size_t size) {
    return refuse_now() ? NULL : count(__libc_memalign(alignment, size));
}

void *realloc(void *old, size_t size) {
    if (refuse_now()) {
        return NULL;
    }
    return old ? __libc_realloc(old, size) : count(__libc_realloc(NULL, size));
}

void free(void *memory) {
    held -= memory != NULL;
    __libc_free(memory);
}

/* Runs `attempt` with its first allocation refused, its second, ..., until none is; how many times it failed. */
static int refuse_each(sim_status (*attempt)(sim_error *error)) {
    int failures = 0;
    for (long n = 0; n < 100000; n++) {
        sim_error error = {0};
        long before = held;
        left = n;
        sim_status status = attempt(&error);
        int refused_one = left < 0;
        left = -1;
        cr_assert_eq(held, before, "%ld allocations are left when allocation %ld fails", held - before, n);
        if (!refused_one) {
            cr_assert_eq(status, SIM_OK, "%s", error.text);
            return failures;
        }
        if (status) {
            cr_assert_eq(error.status, SIM_NO_RESOURCE, "allocation %ld: %s", n, error.text);
            failures++;
        }
    }
    return 0;
}

#endif
#endif
