/* Meshes: their frame, their mass properties, shapes fitted to them.
 *
 *     volume of a face        V = (c - o) . n A / 3, the cone from the point o over it; |V| in the way called legacy
 *     second moments          P_jk = sum V/20 (2 (D_j D_k + E_j E_k + F_j F_k) + sums over pairs of corners D, E, F)
 *     moments                 J = tr(P) 1 - P, about the centre of mass
 *     equivalent box          half edges sqrt(6 (J_b + J_c - J_a) / V) / 2 along the principal axes
 *
 * `convex` takes the faces of the hull, `exact` and `legacy` those of the mesh; `shell` areas in place of volumes, and
 * 12 in place of 20.
 *
 * Reference: Eberly 2002, Polyhedral mass properties; MuJoCo, XML reference, mesh/inertia and compiler/fitaabb. */
#include "math/eigen.h"
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the asset ---- */

static void read_frame(mjcf_work *w, mjcf_mesh *m) {
    double p[3] = {0}, q[4] = {1, 0, 0, 0};
    m->scale[0] = m->scale[1] = m->scale[2] = 1;
    mjcf_numbers(&m->item, "scale", 3, m->scale);
    xml_numbers(m->at, "refpos", 3, p);
    xml_numbers(m->at, "refquat", 4, q);
    sim_quat turn = {q[0], q[1], q[2], q[3]};
    bool turned = q[1] != 0 || q[2] != 0 || q[3] != 0, even = m->scale[0] == m->scale[1] && m->scale[0] == m->scale[2];
    if (!(quat_norm(turn) > 1e-14) || (turned && !even)) {
        xml_error(w->report, m->at, "refquat", NULL,
                  turned ? "a turn of the origin needs one scale for all directions" : "the quaternion is 0");
        mjcf_refuse(w);
        return;
    }
    /* S R^T (v - p) = R^T (S v) - S R^T p */
    turn = quat_conjugate(quat_normalised(turn));
    sim_v3 shift = m3_times(quat_matrix(turn), mjcf_vector(p));
    m->place = (mjcf_place){{-m->scale[0] * shift.x, -m->scale[1] * shift.y, -m->scale[2] * shift.z},
                            turned ? turn : (sim_quat){1, 0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        if (m->scale[k] == 0) {
            xml_error(w->report, m->at, "scale", NULL, "a factor of the scale is 0");
            mjcf_refuse(w);
        }
    }
}

/* Numbers of a checked list. */
static double *read_list(mjcf_work *w, const xml_element *e, const char *key, int *count) {
    const char *given = xml_text(e, key);
    *count = given ? xml_count_numbers(given) : 0;
    double *out = POOL_NEW(w->pool, double, *count);
    if (!out) {
        w->report->no_memory = true;
        return NULL;
    }
    xml_numbers(e, key, *count, out);
    return out;
}

static void read_inline(mjcf_work *w, mjcf_mesh *m) {
    /* numbers */
    int nvertex, nface;
    m->vertex = read_list(w, m->at, "vertex", &nvertex);
    m->face = read_list(w, m->at, "face", &nface);
    m->nvertex = nvertex / 3;
    m->nface = nface / 3;
    if (!m->vertex || !m->face) {
        return;
    }
    /* three each, and indices within */
    if (nvertex % 3 || nface % 3 || nvertex < 12) {
        xml_error(w->report, m->at, nvertex % 3 || nvertex < 12 ? "vertex" : "face", NULL,
                  "expected three numbers each, of at least four vertices");
        mjcf_refuse(w);
        m->nvertex = m->nface = 0;
        return;
    }
    for (int k = 0; k < nface; k++) {
        if (!(m->face[k] >= 0 && m->face[k] < m->nvertex && m->face[k] == floor(m->face[k]))) {
            xml_error(w->report, m->at, "face", NULL, "there is no vertex %g; they are numbered from 0 to %d",
                      m->face[k], m->nvertex - 1);
            mjcf_refuse(w);
            m->nface = 0;
            return;
        }
    }
}

mjcf_mesh *mjcf_open_mesh(mjcf_work *w, const mjcf_scope *s, int index) {
    /* once */
    mjcf_file *f = s->file;
    const xml_element *at = f->asset[index];
    if (f->mesh[index]) {
        return f->mesh[index];
    }
    mjcf_mesh *m = POOL_NEW(w->pool, mjcf_mesh, 1);
    if (!m) {
        w->report->no_memory = true;
        mjcf_refuse(w);
        return NULL;
    }
    /* frame; a file or numbers */
    m->at = at;
    m->item = mjcf_item_of(w, s, at, "mesh", -1);
    read_frame(w, m);
    if (xml_text(at, "file")) {
        m->path = mjcf_asset_path(w, f, at, &m->lost, &m->absent);
    } else if (xml_text(at, "vertex")) {
        read_inline(w, m);
    } else if (!mjcf_says(&m->item, "builtin", "none")) {
        mjcf_make_mesh(w, m, mjcf_text(&m->item, "builtin"));
    } else {
        xml_error(w->report, at, NULL, NULL, "the mesh has neither a file nor vertices nor a formula (`builtin`)");
        mjcf_refuse(w);
    }
    f->mesh[index] = m;
    return m;
}

/* ---- triangles ---- */

typedef struct surface {
    sim_v3 *vertex;
    int (*face)[3];
    int nvertex, nface;
} surface;

static void free_surface(surface *s) {
    free(s->vertex);
    free(s->face);
}

/* As geoms see it; false: `why` says it. */
static bool load_surface(mjcf_work *w, const mjcf_mesh *m, surface *out, sim_error *why) {
    sim_v3 scale = mjcf_vector(m->scale);
    if (m->path) {
        sim_triangles t = {0};
        if (!w->files.mesh(w->files.context, m->path, scale, &t, why)) {
            return false;
        }
        *out = (surface){t.vertex, t.triangle, t.nvertex, t.ntriangle};
    } else {
        *out = (surface){calloc((size_t)m->nvertex + 1, sizeof(sim_v3)), calloc((size_t)m->nface + 1, sizeof(int[3])),
                         m->nvertex, m->nface};
        if (!out->vertex || !out->face) {
            free_surface(out);
            return sim_fail(why, SIM_NO_RESOURCE, "no memory") == SIM_OK;
        }
        bool mirrored = scale.x * scale.y * scale.z < 0;
        for (int k = 0; k < m->nvertex; k++) {
            const double *v = m->vertex + 3 * k;
            out->vertex[k] = (sim_v3){scale.x * v[0], scale.y * v[1], scale.z * v[2]};
        }
        for (int k = 0; k < m->nface; k++) {
            const double *f = m->face + 3 * k;
            out->face[k][0] = (int)f[0];
            out->face[k][1] = (int)f[mirrored ? 2 : 1];
            out->face[k][2] = (int)f[mirrored ? 1 : 2];
        }
    }
    sim_pose X = mjcf_pose(m->place);
    for (int k = 0; k < out->nvertex; k++) {
        out->vertex[k] = pose_point(X, out->vertex[k]);
    }
    return true;
}

/* ---- mass properties ---- */

typedef struct cones {
    bool shell, legacy;
    double volume;
    sim_v3 moment;
    double P[6];
} cones;

static double cone_over(const cones *c, sim_v3 D, sim_v3 E, sim_v3 F, sim_v3 from) {
    sim_v3 n = v3_scale(0.5, v3_cross(v3_sub(E, D), v3_sub(F, D)));
    if (c->shell) {
        return v3_norm(n);
    }
    double V = v3_dot(v3_sub(D, from), n) / 3;
    return c->legacy ? fabs(V) : V;
}

/* Centre of the faces, weighted by area. */
static sim_v3 face_centre(const surface *s) {
    sim_v3 sum = {0, 0, 0};
    double area = 0;
    for (int k = 0; k < s->nface; k++) {
        sim_v3 D = s->vertex[s->face[k][0]], E = s->vertex[s->face[k][1]], F = s->vertex[s->face[k][2]];
        double A = v3_norm(v3_cross(v3_sub(E, D), v3_sub(F, D))) / 2;
        sum = v3_axpy(sum, A / 3, v3_add(D, v3_add(E, F)));
        area += A;
    }
    return area > 0 ? v3_scale(1 / area, sum) : sum;
}

static void add_products(cones *c, double V, sim_v3 D, sim_v3 E, sim_v3 F) {
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const double d[3] = {D.x, D.y, D.z}, e[3] = {E.x, E.y, E.z}, f[3] = {F.x, F.y, F.z};
    for (int k = 0; k < 6; k++) {
        int i = pair[k][0], j = pair[k][1];
        double same = d[i] * d[j] + e[i] * e[j] + f[i] * f[j];
        double cross = d[i] * e[j] + d[j] * e[i] + d[i] * f[j] + d[j] * f[i] + e[i] * f[j] + e[j] * f[i];
        c->P[k] += V / (c->shell ? 12 : 20) * (2 * same + cross);
    }
}

static sim_inertia add_cones(const surface *s, bool shell, bool legacy) {
    cones c = {.shell = shell, .legacy = legacy};
    /* volume and centre of mass, from cones over the faces */
    sim_v3 o = face_centre(s);
    for (int k = 0; k < s->nface; k++) {
        sim_v3 D = s->vertex[s->face[k][0]], E = s->vertex[s->face[k][1]], F = s->vertex[s->face[k][2]];
        double V = cone_over(&c, D, E, F, o);
        sim_v3 base = v3_scale(1.0 / 3, v3_add(D, v3_add(E, F)));
        c.volume += V;
        c.moment = v3_axpy(c.moment, V, shell ? base : v3_add(v3_scale(0.75, base), v3_scale(0.25, o)));
    }
    sim_v3 com = c.volume > 0 ? v3_scale(1 / c.volume, c.moment) : o;
    /* second moments about it */
    double volume = 0;
    for (int k = 0; k < s->nface; k++) {
        sim_v3 D = v3_sub(s->vertex[s->face[k][0]], com), E = v3_sub(s->vertex[s->face[k][1]], com),
               F = v3_sub(s->vertex[s->face[k][2]], com);
        double V = cone_over(&c, D, E, F, (sim_v3){0, 0, 0});
        volume += V;
        add_products(&c, V, D, E, F);
    }
    const double *P = c.P;
    return (sim_inertia){volume, com, {P[1] + P[2], P[0] + P[2], P[0] + P[1], -P[3], -P[4], -P[5]}};
}

static void find_bounds(mjcf_mesh *m, const surface *s) {
    m->low = m->high = s->nvertex ? s->vertex[0] : (sim_v3){0, 0, 0};
    for (int k = 1; k < s->nvertex; k++) {
        sim_v3 v = s->vertex[k];
        m->low = (sim_v3){fmin(m->low.x, v.x), fmin(m->low.y, v.y), fmin(m->low.z, v.z)};
        m->high = (sim_v3){fmax(m->high.x, v.x), fmax(m->high.y, v.y), fmax(m->high.z, v.z)};
    }
}

bool mjcf_weigh_mesh(mjcf_work *w, mjcf_mesh *m, const xml_element *at) {
    if (m->weighed) {
        return m->inertia.mass > 0;
    }
    m->weighed = true;
    /* triangles */
    sim_error why = {0};
    surface s = {0};
    if (m->lost || !load_surface(w, m, &s, &why)) {
        w->report->no_resource |= why.status == SIM_NO_RESOURCE || m->absent;
        xml_error(w->report, m->at, m->path || m->lost ? "file" : NULL, NULL, "\"%.200s\" %s",
                  xml_text(m->at, "file") ? xml_text(m->at, "file") : "vertex", m->lost ? m->lost : why.text);
        mjcf_refuse(w);
        return false;
    }
    find_bounds(m, &s);
    /* of the hull, or of the faces */
    bool hull = mjcf_says(&m->item, "inertia", "convex") || s.nface == 0;
    if (hull) {
        sim_geometry *g = sim_geometry_hull(s.vertex, s.nvertex, &why);
        m->inertia = g ? g->solid : (sim_inertia){0};
        sim_geometry_free(g);
    } else {
        const char *way = mjcf_text(&m->item, "inertia");
        m->inertia = add_cones(&s, way && strcmp(way, "shell") == 0, !way || strcmp(way, "legacy") == 0);
    }
    free_surface(&s);
    if (!(m->inertia.mass > 0)) {
        xml_error(w->report, at, NULL, "inertia=\"convex\" takes that of its hull",
                  "the volume of the mesh is not above 0%s%s", why.text[0] ? ": " : "", why.text);
        mjcf_refuse(w);
        return false;
    }
    return true;
}

/* ---- fitted shapes ---- */

/* Principal axes with the moments falling from x to z, and half the edges of the equivalent box. */
static sim_quat equivalent_box(const sim_inertia *I, double half[3]) {
    double J[3][3] = {{I->moment.xx, I->moment.xy, I->moment.xz},
                      {I->moment.xy, I->moment.yy, I->moment.yz},
                      {I->moment.xz, I->moment.yz, I->moment.zz}};
    double e[3][3];
    eigen_symmetric(J, e);
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) {
        for (int k = i + 1; k < 3; k++) {
            if (J[order[k]][order[k]] > J[order[i]][order[i]]) {
                int swap = order[i];
                order[i] = order[k];
                order[k] = swap;
            }
        }
    }
    double sum = J[0][0] + J[1][1] + J[2][2];
    sim_v3 axis[3];
    for (int k = 0; k < 3; k++) {
        int c = order[k];
        half[k] = 0.5 * sqrt(fmax(6 * (sum - 2 * J[c][c]) / I->mass, 0));
        axis[k] = (sim_v3){e[0][c], e[1][c], e[2][c]};
    }
    return quat_from_matrix((sim_m3){axis[0], axis[1], v3_cross(axis[0], axis[1])});
}

