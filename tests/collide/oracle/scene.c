/* Scenes at random: first the shapes, then how they are turned, then how far apart.
 *
 * Moving A by s along the normal of the oracle adds s to the gap while they are apart. So a scene of any gap starts
 * from any other. */
#include "scene.h"

#include <assert.h>
#include <string.h>

const char *const category_name[CATEGORIES] = {"apart",          "within margin", "touching",   "shallow", "deep",
                                               "parallel faces", "along edges",   "coincident", "1:1000",  "far",
                                               "aligned"};

static const sim_m3 identity = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static double log_uniform(random_source *r, double low, double high) {
    return exp(random_uniform(r, log(low), log(high)));
}

static double eighths(random_source *r, int most) { return 0.125 * (1 + random_index(r, most)); }

static sim_geometry *chosen(random_source *r, sim_geometry *const *from, int count) {
    return count ? from[random_index(r, count)] : NULL;
}

sim_shape shape_random(random_source *r, const stock *from, sim_shape_type type, int small) {
    sim_shape s = sim_shape_default();
    double scale = small ? 1e-3 : 1;
    s.type = type;
    for (int k = 0; k < 3; k++) {
        s.size[k] = scale * log_uniform(r, 0.1, 1);
    }
    if (type == SIM_CONVEX) {
        s.geometry = chosen(r, from->hull[small], from->hulls);
    } else if (type == SIM_MESH) {
        s.geometry = chosen(r, from->mesh[small], from->meshes);
    }
    return s;
}

static sim_m3 quarter_turns(random_source *r) {
    sim_v3 e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int i = random_index(r, 3), j = (i + 1 + random_index(r, 2)) % 3;
    sim_v3 x = e[i], y = e[j];
    double sx = random_index(r, 2) ? 1 : -1, sy = random_index(r, 2) ? 1 : -1;
    x = (sim_v3){sx * x.x, sx * x.y, sx * x.z};
    y = (sim_v3){sy * y.x, sy * y.y, sy * y.z};
    return (sim_m3){x, y, vec_plain(cross(vec_from(x), vec_from(y)))};
}

static int place_solids(const scene *s, solid *a, solid *b) {
    vec origin = vec_from(s->X_b.p);
    return solid_of(&s->a, &s->X_a, origin, a) && solid_of(&s->b, &s->X_b, origin, b);
}

/* Direction of some face or, for what has none, of something like it; of some edge. In the frame of the shape. */
static vec some_direction(random_source *r, const solid *s, int edge) {
    const poly *p = &s->poly;
    if (s->kind == SOLID_POLY && edge && p->ne) {
        int e = random_index(r, p->ne);
        return unit(turn_back(s->R, minus(p->v[p->edge[e][1]], p->v[p->edge[e][0]])));
    }
    if (s->kind == SOLID_POLY && !edge && p->nf) {
        return turn_back(s->R, p->normal[random_index(r, p->nf)]);
    }
    if (s->kind == SOLID_POLY && p->ne) { /* capsule: its side */
        return vec_of(1, 0, 0);
    }
    if (s->kind == SOLID_CYLINDER) {
        return edge || random_index(r, 2) ? vec_of(0, 0, 1) : vec_of(1, 0, 0);
    }
    if (s->kind == SOLID_ELLIPSOID) {
        return random_index(r, 2) ? vec_of(0, 0, 1) : vec_of(1, 0, 0);
    }
    return s->kind == SOLID_HALF_SPACE && edge ? vec_of(1, 0, 0) : vec_of(0, 0, 1); /* along its plane */
}

/* The rotation that takes unit vector u to w, then turns by some angle about w. */
static sim_m3 rotation_onto(random_source *r, vec u, vec w) {
    vec u1 = aside(u), u2 = cross(u, u1), w1 = aside(w), w2 = cross(w, w1);
    real t = random_index(r, 3) ? random_uniform(r, 0, 6.283185307179586) : 0;
    vec v1 = along(times(cosl(t), w1), sinl(t), w2), v2 = cross(w, v1);
    /* R u = w, R u1 = v1, R u2 = v2 */
    mat R;
    R.x = along(along(times(u.x, w), u1.x, v1), u2.x, v2);
    R.y = along(along(times(u.y, w), u1.y, v1), u2.y, v2);
    R.z = along(along(times(u.z, w), u1.z, v1), u2.z, v2);
    return mat_plain(R);
}

