/* HDF5 files for tests, by the library's plain means. */
#include "h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t access_plan(void) {
    static hid_t plan = -1;
    if (plan < 0) {
        plan = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_fclose_degree(plan, H5F_CLOSE_STRONG);
    }
    return plan;
}

hid_t h5_new(const char *path) { return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access_plan()); }

hid_t h5_group(hid_t parent, const char *name) {
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static void put(hid_t parent, const char *name, hid_t file_type, hid_t memory_type, int count, const void *values) {
    hsize_t size = (hsize_t)count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t set = H5Dcreate2(parent, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (count) {
        H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    H5Dclose(set);
    H5Sclose(space);
}

void h5_ints(hid_t parent, const char *name, int count, const int *values) {
    put(parent, name, H5T_STD_I32LE, H5T_NATIVE_INT, count, values);
}

void h5_int(hid_t parent, const char *name, int value) { h5_ints(parent, name, 1, &value); }

void h5_reals(hid_t parent, const char *name, int count, const double *values) {
    put(parent, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, values);
}

void h5_elsewhere(hid_t parent, const char *name, int count, const char *other, int is_virtual) {
    hsize_t size = (hsize_t)count;
    hid_t space = H5Screate_simple(1, &size, NULL), plan = H5Pcreate(H5P_DATASET_CREATE);
    if (is_virtual) {
        H5Pset_virtual(plan, space, other, "from", space);
    } else {
        H5Pset_external(plan, other, 0, size * sizeof(double));
    }
    H5Dclose(H5Dcreate2(parent, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, plan, H5P_DEFAULT));
    H5Pclose(plan);
    H5Sclose(space);
}

void h5_text(hid_t parent, const char *name, const char *text) {
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text) + 3); /* with something after the end */
    H5Tset_strpad(type, H5T_STR_SPACEPAD);
    char padded[200];
    snprintf(padded, sizeof padded, "%s   ", text);
    hid_t set = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

void h5_delete(const char *path, const char *name) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, access_plan());
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Fclose(file);
}

/* ---- matrices ---- */

static void put_triplets(hid_t group, int m, int n, const double *dense) {
    int room = m * n + 1, nz = 0, *row = calloc((size_t)room, sizeof *row), *column = calloc((size_t)room, sizeof *row);
    double *value = calloc((size_t)room, sizeof *value);
    for (int step = 0; step < m * n; step++) {
        int k = m * n - 1 - step;
        if (dense[k] != 0) {
            double first = nz == 0 ? 0.25 * dense[k] : dense[k];
            row[nz] = k / n;
            column[nz] = k % n;
            value[nz++] = first;
        }
    }
    if (nz) {
        row[nz] = row[0];
        column[nz] = column[0];
        value[nz] = 0.75 * dense[row[0] * n + column[0]];
        nz++;
    }
    h5_int(group, "nz", nz);
    h5_int(group, "nzmax", nz + 7);
    h5_ints(group, "i", nz, row);
    h5_ints(group, "p", nz, column);
    h5_reals(group, "x", nz, value);
    free(row);
    free(column);
    free(value);
}

/* Zeros within a row or column that has other numbers are kept at every third place. */
static void put_compressed(hid_t group, int m, int n, const double *dense, int by_rows) {
    int lines = by_rows ? m : n, across = by_rows ? n : m, count = 0;
    int *start = calloc((size_t)lines + 1, sizeof *start), *index = calloc((size_t)(m * n) + 1, sizeof *index);
    double *value = calloc((size_t)(m * n) + 1, sizeof *value);
    for (int line = 0; line < lines; line++) {
        for (int k = 0; k < across; k++) {
            double x = by_rows ? dense[line * n + k] : dense[k * n + line];
            if (x != 0 || (line + k) % 3 == 0) {
                index[count] = k;
                value[count++] = x;
            }
        }
        start[line + 1] = count;
    }
    h5_int(group, "nz", by_rows ? -2 : -1);
    h5_int(group, "nzmax", count);
    h5_ints(group, "p", lines + 1, start);
    h5_ints(group, "i", count, index);
    h5_reals(group, "x", count, value);
    free(start);
    free(index);
    free(value);
}

void h5_matrix(hid_t parent, const char *name, int m, int n, const double *dense, h5_storage storage) {
    hid_t group = h5_group(parent, name);
    h5_int(group, "m", m);
    h5_int(group, "n", n);
    if (storage == H5_TRIPLETS) {
        put_triplets(group, m, n, dense);
    } else {
        put_compressed(group, m, n, dense, storage == H5_ROWS);
    }
    H5Gclose(group);
}

