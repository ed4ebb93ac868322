/* Collision: the same pairs and contacts for any number of threads and whatever came before. */
#include "collide/boxes.h"
#include "collide/support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(broadphase, any_number_of_threads_and_any_history_give_the_same_pairs) {
    enum { TEAMS = 4, MANY_BOXES = 4000 };
    static const int team_size[TEAMS] = {1, 2, 3, 8};
    static const box_layout kinds[] = {UNIFORM, SIZES, ASTRAY, GIANTS};
    static const box_walk walks[] = {CREEP, CREEP,   FLY,   REST,  JUMP,    TREMBLE,
                                     CREEP, EXPLODE, CREEP, CREEP, SCATTER, CREEP};
    sim_threads *team[TEAMS];
    for (int t = 0; t < TEAMS; t++) {
        team[t] = threads_create(team_size[t]);
    }
    for (int k = 0; k < part_of(4); k++) {
        boxes s = make_boxes(kinds[k], MANY_BOXES, 0, 1, 31);
        broad_phase *b[TEAMS], *mixed = broadphase_create(s.count, s.moves, NULL, NULL);
        for (int t = 0; t < TEAMS; t++) {
            b[t] = broadphase_create(s.count, s.moves, NULL, NULL);
        }
        for (int frame = 0; frame < (int)(sizeof walks / sizeof *walks); frame++) {
            walk_boxes(&s, walks[frame]);
            broad_phase *fresh = broadphase_create(s.count, s.moves, NULL, NULL);
            const broad_pair *expected, *pairs;
            int n = broadphase_update(fresh, s.box, NULL, &expected);
            cr_assert_gt(n, MANY_BOXES / 100);
            for (int t = 0; t < TEAMS; t++) {
                int count = broadphase_update(b[t], s.box, team[t], &pairs);
                cr_assert_eq(first_difference(pairs, count, expected, n), -1, "layout %d, frame %d, %d threads", k,
                             frame, team_size[t]);
            }
            int count = broadphase_update(mixed, s.box, team[frame % TEAMS], &pairs);
            cr_assert_eq(first_difference(pairs, count, expected, n), -1, "layout %d, frame %d, changing threads", k,
                         frame);
            if (frame == 5) {
                expect_every_pair(fresh, &s, team[1], "many, layout", k, frame);
            }
            broadphase_free(fresh);
        }
        for (int t = 0; t < TEAMS; t++) {
            broadphase_free(b[t]);
        }
        broadphase_free(mixed);
        free_boxes(&s);
    }
    for (int t = 0; t < TEAMS; t++) {
        threads_free(team[t]);
    }
}

static void stir(stage *s, random_source *r, double distance) {
    for (int i = 1; i < s->model->nbody; i++) {
        s->pose[i].p.x += random_uniform(r, -distance, distance);
        s->pose[i].p.z += random_uniform(r, -distance, distance);
        s->velocity[i].lin.y = random_uniform(r, -1, 1);
        s->velocity[i].ang.x = random_uniform(r, -5, 5);
    }
}

Test(collision, any_number_of_threads_and_any_past_give_the_same_bits) {
    enum { FRAMES = 20 };
    const int threads[] = {1, 2, 3, 8};
    sim_contact *first[FRAMES] = {0};
    int count[FRAMES];
    for (int k = 0; k < 4; k++) {
        random_source r = {5};
        stage s = stage_create(scattered_solids(&r, 150, 0.6), NAN, threads[k]);
        for (int frame = 0; frame < FRAMES; frame++) {
            stir(&s, &r, 0.01);
            if (k == 3 && frame < FRAMES - 3) {
                continue; /* this one looks only at the last */
            }
            stage_look(&s, 0);
            size_t bytes = (size_t)s.count * sizeof *s.contact;
            if (k == 0) {
                count[frame] = s.count;
                first[frame] = malloc(bytes);
                memcpy(first[frame], s.contact, bytes);
            } else {
                cr_assert_eq(s.count, count[frame]);
                cr_assert_eq(memcmp(first[frame], s.contact, bytes), 0, "frame %d, %d threads", frame, threads[k]);
            }
        }
        stage_free(&s);
    }
    cr_expect_gt(count[0], 100);
    for (int frame = 0; frame < FRAMES; frame++) {
        free(first[frame]);
    }
}
