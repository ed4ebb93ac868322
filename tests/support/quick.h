/* Benchmarks run once in every check, to see that they still work: `--quick` asks them for less of the same. */
#ifndef SUPPORT_QUICK_H
#define SUPPORT_QUICK_H

#include <string.h>

static inline int asked_quick(int count, char **word) { return count > 1 && strcmp(word[1], "--quick") == 0; }

#endif
