/* Plural endings of the program's texts. */
#ifndef APP_OUTPUT_PLURAL_H
#define APP_OUTPUT_PLURAL_H

/* "%lld step%s" */
static inline const char *plural_s(long long count) { return count == 1 ? "" : "s"; }

#endif
