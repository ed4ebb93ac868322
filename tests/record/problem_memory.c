/* Without memory a problem of a file gets no trees, and says so: each allocation in turn is refused. */
#include "record/problem/problem_file.h"
#include "support/refusing.h"

#if REFUSING

enum { BODIES = 3000, DOFS = 6 * BODIES, CONTACTS = BODIES - 1, ROWS = 3 * CONTACTS }; /* a chunk of the pool each */

/* A diagonal M; contact c joins the bodies c and c + 1, and a bilateral row the first and the last. */
static fclib make_chain(memory_pool *pool) {
    triplets M = triplets_make(pool, DOFS), H = triplets_make(pool, (ptrdiff_t)12 * ROWS), G = triplets_make(pool, 2);
    for (int i = 0; i < DOFS; i++) {
        triplets_add(&M, i, i, 1);
    }
    for (int k = 0; k < 12 * ROWS; k++) {
        triplets_add(&H, 6 * (k / 12 / 3) + k % 12, k / 12, 1);
    }
    triplets_add(&G, 0, 0, 1);
    triplets_add(&G, DOFS - 1, 0, -1);
    return (fclib){.global = true,
                   .contacts = CONTACTS,
                   .bilateral = 1,
                   .contact_rows = 3,
                   .dofs = DOFS,
                   .M = sparse_of(pool, DOFS, DOFS, &M),
                   .H = sparse_of(pool, DOFS, ROWS, &H),
                   .G = sparse_of(pool, DOFS, 1, &G)};
}

static fclib chain;

static sim_status find_trees(sim_error *error) {
    static int tree[DOFS];
    memory_pool *work = pool_create();
    int count = work ? problem_trees(work, &chain, tree) : -1;
    pool_free(work);
    if (count < 0) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory");
    }
    cr_assert_eq(count, BODIES, "%d trees", count);
    for (int i = 0; i < DOFS; i++) {
        cr_assert_eq(tree[i], i / 6, "velocity %d is of tree %d", i, tree[i]);
    }
    return SIM_OK;
}

Test(problem_memory, every_allocation_for_trees_may_fail) {
    memory_pool *pool = pool_create();
    chain = make_chain(pool);
    cr_assert(sparse_there(&chain.M) && sparse_there(&chain.H) && sparse_there(&chain.G));
    cr_assert_geq(refuse_each(find_trees), 10);
    pool_free(pool);
}

#endif
