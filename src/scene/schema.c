#include <sim/scene.h>
char *sim_scene_schema(void) { return NULL; }
char *sim_scene_reference(void) { return NULL; }
