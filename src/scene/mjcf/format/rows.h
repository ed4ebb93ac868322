/* Rows that many tables of MJCF have in common. */
#ifndef SCENE_MJCF_FORMAT_ROWS_H
#define SCENE_MJCF_FORMAT_ROWS_H

#include "scene/mjcf/format/format.h"
#include "scene/xml/table_rows.h"

#define NOT_MOTION "it does not change the motion"
#define OWN_SOLVER "the solvers of sim have options of their own"
#define PLUGIN "it calls code of a plugin"
#define SOFTNESS "the constraint is as stiff as the step resolves"

#define WORDS(...)                                                                                                     \
    { __VA_ARGS__, NULL }
#define FALSE_TRUE WORDS("false", "true")
#define FALSE_TRUE_AUTO WORDS("false", "true", "auto")

/* clang-format off */
#define IGNORED(title, why) {.name = (title), .kind = XML_TEXT, .use = XML_IGNORED, .help = (why)}
#define NAME {.name = "name", .kind = XML_TEXT, .help = "Name."}
#define CLASS {.name = "class", .kind = XML_TEXT, .help = "Class of defaults."}
#define TEXT_KEY(title, text) {.name = (title), .kind = XML_TEXT, .help = (text)}
#define ORIENTATION                                                                                                    \
    {.name = "quat", .kind = XML_VECTOR, .count = 4, .help = "Orientation (w, x, y, z)."},                             \
    {.name = "axisangle", .kind = XML_VECTOR, .count = 4, .help = "Axis and angle."},                                  \
    {.name = "xyaxes", .kind = XML_VECTOR, .count = 6, .help = "Axes x and y; y is made perpendicular to x."},         \
    {.name = "zaxis", .kind = XML_VECTOR, .count = 3, .help = "Axis z, by the smallest turn."},                        \
    {.name = "euler", .kind = XML_VECTOR, .count = 3, .help = "Angles about the axes of `eulerseq`."}
#define POSITION {.name = "pos", .kind = XML_VECTOR, .count = 3, .unit = "m", .standard = "0 0 0", .help = "Position."}
#define SOFT(title, what)                                                                                              \
    {.name = (title), .kind = XML_VECTOR, .count = 2, .least = 1, .standard = "0.02 1", .help = what}
#define IMPEDANCE(title)                                                                                               \
    {.name = (title), .kind = XML_VECTOR, .count = 5, .least = 1, .standard = "0.9 0.95 0.001 0.5 2",                  \
     .help = "With the reference above."}
/* clang-format on */

#endif
