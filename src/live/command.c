/* Commands of the page, parsed from JSON.  One object of JSON a command; anything else is refused. */
#include "live/command.h"
#include "scene/json/document.h"
#include "solver/words.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_COORDINATE = 1e15; /* rad or m, as in scenes */

/* With how many members beside it, each of which is asked for: so there is none twice, and none that is not known. */
static const struct {
    const char *word;
    int details;
} verbs[LIVE_VERBS] = {{"play", 0},   {"pause", 0}, {"step", 1},    {"reset", 0}, {"speed", 1},
                       {"solver", 1}, {"drag", 3},  {"release", 0}, {"joint", 3}, {"input", 3}};

/* A finite number from low to high. */
static bool read_command_number(const cJSON *object, const char *key, double low, double high, double *value) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    *value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    return *value >= low && *value <= high;
}

static bool read_command_integer(const cJSON *object, const char *key, int low, int high, int *value) {
    double real;
    if (!read_command_number(object, key, low, high, &real) || real != floor(real)) {
        return false;
    }
    *value = (int)real;
    return true;
}

static bool read_command_vector(const cJSON *object, const char *key, sim_v3 *value) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    double *part[3] = {&value->x, &value->y, &value->z};
    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 3) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        const cJSON *entry = cJSON_GetArrayItem(item, k);
        *part[k] = cJSON_IsNumber(entry) ? entry->valuedouble : NAN;
    }
    return isfinite(value->x) && isfinite(value->y) && isfinite(value->z);
}

/* As scenes and --solver have it: "pgs", "pgs:max_iterations=100". */
static bool read_solver(const char *words, live_command *command) {
    sim_error unused;
    if (strlen(words) >= sizeof command->words || solver_words_check(NULL, words, &unused)) {
        return false;
    }
    snprintf(command->words, sizeof command->words, "%.*s", (int)solver_words_name(words), words);
    command->solver = sim_solver_find(command->words);
    strcpy(command->words, words);
    return true;
}

/* A null gives the input back to its track. */
static bool read_input(const cJSON *object, const sim_model *model, live_command *command) {
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(object, "kind");
    const char *word = cJSON_IsString(kind) ? kind->valuestring : "";
    bool ctrl = strcmp(word, "ctrl") == 0;
    command->input = ctrl ? SIM_CTRL : SIM_TARGET;
    bool back = cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, "value"));
    command->value = NAN;
    return (ctrl || strcmp(word, "target") == 0) &&
           read_command_integer(object, "actuator", 0, model->nactuator - 1, &command->actuator) &&
           (back || read_command_number(object, "value", -MAX_COORDINATE, MAX_COORDINATE, &command->value));
}

/* The members beside the word, each within its bounds. */
static bool read_details(const cJSON *object, const sim_model *model, live_command *command) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(object, "name");
    int nbody = model->nbody;
    switch (command->verb) {
    case LIVE_STEP:
        return read_command_integer(object, "count", 1, LIVE_MAX_STEPS, &command->count);
    case LIVE_SPEED:
        return read_command_number(object, "value", 1.0 / 1024, 64, &command->speed);
    case LIVE_SOLVER:
        return cJSON_IsString(name) && read_solver(name->valuestring, command);
    case LIVE_DRAG:
        return read_command_integer(object, "body", 1, nbody - 1, &command->body) &&
               read_command_vector(object, "point", &command->point) &&
               read_command_vector(object, "target", &command->target);
    case LIVE_JOINT:
        return read_command_integer(object, "body", 1, nbody - 1, &command->body) &&
               read_command_integer(object, "coordinate", 0, 5, &command->coordinate) &&
               read_command_number(object, "value", -MAX_COORDINATE, MAX_COORDINATE, &command->value);
    case LIVE_INPUT:
        return read_input(object, model, command);
    default:
        return true;
    }
}

/* cJSON accepts more than JSON, and ignores text behind it. */
static bool is_json(const char *text, size_t length) {
    value_position *position = NULL;
    scan_fault fault;
    int values = json_scan(text, length, &position, &fault);
    if (values >= 0) {
        free(position);
    }
    return values >= 0;
}

sim_status live_command_read(const char *text, size_t length, const sim_model *model, live_command *command,
                             sim_error *error) {
    cJSON *object =
        length <= LIVE_MAX_COMMAND_BYTES && is_json(text, length) ? cJSON_ParseWithLength(text, length) : NULL;
    const cJSON *verb = cJSON_GetObjectItemCaseSensitive(object, "do");
    bool good = false;
    *command = (live_command){.verb = LIVE_VERBS};
    for (int k = 0; cJSON_IsString(verb) && k < LIVE_VERBS; k++) {
        if (strcmp(verb->valuestring, verbs[k].word) == 0) {
            command->verb = (live_verb)k;
            good = cJSON_GetArraySize(object) == 1 + verbs[k].details && read_details(object, model, command);
        }
    }
    cJSON_Delete(object);
    return good ? SIM_OK : sim_fail(error, SIM_BAD_INPUT, "unknown command");
}
