/* Any bytes at all through the reader of URDF. */
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_robot("fuzz/robot.urdf", false, data, size);
    return 0;
}
