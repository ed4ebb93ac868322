/* SHA-256 (FIPS 180-4): the name of a text by its content. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sim_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes taken so far */
    unsigned char block[64];
} sim_sha256;

void sim_sha256_start(sim_sha256 *hash);
void sim_sha256_add(sim_sha256 *hash, const void *data, size_t length);
/* 64 hexadecimal digits and a zero. */
void sim_sha256_finish(sim_sha256 *hash, char text[65]);

#endif
