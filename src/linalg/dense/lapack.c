/* Memory check before the first BLAS call of a thread.
 *
 * OpenBLAS allocates a buffer at the first call of a thread and keeps it.  Without memory it retries for ever.  So this
 * file asks the system for that much memory, which can fail, and then makes OpenBLAS allocate at once.  It asks the
 * system and not malloc, which may be set to fill its memory.  Other BLAS libraries have no such buffer and need no
 * check.
 *
 * Limit: threads that check at the same moment may each see the same free memory. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, which POSIX has from 2024 on */
#include "linalg/dense/lapack.h"

#include <stddef.h>
#include <sys/mman.h>

extern char *openblas_get_config(void) __attribute__((weak));

static const size_t BUFFER_BYTES = ((size_t)128 << 20) + 65536; /* bytes: of x86-64 and ARMv8, and their page */

bool lapack_has_room(void) {
    if (!openblas_get_config) {
        return true;
    }
    void *room = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        return false;
    }
    munmap(room, BUFFER_BYTES);
    double A = 1;
    int n = 1, swap = 0, info = 0;
    dgetrf_(&n, &n, &A, &n, &swap, &info);
    return info == 0;
}