static sim_v3 scattered(random_source *r, double size) {
    return (sim_v3){random_uniform(r, -size, size), random_uniform(r, -size, size), random_uniform(r, -size, size)};
}

static void shift(sim_pose *X, real s, vec n) { X->p = vec_plain(along(vec_from(X->p), s, n)); }

/* Moves A so that the gap becomes `target`: exactly where that is positive, else at least that. */
static void set_gap(scene *s, solid *a, solid *b, double target) {
    place_solids(s, a, b);
    truth t = solid_gap(a, b);
    shift(&s->X_a, target - t.gap, t.normal);
}

/* The same along a given direction. */
static void set_separation(scene *s, solid *a, solid *b, vec n, double target) {
    place_solids(s, a, b);
    real g = solid_separation(a, b, n);
    if (isfinite((double)g)) {
        shift(&s->X_a, target - g, n);
    }
}

static double some_gap(random_source *r, const scene *s, category is) {
    switch (is) {
    case APART:
        return random_uniform(r, 1.001, 3) * s->margin + (random_index(r, 2) ? 0 : random_uniform(r, 0, 2) * s->larger);
    case WITHIN:
        return random_uniform(r, 0, 0.999) * s->margin;
    case TOUCHING:
        return random_uniform(r, -1e-9, 1e-9) * s->smaller * random_index(r, 3);
    default:
        return -s->smaller * log_uniform(r, 1e-5, 0.05);
    }
}

static void place(random_source *r, scene *s, solid *a, solid *b, category is) {
    if (is == DEEP) {
        s->X_a.p = scattered(r, 0.4 * s->larger + 0.3 * s->smaller);
        return;
    }
    s->X_a.p = scattered(r, s->larger + s->smaller);
    set_gap(s, a, b, some_gap(r, s, is));
}

static void lay_parallel(random_source *r, scene *s, solid *a, solid *b, int edges) {
    place_solids(s, a, b);
    vec w = some_direction(r, b, edges);
    if (dot(w, w) == 0) {
        return;
    }
    w = unit(turn(b->R, w));
    if (b->kind == SOLID_POLY && b->poly.nf == 0 && b->poly.ne == 0) {
        w = vec_from(random_unit(r));
    }
    s->X_a.R = rotation_onto(r, times(edges && random_index(r, 2) ? 1 : -1, unit(some_direction(r, a, edges))), w);
    s->X_a.p = scattered(r, random_uniform(r, 0, 1) * (s->larger + s->smaller));
    category is = (category)(WITHIN + random_index(r, 3));
    if (edges) {
        vec across = unit(along(vec_from(random_unit(r)), 0, w));
        across = unit(along(across, -dot(across, w), w));
        shift(&s->X_a, random_uniform(r, -0.5, 0.5) * s->smaller, w);
        set_separation(s, a, b, across, some_gap(r, s, is));
    } else {
        set_separation(s, a, b, w, some_gap(r, s, is));
    }
}

static void lay_aligned(random_source *r, const stock *from, scene *s, solid *a, solid *b) {
    for (int k = 0; k < 3; k++) {
        s->a.size[k] = eighths(r, 8);
        s->b.size[k] = eighths(r, 8);
    }
    (void)from;
    s->X_a.R = quarter_turns(r);
    s->X_b.R = quarter_turns(r);
    s->X_b.p = (sim_v3){0, 0, 0};
    double *p[3] = {&s->X_a.p.x, &s->X_a.p.y, &s->X_a.p.z};
    for (int k = 0; k < 3; k++) {
        *p[k] = 0.125 * (random_index(r, 17) - 8);
    }
    place_solids(s, a, b);
    if (random_index(r, 2)) {
        s->X_b.p = (sim_v3){random_index(r, 9) - 4, random_index(r, 9) - 4, random_index(r, 9) - 4};
        s->X_a.p = vec_plain(plus(vec_from(s->X_a.p), vec_from(s->X_b.p)));
    }
}

static void measure(scene *s, solid *a, solid *b) {
    place_solids(s, a, b);
    double ea = a->kind == SOLID_HALF_SPACE ? (double)b->extent : (double)a->extent;
    double eb = b->kind == SOLID_HALF_SPACE ? (double)a->extent : (double)b->extent;
    s->smaller = fmin(ea, eb);
    s->larger = fmax(ea, eb);
}

