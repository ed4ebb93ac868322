/* Without memory the builders of geometry fail cleanly: each allocation in turn is refused, qhull's too. */
#include "geometry/mesh_file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The sanitizer has an allocator of its own, which gcc and clang tell in different ways. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

#if defined(__GLIBC__) && !SANITIZED

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

static sim_status build_hull(sim_error *error) {
    static v3 p[500];
    for (int i = 0; i < 500; i++) {
        p[i] = (v3){cos(i), sin(i) * cos(0.3 * i), sin(i) * sin(0.3 * i)};
    }
    sim_geometry *g = sim_geometry_hull(p, 500, error);
    sim_geometry_free(g);
    return g ? SIM_OK : error->status;
}

static sim_status parse(const char *text, sim_error *error) {
    sim_triangles t;
    sim_status status = mesh_parse("test", text, strlen(text), (v3){1, 1, 1}, &t, error);
    free(t.vertex);
    free(t.triangle);
    return status;
}

static sim_status parse_obj(sim_error *error) {
    return parse("v 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nv 1 1 1\nf 1 2 3 4 5\nf 5 6 1\n", error);
}

static sim_status parse_stl(sim_error *error) {
    return parse(
        "solid a\nfacet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet endsolid",
        error);
}

Test(geometry_memory, every_allocation_of_a_hull_may_fail) { cr_assert_gt(refuse_each(build_hull), 15); }

Test(geometry_memory, every_allocation_of_a_mesh_file_may_fail) {
    cr_assert_gt(refuse_each(parse_obj), 4);
    cr_assert_gt(refuse_each(parse_stl), 3);
}

#endif
