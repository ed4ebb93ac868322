/* HDF5 file driver that keeps a file readable when its writer is killed.
 *
 * The library's single-writer-multiple-reader mode keeps the file whole at every moment by its order of writing: data,
 * index, extent.  Two entries of the superblock (HDF5 File Format Specification 3.0, II.A, version 3) still keep
 * ordinary readers away after a kill.  This driver mends both as it writes:
 *
 *   - the consistency flags say "open for writing" until the file is closed: they go to the disk as zero;
 *   - the end-of-file address lags behind the data: it is kept at the size of the file, raised after each write that
 *     made the file longer, lowered before the file is cut.
 *
 * A full disk must not leave a file in pieces either: after the first write that fails nothing more reaches the disk.
 * The library could not close the file otherwise; so the driver reports success to it, and returns the unwritten bytes
 * when it reads.  The user of the file sees the failure in `hdf5_link`. */
#define _DEFAULT_SOURCE /* flock */
#include "record/run/hdf5_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Superblock, version 3, with 8-byte addresses. */
enum { SUPERBLOCK_BYTES = 48, AT_VERSION = 8, AT_ADDRESS_SIZE = 9, AT_FLAGS = 11, AT_END = 28, AT_CHECKSUM = 44 };

typedef struct driver_file {
    H5FD_t base;
    int descriptor;
    haddr_t allocated; /* end of address (EOA) in the terms of the library */
    haddr_t size;
    dev_t device;
    ino_t inode;
    unsigned char superblock[SUPERBLOCK_BYTES]; /* as it stands on the disk */
    bool patching;                              /* a superblock of the expected kind has been seen */
    hdf5_link *link;
    struct lost_write *lost; /* the latest first */
} driver_file;

/* A write that the disk had no room for. */
typedef struct lost_write {
    struct lost_write *before;
    haddr_t address;
    size_t size;
    char bytes[];
} lost_write;

typedef struct driver_settings {
    hdf5_link *link;
} driver_settings;

/* ---- the superblock ---- */

static uint32_t rotate_left(uint32_t x, int bits) { return (x << bits) | (x >> (32 - bits)); }

static uint32_t load_word(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void store_word(unsigned char *p, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        p[i] = (unsigned char)(value >> 8 * i);
    }
}

/* Jenkins' lookup3 hash of the 44 bytes before the checksum: three blocks of 12 bytes, then 8. */
static uint32_t superblock_checksum(const unsigned char *p) {
    static const int mix[6] = {4, 6, 8, 16, 19, 4}, final[7] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t x[3];
    x[0] = x[1] = x[2] = 0xdeadbeefu + AT_CHECKSUM;
    for (int block = 0; block < 3; block++, p += 12) {
        for (int i = 0; i < 3; i++) {
            x[i] += load_word(p + 4 * i);
        }
        for (int i = 0; i < 6; i++) {
            uint32_t *a = &x[i % 3], *b = &x[(i + 1) % 3], *c = &x[(i + 2) % 3];
            *a -= *c;
            *a ^= rotate_left(*c, mix[i]);
            *c += *b;
        }
    }
    x[0] += load_word(p);
    x[1] += load_word(p + 4);
    for (int i = 0; i < 7; i++) {
        uint32_t *target = &x[(i + 2) % 3], source = x[(i + 1) % 3];
        *target ^= source;
        *target -= rotate_left(source, final[i]);
    }
    return x[2];
}

/* The checksum proves that the bytes are a superblock of a known form; others are written unchanged. */
static bool is_superblock(haddr_t address, size_t size, const unsigned char *p) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return address == 0 && size == SUPERBLOCK_BYTES && memcmp(p, signature, sizeof signature) == 0 &&
           p[AT_VERSION] == 3 && p[AT_ADDRESS_SIZE] == 8 && load_word(p + AT_CHECKSUM) == superblock_checksum(p);
}

/* ---- writing ---- */

static void write_bytes(driver_file *file, haddr_t address, size_t size, const void *bytes) {
    const char *at = bytes;
    while (size > 0 && !file->link->trouble) {
        ssize_t done = pwrite(file->descriptor, at, size, (off_t)address);
        if (done < 0 && errno != EINTR) {
            file->link->trouble = errno;
        } else if (done > 0) {
            at += done;
            address += (haddr_t)done;
            size -= (size_t)done;
        }
    }
}

static void write_superblock(driver_file *file, haddr_t end) {
    if (file->patching && file->link->published) {
        file->superblock[AT_FLAGS] = 0;
        store_word(file->superblock + AT_END, end, 8);
        store_word(file->superblock + AT_CHECKSUM, superblock_checksum(file->superblock), 4);
        write_bytes(file, 0, SUPERBLOCK_BYTES, file->superblock);
    }
}

static herr_t keep_lost_write(driver_file *file, haddr_t address, size_t size, const void *bytes) {
    lost_write *lost = malloc(sizeof *lost + size);
    if (!lost) {
        return -1;
    }
    *lost = (lost_write){file->lost, address, size};
    memcpy(lost->bytes, bytes, size);
    file->lost = lost;
    return 0;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                           const void *bytes) {
    (void)type, (void)transfer;
    /* the superblock is written with the present end of the file */
    driver_file *file = (driver_file *)base;
    haddr_t end = address + size;
    if (is_superblock(address, size, bytes)) {
        memcpy(file->superblock, bytes, SUPERBLOCK_BYTES);
        file->patching = true;
        file->size = file->size > end ? file->size : end;
        write_superblock(file, file->size);
        return 0;
    }
    /* data; lost writes are kept for a second attempt */
    write_bytes(file, address, size, bytes);
    if (file->link->trouble) {
        return keep_lost_write(file, address, size, bytes);
    }
    /* the file has grown */
    if (end > file->size) {
        file->size = end;
        write_superblock(file, end);
    }
    return 0;
}

