/* Readers of files of tetrahedra: interface of tets_file.c, and of the formats (tets_gmsh.c, tets_tetgen.c). */
#ifndef GEOMETRY_IMPORT_TETS_TETS_FILE_H
#define GEOMETRY_IMPORT_TETS_TETS_FILE_H

#include "geometry/import/parts/parts.h"

typedef struct tet_list {
    int nnode, ntet;
    v3 *node;
    int (*tet)[4];
} tet_list;

/* Where contents of files come from; `*content` is malloc'd and ends with a zero byte.  Its sentence names no file. */
typedef struct tet_source {
    sim_status (*read)(void *context, const char *path, char **content, size_t *size, sim_error *error);
    void *context;
} tet_source;

/* From the file system; without a context. */
sim_status tet_read_file(void *context, const char *path, char **content, size_t *size, sim_error *error);

/* Nodes that tetrahedra name, and these; the caller frees both arrays. */
sim_status tets_read(const tet_source *from, const char *path, v3 scale, tet_list *out, sim_error *error);

/* ---- for the formats ---- */

/* Nodes and tetrahedra on their way in, by the numbers of the file. */
typedef struct numbered_node {
    int64_t number;
    v3 at;
} numbered_node;

typedef struct numbered_tet {
    int64_t node[4];
    const char *at; /* its place, for messages */
} numbered_tet;

typedef struct tet_parts {
    numbered_node *node;
    numbered_tet *tet;
    size_t nnode, node_room, ntet, tet_room;
} tet_parts;

sim_status tets_add_node(const mesh_text *text, tet_parts *parts, int64_t number, v3 at);
sim_status tets_add_tet(const mesh_text *text, tet_parts *parts, const int64_t node[4], const char *at);

/* The next number behind blanks, ends of lines and comments; `count` of them; a whole one. */
sim_status tets_numbers(mesh_text *text, int count, double *x);
sim_status tets_whole(mesh_text *text, int64_t *n);
void tets_next_line(mesh_text *text);

sim_status tets_read_gmsh(mesh_text *text, tet_parts *parts);
/* Two files. */
sim_status tets_read_tetgen_nodes(mesh_text *text, tet_parts *parts);
sim_status tets_read_tetgen_tets(mesh_text *text, tet_parts *parts);

#endif
