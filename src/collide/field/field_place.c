/* Points of a solid's surface in a distance field: value, gradient, slope along the surface, overlap. */
#include "collide/field/field_contact.h"

static const double SHARP_GAP_OVER_MARGIN = 1e-6; /* of the margin */

double encounter_field(encounter *e, v3 x, v3 *gradient) {
    e->fields++;
    double f = e->field->distance(e->field, pose_point(e->X_fs, x), gradient);
    *gradient = m3_transposed_times(e->X_fs.R, *gradient);
    return f;
}

void encounter_place(encounter *e, v3 t, v3 flat_normal, double reach, place *out) {
    out->t = out->x = t;
    out->normal = flat_normal;
    if (e->surface->curved && !solid_project(e->surface, t, reach, &out->x, &out->normal)) {
        out->x = t;
        out->normal = flat_normal;
    }
    out->f = encounter_field(e, v3_add(out->x, out->shift), &out->g);
}

v3 place_uphill(const place *at) { return v3_axpy(at->g, -v3_dot(at->g, at->normal), at->normal); }

/* Halfway between the two surfaces both solids are, where they overlap. */
static bool is_middle_in_both(encounter *e, const place *at) {
    v3 g, middle = v3_axpy(at->x, -0.5 * place_gap(at) / v3_norm(at->g), at->g);
    return encounter_field(e, middle, &g) < 0 &&
           (!e->surface->distance || e->surface->distance(e->surface, middle, &g) < 0);
}

void place_check(encounter *e, place *at) {
    if (at->lift == 0) {
        return;
    }
    place plain = *at;
    plain.shift = v3_make(0, 0, 0);
    plain.lift = 0;
    plain.f = encounter_field(e, at->x, &plain.g);
    if (plain.f >= 0 || place_gap(at) > 0.99 * plain.f || !is_middle_in_both(e, at)) {
        v3 n = at->g;
        *at = plain;
        if (plain.f >= 0 && plain.f <= SHARP_GAP_OVER_MARGIN * e->margin && v3_dot(n, plain.g) > 0.99) {
            at->g = n; /* better known than where phi is sharp */
        }
    }
}
