#include <sim/sim.h>
#include <stdio.h>

int main(void) {
    printf("sim %s (%s)\n", sim_version(), sim_build_info());
    return 0;
}
