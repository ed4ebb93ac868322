/* The committed reference page and schema are what the table prints.  To renew them after a change of the table:
 *     build/tests/scene/print_format reference > docs/scene.md
 *     build/tests/scene/print_format urdf > docs/urdf.md
 *     build/tests/scene/print_format sdf > docs/sdf.md
 *     build/tests/scene/print_format mjcf > docs/mjcf.md
 *     build/tests/scene/print_format sweep > docs/sweeps.md
 *     build/tests/scene/print_format schema > scenes/scene.schema.json */
#include <criterion/criterion.h>
#include <math.h>
#include <sim/model.h>
#include <sim/scene.h>
#include <sim/sweep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void compare(char *printed, const char *path) {
    FILE *file = fopen(path, "rb"); /* tests run at the root of the sources */
    cr_assert(file, "%s is missing", path);
    cr_assert(printed);
    size_t length = strlen(printed);
    char *kept = calloc(length + 2, 1);
    size_t have = fread(kept, 1, length + 1, file);
    fclose(file);
    size_t same = 0;
    while (same < length && kept[same] == printed[same]) {
        same++;
    }
    cr_assert(have == length && same == length,
              "%s differs from the table at byte %zu: print it anew (see tests/scene/format.c)", path, same);
    free(kept);
    free(printed);
}

Test(scene_format, reference_page_is_what_the_table_says) { compare(sim_scene_reference(), "docs/scene.md"); }

Test(scene_format, material_table_has_the_defaults_of_the_library) {
    char *page = sim_scene_reference();
    cr_assert_not_null(page);
    cr_expect_not_null(
        strstr(page, "Without a key: `friction` 0.5, rigid, `adhesion_range` 1e-4 m, no `modulus`, the others 0;"));
    free(page);
    const sim_material m = sim_material_default();
    cr_expect(m.friction == 0.5 && m.friction_across == 0 && isinf(m.stiffness) && m.adhesion_range == 1e-4);
    cr_expect(m.modulus == 0 && m.dissipation == 0 && m.restitution == 0 && m.torsion == 0 && m.rolling == 0);
    cr_expect(m.adhesion == 0);
}

Test(scene_format, page_of_urdf_is_what_its_tables_say) { compare(sim_urdf_reference(), "docs/urdf.md"); }

Test(scene_format, page_of_mjcf_is_what_its_tables_say) { compare(sim_mjcf_reference(), "docs/mjcf.md"); }

Test(scene_format, page_of_sdf_is_what_its_tables_say) { compare(sim_sdf_reference(), "docs/sdf.md"); }

Test(scene_format, page_of_sweeps_is_what_its_tables_say) { compare(sim_sweep_reference(), "docs/sweeps.md"); }

Test(scene_format, schema_is_what_the_table_says) { compare(sim_scene_schema(), "scenes/scene.schema.json"); }
