/* Characters of UTF-8 (RFC 3629): no surrogates, no form longer than needed. */
#include "base/utf8.h"

/* Well-formed sequences: Unicode Standard, table 3-7. */
int utf8_length(const unsigned char *c, size_t left) {
    static const struct {
        unsigned char low, high, second_low, second_high;
        int length;
    } form[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t f = 0; f < sizeof form / sizeof form[0]; f++) {
        if (c[0] < form[f].low || c[0] > form[f].high) {
            continue;
        }
        if ((size_t)form[f].length > left) {
            return 0;
        }
        for (int i = 1; i < form[f].length; i++) {
            unsigned char low = i == 1 ? form[f].second_low : 0x80, high = i == 1 ? form[f].second_high : 0xbf;
            if (c[i] < low || c[i] > high) {
                return 0;
            }
        }
        return form[f].length;
    }
    return 0;
}
