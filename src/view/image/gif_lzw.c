/* LZW as GIF has it (Graphics Interchange Format 89a, appendix F): a text of indices as numbers of known words, each
 * the longest that fits.  A word and the next index make a new word.  Numbers have 9 bits, and one more whenever there
 * are twice as many; after 4096 words all are forgotten.  Bits go lowest first, in blocks of at most 255 bytes.
 * Cost: one look-up in a table of 8192 places an index.  Welch, A technique for high-performance data compression,
 * IEEE Computer 17(6), 1984. */
#include "view/image/moving.h"

#include <stdlib.h>
#include <string.h>

enum {
    INDEX_BITS = 8,
    CLEAR_CODE = 1 << INDEX_BITS,
    END_CODE,
    FIRST_WORD,
    MAX_WORDS = 4096,
    TABLE_PLACES = 8192,
    BLOCK_BYTES = 255
};

typedef struct lzw {
    uint32_t key[TABLE_PLACES]; /* word before and index, plus 1; 0: free */
    uint16_t word[TABLE_PLACES];
    int next, bits;
    uint32_t held; /* bits that are no byte yet */
    int nheld;
    unsigned char block[BLOCK_BYTES];
    int filled;
    view_bytes *out;
} lzw;

static void end_block(lzw *z) {
    if (z->filled) {
        view_put_byte(z->out, z->filled);
        view_put_bytes(z->out, z->block, (size_t)z->filled);
        z->filled = 0;
    }
}

static void put_held_byte(lzw *z) {
    z->block[z->filled++] = (unsigned char)z->held;
    z->held >>= 8;
    z->nheld -= 8;
    if (z->filled == BLOCK_BYTES) {
        end_block(z);
    }
}

static void put_code(lzw *z, int code) {
    z->held |= (uint32_t)code << z->nheld;
    z->nheld += z->bits;
    while (z->nheld >= 8) {
        put_held_byte(z);
    }
}

static void forget_words(lzw *z) {
    put_code(z, CLEAR_CODE);
    memset(z->key, 0, sizeof z->key);
    z->next = FIRST_WORD;
    z->bits = INDEX_BITS + 1;
}

/* The place of a word with one index more, or the free one where it belongs. */
static int find_word(const lzw *z, uint32_t key) {
    uint32_t at = key * 2654435761u >> 19;
    while (z->key[at] && z->key[at] != key) {
        at = (at + 1) % TABLE_PLACES;
    }
    return (int)at;
}

bool lzw_put(view_bytes *out, const unsigned char *index, size_t count) {
    /* dictionary of single colours */
    lzw *z = calloc(1, sizeof *z);
    if (!z) {
        return false;
    }
    *z = (lzw){.out = out, .bits = INDEX_BITS + 1};
    view_put_byte(out, INDEX_BITS);
    forget_words(z);
    /* the longest known word, then that word with the next index becomes known */
    int word = index[0];
    for (size_t k = 1; k < count; k++) {
        uint32_t key = ((uint32_t)word << INDEX_BITS | index[k]) + 1;
        int at = find_word(z, key);
        if (z->key[at]) {
            word = z->word[at];
            continue;
        }
        put_code(z, word);
        if (z->next == MAX_WORDS) {
            forget_words(z);
        } else {
            z->key[at] = key;
            z->word[at] = (uint16_t)z->next;
            z->bits += z->next == 1 << z->bits;
            z->next++;
        }
        word = index[k];
    }
    /* last word and end */
    put_code(z, word);
    put_code(z, END_CODE);
    while (z->nheld > 0) {
        put_held_byte(z);
    }
    end_block(z);
    view_put_byte(out, 0);
    free(z);
    return !out->starved;
}
