/* docs/mjcf.md, printed from the tables of the format. */
#include "scene/mjcf/mjcf.h"

static const char meaning[] =
    "# Models in MJCF\n\nThis page is printed from the tables that drive the reader "
    "(`src/scene/mjcf/format`).\n\n```\nsim humanoid.xml --duration 2 --view             # a model of MuJoCo\nsim "
    "convert humanoid.xml --out humanoid.json     # the same model as a scene\nsim model.xml --strict --validate       "
    "         # refuses whatever would be ignored\n```\n\nAs part of a scene:\n\n```json\n{\"sim\": 1, \"instances\": "
    "[{\"file\": \"panda.xml\", \"prefix\": \"left_\", \"pose\": {\"position\": [0, 0.5, 0]}}]}\n```\n\n## "
    "Meaning\n\n* Bodies, joints, sites and geoms keep their names and frames. Coordinates and velocities are those of "
    "MuJoCo, in the same order. Trees that a tendon moves beyond two of them, or an actuator beyond one, stand "
    "together, "
    "behind the first of them.\n* A body with several joints becomes a chain of massless links, one a joint. The body "
    "is the last link, or is fixed to it.\n* Geoms of the world belong to the body `world_body`.\n* A geom without "
    "`contype` and `conaffinity` is drawn but has no contacts. Groups from 3 on are drawn only where nothing else of "
    "their body is.\n* A mesh that cannot be read is an error, or a notice where it has neither contacts nor mass. "
    "`--allow mesh` leaves out all those without mass.\n* The range of a ball joint is that of a tendon, whose length "
    "is the angle of the joint.\n* Bodies that overlap at the start keep their contacts, as in MuJoCo. A warning names "
    "the deepest pairs and their depth, and the solver parts them. `--set world/exclude=initial` leaves these contacts "
    "out.\n* Names of files are relative to the model.\n\n";

static const char differences[] =
    "## Differences "
    "to MuJoCo\n\nMasses, poses, mass matrix and bias forces agree with MuJoCo to rounding. Other laws hold here "
    "for:\n\n* **Contacts, limits, equalities.** Without `solref` and `solimp` they are as stiff as the step resolves, "
    "or rigid. Otherwise these become a stiffness and a dissipation, with the full impedance `dmax`, and a notice says "
    "the numbers. Two soft geoms in contact are springs in series.\n* **Friction** has a round cone; torsional "
    "(`condim` 4) and rolling friction (6) have discs of their own, where MuJoCo has one cone for all. A turning "
    "surface (`surfacevel`) drives sliding friction, not torsion. `margin` and "
    "`gap` do not move surfaces apart. A joint's `margin` makes its range that much smaller.\n* **Sensors.** "
    "Accelerations of frames do not contain gravity. A touch sensor counts in the ball about its site. Noise, cutoff "
    "and delays are left out.\n* **Tendons.** A string that passes a geom at a right angle to the `sidesite` is "
    "straight here; in MuJoCo rounding chooses the side. Moments of a string inside a geom are exact to "
    "rounding, 2e-16; MuJoCo ends their iteration at 1e-6, which leaves 3e-7.\n* **Site with `refsite`.** The angle "
    "between sites that "
    "are turned in their bodies is that of the sites; "
    "MuJoCo multiplies their quaternions in the other order.\n* **Added mass** of ellipsoids in a fluid comes from "
    "the exact integral, in MuJoCo from a quadrature that is percents off for thin ones.\n* **Armature of a tendon** "
    "is part of the contact problem, not of the mass matrix.\n* **Frame of a free body.** It stays that of the file, "
    "also with `alignfree` or `align`.\n* **Muscles** without `lengthrange` have the lengths at "
    "which the mechanism stops as the muscle alone moves it; MuJoCo simulates them, to some percent. Equalities and "
    "ranges of other tendons do not stop the mechanism here.\n* **Dry friction** of joints is exact: below the limit a "
    "joint "
    "does not creep.\n* **Range of a joint's actuator force** (`actuatorfrcrange`). It limits the sum over the "
    "actuators that name the "
    "joint; MuJoCo also counts those of tendons and sites.\n* **Integrator.** Without `integrator` in the file it is "
    "implicit midpoint, of order 2.\n* "
    "**Mean of friction.** Two geoms of one file have the greater friction of the two, as in MuJoCo. With shapes of "
    "other files they have the geometric mean, as in all scenes.\n* **Numbers.** Vertices of meshes have double "
    "precision, heights of pictures their 16 bits; MuJoCo has single precision and 8 bits.\n\nEvery element and "
    "attribute is read, ignored with a notice, "
    "or refused with its place. `--strict` refuses what is ignored. `--allow NAME` ignores what is refused. "
    "Declarations of name spaces (`xmlns`) are passed over.\n\nA file has at most 16 MiB, 1,000,000 elements and "
    "attributes, and a nesting of 200. A model has at most 200,000 bodies, joints, geoms, sites and copies. A file "
    "holds no document type declaration. Numbers are decimal and finite.\n";

char *sim_mjcf_reference(void) {
    return xml_print_tables(&mjcf_table_model, (const char *const[]){meaning, differences, NULL});
}
