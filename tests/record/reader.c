/* A reader that knows nothing of the writer: does FILE hold N records of time? */
#include <hdf5.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    hsize_t records = 0;
    hid_t file = count == 3 ? H5Fopen(arguments[1], H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
    hid_t set = file < 0 ? -1 : H5Dopen2(file, "time", H5P_DEFAULT), space = set < 0 ? -1 : H5Dget_space(set);
    if (space < 0 || H5Sget_simple_extent_dims(space, &records, NULL) != 1) {
        return 2;
    }
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return records == (hsize_t)atoll(arguments[2]) ? 0 : 1;
}
