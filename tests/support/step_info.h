/* Comparison of what two worlds tell of a step. */
#ifndef SUPPORT_STEP_INFO_H
#define SUPPORT_STEP_INFO_H

#include <sim/world.h>
#include <stddef.h>
#include <string.h>

enum {
    CERTIFICATE_END = offsetof(sim_step_info, certificate) + offsetof(sim_certificate, nonfinite) + sizeof(int),
    AFTER_CERTIFICATE = offsetof(sim_step_info, worst_body),
};
_Static_assert(AFTER_CERTIFICATE - CERTIFICATE_END < sizeof(double), "no field lies between");

/* The same bits in every field.  A certificate is copied as a whole, so the bytes that pad its end have no value. */
static inline bool step_info_equals(const sim_step_info *a, const sim_step_info *b) {
    return !memcmp(a, b, CERTIFICATE_END) &&
           !memcmp((const char *)a + AFTER_CERTIFICATE, (const char *)b + AFTER_CERTIFICATE,
                   sizeof *a - AFTER_CERTIFICATE);
}

#endif
