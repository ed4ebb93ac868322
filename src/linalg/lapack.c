/* Room for OpenBLAS.  It takes a buffer at the first call of a thread, keeps it for the next, and where the system has none
 * to give it asks again for ever.  So the room is asked for here, which can be refused, and its buffer taken at once.
 * It is asked of the system and not of malloc, which some settings let fill what it gives.  Another BLAS brings no such
 * buffer, and is asked for nothing.
 *
 * Departure from certainty: of threads that ask at the same moment each may see the same room. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, which POSIX has from 2024 on */
#include "linalg/lapack.h"

#include <stddef.h>
#include <sys/mman.h>

extern char *openblas_get_config(void) __attribute__((weak));

static const size_t BUFFER = ((size_t)128 << 20) + 65536; /* bytes: of x86-64 and ARMv8, and their page */

int lapack_has_room(void) {
    if (!openblas_get_config) {
        return 1;
    }
    void *room = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        return 0;
    }
    munmap(room, BUFFER);
    double A = 1;
    int n = 1, swap = 0, info = 0;
    dgetrf_(&n, &n, &A, &n, &swap, &info);
    return info == 0;
}
