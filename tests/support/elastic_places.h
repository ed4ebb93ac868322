/* Tetrahedra of elastic material at random places. */
#ifndef TESTS_SUPPORT_ELASTIC_PLACES_H
#define TESTS_SUPPORT_ELASTIC_PLACES_H

#include "dyn/soft/elastic_law.h"
#include "support/models.h"

static const v3 CORNER[4] = {{0, 0, 0}, {1.1, 0.1, 0}, {0.2, 0.9, -0.1}, {0.1, 0.3, 1.2}};

static inline const char *name_of(int law) { return law == ELASTIC_COROTATED ? "co-rotated" : "neo-Hookean"; }

/* Corners at rest, turned, stretched and moved by up to `size`, so that no element is near to inverted for 0.25. */
static inline void random_place(random_source *r, double size, v3 x[4]) {
    m3 R = random_rotation(r);
    for (int n = 0; n < 4; n++) {
        v3 d = {random_uniform(r, -size, size), random_uniform(r, -size, size), random_uniform(r, -size, size)};
        x[n] = m3_times(R, v3_add(CORNER[n], d));
    }
}

#endif
