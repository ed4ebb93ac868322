/* Projection of triangles, and bands of the picture.  Corners go through the camera,
 *
 *     (x w, y w, w) = P (p, 1),   w: distance along the view,
 *
 * triangles are clipped at the nearest distance and sorted by bands of rows. */
#include "view/render/parts.h"

#include <string.h>

typedef struct point {
    double x, y, w; /* x and y times w */
} point;

static void put_triangle(render_bins *bins, const point *a, const point *b, const point *c, uint32_t id,
                         uint32_t planes, double ahead) {
    const point *p[3] = {a, b, c};
    raster_triangle *t = &bins->triangle[bins->triangles++];
    t->id = id;
    t->planes = planes;
    for (int i = 0; i < 3; i++) {
        t->x[i] = p[i]->x / p[i]->w;
        t->y[i] = p[i]->y / p[i]->w;
        t->near[i] = 1 / p[i]->w + ahead;
    }
}

/* Cuts the triangle at w = nearest: three or four corners are left, or none. */
static int clip_near(const point in[3], double nearest, point out[4]) {
    int count = 0;
    for (int i = 0; i < 3; i++) {
        const point *a = &in[i], *b = &in[(i + 1) % 3];
        if (a->w >= nearest) {
            out[count++] = *a;
        }
        if ((a->w >= nearest) != (b->w >= nearest)) {
            double part = (nearest - a->w) / (b->w - a->w);
            out[count++] = (point){a->x + part * (b->x - a->x), a->y + part * (b->y - a->y), nearest};
        }
    }
    return count;
}

static bool is_outside(const point *p, int count, const stage *s) {
    int left = 0, right = 0, above = 0, below = 0;
    for (int i = 0; i < count; i++) {
        left += p[i].x < 0;
        right += p[i].x > s->width * p[i].w;
        above += p[i].y < 0;
        below += p[i].y > s->height * p[i].w;
    }
    return left == count || right == count || above == count || below == count;
}

static void project_corners(stage *s, point *seen) {
    for (int k = 0; k < s->corners; k++) {
        vec4 in = {s->corner[k].at[0], s->corner[k].at[1], s->corner[k].at[2], 1}, out;
        glm_mat4_mulv(s->project, in, out);
        seen[k] = (point){(double)out[0], (double)out[1], (double)out[3]};
    }
}

static void put_faces(render_bins *bins, stage *s, const point *seen) {
    double nearest = (double)s->nearest;
    for (int f = 0; f < s->faces; f++) {
        const stage_face *face = &s->face[f];
        const stage_paint *paint = &s->paint[face->paint];
        point whole[3], part[4];
        for (int i = 0; i < 3; i++) {
            whole[i] = seen[face->corner[i]];
        }
        int count = clip_near(whole, nearest, part);
        if (count < 3 || is_outside(part, count, s)) {
            continue;
        }
        uint32_t id = (uint32_t)(f + s->floors + 1);
        double ahead = paint->mark ? 2 / nearest : 0; /* marks hide all but each other */
        put_triangle(bins, &part[0], &part[1], &part[2], id, paint->planes, ahead);
        if (count == 4) {
            put_triangle(bins, &part[0], &part[2], &part[3], id, paint->planes, ahead);
        }
    }
}

/* The bands that a triangle touches. */
static void bands_of(const raster_triangle *t, int band, int bands, int *first, int *last) {
    double top = fmin(fmin(t->y[0], t->y[1]), t->y[2]) / band, bottom = fmax(fmax(t->y[0], t->y[1]), t->y[2]) / band;
    *first = !(top > 0) ? 0 : top > bands - 1 ? bands - 1 : (int)top;
    *last = !(bottom > 0) ? 0 : bottom > bands - 1 ? bands - 1 : (int)bottom;
}

bool render_bins_fill(render_bins *bins, stage *s, sim_arena *arena, int band, int bands) {
    point *seen = ARENA_NEW(arena, point, s->corners + 1);
    bins->triangle = ARENA_NEW(arena, raster_triangle, 2 * (size_t)s->faces + 1);
    bins->start = ARENA_NEW(arena, int, bands + 2);
    bins->triangles = 0;
    if (!seen || !bins->triangle || !bins->start) {
        return false;
    }
    project_corners(s, seen);
    put_faces(bins, s, seen);
    memset(bins->start, 0, (size_t)(bands + 2) * sizeof *bins->start);
    size_t all = 0;
    for (int pass = 0; pass < 2; pass++) { /* count, then put: start[b + 1] runs from the band's start to its end */
        for (int k = 0; k < bins->triangles; k++) {
            int first, last;
            bands_of(&bins->triangle[k], band, bands, &first, &last);
            for (int b = first; b <= last; b++) {
                if (pass == 0) {
                    bins->start[b + 2]++;
                    all++;
                } else {
                    bins->item[bins->start[b + 1]++] = k;
                }
            }
        }
        if (pass == 0) {
            bins->item = all < INT32_MAX ? ARENA_NEW(arena, int, all + 1) : NULL;
            if (!bins->item) {
                return false;
            }
            for (int b = 2; b < bands + 2; b++) {
                bins->start[b] += bins->start[b - 1];
            }
        }
    }
    return true;
}