static void fit_to_box(mjcf_shape type, const double half[3], double size[3]) {
    if (type == MJCF_SPHERE) {
        size[0] = (half[0] + half[1] + half[2]) / 3;
    } else if (type == MJCF_CAPSULE || type == MJCF_CYLINDER) {
        size[0] = (half[0] + half[1]) / 2;
        size[1] = type == MJCF_CYLINDER ? half[2] : fmax(0, half[2] - size[0] / 2);
    } else {
        memcpy(size, half, 3 * sizeof *half);
    }
}

static void fit_to_bounds(mjcf_shape type, const double half[3], double size[3]) {
    if (type == MJCF_SPHERE) {
        size[0] = fmax(half[0], fmax(half[1], half[2]));
    } else if (type == MJCF_CAPSULE || type == MJCF_CYLINDER) {
        size[0] = fmax(half[0], half[1]);
        size[1] = type == MJCF_CYLINDER ? half[2] : half[2] - size[0];
    } else {
        memcpy(size, half, 3 * sizeof *half);
    }
}

/* Bounds of the vertices in a frame; false: no memory, which is reported. */
static bool find_bounds_in(mjcf_work *w, const mjcf_mesh *m, mjcf_place frame, sim_v3 *low, sim_v3 *high) {
    surface s;
    sim_error why = {0};
    mjcf_mesh turned = *m;
    if (!load_surface(w, m, &s, &why)) {
        w->report->no_memory = true;
        mjcf_refuse(w);
        return false;
    }
    sim_pose X = pose_inverse(mjcf_pose(frame));
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k] = pose_point(X, s.vertex[k]);
    }
    find_bounds(&turned, &s);
    free_surface(&s);
    *low = turned.low;
    *high = turned.high;
    return true;
}