static herr_t driver_truncate(H5FD_t *base, hid_t transfer, hbool_t closing) {
    (void)transfer, (void)closing;
    driver_file *file = (driver_file *)base;
    if (file->allocated == file->size || file->link->trouble) {
        return 0;
    }
    if (file->allocated < file->size) {
        write_superblock(file, file->allocated);
    }
    if (ftruncate(file->descriptor, (off_t)file->allocated)) {
        file->link->trouble = errno;
        return 0;
    }
    if (file->allocated > file->size) {
        write_superblock(file, file->allocated);
    }
    file->size = file->allocated;
    return 0;
}

/* ---- the rest of a driver ---- */

static void read_lost_writes(const lost_write *lost, haddr_t address, size_t size, char *bytes) {
    if (!lost) {
        return;
    }
    read_lost_writes(lost->before, address, size, bytes);
    haddr_t first = lost->address > address ? lost->address : address;
    haddr_t mine = lost->address + lost->size, wanted = address + size, end = mine < wanted ? mine : wanted;
    if (first < end) {
        memcpy(bytes + (first - address), lost->bytes + (first - lost->address), end - first);
    }
}

static herr_t read_disk(const driver_file *file, haddr_t address, size_t size, char *at) {
    while (size > 0) {
        ssize_t done = pread(file->descriptor, at, size, (off_t)address);
        if (done < 0 && errno != EINTR) {
            return -1;
        }
        if (done == 0) { /* past the end everything is zero */
            memset(at, 0, size);
            return 0;
        }
        if (done > 0) {
            at += done;
            address += (haddr_t)done;
            size -= (size_t)done;
        }
    }
    return 0;
}

static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void *bytes) {
    (void)type, (void)transfer;
    driver_file *file = (driver_file *)base;
    if (read_disk(file, address, size, bytes) < 0) {
        return -1;
    }
    read_lost_writes(file->lost, address, size, bytes);
    return 0;
}

static int open_flags(unsigned flags) {
    return O_CLOEXEC | (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_CREAT ? O_CREAT : 0) |
           (flags & H5F_ACC_EXCL ? O_EXCL : 0);
}

/* The library would empty the file first and learn then that another program has it open. */
static int empty_file(int descriptor) {
    if (flock(descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        return -1;
    }
    return ftruncate(descriptor, 0) && errno != EINVAL ? -1 : 0; /* EINVAL: a device */
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t maximum) {
    (void)maximum;
    const driver_settings *settings = H5Pget_driver_info(access);
    driver_file *file = calloc(1, sizeof *file);
    struct stat status;
    if (!settings || !file) {
        free(file);
        return NULL;
    }
    file->link = settings->link;
    file->descriptor = open(name, open_flags(flags), 0666);
    if (file->descriptor < 0 || (flags & H5F_ACC_TRUNC && empty_file(file->descriptor)) ||
        fstat(file->descriptor, &status)) {
        file->link->trouble = errno;
        if (file->descriptor >= 0) {
            close(file->descriptor);
        }
        free(file);
        return NULL;
    }
    file->link->trouble = 0; /* the library tries first without creating */
    file->link->file = &file->base;
    file->size = (haddr_t)status.st_size;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    return &file->base;
}

static herr_t driver_close(H5FD_t *base) {
    driver_file *file = (driver_file *)base;
    if (close(file->descriptor) && !file->link->trouble) {
        file->link->trouble = errno;
    }
    while (file->lost) {
        lost_write *before = file->lost->before;
        free(file->lost);
        file->lost = before;
    }
    free(file);
    return 0;
}

static int driver_compare(const H5FD_t *a, const H5FD_t *b) {
    const driver_file *p = (const driver_file *)a, *q = (const driver_file *)b;
    if (p->device != q->device) {
        return p->device < q->device ? -1 : 1;
    }
    return p->inode == q->inode ? 0 : p->inode < q->inode ? -1 : 1;
}

/* Small pieces are not gathered: each write must reach the disk in the order in which the library makes it. */
static herr_t driver_query(const H5FD_t *base, unsigned long *flags) {
    (void)base;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)base)->allocated;
}

static herr_t driver_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((driver_file *)base)->allocated = address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)base)->size;
}

static herr_t driver_lock(H5FD_t *base, hbool_t exclusive) {
    driver_file *file = (driver_file *)base;
    if (flock(file->descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) && errno != ENOSYS) {
        file->link->trouble = errno;
        return -1;
    }
    return 0;
}

/* Readers may come where the library lets them; another writer may not as long as the file is open. */
static herr_t driver_unlock(H5FD_t *base) {
    flock(((driver_file *)base)->descriptor, LOCK_SH);
    return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 2)
    .version = H5FD_CLASS_VERSION,
    .value = 600,
#endif
    .name = "sim_trajectory",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(driver_settings),
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_compare,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .lock = driver_lock,
    .unlock = driver_unlock,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t hdf5_driver_register(void) { return H5FDregister(&driver_class); }

herr_t hdf5_driver_use(hid_t access, hid_t driver, hdf5_link *link) {
    driver_settings settings = {link};
    return H5Pset_driver(access, driver, &settings);
}

void hdf5_driver_publish(hdf5_link *link) {
    driver_file *file = (driver_file *)link->file;
    link->published = true;
    write_superblock(file, file->size);
}
