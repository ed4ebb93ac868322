/* Memory that lives and dies together: a list of blocks, freed at once; items are zeroed and aligned to a cache line.
 *
 * An item larger than BLOCK_BYTES has a block of its own. */
#include "base/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE_BYTES = 64, BLOCK_BYTES = 64 * 1024 };

typedef struct block {
    struct block *next;
    size_t used, size; /* of the bytes that follow the header */
} block;

struct memory_pool {
    block *head;
    size_t bytes;
};

enum { HEADER_BYTES = (sizeof(block) + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES };

memory_pool *pool_create(void) { return calloc(1, sizeof(memory_pool)); }

void pool_free(memory_pool *pool) {
    if (!pool) {
        return;
    }
    for (block *b = pool->head; b;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    free(pool);
}

static block *add_pool_block(memory_pool *pool, size_t size) {
    size_t payload = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    block *b = aligned_alloc(CACHE_LINE_BYTES, HEADER_BYTES + payload);
    if (!b) {
        return NULL;
    }
    *b = (block){pool->head, 0, payload};
    pool->head = b;
    return b;
}

void *pool_alloc(memory_pool *pool, size_t count, size_t size) {
    if (size && count > (SIZE_MAX / 2) / size) {
        return NULL;
    }
    size_t need = (count * size + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    block *b = pool->head;
    if (!b || b->size - b->used < need) {
        b = add_pool_block(pool, need);
        if (!b) {
            return NULL;
        }
    }
    char *item = (char *)b + HEADER_BYTES + b->used;
    b->used += need;
    pool->bytes += need;
    memset(item, 0, need);
    return item;
}

char *pool_text(memory_pool *pool, const char *text) {
    if (!text) {
        return NULL;
    }
    size_t length = strlen(text) + 1;
    char *copy = pool_alloc(pool, length, 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

size_t pool_bytes(const memory_pool *pool) { return pool->bytes; }
