/* Without memory the loader fails cleanly: each allocation in turn is refused. */
#include "support.h"

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

static bool refuse_now(void) { return left >= 0 && left-- == 0; }

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

static const char scene_text[] =
    "{\"sim\": 1, \"world\": {\"contacts\": false}, \"materials\": [{\"name\": \"m\"}],"
    "\"models\": {\"m\": {\"bodies\": [{\"name\": \"a\", \"joint\": \"free\", \"shapes\": [{\"type\": \"box\", "
    "\"size\": [1, 1, 1],"
    " \"mass\": 1, \"material\": \"m\"}]}]}}, \"instances\": [{\"model\": \"m\", \"prefix\": \"x\", \"overrides\": "
    "{\"bodies/0/name\": "
    "\"z\"}, \"repeat\": {\"placement\": \"scatter\", \"count\": 100, \"min\": [0, 0, 0], \"max\": [9, 9, 9], "
    "\"radius\": 0.1}}],"
    "\"bodies\": [{\"name\": \"h\", \"joint\": \"hinge\", \"inertia\": {\"mass\": 1, \"moments\": [1, 1, 1]}}],"
    "\"actuators\": [{\"joint\": \"h\", \"target\": 1}], \"loads\": [{\"body\": \"h\", \"force\": [1, 2, 3]}],"
    "\"initial\": {\"h\": 1}, \"record\": {\"points\": [{\"name\": \"p\", \"body\": \"h\"}]}, \"cameras\": [{\"name\": "
    "\"c\", "
    "\"position\": [1, 1, 1]}]}";

Test(scene_memory, every_allocation_may_fail) {
    const char *set[] = {"world/step=0.5"};
    sim_scene_overrides overrides = {.count = 1, .set = set};
    int failures = 0;
    for (long n = 0; n < 100000; n++) {
        sim_diagnostics found;
        sim_error error = {0};
        long before = held;
        left = n;
        sim_scene *scene = sim_scene_parse(scene_text, sizeof scene_text - 1, "scene.json", &overrides, &found, &error);
        bool refused_one = left < 0;
        left = -1;
        sim_diagnostics_free(&found);
        sim_scene_free(scene);
        long leaked = held - before;
        cr_assert_eq(leaked, 0, "%ld allocations are left when allocation %ld fails", leaked, n);
        if (!refused_one) {
            cr_assert(scene, "%s", error.text);
            break;
        }
        if (!scene) {
            cr_assert_eq(error.status, SIM_NO_RESOURCE, "allocation %ld: %s", n, error.text);
            failures++;
        }
    }
    cr_assert_gt(failures, 20);
}

#endif
