/* Fields of a pose. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"
#include <sim/model.h>

static const field pose_fields[] = {
    {"position", FIELD_VECTOR, AT(pose_data, position), 3, POSITION, .standard = "[0, 0, 0]",
     .help = "Origin in the outer frame."},
    ORIENTATION_FIELDS(pose_data),
};
const table table_pose = {
    "pose", "Place of a frame in an outer frame. Without an orientation the axes are those of the outer frame.",
    sizeof(pose_data), pose_fields, .count = COUNT(pose_fields)};
