/* Any bytes at all through the reader of SDFormat; files that a model includes come from the input, too. */
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_robot("fuzz/model.sdf", true, data, size);
    return 0;
}
