/* Solids that interlock, in mesh: gears, racks, ratchets and dovetails against the distance of their outlines.
 *
 * Their ends lie in one plane, or one is wider.  Known gaps are made by moving A along the outlines' normal: apart,
 * touching, or a little inside, where the depth is no more than it was moved, and across the axis. */
#include "oracle/teeth.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <sim/collide.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 6, GAPS = 11, MOST = 1024, APPROACH = 6 };
static const double WIDTH = 0.01, MODULE = 0.002, MARGIN = 5e-5;
static const double gaps[GAPS] = {1e-4, 1e-5, 1e-6, 1e-7, 1e-9, 1e-12, 0, -1e-9, -1e-7, -1e-6, -1e-5};

typedef struct couple {
    const char *name;
    outline a, b;
} couple;

static couple couple_of(int which) {
    couple c = {.a = gear_outline(20, MODULE, 6, 1e-4), .b = gear_outline(30, MODULE, 6, 1e-4)};
    c.name = "gear - gear";
    if (which == 1) {
        c.name = "gear - rack";
        c.b = rack_outline(9, MODULE, 1e-4);
    } else if (which == 2) {
        c.name = "pawl - ratchet";
        c.a = pawl_outline(0.02, 0.0025, 0.1);
        c.b = ratchet_outline(16, 0.02, 0.003, 0.1);
    } else if (which == 3) {
        c.name = "dovetail";
        c.a = tail_outline(0.01, 0.006, 0.25);
        c.b = socket_outline(0.01, 0.006, 0.25, 2e-4);
    } else if (which == 4) {
        c.name = "rack - rack";
        c.a = c.b = rack_outline(9, MODULE, 1e-4);
    } else if (which == 5) {
        c.name = "coarse gear - gear";
        c.a = gear_outline(8, 2 * MODULE, 2, 2e-4);
        c.b = gear_outline(13, 2 * MODULE, 2, 2e-4);
    }
    return c;
}

/* Somewhere in mesh, without overlap but by chance. */
static void put(random_source *r, int which, const couple *c, placed *a, placed *b) {
    static const double PI = 3.141592653589793;
    double turn = random_uniform(r, -PI, PI);
    *a = (placed){&c->a, 0, 0, 0};
    *b = (placed){&c->b, 0, 0, 0};
    if (which == 0 || which == 5) {
        int m = which ? 8 : 20, n = which ? 13 : 30, odd = n % 2;
        a->turn = turn;
        b->turn = -turn * m / n + (odd ? 0 : PI / n);
        b->x = 0.5 * (which ? 2 * MODULE : MODULE) * (m + n);
    } else if (which == 1) {
        a->turn = random_uniform(r, -0.1, 0.1) + PI / 2 + PI / 20;
        a->x = -(a->turn - PI / 2 - PI / 20) * 10 * MODULE;
        a->y = 10 * MODULE;
        a->turn += PI;
    } else if (which == 2) {
        b->turn = turn;
        a->y = 0.0228;
    } else if (which == 4) {
        a->turn = PI;
        a->x = 0.5 * PI * MODULE;
    }
}

/* Moves A along the normal until the gap is `*target`, nearly.  0: they overlap to begin with. */
static int bring(placed *a, const placed *b, double *target) {
    real n[2], gap = outlines_gap(a, b, n);
    if (gap <= 0) {
        return 0;
    }
    for (int k = 0; k < APPROACH; k++) {
        real next = k + 1 < APPROACH ? real_max(*target, k < 2 ? 1e-6L : 1e-9L) : *target;
        a->x += (next - gap) * n[0];
        a->y += (next - gap) * n[1];
        gap = next;
        if (next > 0) {
            real at[2] = {n[0], n[1]}, now = outlines_gap(a, b, n);
            if (now <= 0) { /* another place came first */
                a->x += 1e-6L * at[0];
                a->y += 1e-6L * at[1];
                now = outlines_gap(a, b, n);
                if (now <= 0) {
                    return 0;
                }
            }
            gap = now;
        }
    }
    *target = gap > 0 ? (double)gap : *target;
    return 1;
}

static sim_pose pose_of(const placed *p, mat R) {
    real c = cosl(p->turn), s = sinl(p->turn);
    mat own = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
    return (sim_pose){mat_plain(turn_both(R, own)), vec_plain(turn(R, vec_of(p->x, p->y, 0)))};
}

typedef struct answer {
    int count;
    double gap, span,
        tilt; /* the deepest; how far points reach along the axis; the greatest sine of a normal to the plane */
} answer;

static answer ask(const sim_shape *a, const sim_pose *X_a, const sim_shape *b, const sim_pose *X_b) {
    static sim_contact_point point[MOST];
    answer out = {.gap = HUGE_VAL};
    out.count = sim_collide_shapes(a, X_a, b, X_b, MARGIN, point, MOST);
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < out.count && k < MOST; k++) {
        double along = (double)dot(vec_from(point[k].position), vec_from(X_b->R.z));
        out.gap = fmin(out.gap, point[k].gap);
        out.tilt = fmax(out.tilt, fabs((double)dot(vec_from(point[k].normal), vec_from(X_b->R.z))));
        low = fmin(low, along);
        high = fmax(high, along);
    }
    out.span = high - low;
    return out;
}

static int is_right(const answer *got, double truth) {
    if (truth > MARGIN) {
        return got->count == 0;
    }
    int ends = got->count >= 2 && got->span > 0.99 * WIDTH && got->tilt < 1e-5;
    if (truth > -5e-10) {
        return ends && fabs(got->gap - truth) <= 1e-10;
    }
    return ends && got->gap >= 1.05 * truth - 1e-10 && got->gap <= 1e-3 * truth;
}

