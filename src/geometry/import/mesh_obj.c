/* The triangles of a Wavefront OBJ file.
 *
 * Read are `v x y z` and `f` with three corners or more; further numbers of a vertex, a weight or colours, are left
 * aside. A corner is `vertex`, `vertex/texture`, `vertex//normal` or `vertex/texture/normal`, counted from 1 or, if
 * negative, back from the last vertex so far.  Faces of more corners are cut into triangles (polygon.c).  Known
 * statements that say nothing about a surface (texture, normals, groups, materials, points, lines, display) are
 * passed over.  Anything else is an error, free-form curves and surfaces too. `#` starts a comment; a backslash at
 * the end of a line joins it to the next.
 *
 * Wavefront Technologies, Object files (.obj), Advanced Visualizer manual, appendix B1. */
#include "geometry/import/mesh_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct obj {
    mesh_text *text;
    mesh_parts *parts;
    int *corner; /* of the face that is being read */
    size_t room;
} obj;

/* ---- lines ---- */

static bool line_ends(const mesh_text *t) {
    return *t->at == '\n' || *t->at == '\r' || *t->at == '#' || t->at >= t->end;
}

static void skip_blanks(mesh_text *t) {
    for (;;) {
        while (text_is_blank(*t->at)) {
            t->at++;
        }
        if (t->at[0] != '\\' || (t->at[1] != '\n' && t->at[1] != '\r')) {
            return;
        }
        t->at += t->at[1] == '\r' && t->at[2] == '\n' ? 3 : 2;
    }
}

static void skip_line(mesh_text *t) {
    int comment = 0;
    for (; t->at < t->end && *t->at != '\n' && *t->at != '\r'; t->at++) {
        comment |= *t->at == '#';
        if (!comment && t->at[0] == '\\' && (t->at[1] == '\n' || t->at[1] == '\r')) {
            t->at += t->at[1] == '\r' && t->at[2] == '\n' ? 2 : 1;
        }
    }
    t->at += t->at < t->end;
}

/* ---- statements ---- */

static sim_status read_obj_vertex(obj *o) {
    mesh_text *t = o->text;
    double x[8];
    int count = 0;
    for (skip_blanks(t); !line_ends(t) || count < 3; skip_blanks(t)) {
        if (count == 7) {
            return text_expected(t, t->at, "the end of the line after seven numbers of a vertex");
        }
        if (!text_number(t, &x[count++])) {
            return SIM_BAD_INPUT;
        }
    }
    if (o->parts->nvertex == INT_MAX) {
        return text_wrong(t, t->at, "more than %d vertices", INT_MAX);
    }
    return mesh_add_vertex(o->parts, (v3){x[0], x[1], x[2]}) ? SIM_OK : mesh_report_no_memory(t);
}

static bool read_integer(const char **at, long *value) {
    const char *p = *at;
    int negative = *p == '-';
    long n = 0;
    p += *p == '-' || *p == '+';
    if (*p < '0' || *p > '9') {
        return false;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n < LONG_MAX / 20 ? 10 * n + (*p - '0') : n;
    }
    *value = negative ? -n : n;
    *at = p;
    return true;
}

static sim_status read_corner(obj *o, int *corner) {
    static const char what[] = "a corner (vertex, vertex/texture, vertex//normal or vertex/texture/normal)";
    mesh_text *t = o->text;
    const char *p = t->at;
    /* number of the vertex */
    long n, unused, nvertex = (long)o->parts->nvertex;
    if (!read_integer(&p, &n)) {
        return text_expected(t, t->at, what);
    }
    /* texture and normal, which are not used */
    if (*p == '/') {
        p++;
        int texture = read_integer(&p, &unused);
        if (*p == '/') {
            p++;
            if (!read_integer(&p, &unused)) {
                return text_expected(t, t->at, what);
            }
        } else if (!texture) {
            return text_expected(t, t->at, what);
        }
    }
    if (!text_is_blank(*p) && *p != '\n' && *p != '\r' && *p != '#' && *p != '\\' && p < t->end) {
        return text_expected(t, t->at, what);
        /* from the first vertex, or back from the last */
    }
    long index = n < 0 ? nvertex + n : n - 1;
    if (index < 0 || index >= nvertex) {
        return text_wrong(t, t->at, "vertex %.*s of a face is not there: %ld so far, counted from 1",
                          (int)(p - t->at < 24 ? p - t->at : 24), t->at, nvertex);
    }
    *corner = (int)index;
    t->at = p;
    return SIM_OK;
}

static sim_status read_face(obj *o, const char *start) {
    /* corners to the end of the line */
    mesh_text *t = o->text;
    size_t count = 0;
    for (skip_blanks(t); !line_ends(t) || count < 3; skip_blanks(t)) {
        if (count == o->room) {
            size_t room = o->room ? 2 * o->room : 16;
            int *more = realloc(o->corner, room * sizeof(int));
            if (!more) {
                return mesh_report_no_memory(t);
            }
            o->corner = more;
            o->room = room;
        }
        sim_status status = read_corner(o, &o->corner[count]);
        if (status) {
            return status;
        }
        count++;
    }
    /* triangles of the polygon */
    if (count > INT_MAX / 2 || o->parts->ntriangle + count > INT_MAX) {
        return text_wrong(t, start, "more than %d triangles", INT_MAX);
    }
    return mesh_add_polygon(o->text, start, o->parts, o->corner, (int)count);
}

static bool says_nothing_of_surfaces(const char *word) {
    static const char *const known[] = {"vt",       "vn",       "vp",     "p",          "l",         "g",      "o",
                                        "s",        "mg",       "usemtl", "mtllib",     "usemap",    "maplib", "bevel",
                                        "c_interp", "d_interp", "lod",    "shadow_obj", "trace_obj", NULL};
    for (const char *const *k = known; *k; k++) {
        if (text_is_word(word, *k)) {
            return true;
        }
    }
    return false;
}

static sim_status read_statement(obj *o) {
    mesh_text *t = o->text;
    const char *word = t->at;
    if (text_is_word(word, "v")) {
        t->at++;
        return read_obj_vertex(o);
    }
    if (text_is_word(word, "f") || text_is_word(word, "fo")) {
        t->at = text_word_end(word);
        return read_face(o, word);
    }
    if (!says_nothing_of_surfaces(word)) {
        return text_expected(t, word, "v, f or another statement of an OBJ file of polygons");
    }
    return SIM_OK;
}

sim_status mesh_read_obj(mesh_text *text, mesh_parts *parts) {
    obj o = {text, parts, NULL, 0};
    sim_status status = SIM_OK;
    while (!status && text->at < text->end) {
        skip_blanks(text);
        if (!line_ends(text)) {
            status = read_statement(&o);
        }
        if (!status) {
            skip_line(text);
        }
    }
    free(o.corner);
    return status;
}
