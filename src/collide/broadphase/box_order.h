/* An order of boxes in which neighbours in space stand near each other, sizes apart. */
#ifndef COLLIDE_BROADPHASE_BOX_ORDER_H
#define COLLIDE_BROADPHASE_BOX_ORDER_H

#include "collide/broadphase/box_tree.h"

typedef struct box_order {
    int *item, *spare;
    uint32_t *key, *spare_key;
    int *counter; /* of the cells of one grid */
    int room;
    size_t bytes;
} box_order;

/* Room for `room` boxes; false without memory. */
bool box_order_create(box_order *order, int room);
void box_order_free(box_order *order);

/* Puts item[0..count) in order by their boxes, box[item]. The order depends on the boxes and on the order before. */
void box_order_sort(box_order *order, int count, const float_box *box);

#endif
