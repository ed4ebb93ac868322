/* Memory that lives and dies together: many allocations, one free. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

typedef struct memory_pool memory_pool;

/* NULL when there is no memory. */
memory_pool *pool_create(void);
void pool_free(memory_pool *pool);

/* `count` zeroed items of `size` bytes, aligned to a cache line; NULL when there is no memory or the product overflows.
 * Never NULL for zero items. */
void *pool_alloc(memory_pool *pool, size_t count, size_t size);
/* A copy of a text; NULL stays NULL. */
char *pool_text(memory_pool *pool, const char *text);
/* Bytes asked for so far. */
size_t pool_bytes(const memory_pool *pool);

#define POOL_NEW(pool, type, count) ((type *)pool_alloc((pool), (size_t)(count), sizeof(type)))

#endif
