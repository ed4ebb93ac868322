/* Extension of a convex polytope by one point.
 *
 * The facets that the point sees go; the edges between the facets that it sees and the others are a ring.  Each of
 * them makes a new facet with the point (the beneath-beyond step of incremental hulls; Barber, Dobkin and Huhdanpaa,
 * 1996, section 2).  A facet without area, where the point stands in line with an edge, lies in the plane of its
 * neighbour and takes it over.
 *
 * Cost: linear in the facets that go, quadratic in the edges of the ring. */
#include "collide/convex/polytope.h"

enum { NO_FACET = -1 };

static int next_corner(int k) { return k == 2 ? 0 : k + 1; }

/* Plane of facet f: the normal from its two shorter edges, the least offset of its corners. */
static void set_plane(polytope *p, int f, int neighbour) {
    facet *t = &p->facet[f];
    v3 a = p->point[t->corner[0]], b = p->point[t->corner[1]], c = p->point[t->corner[2]];
    v3 n = triangle_normal(a, b, c), ab = v3_sub(b, a), bc = v3_sub(c, b), ca = v3_sub(a, c);
    double longest = sqrt(max_of(v3_dot(ab, ab), max_of(v3_dot(bc, bc), v3_dot(ca, ca)))), area = v3_norm(n);
    if (area > p->grain * longest || neighbour < 0) {
        t->normal = v3_scale(1 / area, n);
    } else {
        t->normal = p->facet[neighbour].normal;
    }
    p->offset[f] = min_of(v3_dot(t->normal, a), min_of(v3_dot(t->normal, b), v3_dot(t->normal, c)));
}

void polytope_start(polytope *p, const v3 corner[4], double grain) {
    static const facet of[4] = {
        {{0, 1, 2}, {3, 1, 2}, {0, 0, 0}},
        {{2, 1, 3}, {0, 3, 2}, {0, 0, 0}},
        {{0, 2, 3}, {0, 1, 3}, {0, 0, 0}},
        {{1, 0, 3}, {0, 2, 1}, {0, 0, 0}},
    };
    v3 n = v3_cross(v3_sub(corner[1], corner[0]), v3_sub(corner[2], corner[0]));
    int above = v3_dot(n, v3_sub(corner[3], corner[0])) > 0; /* the fourth must stand behind the first three */
    p->grain = grain;
    p->npoint = p->nfacet = 4;
    for (int k = 0; k < 4; k++) {
        p->point[k] = corner[above && k < 2 ? 1 - k : k];
    }
    for (int f = 0; f < 4; f++) {
        p->facet[f] = of[f];
        p->mark[f] = 0;
        set_plane(p, f, NO_FACET);
    }
}

int polytope_nearest(const polytope *p) {
    int best = 0;
    for (int f = 1; f < p->nfacet; f++) {
        if (p->offset[f] < p->offset[best]) {
            best = f;
        }
    }
    return best;
}

/* The facets visible from the point, from `first` on: into `seen`; returns their number. */
static int find_seen_facets(polytope *p, int first, v3 point, int stamp, int *seen) {
    int count = 1;
    seen[0] = first;
    p->mark[first] = stamp;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            int g = p->facet[seen[i]].across[k];
            v3 from = v3_sub(point, p->point[p->facet[g].corner[0]]);
            if (p->mark[g] != stamp && v3_dot(p->facet[g].normal, from) > p->grain) {
                p->mark[g] = stamp;
                seen[count++] = g;
            }
        }
    }
    return count;
}

typedef struct rim_edge {
    int from, to, beyond; /* corners, as the facet that goes had them; the facet that stays */
} rim_edge;

/* The rim of what is seen.  0 unless it is one ring. */
static int find_rim(const polytope *p, const int *seen, int nseen, int stamp, rim_edge *rim, int *leaves) {
    /* edges between a facet that is seen and one that is not */
    int count = 0;
    for (int i = 0; i < nseen; i++) {
        const facet *t = &p->facet[seen[i]];
        for (int k = 0; k < 3; k++) {
            if (p->mark[t->across[k]] != stamp) {
                rim[count++] = (rim_edge){t->corner[k], t->corner[next_corner(k)], t->across[k]};
            }
        }
    }
    /* the edge that leaves each corner; two leave none */
    for (int i = 0; i < count; i++) {
        leaves[rim[i].from] = -1;
        leaves[rim[i].to] = -1;
    }
    for (int i = 0; i < count; i++) {
        if (leaves[rim[i].from] >= 0) {
            return 0;
        }
        leaves[rim[i].from] = i;
    }
    /* all edges are in one ring */
    int length = 0, i = 0;
    do {
        i = leaves[rim[i].to];
        length++;
    } while (i > 0 && length < count);
    return i == 0 && length == count ? count : 0;
}

static void clear_marks(polytope *p, const int *seen, int nseen) {
    for (int i = 0; i < nseen; i++) {
        p->mark[seen[i]] = 0;
    }
}

bool polytope_grow(polytope *p, int first, v3 point) {
    /* facets that see the point, and their rim */
    int seen[POLYTOPE_FACETS], leaves[POLYTOPE_POINTS], slot[3 * POLYTOPE_FACETS];
    rim_edge rim[3 * POLYTOPE_FACETS];
    if (p->npoint == POLYTOPE_POINTS) {
        return false;
    }
    int stamp = p->npoint, nseen = find_seen_facets(p, first, point, stamp, seen);
    int count = find_rim(p, seen, nseen, stamp, rim, leaves);
    if (count < 3 || p->nfacet + count - nseen > POLYTOPE_FACETS) {
        clear_marks(p, seen, nseen);
        return false;
    }
    /* slots of the facets that go, and new ones */
    for (int i = 0; i < nseen; i++) {
        p->offset[seen[i]] = HUGE_VAL;
    }
    for (int i = 0; i < count; i++) {
        slot[i] = i < nseen ? seen[i] : p->nfacet++;
    }
    /* a facet from each rim edge to the point, linked to its neighbours */
    int new_point = p->npoint++;
    p->point[new_point] = point;
    for (int i = 0; i < count; i++) {
        facet *t = &p->facet[slot[i]], *stays = &p->facet[rim[i].beyond];
        int next = leaves[rim[i].to], before = 0;
        while (rim[before].to != rim[i].from) {
            before++;
        }
        *t = (facet){{rim[i].from, rim[i].to, new_point}, {rim[i].beyond, slot[next], slot[before]}, {0, 0, 0}};
        for (int k = 0; k < 3; k++) {
            if (stays->corner[k] == rim[i].to && stays->corner[next_corner(k)] == rim[i].from) {
                stays->across[k] = slot[i];
            }
        }
        p->mark[slot[i]] = 0;
    }
    /* planes */
    for (int i = 0; i < count; i++) {
        set_plane(p, slot[i], rim[i].beyond);
    }
    return true;
}
