/* Sampled distance fields kept in files, so that a mesh is sampled once.
 *
 * A file is named KEY-BUILD.grid.  KEY is the SHA-256 of the format's name, the cell and the mesh's corners.  BUILD
 * is the first 8 digits of that of the build, since the same bits are promised on one build only.  It holds, in the
 * machine's own byte order:
 *
 *     bytes   0 ..   7   "SIMGRID1"
 *             8 ..  15   the number 1 in 64 bits: tells a file of the other byte order
 *            16 ..  79   KEY, 64 hexadecimal digits
 *            80 .. 103   samples along x, y, z: 64-bit integers
 *           104 .. 135   x, y, z of the first sample, cell: doubles
 *           136 .. 199   SHA-256 of the samples, 64 hexadecimal digits
 *           200 ..       samples: floats, x fastest
 *
 * Where a file differs in any byte, the grid is sampled anew and the file replaced in one step (written beside it, then
 * renamed).  So readers never see half of one.  The folder is made when a file is to be kept there; one that cannot be
 * written to is no error. */
#ifndef GEOMETRY_FIELD_GRID_FILE_H
#define GEOMETRY_FIELD_GRID_FILE_H

#include "geometry/field/grid.h"

/* Fills grid->key. */
void grid_file_key(field_grid *grid, const sim_mesh *mesh);
/* The file of a grid, or of one that ends otherwise; false if its name does not fit. */
bool grid_file_name(char *path, size_t size, const char *folder, const field_grid *grid, const char *end);
/* Fills the samples of a grid whose other members are set; false when there is no such file. */
bool grid_file_read(const char *folder, const field_grid *grid, float *sample);
void grid_file_write(const char *folder, const field_grid *grid);

#endif