/* The pair as a whole somewhere else, turned. */
static void carry(random_source *r, scene *s, double far) {
    mat R = mat_from(random_rotation(r));
    vec p = vec_from(random_unit(r));
    p = times(far > 0 ? far : random_uniform(r, 0, 2) * s->larger, p);
    s->X_a = (sim_pose){mat_plain(turn_both(R, mat_from(s->X_a.R))), vec_plain(plus(p, turn(R, vec_from(s->X_a.p))))};
    s->X_b = (sim_pose){mat_plain(turn_both(R, mat_from(s->X_b.R))), vec_plain(plus(p, turn(R, vec_from(s->X_b.p))))};
}

static double greatest(sim_v3 p) { return fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))); }

int scene_random(random_source *r, const stock *from, sim_shape_type ta, sim_shape_type tb, category is, scene *s) {
    static solid a, b;
    int small = is == RATIO ? 1 + random_index(r, 2) : 0;
    memset(s, 0, sizeof *s);
    s->is = is;
    s->a = shape_random(r, from, ta, small == 1 && ta != SIM_HALF_SPACE);
    s->b = shape_random(r, from, tb, small == 2 && tb != SIM_HALF_SPACE);
    s->X_a = (sim_pose){random_rotation(r), {0, 0, 0}};
    s->X_b = (sim_pose){random_rotation(r), {0, 0, 0}};
    if (((ta == SIM_CONVEX || ta == SIM_MESH) && !s->a.geometry) ||
        ((tb == SIM_CONVEX || tb == SIM_MESH) && !s->b.geometry)) {
        return 0;
    }
    measure(s, &a, &b);
    s->margin = 0.05 * s->smaller;
    if (is == ALIGNED) {
        lay_aligned(r, from, s, &a, &b);
        measure(s, &a, &b);
        s->margin = 0.05 * s->smaller;
    } else if (is == COINCIDENT) {
        s->X_a.R = random_index(r, 3) ? s->X_a.R : random_index(r, 2) ? s->X_b.R : identity;
    } else if (is == PARALLEL || is == EDGES) {
        lay_parallel(r, s, &a, &b, is == EDGES);
    } else {
        place(r, s, &a, &b, is == RATIO || is == FAR ? (category)(WITHIN + random_index(r, 4)) : is);
    }
    if (is != ALIGNED && (is == FAR || random_index(r, 2))) {
        carry(r, s, is == FAR ? 1e4 : 0);
    }
    s->coordinate = fmax(greatest(s->X_a.p), greatest(s->X_b.p));
    return 1;
}

void scene_measure(scene *s) {
    static solid a, b;
    measure(s, &a, &b);
    s->coordinate = fmax(greatest(s->X_a.p), greatest(s->X_b.p));
}

static void print_pose(FILE *f, const char *name, const sim_pose *X) {
    const sim_v3 *c[3] = {&X->R.x, &X->R.y, &X->R.z};
    fprintf(f, "  sim_pose %s = {{", name);
    for (int k = 0; k < 3; k++) {
        fprintf(f, "%s{%.17g, %.17g, %.17g}", k ? ", " : "", c[k]->x, c[k]->y, c[k]->z);
    }
    fprintf(f, "}, {%.17g, %.17g, %.17g}};\n", X->p.x, X->p.y, X->p.z);
}

static void print_shape(FILE *f, const char *name, const sim_shape *s) {
    fprintf(f, "  sim_shape %s = {.type = %d /* %s */, .size = {%.17g, %.17g, %.17g}};\n", name, (int)s->type,
            sim_shape_name(s->type), s->size[0], s->size[1], s->size[2]);
    const sim_geometry *g = s->geometry;
    if (g && (g->hull || g->mesh)) {
        int n = g->hull ? g->hull->nvertex : g->mesh->nvertex;
        const sim_v3 *v = g->hull ? g->hull->vertex : g->mesh->vertex;
        fprintf(f, "  /* its vertices: */ sim_v3 %s_vertex[%d] = {", name, n);
        for (int k = 0; k < n; k++) {
            fprintf(f, "%s{%.17g, %.17g, %.17g}", k ? ", " : "", v[k].x, v[k].y, v[k].z);
        }
        fprintf(f, "};\n");
    }
}

void scene_print(FILE *f, const scene *s) {
    print_shape(f, "a", &s->a);
    print_shape(f, "b", &s->b);
    print_pose(f, "X_a", &s->X_a);
    print_pose(f, "X_b", &s->X_b);
    fprintf(f, "  double margin = %.17g; /* %s */\n", s->margin, category_name[s->is]);
}
