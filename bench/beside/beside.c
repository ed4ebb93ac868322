/* Frame of the programs that run one scene in one engine each: reading, the timed loop, printing. */
#include "beside.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_BODIES = 10000, NUMBERS_OF_A_BODY = 20 };

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* v + 2 w (u x v) + 2 u x (u x v) */
void beside_rotate(const double q[4], const double v[3], double out[3]) {
    const double *u = q + 1;
    double t[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        t[i] = 2 * (u[j] * v[k] - u[k] * v[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = v[i] + q[0] * t[i] + u[j] * t[k] - u[k] * t[j];
    }
}

void beside_rotate_back(const double q[4], const double v[3], double out[3]) {
    const double conjugate[4] = {q[0], -q[1], -q[2], -q[3]};
    beside_rotate(conjugate, v, out);
}

static bool read_numbers(FILE *file, double *number, int count) {
    for (int k = 0; k < count; k++) {
        if (fscanf(file, "%lf", &number[k]) != 1) {
            return false;
        }
    }
    return true;
}

static bool read_body(FILE *file, beside_shape shape, beside_scene *s) {
    double n[NUMBERS_OF_A_BODY];
    if (s->count == MAX_BODIES || !read_numbers(file, n, NUMBERS_OF_A_BODY)) {
        return false;
    }
    beside_body *b = &s->body[s->count++];
    *b = (beside_body){.shape = shape, .mass = n[3]};
    memcpy(b->size, n, sizeof b->size);
    memcpy(b->inertia, n + 4, sizeof b->inertia);
    memcpy(b->start.position, n + 7, sizeof b->start.position);
    memcpy(b->start.quaternion, n + 10, sizeof b->start.quaternion);
    memcpy(b->start.velocity, n + 14, sizeof b->start.velocity);
    memcpy(b->start.spin, n + 17, sizeof b->start.spin);
    bool in_order = b->mass <= 0 || s->moving == s->count - 1;
    s->moving += b->mass > 0;
    return in_order;
}

static bool read_item(FILE *file, const char *key, beside_scene *s) {
    static const char *const shape[] = {"ball", "box", "half_space"};
    for (int k = 0; k < 3; k++) {
        if (strcmp(key, shape[k]) == 0) {
            return read_body(file, (beside_shape)k, s);
        }
    }
    if (strcmp(key, "step") == 0) {
        return read_numbers(file, &s->step, 1);
    }
    if (strcmp(key, "steps") == 0) {
        return fscanf(file, "%d", &s->steps) == 1;
    }
    if (strcmp(key, "every") == 0) {
        return fscanf(file, "%d", &s->every) == 1 && s->every > 0;
    }
    if (strcmp(key, "limit") == 0) {
        return read_numbers(file, &s->limit, 1);
    }
    if (strcmp(key, "gravity") == 0) {
        return read_numbers(file, s->gravity, 3);
    }
    return strcmp(key, "friction") == 0 && read_numbers(file, &s->friction, 1);
}

static bool read_scene(const char *path, beside_scene *s) {
    char key[32] = "";
    *s = (beside_scene){.path = path, .every = 1, .limit = 60, .body = calloc(MAX_BODIES, sizeof *s->body)};
    FILE *file = fopen(path, "r");
    bool good = file && s->body;
    while (good && fscanf(file, "%31s", key) == 1) {
        good = read_item(file, key, s);
    }
    if (file) {
        fclose(file);
    }
    if (!good || s->step <= 0 || s->count == 0) {
        fprintf(stderr, "%s: not a scene (at \"%s\")\n", path, key);
        return false;
    }
    return true;
}

static void print_record(const beside_engine *e, const void *world, const beside_scene *s, int step, double spent,
                         int unsolved) {
    printf("{\"step\": %d, \"spent\": %.9f, \"unsolved\": %d, \"state\": [", step, spent, unsolved);
    for (int k = 0; k < s->moving; k++) {
        beside_state x;
        e->read(world, k, &x);
        const double *const part[] = {x.position, x.quaternion, x.velocity, x.spin};
        printf("%s[", k ? ", " : "");
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < (i == 1 ? 4 : 3); j++) {
                printf("%s%.17g", i + j ? "," : "", part[i][j]);
            }
        }
        printf("]");
    }
    printf("]}\n");
}

static void run(const beside_engine *e, void *world, const beside_scene *s) {
    double spent = 0;
    int unsolved = 0;
    print_record(e, world, s, 0, 0, 0);
    for (int k = 1; k <= s->steps && spent < s->limit; k++) {
        double begin = processor_seconds();
        int outcome = e->step(world);
        spent += processor_seconds() - begin;
        unsolved = outcome < 0 ? -1 : unsolved + outcome;
        if (k % s->every == 0 || k == s->steps) {
            print_record(e, world, s, k, spent, unsolved);
        }
    }
}

int beside_main(int count, char **word, const beside_engine *engine) {
    if (count != 3) {
        fprintf(stderr, "usage: %s SCENE VARIANT     (variants: %s)\n", word[0], engine->variants);
        return 2;
    }
    beside_scene scene;
    void *world = read_scene(word[1], &scene) ? engine->make(&scene, word[2]) : NULL;
    if (world) {
        printf("{\"engine\": \"%s\", \"version\": \"%s\", \"variant\": \"%s\"}\n", engine->name, engine->version(),
               word[2]);
        run(engine, world, &scene);
        engine->destroy(world);
    }
    free(scene.body);
    return world ? 0 : 1;
}
