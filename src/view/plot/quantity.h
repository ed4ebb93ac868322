/* Quantities that follow --quantity. */
#ifndef VIEW_PLOT_QUANTITY_H
#define VIEW_PLOT_QUANTITY_H

#include "record/run/trajectory.h"

/* Made of a column, record by record. */
typedef enum plot_made {
    PLOT_AS_IT_IS,
    PLOT_FROM_START, /* less the first number */
    PLOT_FROM_LEAST, /* less the least number; that itself is a gap */
} plot_made;

typedef struct plot_quantity {
    const char *word, *title;
    const char *columns; /* names with * for any letters, spaces between; NULL: by `of` */
    bool (*of)(const trajectory_column *column);
    plot_made made;
    int log;
    const char *meaning;
} plot_quantity;

/* Of the table, in order; NULL after the last. */
const plot_quantity *plot_quantity_at(int k);
/* The quantity named by `word`: a row of the table, or columns of that name, stored in `room`. */
const plot_quantity *plot_quantity_of(const char *word, plot_quantity *room);
bool plot_quantity_has(const plot_quantity *quantity, const trajectory_column *column);

#endif
