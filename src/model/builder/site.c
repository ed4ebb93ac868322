/* Sites: checks of the builder. */
#include "model/builder/core/builder.h"

int sim_builder_add_site(sim_builder *b, const sim_site *given) {
    /* body, pose and name */
    if (!b || b->error.status || builder_check_body(b, given->body, "a site")) {
        return -1;
    }
    if (!builder_proper_pose(&given->pose) || !given->name) {
        builder_refuse(b, SIM_BAD_INPUT, "a site of body \"%s\" has no name, or no finite pose with a proper rotation",
                       b->body[given->body].name);
        return -1;
    }
    /* copy */
    if (builder_grow(b, (void **)&b->site, b->nsite, &b->site_room, sizeof *b->site)) {
        return -1;
    }
    b->site[b->nsite] = *given;
    b->site[b->nsite].name = pool_text(b->pool, given->name);
    if (!b->site[b->nsite].name) {
        builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
        return -1;
    }
    return b->nsite++;
}
