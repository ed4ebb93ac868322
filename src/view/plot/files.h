/* Plots of files of records, chosen by words. */
#ifndef VIEW_PLOT_FILES_H
#define VIEW_PLOT_FILES_H

#include "record/run/trajectory.h"

typedef struct plot_wish {
    const char *quantities; /* "energy,elbow,*.pose.z": a panel each; NULL: chosen by the files */
    const char *y;          /* of a sweep: name of the input along y; NULL: chosen */
    const char *x;          /* name of the column along the axis; NULL: time, or iteration */
    const char *title;      /* NULL: the name of the scene */
    int log, linear;        /* axes of y, whatever suits the quantity */
    int log_x;
    double from, to;   /* NAN: all */
    int width, height; /* pixels; height 0: by the number of panels */
} plot_wish;

/* The picture as text, to be freed; NULL on failure.  `note` names omitted quantities, if any. */
char *plot_files(trajectory *const *file, int files, const plot_wish *wish, char note[256], sim_error *error);

#endif