static void hold(int which, double bore, int single, double wider, int turned, int phases) {
    couple c = couple_of(which);
    random_source r = {(uint64_t)(70 + which)};
    sim_shape a = sim_shape_default(), b;
    a.type = SIM_MESH;
    b = a;
    a.geometry = prism_mesh(&c.a, WIDTH, which == 0 || which == 5 ? bore : 0, single);
    b.geometry = prism_mesh(&c.b, wider * WIDTH, which == 0 || which == 5 ? bore : 0, single);
    cr_assert(a.geometry && b.geometry);
    int asked = 0;
    phases = (int)oracle_scenes(phases);
    for (int k = 0; k < GAPS * phases; k++) {
        placed pa, pb;
        double truth = gaps[k % GAPS];
        put(&r, which, &c, &pa, &pb);
        if (!bring(&pa, &pb, &truth)) {
            continue;
        }
        mat R = turned ? mat_from(random_rotation(&r)) : (mat){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        sim_pose X_a = pose_of(&pa, R), X_b = pose_of(&pb, R);
        for (int swap = 0; swap < 2; swap++) {
            answer got = swap ? ask(&b, &X_b, &a, &X_a) : ask(&a, &X_a, &b, &X_b);
            cr_expect(is_right(&got, truth), "%s%s: gap %g: %d contacts, %g, from end to end %g, aslant %g", c.name,
                      swap ? " (exchanged)" : "", truth, got.count, got.gap, got.span, got.tilt);
        }
        asked++;
    }
    cr_expect_gt(asked, GAPS * phases / 2, "%s: %d places", c.name, asked);
    sim_geometry_free((sim_geometry *)a.geometry);
    sim_geometry_free((sim_geometry *)b.geometry);
}

Test(oracle_teeth, what_interlocks_is_as_near_as_its_outlines) {
    for (int which = 0; which < PAIRS; which++) {
        hold(which, 0, 0, 1, 1, 3);
    }
}

Test(oracle_teeth, what_interlocks_along_the_axes_is_as_near_as_its_outlines) {
    for (int which = 0; which < PAIRS; which++) {
        hold(which, 0, 0, 1, 0, 3);
    }
}

Test(oracle_teeth, what_interlocks_and_is_wider_is_as_near_as_its_outlines) {
    for (int which = 0; which < PAIRS; which++) {
        hold(which, 0, 0, 1.2, 1, 3);
    }
}

Test(oracle_teeth, gears_of_single_precision_files_are_as_near_as_their_outlines) {
    hold(0, FAN, 1, 1, 0, 3);
    hold(0, FAN, 1, 1, 1, 3);
    hold(0, 0.005, 1, 1, 1, 3);
    hold(5, FAN, 1, 1, 1, 3);
}

/* ---- sampled ---- */

static sim_geometry *sampled(sim_geometry *mesh, double cell, sim_error *error) {
    sim_field_def d = sim_field_default();
    d.type = SIM_FIELD_GRID;
    d.mesh = mesh;
    d.cell = cell;
    return sim_geometry_field(&d, 0, NULL, error);
}

Test(oracle_teeth, sampled_gears_have_a_surface_whatever_the_cell) {
    static const double cell[6] = {0.2e-3, 0.3e-3, 0.4e-3, 0.5e-3, 0.7e-3, 1e-3};
    for (int k = long_runs() ? 0 : 6 - part_of(4); k < 6; k++) {
        outline o = gear_outline(k % 2 ? 30 : 20, MODULE, 6, 1e-4);
        sim_error error = {0};
        sim_geometry *mesh = prism_mesh(&o, 0.4 * WIDTH, FAN, 1), *g = sampled(mesh, cell[k], &error);
        cr_expect(g, "cell %g: %s", cell[k], error.text);
        if (g) { /* rounded edges alone are missing: their length times a part of the cell squared */
            cr_expect_float_eq(g->solid.mass, mesh->solid.mass, 0.15 * cell[k] / MODULE * mesh->solid.mass,
                               "cell %g: %g m^3 for %g", cell[k], g->solid.mass, mesh->solid.mass);
        }
        sim_geometry_free(g);
        sim_geometry_free(mesh);
    }
}

Test(oracle_teeth, samples_of_a_gear_have_the_sign_of_its_outline) {
    outline o = gear_outline(20, MODULE, 6, 1e-4);
    sim_error error = {0};
    sim_geometry *mesh = prism_mesh(&o, WIDTH, FAN, 1), *g = sampled(mesh, 0.5e-3, &error);
    cr_assert(g, "%s", error.text);
    random_source r = {3};
    for (int k = 0; k < trials_of(20000); k++) {
        sim_v3 p = {random_uniform(&r, -0.023, 0.023), random_uniform(&r, -0.023, 0.023),
                    random_uniform(&r, -0.007, 0.007)};
        placed gear = {&o, 0, 0, 0}, point = {&(outline){3, {{0, 0}, {1e-9, 0}, {0, 1e-9}}}, 0, p.x, p.y};
        real n[2], away = outlines_gap(&gear, &point, n);
        double over = fabs(p.z) - 0.5 * WIDTH, d = sim_field_distance(g->field, p, NULL);
        if (away > 0.6e-3L || over > 0.6e-3) {
            cr_assert_gt(d, 0, "(%g, %g, %g): %g outside, %g over, field %g", p.x, p.y, p.z, (double)away, over, d);
        }
    }
    sim_geometry_free(g);
    sim_geometry_free(mesh);
}
