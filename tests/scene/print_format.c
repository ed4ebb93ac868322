/* Prints the reference page or the JSON Schema of the scene format, or the page of URDF, MJCF, SDFormat or sweeps. */
#include <sim/scene.h>
#include <sim/sweep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *word = argc == 2 ? argv[1] : "";
    char *(*print)(void) = strcmp(word, "schema") == 0      ? sim_scene_schema
                           : strcmp(word, "reference") == 0 ? sim_scene_reference
                           : strcmp(word, "urdf") == 0      ? sim_urdf_reference
                           : strcmp(word, "mjcf") == 0      ? sim_mjcf_reference
                           : strcmp(word, "sdf") == 0       ? sim_sdf_reference
                           : strcmp(word, "sweep") == 0     ? sim_sweep_reference
                                                            : NULL;
    if (!print) {
        fprintf(stderr, "usage: print_format reference|schema|urdf|mjcf|sdf|sweep\n");
        return 2;
    }
    char *text = print();
    if (!text) {
        return 3;
    }
    fputs(text, stdout);
    free(text);
    return 0;
}
