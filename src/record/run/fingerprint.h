/* Fingerprint of a model and its options. */
#ifndef RECORD_RUN_FINGERPRINT_H
#define RECORD_RUN_FINGERPRINT_H

#include <sim/model.h>
#include <sim/world.h>
#include <stdint.h>

/* Of everything that decides how a state moves on, the step and the integrator apart. */
uint64_t fingerprint_of(const sim_model *model, const sim_options *options);

#endif
