/* Quantities of a run that can be drawn.  Each quantity gathers columns of a file; any other word is the name of a
 * column, or, with *, of several. */
#include "view/plot/quantity.h"
#include "scene/json/names.h"

#include <stdlib.h>
#include <string.h>

/* Does a name fit one of the patterns, with spaces between? */
static bool matches_any(const char *patterns, const char *name) {
    int64_t steps = 0;
    for (const char *p = patterns; *p;) {
        size_t length = strcspn(p, " ");
        char one[600];
        if (length < sizeof one) {
            memcpy(one, p, length);
            one[length] = 0;
            if (name_matches(name, one, &steps)) {
                return true;
            }
        }
        p += length + (p[length] == ' ');
    }
    return false;
}

/* Coordinates and velocities have the names of joints alone. */
static bool is_of_joint(const trajectory_column *c) {
    return !matches_any("time step *.pose.* *.twist.* *.point.* energy.* momentum.* effort.* sensor.* certificate.*",
                        c->name);
}

static bool is_coordinate(const trajectory_column *c) {
    return is_of_joint(c) && (strcmp(c->unit, "rad") == 0 || strcmp(c->unit, "m") == 0 ||
                              (!*c->unit && matches_any("*.qw *.qx *.qy *.qz", c->name)));
}

static bool is_velocity(const trajectory_column *c) {
    return is_of_joint(c) && (strcmp(c->unit, "rad/s") == 0 || strcmp(c->unit, "m/s") == 0);
}

static const plot_quantity table[] = {
    {"energy", "energy", "energy.*", .meaning = "kinetic, potential and total energy"},
    {"drift", "change of total energy", "energy.total", .made = PLOT_FROM_START,
     .meaning = "total energy minus that of the first record"},
    {"contacts", "contacts", "contacts", .meaning = "contacts of a step"},
    {"iterations", "iterations of the contact solver", "solver_iterations",
     .meaning = "of the contact solver, on the hardest island"},
    {"integrator", "iterations of the integrator", "iterations", .meaning = "of an implicit integrator"},
    {"E", "error E of the rigid Coulomb law", "certificate.E", .log = 1,
     .meaning = "error of the contact solutions, which compares solvers"},
    {"own", "error of the solver's own law", "certificate.own", .log = 1,
     .meaning = "the same for the solver's own law"},
    {"penetration", "deepest overlap", "certificate.penetration", .meaning = "deepest overlap at the end of the step"},
    {"past_range", "greatest angle past a range", "certificate.past_range",
     .meaning = "greatest angle of a joint past its range at the end of the step"},
    {"slip", "fastest slip inside the cone", "certificate.slip", .log = 1,
     .meaning = "fastest slip where friction should hold"},
    {"coordinates", "coordinates", .of = is_coordinate, .meaning = "all joint coordinates"},
    {"velocities", "velocities", .of = is_velocity, .meaning = "all joint velocities"},
    {"positions", "positions", "*.pose.x *.pose.y *.pose.z", .meaning = "origins of all bodies"},
    {"points", "points", "*.point.x *.point.y *.point.z", .meaning = "positions of the recorded points"},
    {"momentum", "momentum", "momentum.*", .meaning = "angular and linear momentum"},
    {"efforts", "efforts", "effort.*", .meaning = "efforts of the actuators"},
    {"sensors", "sensors", "sensor.*", .meaning = "readings of the sensors"},
    {"residual", "residual", "residual", .log = 1, .meaning = "of the integrator; in a history, of the contact solver"},
    {"cost", "cost above the minimum", "cost", .made = PLOT_FROM_LEAST, .log = 1,
     .meaning = "in a history: cost minus its minimum"},
};

const plot_quantity *plot_quantity_at(int k) { return k < (int)(sizeof table / sizeof table[0]) ? &table[k] : NULL; }

const plot_quantity *plot_quantity_of(const char *word, plot_quantity *room) {
    for (int k = 0; plot_quantity_at(k); k++) {
        if (strcmp(table[k].word, word) == 0) {
            return &table[k];
        }
    }
    *room =
        (plot_quantity){.word = word, .title = word, .columns = NULL, .log = strncmp(word, "certificate.", 12) == 0};
    return room;
}

bool plot_quantity_has(const plot_quantity *q, const trajectory_column *c) {
    if (q->of) {
        return q->of(c);
    }
    if (q->columns) {
        return matches_any(q->columns, c->name);
    }
    int64_t steps = 0;
    if (name_matches(c->name, q->word, &steps)) {
        return true;
    }
    size_t length = strlen(c->name); /* "elbow [rad]" */
    const char *unit = q->word + length;
    return strncmp(q->word, c->name, length) == 0 && strncmp(unit, " [", 2) == 0 &&
           strncmp(unit + 2, c->unit, strlen(c->unit)) == 0 && strcmp(unit + 2 + strlen(c->unit), "]") == 0;
}
