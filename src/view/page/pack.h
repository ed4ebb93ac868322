/* Contents of a page in compact form.  The page's own reader is viewer/src/decode.js: both change together. */
#ifndef VIEW_PAGE_PACK_H
#define VIEW_PAGE_PACK_H

#include "view/image/bytes.h"
#include "view/mesh/extent.h"
#include "view/mesh/frame.h"
#include "view/mesh/mesh.h"
#include "view/mesh/sizes.h"
#include "view/page/readings.h"

/* pack_mesh.c */
void view_pack_mesh(view_bytes *out, const view_mesh *mesh);

/* Two numbers in -steps .. steps for a direction: pack_mesh.c. */
enum { VIEW_NORMAL_STEPS = 127, VIEW_FORCE_STEPS = 1023 };
void view_pack_direction(double x, double y, double z, int steps, int64_t code[2]);

/* pack_pose.c: x y z, which component of the quaternion was left out, the other three. */
enum { VIEW_POSE_NUMBERS = 7 };
/* Whole steps, rounded; 0 for numbers that are not finite; clamped at the range of the code. */
int64_t view_in_steps(double x, double step);
void view_pack_pose(const sim_pose *pose, double radius, int64_t code[VIEW_POSE_NUMBERS]);

/* pack_contacts.c: contacts of a block of frames, in columns of their own. */
typedef struct view_contact_packer view_contact_packer;

view_contact_packer *view_contact_packer_create(const sim_model *model, const view_sizes *sizes, double step);
void view_contact_packer_free(view_contact_packer *packer);
/* false: no memory. */
bool view_contact_packer_add(view_contact_packer *packer, const view_frame *frame);
/* Newtons that nine in ten of all forces so far do not exceed, but for their rounding; 0 where none acted. */
double view_contact_packer_usual(const view_contact_packer *packer);
/* Writes the block, and starts the next. */
void view_contact_packer_put(view_contact_packer *packer, view_bytes *out);

/* describe.c: the scene as JSON. */
typedef struct view_description {
    const sim_scene *scene;
    const view_sizes *sizes;
    const int *mesh_of_shape; /* [nshape]; -1: a half-space */
    const double (*scale)[3]; /* [nshape] */
    int meshes, frames, block_frames;
    const char *const *track, *const *unit; /* [tracks] */
    const int *body, *coordinate;           /* [tracks] whose coordinate it is; body 0: a figure of the scene */
    int tracks;
    const view_readings *readings; /* the last of the tracks */
    const view_extent *extent;     /* of all frames */
    double usual_force;            /* N; 0: there was none */
    int live;                      /* the run goes on: the page must know which solvers there are */
} view_description;

void view_describe(view_bytes *out, const view_description *d);

#endif
