/* base/pool: memory that lives and dies together. */
#include "base/pool.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(pool, gives_zeroed_memory_aligned_to_a_cache_line) {
    memory_pool *pool = pool_create();
    for (size_t size = 1; size < 300000; size = 3 * size + 1) {
        unsigned char *item = pool_alloc(pool, 1, size);
        cr_assert_not_null(item);
        cr_assert_eq((uintptr_t)item % 64, 0);
        for (size_t i = 0; i < size; i++) {
            cr_assert_eq(item[i], 0, "byte %zu of %zu", i, size);
        }
        memset(item, 0xff, size); /* what the next item must not see */
    }
    pool_free(pool);
}

Test(pool, gives_separate_memory_to_each_item) {
    memory_pool *pool = pool_create();
    char *first = pool_alloc(pool, 100, 1);
    char *second = pool_alloc(pool, 100, 1);
    memset(first, 'a', 100);
    memset(second, 'b', 100);
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(first[i], 'a');
    }
    pool_free(pool);
}

Test(pool, gives_an_address_for_no_items) {
    memory_pool *pool = pool_create();
    cr_assert_not_null(pool_alloc(pool, 0, 8));
    pool_free(pool);
}

Test(pool, refuses_a_product_that_overflows) {
    memory_pool *pool = pool_create();
    cr_assert_null(pool_alloc(pool, SIZE_MAX / 2, 3));
    cr_assert_null(pool_alloc(pool, SIZE_MAX, SIZE_MAX));
    pool_free(pool);
}

Test(pool, copies_texts_and_leaves_null_null) {
    memory_pool *pool = pool_create();
    char text[] = "hinge";
    char *copy = pool_text(pool, text);
    text[0] = 'f';
    cr_assert_str_eq(copy, "hinge");
    cr_assert_null(pool_text(pool, NULL));
    pool_free(pool);
}

Test(pool, counts_what_was_asked_for_in_whole_cache_lines) {
    memory_pool *pool = pool_create();
    pool_alloc(pool, 1, 1);
    pool_alloc(pool, 2, 64);
    cr_assert_eq(pool_bytes(pool), 192);
    pool_free(pool);
}

Test(pool, frees_nothing_without_complaint) { pool_free(NULL); }