/* ---- differences ---- */

static char difference[200];

static int same_values(hid_t a, hid_t b, int attribute) {
    hid_t types[2] = {attribute ? H5Aget_type(a) : H5Dget_type(a), attribute ? H5Aget_type(b) : H5Dget_type(b)};
    hid_t spaces[2] = {attribute ? H5Aget_space(a) : H5Dget_space(a), attribute ? H5Aget_space(b) : H5Dget_space(b)};
    int same = H5Tequal(types[0], types[1]) > 0 && H5Sextent_equal(spaces[0], spaces[1]) > 0;
    size_t size = same ? H5Tget_size(types[0]) * (size_t)H5Sget_simple_extent_npoints(spaces[0]) : 0;
    char *x = malloc(size + 1), *y = malloc(size + 1);
    memset(x, 1, size);
    memset(y, 2, size);
    if (same && size) {
        same = (attribute ? H5Aread(a, types[0], x) : H5Dread(a, types[0], H5S_ALL, H5S_ALL, H5P_DEFAULT, x)) >= 0 &&
               (attribute ? H5Aread(b, types[0], y) : H5Dread(b, types[0], H5S_ALL, H5S_ALL, H5P_DEFAULT, y)) >= 0 &&
               memcmp(x, y, size) == 0;
    }
    free(x);
    free(y);
    for (int k = 0; k < 2; k++) {
        H5Tclose(types[k]);
        H5Sclose(spaces[k]);
    }
    return same;
}

static herr_t compare_attribute(hid_t owner, const char *name, const H5A_info_t *info, void *data) {
    (void)info;
    hid_t other = *(hid_t *)data;
    hid_t a = H5Aopen(owner, name, H5P_DEFAULT);
    hid_t b = H5Aexists(other, name) > 0 ? H5Aopen(other, name, H5P_DEFAULT) : -1;
    int same = b >= 0 && same_values(a, b, 1);
    H5Aclose(a);
    if (b >= 0) {
        H5Aclose(b);
    }
    if (!same) {
        snprintf(difference, sizeof difference, "attribute %s", name);
    }
    return !same;
}

static int attributes_of(hid_t id) {
    H5O_info_t info;
#if H5_VERSION_GE(1, 12, 0)
    H5Oget_info3(id, &info, H5O_INFO_NUM_ATTRS);
#else
    H5Oget_info2(id, &info, H5O_INFO_NUM_ATTRS);
#endif
    return (int)info.num_attrs;
}

static hsize_t links_of(hid_t group) {
    H5G_info_t info;
    H5Gget_info(group, &info);
    return info.nlinks;
}

static herr_t compare_link(hid_t group, const char *name, const H5L_info_t *info, void *data) {
    (void)info;
    hid_t other = *(hid_t *)data;
    if (H5Lexists(other, name, H5P_DEFAULT) <= 0) {
        snprintf(difference, sizeof difference, "%s is missing", name);
        return 1;
    }
    hid_t a = H5Oopen(group, name, H5P_DEFAULT), b = H5Oopen(other, name, H5P_DEFAULT);
    int same = H5Iget_type(a) == H5Iget_type(b) && attributes_of(a) == attributes_of(b) &&
               H5Aiterate2(a, H5_INDEX_NAME, H5_ITER_INC, NULL, compare_attribute, &b) == 0;
    if (same && H5Iget_type(a) == H5I_GROUP) {
        same = links_of(a) == links_of(b) && H5Literate(a, H5_INDEX_NAME, H5_ITER_INC, NULL, compare_link, &b) == 0;
    } else if (same) {
        same = same_values(a, b, 0);
    }
    if (!same && !difference[0]) {
        snprintf(difference, sizeof difference, "%s", name);
    }
    H5Oclose(a);
    H5Oclose(b);
    return !same;
}

const char *h5_difference(const char *a, const char *b) {
    hid_t x = H5Fopen(a, H5F_ACC_RDONLY, access_plan()), y = H5Fopen(b, H5F_ACC_RDONLY, access_plan());
    hid_t root[2] = {H5Gopen2(x, "/", H5P_DEFAULT), H5Gopen2(y, "/", H5P_DEFAULT)};
    difference[0] = 0;
    if (root[0] < 0 || root[1] < 0) {
        return "cannot be opened";
    }
    int same = links_of(root[0]) == links_of(root[1]) &&
               H5Literate(root[0], H5_INDEX_NAME, H5_ITER_INC, NULL, compare_link, &root[1]) == 0;
    H5Fclose(x);
    H5Fclose(y);
    return same ? NULL : difference[0] ? difference : "the root";
}
