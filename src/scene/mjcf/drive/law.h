/* The law of an actuator in MJCF, of whatever shortcut. */
#ifndef SCENE_MJCF_DRIVE_LAW_H
#define SCENE_MJCF_DRIVE_LAW_H

#include "scene/mjcf/parts/parts.h"

typedef enum mjcf_activation {
    MJCF_NO_ACTIVATION,
    MJCF_INTEGRATOR,
    MJCF_FILTER,
    MJCF_MUSCLE_ACTIVATION
} mjcf_activation;
typedef enum mjcf_law_type { MJCF_CONSTANT, MJCF_AFFINE, MJCF_MUSCLE_LAW } mjcf_law_type;
enum { MJCF_LAW_NUMBERS = 10 };

typedef struct mjcf_law {
    mjcf_activation dynamics;
    mjcf_law_type gain, bias;
    double dynprm[MJCF_LAW_NUMBERS], gainprm[MJCF_LAW_NUMBERS], biasprm[MJCF_LAW_NUMBERS];
    double gear[6], ctrl[2], force[2], act[2];
    const char *ctrl_limited, *force_limited, *act_limited; /* NULL: auto */
    double inherit;
    double group;
    double motor, resistance;    /* K, N m/A; R, Ohm */
    double damping[3], armature; /* of what turns with it, before its gear */
} mjcf_law;

/* Of an actuator, with the defaults of its classes. */
mjcf_law mjcf_read_law(mjcf_work *w, const mjcf_item *i);
/* Its gear, group, damping and armature alone. */
mjcf_law mjcf_read_gear(mjcf_work *w, const mjcf_item *i);

#endif
