/* Prints the reference page or the JSON Schema of the scene format. */
#include <sim/scene.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    bool schema = argc == 2 && strcmp(argv[1], "schema") == 0;
    if (!schema && (argc != 2 || strcmp(argv[1], "reference") != 0)) {
        fprintf(stderr, "usage: print_format reference|schema\n");
        return 2;
    }
    char *text = schema ? sim_scene_schema() : sim_scene_reference();
    if (!text) {
        return 3;
    }
    fputs(text, stdout);
    free(text);
    return 0;
}