bool mjcf_mesh_reach(mjcf_work *w, mjcf_mesh *m, const xml_element *at, mjcf_place *frame, double reach[3]) {
    sim_v3 low, high;
    if (!mjcf_weigh_mesh(w, m, at)) {
        return false;
    }
    *frame = (mjcf_place){m->inertia.com, equivalent_box(&m->inertia, reach)};
    if (!find_bounds_in(w, m, *frame, &low, &high)) {
        return false;
    }
    reach[0] = fmax(-low.x, high.x);
    reach[1] = fmax(-low.y, high.y);
    reach[2] = fmax(-low.z, high.z);
    return true;
}

bool mjcf_fit_mesh(mjcf_work *w, mjcf_geom *g) {
    if (g->type == MJCF_PLANE || g->type == MJCF_HFIELD) {
        xml_error(w->report, g->item.at, "mesh", NULL, "only solid shapes are fitted to a mesh");
        mjcf_refuse(w);
        return false;
    }
    if (!mjcf_weigh_mesh(w, g->mesh, g->item.at)) {
        return false;
    }
    const mjcf_mesh *m = g->mesh;
    double half[3];
    mjcf_place box = {m->inertia.com, equivalent_box(&m->inertia, half)};
    if (!g->scope->file->compiler.fit_bounds) {
        fit_to_box(g->type, half, g->size);
    } else {
        /* bounds along the principal axes need the vertices again */
        sim_v3 low, high;
        if (!find_bounds_in(w, m, box, &low, &high)) {
            return false;
        }
        sim_v3 edge = v3_scale(0.5, v3_sub(high, low));
        fit_to_bounds(g->type, (const double[]){edge.x, edge.y, edge.z}, g->size);
        box = mjcf_product(box, (mjcf_place){v3_scale(0.5, v3_add(high, low)), {1, 0, 0, 0}});
    }
    double factor = mjcf_number(&g->item, "fitscale", 1);
    for (int k = 0; k < 3; k++) {
        g->size[k] *= factor;
    }
    g->place = mjcf_product(g->place, box);
    return true;
}
