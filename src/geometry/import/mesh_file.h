/* Readers of mesh files: interface of mesh_file.c and of the formats (mesh_obj.c, mesh_stl.c, mesh_msh.c,
 * mesh_collada.c, mesh_gltf.c). */
#ifndef GEOMETRY_IMPORT_MESH_FILE_H
#define GEOMETRY_IMPORT_MESH_FILE_H

#include "geometry/import/parts/parts.h"

/* Triangles from the content of a file, for `sim_triangles_read`. */
sim_status mesh_parse(const char *name, const char *content, size_t size, v3 scale, sim_triangles *triangles,
                      sim_error *error);

sim_status mesh_read_obj(mesh_text *text, mesh_parts *parts);
sim_status mesh_read_stl(mesh_text *text, mesh_parts *parts);
sim_status mesh_read_msh(mesh_text *text, mesh_parts *parts);
sim_status mesh_read_collada(mesh_text *text, mesh_parts *parts);
sim_status mesh_read_gltf(mesh_text *text, mesh_parts *parts);
/* A binary STL file is as long as its count says. */
bool mesh_is_binary_stl(const char *content, size_t size);

#endif
