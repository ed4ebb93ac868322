/* Characters of UTF-8. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the character at `c`, of which `left` bytes may be read, or 0 if it is not UTF-8.  A text that ends with
 * a zero byte is never read beyond it, whatever `left` is. */
int utf8_length(const unsigned char *c, size_t left);

#endif
