/* Places: position, and orientation in any of its forms.
 *
 *     quat                           (w, x, y, z)
 *     axisangle                      axis, angle
 *     xyaxes                         x, y; y - (x . y) x is the second axis, their cross product the third
 *     zaxis                          the least turn of z
 *     euler                          q = q1 q2 q3 of angles about axes of `eulerseq`; capitals: about fixed axes
 *
 * An element has one form at most.  The nearest among its own and those of its classes counts; `quat` after all others.
 *
 * Reference: MuJoCo, Modeling, section Frame orientations. */
#include "scene/mjcf/parts/parts.h"

#include <ctype.h>
#include <math.h>

mjcf_place mjcf_identity(void) { return (mjcf_place){.q = {1, 0, 0, 0}}; }

sim_v3 mjcf_vector(const double v[3]) { return (sim_v3){v[0], v[1], v[2]}; }

static sim_quat rotation_about(sim_v3 axis, double angle) {
    double s = sin(angle / 2);
    return (sim_quat){cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
}

sim_quat mjcf_euler(const mjcf_file *f, const double angle[3]) {
    sim_quat q = {1, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        char letter = f->compiler.euler[k];
        bool fixed = isupper((unsigned char)letter);
        int axis = tolower((unsigned char)letter) - 'x';
        sim_quat turn = rotation_about((sim_v3){axis == 0, axis == 1, axis == 2}, mjcf_angle(f, angle[k]));
        q = fixed ? quat_product(turn, q) : quat_product(q, turn);
    }
    return q;
}

sim_quat mjcf_turn_to(sim_v3 z) {
    const double parallel = 1e-10;
    z = v3_scale(1 / v3_norm(z), z);
    sim_v3 axis = {-z.y, z.x, 0};
    double sine = v3_norm(axis);
    axis = sine < parallel ? (sim_v3){1, 0, 0} : v3_scale(1 / sine, axis);
    return rotation_about(axis, atan2(sine, z.z));
}

static sim_quat from_axes(sim_v3 x, sim_v3 y) {
    x = v3_scale(1 / v3_norm(x), x);
    y = v3_axpy(y, -v3_dot(x, y), x);
    y = v3_scale(1 / v3_norm(y), y);
    return quat_from_matrix((sim_m3){x, y, v3_cross(x, y)});
}

static bool is_small(sim_v3 v) { return v3_norm(v) < 1e-14; }

/* From the numbers of one of the keys; false: they give no direction. */
static bool read_form(const mjcf_file *f, const char *key, const double *v, sim_quat *q) {
    const double most_rounding = 1e-5; /* of numbers with six digits: these stay as they are written */
    double length;
    sim_v3 a = {v[0], v[1], v[2]}, b = {v[3], v[4], v[5]};
    switch (key[0]) {
    case 'q':
        *q = (sim_quat){v[0], v[1], v[2], v[3]};
        length = quat_norm(*q);
        if (length > 1e-14 && fabs(length - 1) > most_rounding) {
            *q = quat_normalised(*q);
        }
        return length > 1e-14;
    case 'a':
        if (is_small(a)) {
            return false;
        }
        *q = rotation_about(v3_scale(1 / v3_norm(a), a), mjcf_angle(f, v[3]));
        return true;
    case 'x':
        *q = is_small(a) || is_small(v3_cross(a, b)) ? *q : from_axes(a, b);
        return !is_small(a) && !is_small(v3_cross(a, b));
    case 'z':
        *q = is_small(a) ? *q : mjcf_turn_to(a);
        return !is_small(a);
    default:
        *q = mjcf_euler(f, v);
        return true;
    }
}

static const char *const orientation[] = {"axisangle", "xyaxes", "zaxis", "euler", "quat"};
enum { DERIVED_FORMS = 4 }; /* these come before "quat", even where a default says them */

static void read_orientation(mjcf_work *w, const mjcf_file *f, const mjcf_item *i, sim_quat *q) {
    /* the nearest form */
    int form;
    const xml_element *holder = mjcf_nearest_holder(i, orientation, DERIVED_FORMS, &form);
    if (!holder) {
        form = DERIVED_FORMS;
        holder = mjcf_holder(i, orientation[form]);
    }
    if (!holder) {
        return;
    }
    /* its numbers */
    double v[6] = {0};
    xml_numbers(holder, orientation[form], 6, v);
    if (!read_form(f, orientation[form], v, q)) {
        xml_error(w->report, holder, orientation[form], NULL, "the numbers of \"%s\" give no orientation",
                  orientation[form]);
        *q = (sim_quat){1, 0, 0, 0};
        mjcf_refuse(w);
    }
}

mjcf_place mjcf_read_place(mjcf_work *w, const mjcf_file *f, const mjcf_item *i) {
    mjcf_place out = mjcf_identity();
    double p[3] = {0};
    mjcf_numbers(i, "pos", 3, p);
    out.p = mjcf_vector(p);
    read_orientation(w, f, i, &out.q);
    return out;
}

static bool is_identity(mjcf_place a) {
    return a.p.x == 0 && a.p.y == 0 && a.p.z == 0 && a.q.x == 0 && a.q.y == 0 && a.q.z == 0 && a.q.w > 0;
}

mjcf_place mjcf_product(mjcf_place a, mjcf_place b) {
    if (is_identity(a)) { /* the numbers of the file stay */
        return b;
    }
    sim_quat q = quat_normalised(a.q);
    return (mjcf_place){v3_add(a.p, m3_times(quat_matrix(q), b.p)), quat_product(q, quat_normalised(b.q))};
}

mjcf_place mjcf_inverse(mjcf_place a) {
    sim_quat q = quat_conjugate(quat_normalised(a.q));
    return (mjcf_place){v3_neg(m3_times(quat_matrix(q), a.p)), q};
}

mjcf_place mjcf_inertial_place(mjcf_work *w, const mjcf_body *b) {
    return mjcf_product(b->inside, mjcf_read_place(w, b->scope->file, &b->inertial_item));
}

sim_pose mjcf_pose(mjcf_place a) { return (sim_pose){quat_matrix(quat_normalised(a.q)), a.p}; }

void mjcf_put_place(json_writer *out, const char *key, mjcf_place a) {
    bool moved = a.p.x != 0 || a.p.y != 0 || a.p.z != 0, turned = a.q.x != 0 || a.q.y != 0 || a.q.z != 0;
    if (!moved && !turned) {
        return;
    }
    writer_open(out, key, '{');
    if (moved) {
        writer_put_numbers(out, "position", 3, (const double[]){a.p.x, a.p.y, a.p.z});
    }
    if (turned) {
        writer_put_numbers(out, "quaternion", 4, (const double[]){a.q.w, a.q.x, a.q.y, a.q.z});
    }
    writer_close(out, '}');
}
