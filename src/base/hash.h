/* FNV-1a hash of bytes, 64 bits:  h <- (h xor byte) (2^40 + 0x1b3) modulo 2^64,  h = HASH_START at first.
 *
 * Any change of a single byte changes the hash.  Its low bits are good, its high bits mix slowly: take hash_finish
 * where texts differ in few bits.  Reference: Fowler, Noll, Vo, Eastlake 2024, RFC 9923. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static inline uint64_t hash_byte(uint64_t hash, unsigned char byte) { return (hash ^ byte) * HASH_PRIME; }

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *byte = (const unsigned char *)data;
    for (size_t i = 0; i < size; i++) {
        hash = hash_byte(hash, byte[i]);
    }
    return hash;
}

/* A text without its closing zero. */
static inline uint64_t hash_text(uint64_t hash, const char *text) {
    for (; *text; text++) {
        hash = hash_byte(hash, (unsigned char)*text);
    }
    return hash;
}

/* A word of 64 bits in one step: for tables of numbers, eight times quicker than its bytes. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* A number; -0 counts as 0. */
static inline uint64_t hash_number(uint64_t hash, double number) {
    uint64_t bits;
    number += 0.0;
    memcpy(&bits, &number, sizeof bits);
    return hash_word(hash, bits);
}

/* Spreads every bit over all others. */
static inline uint64_t hash_finish(uint64_t hash) {
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

#endif
