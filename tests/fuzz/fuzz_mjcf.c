/* Any bytes at all through the reader of MJCF; files that a model includes or attaches come from the input, too. */
#include "robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_robot("fuzz/model.xml", true, data, size);
    return 0;
}
