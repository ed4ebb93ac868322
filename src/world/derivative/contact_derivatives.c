/* Derivatives of the rows of a contact by the start of the step.
 *
 *     J_ek = +-e . (v_k + w_k x (x' - o_k)),    x' = p' + l,    l = x - p
 *     dJ_ek = +-(e . (w_k x (dl - w' x l)) + de . (v_k + w_k x (x' - o_k))) + D_ek dq'
 *     de = f x e,    f = n x dn,    d gap and dx by touch.c
 *
 *     x, p      point of a side (with `apart`, each has its own) and origin of its body at the start, m
 *     ' , q'    where J is taken: at the start, or midway along predicted velocities (world/contact/prediction.c)
 *     D_e       d (J' e) / d q of a force e at a point fixed to the body (dyn/mass/wrench_derivatives.c);  w' its turn
 *     e, n      axes of the frame, whose tangents turn no more than n does: laws are the same in all directions
 *
 * Contacts that last have levers, normals and offsets that change within the step (lasting_derivatives.c).
 * The impulse of the step before is fixed in the world, so its part along e changes by de.
 * Reference: contact/problem/row/contacts.c.  Cost: n^2 a row. */
#include "contact/problem/row/row.h"
#include "world/derivative/contact_rows.h"

const char *contact_trouble(const contact_step *step, int index) {
    const sim_contact *c = &step->to->contact[index];
    const model_tables *tables = step->rows->tables;
    if (tables->belts || tables->directed || tables->adhesive) {
        return "has contacts beside belts, friction by direction, or adhesion";
    }
    if (c->at.stiffness > 0) {
        return "has contacts of pressure fields";
    }
    return NULL;
}

static int last_moving_dof(const sim_model *m, int body) {
    while (body > 0 && m->body[body].nv == 0) {
        body = m->body[body].parent;
    }
    return body > 0 ? m->body[body].v0 + m->body[body].nv - 1 : -1;
}

/* The columns of the start, and of the place where J is taken. */
static bool differentiate_fixed(contact_rows *r, constraint_change *out) {
    const contact_step *step = r->s->step;
    const sim_model *m = step->motion->model;
    int parameter0 = out->at.width - step->parameters;
    place_changes by;
    if (!list_paths(r, &out->at) || !list_places(r, &r->at, step->start, &out->at, &by)) {
        return false;
    }
    for (int p = 0; p < step->parameters; p++) {
        const place_change *x = &by.by_parameter[p];
        if (step->parameter[p].kind != SIM_BY_PLACEMENT && step->parameter[p].kind != SIM_BY_SIZE) {
            continue;
        }
        out->gap[2 * out->at.width + parameter0 + p] = x->gap;
        add_row_column(r, x->lever, v3_cross(r->axis[2], x->n), parameter0 + p, out);
    }
    for (int side = 0; side < 2; side++) {
        for (int j = r->last[side]; j >= 0; j = m->dof[j].parent) {
            if (side == 0 || !is_dof_on_path(m, j, r->last[0])) {
                const place_change *x = &by.by_dof[local_dof(r->s, &out->at, j)];
                int column = local_column(r->s, &out->at, BY_START_Q, j);
                out->gap[2 * out->at.width + column] = x->gap;
                add_row_column(r, x->lever, v3_cross(r->axis[2], x->n), column, out);
            }
        }
        if (r->last[side] >= 0) {
            add_middle(r, side, out);
        }
    }
    return true;
}

/* The frame; then its columns. */
bool differentiate_contact(const island_system *s, int i, constraint_change *out) {
    const contact_step *step = s->step;
    const sim_model *m = step->motion->model;
    const constraint_source *t = &step->rows->source[s->is->source[i]];
    const sim_contact *c = &step->to->contact[t->index];
    const m3 *E = &step->rows->axes[s->is->first_constraint + i];
    const double *guess = s->is->base.impulse_guess + s->is->problem.constraint[i].row;
    contact_rows r = {.s = s, .c = c, .axis = {E->x, E->y, E->z}, .body = {c->body_a, c->body_b}};
    r.guess = m3_times(*E, (v3){guess[0], guess[1], guess[2]});
    r.turners = surface_turning_axes(step->rows, s->is->first_constraint + i, c, r.turner);
    int before = step->rows->before[s->is->first_constraint + i];
    r.moment = before < 0 ? v3_make(0, 0, 0) : step->motion->now->contact[before].moment;
    out->trouble = touch_make(step->start, c, &r.at);
    if (out->trouble) {
        return true;
    }
    out->kink = r.at.kink;
    for (int side = 0; side < 2; side++) {
        r.last[side] = last_moving_dof(m, r.body[side]);
        r.lever[side] = v3_sub(v3_axpy(c->at.position, side ? -0.5 : 0.5, c->at.apart), r.at.origin[side]);
    }
    r.stop = r.last[0];
    while (r.stop >= 0 && !is_dof_on_path(m, r.stop, r.last[1])) {
        r.stop = m->dof[r.stop].parent;
    }
    touch_surface(m, c, step->parameters, step->parameter, &out->surface);
    size_t mark = arena_mark(step->arena);
    bool lasts = lasting_contact(step, t->index) != NULL;
    bool ok = lasts ? differentiate_lasting(&r, i, out) : differentiate_fixed(&r, out);
    arena_release(step->arena, mark);
    return ok;
}
