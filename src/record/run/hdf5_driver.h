/* HDF5 file driver that keeps a file readable when its writer is killed. */
#ifndef RECORD_RUN_HDF5_DRIVER_H
#define RECORD_RUN_HDF5_DRIVER_H

#include <hdf5.h>

/* State shared by the user of a file and its driver.  Must outlive the file. */
typedef struct hdf5_link {
    int trouble;    /* errno of the first write that failed, else 0 */
    bool published; /* readers may see the file */
    H5FD_t *file;
} hdf5_link;

/* Registers the driver; close with H5FDunregister.  Negative on failure. */
hid_t hdf5_driver_register(void);
/* Files opened through `access` use the driver and `link`. */
herr_t hdf5_driver_use(hid_t access, hid_t driver, hdf5_link *link);
/* Until then the file has no superblock: killed half made, it is plainly no HDF5 file. */
void hdf5_driver_publish(hdf5_link *link);

#endif
