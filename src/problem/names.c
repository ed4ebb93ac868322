/* Names of constraint kinds, cones and laws. */
#include <sim/problem.h>

const char *sim_constraint_name(sim_constraint_kind kind) {
    static const char *const name[SIM_CONSTRAINT_KINDS] = {
        [SIM_CONTACT] = "contact",   [SIM_LIMIT] = "limit",   [SIM_FRICTION] = "friction",
        [SIM_EQUALITY] = "equality", [SIM_SPRING] = "spring", [SIM_ACTUATOR] = "actuator",
    };
    return name[kind];
}

const char *sim_cone_name(sim_cone cone) {
    static const char *const name[SIM_CONES] = {
        [SIM_CONE_STRICT] = "strict",
        [SIM_CONE_CONVEX] = "convex",
        [SIM_CONE_PYRAMID] = "pyramid",
    };
    return name[cone];
}

const char *sim_compliance_name(sim_compliance compliance) {
    static const char *const name[SIM_COMPLIANCES] = {
        [SIM_RIGID] = "rigid", [SIM_NEAR_RIGID] = "near-rigid", [SIM_ELASTIC] = "elastic"};
    return name[compliance];
}
