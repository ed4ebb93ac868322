/* Macros for the tables of fields (tables*.c). */
#ifndef SCENE_FORMAT_TABLES_TABLE_WORDS_H
#define SCENE_FORMAT_TABLES_TABLE_WORDS_H

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define AT(type, member) .offset = offsetof(type, member)
#define POSITIVE .range = {.has_low = true, .above_low = true}
#define NOT_NEGATIVE .range = {.has_low = true}
#define WITHIN(from, to) .range = {.has_low = true, .has_high = true, .low = (from), .high = (to)}
/* Sizes (m): their fourth powers, and those of their inverses, are finite. */
#define MIN_LENGTH 1e-12
#define LENGTH .unit = "m", WITHIN(MIN_LENGTH, 1e9)
/* Lengths that may be 0; coordinates within a shape; coordinates of positions. */
#define LENGTH_OR_ZERO .unit = "m", WITHIN(0, 1e9)
#define COORDINATE .unit = "m", WITHIN(-1e9, 1e9)
#define POSITION .unit = "m", WITHIN(-1e15, 1e15)
#define BIT(value) (1u << (value))

/* One orientation in any of four forms. */
#define ORIENTATION_FIELDS(type)                                                                                       \
    {"quaternion", FIELD_VECTOR, AT(type, quaternion), 4, .rival = 1, .help = "Orientation (w, x, y, z)."},            \
        {"rpy",                                                                                                        \
         FIELD_VECTOR,                                                                                                 \
         AT(type, rpy),                                                                                                \
         3,                                                                                                            \
         .unit = "rad",                                                                                                \
         .rival = 1,                                                                                                   \
         .help = "Roll, pitch, yaw about the fixed axes x, y, z: R = Rz(yaw) Ry(pitch) Rx(roll)."},                    \
        {"rpy_deg", FIELD_VECTOR, AT(type, rpy_deg), 3, .unit = "degrees", .rival = 1, .help = "`rpy` in degrees."}, { \
        "axis_angle", FIELD_VECTOR, AT(type, axis_angle), 4, .unit = "1, 1, 1, rad", .rival = 1,                       \
                                                             .help = "Axis (x, y, z) and angle about it."              \
    }

#endif
