/* SHA-256 (FIPS 180-4): the name of a text by its content. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256_state {
    uint32_t state[8];
    uint64_t length; /* bytes taken so far */
    unsigned char block[64];
} sha256_state;

void sha256_start(sha256_state *hash);
void sha256_add(sha256_state *hash, const void *data, size_t length);
/* 64 hexadecimal digits and a zero. */
void sha256_finish(sha256_state *hash, char text[65]);

#endif
