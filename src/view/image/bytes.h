/* Bytes that grow, and whole numbers in few of them. */
#ifndef VIEW_IMAGE_BYTES_H
#define VIEW_IMAGE_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct view_bytes {
    unsigned char *data;
    size_t size, room;
    int starved; /* something could not be put: no memory */
} view_bytes;

void view_bytes_free(view_bytes *bytes);
void view_put_byte(view_bytes *bytes, int byte);
void view_put_bytes(view_bytes *bytes, const void *from, size_t size);
/* Seven bits a byte, the lowest first, the eighth set where more follow. */
void view_put_number(view_bytes *bytes, uint64_t value);
/* A column of numbers that change little from one to the next: bytes.c. */
void view_put_column(view_bytes *bytes, const int64_t *value, int count);

#endif
