/* Ordinary files: read whole, told apart, put in the place of others. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <sim/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens a regular file for reading, without waiting for the other end of a pipe.  SIM_NO_RESOURCE: it cannot be opened;
 * SIM_BAD_INPUT: it is a folder, a pipe or a device.  The sentence does not name the file. */
sim_status file_open(const char *path, int *file, int64_t *size, sim_error *error);
/* Its bytes, with a zero byte behind them, to be freed; of at most `most` bytes. */
sim_status file_read(const char *path, int64_t most, char **bytes, size_t *size, sim_error *error);

/* Do both names lead to one file?  Names of files to be made count as one where their folders are one. */
bool file_same(const char *a, const char *b);

/* A file that takes the place of another in one move.  Until it is whole it has no name where the system can do
 * without, so that a program that is killed leaves nothing behind. */
typedef struct file_fresh {
    int file;     /* open for writing; -1: closed */
    bool named;   /* it stands under `beside` */
    char *path;   /* its place */
    char *beside; /* a name in the same folder */
} file_fresh;

/* These return 0, or the errno of the failure. */
int file_fresh_open(file_fresh *fresh, const char *path);
/* Brings it to the disk and moves it in. */
int file_fresh_commit(file_fresh *fresh);
/* After a commit, or instead of it. */
void file_fresh_close(file_fresh *fresh);

#endif
