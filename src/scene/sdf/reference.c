/* docs/sdf.md, printed from the tables of the format. */
#include "scene/sdf/sdf.h"

static const char preface[] =
    "# Models in SDFormat\n"
    "\n"
    "This page is printed from the tables that drive the reader (`src/scene/sdf/tables.c`).\n"
    "\n"
    "```\n"
    "sim gripper.sdf --duration 2 --view           # a model, or a world of models\n"
    "sim convert world.sdf --out world.json        # the same as a scene\n"
    "sim world.sdf --package box=models/box        # model://box lies elsewhere\n"
    "```\n"
    "\n"
    "* Links of a file with one model keep their names. Those of a world become MODEL::LINK, nested ones "
    "MODEL::NESTED::LINK.\n"
    "* A link without a joint towards the world is free; a joint with the parent `world` holds it. A model that is "
    "`static` stands on the world.\n"
    "* Poses and axes follow the frames of version 1.7 and above. Before 1.5 axes are seen from the model.\n"
    "* A joint beside its child is carried by a body without mass, which has the name of the joint.\n"
    "* A link without `<inertial>` has 1 kg and moments of 1 kg m^2, as the format says.\n"
    "* Moments of inertia that no body has are errors. `--repair-inertia` takes the nearest possible ones.\n"
    "* Links of one model do not touch each other, unless `self_collide` is set.\n"
    "* Two surfaces in contact have the geometric mean of their friction, as in all scenes.\n"
    "* Places of `model://NAME` and `package://NAME`: the folder of `--package`; folders called NAME, from that of the "
    "file upwards and beside them; `ROS_PACKAGE_PATH`.\n"
    "* A world has a gravity of 9.8 m/s^2, a model alone 9.81 m/s^2.\n"
    "\n"
    "Every element and attribute is read, ignored with a notice, or refused with its place. `--strict` refuses what is "
    "ignored, `--allow NAME` ignores what is refused. A file has at most 16 MiB, 1,000,000 elements and attributes, "
    "and "
    "no document type declaration. Models are nested at most 20 deep.\n";

char *sim_sdf_reference(void) { return xml_print_tables(&sdf_table_file, (const char *const[]){preface, NULL}); }
