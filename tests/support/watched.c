#include "support/watched.h"

#include <stdlib.h>

watched_memory watched;

static int refuse(size_t size) {
    atomic_fetch_add(&watched.bytes, size);
    return atomic_fetch_add(&watched.calls, 1) + 1 == watched.fail_at;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return refuse(size) ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refuse(count * size) ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return refuse(size) ? NULL : __real_realloc(old, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return refuse(size) ? NULL : __real_aligned_alloc(alignment, size);
}
