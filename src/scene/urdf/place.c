/* The place of a frame, <origin>, as the pose of a scene.  Both mean R = Rz(yaw) Ry(pitch) Rx(roll). */
#include "scene/urdf/urdf.h"

static bool is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

void urdf_put_pose(urdf_work *w, const char *key, const xml_element *origin) {
    /* nothing where the frames coincide */
    double xyz[3], rpy[3];
    if (!origin) {
        return;
    }
    xml_vector(origin, "xyz", xyz);
    xml_vector(origin, "rpy", rpy);
    if (is_zero(xyz) && is_zero(rpy)) {
        return;
    }
    /* position and orientation */
    uint32_t here = w->out->here;
    w->out->here = origin->at;
    writer_open(w->out, key, '{');
    if (!is_zero(xyz)) {
        writer_put_numbers(w->out, "position", 3, xyz);
    }
    if (!is_zero(rpy)) {
        writer_put_numbers(w->out, "rpy", 3, rpy);
    }
    writer_close(w->out, '}');
    w->out->here = here;
}
