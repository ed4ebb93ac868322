/* A line on the terminal that tells how many pieces of work are done: files, cases of a benchmark. */
#ifndef APP_CLI_BATCH_PROGRESS_H
#define APP_CLI_BATCH_PROGRESS_H

typedef struct batch_progress {
    int shown;      /* is anybody looking? */
    int done, many; /* pieces of work */
    char name[64];  /* of the one at hand */
    double next;    /* on the clock */
    int length;     /* of the line that stands there */
} batch_progress;

/* All take NULL: then nothing is told. */
void batch_progress_start(batch_progress *p, int many);
/* A piece begins. */
void batch_progress_begin(batch_progress *p, const char *name);
/* How much of it is done, 0 to 1.  Cheap; draws about ten times a second. */
void batch_progress_part(batch_progress *p, double part);
/* The line goes, so that something may be printed. */
void batch_progress_hide(batch_progress *p);
/* A piece is done; the line goes. */
void batch_progress_done(batch_progress *p);

#endif
