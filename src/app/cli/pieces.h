/* A line on the terminal that tells how many pieces of work are done: files, cases of a benchmark. */
#ifndef APP_CLI_PIECES_H
#define APP_CLI_PIECES_H

typedef struct pieces {
    int shown;      /* is anybody looking? */
    int done, many; /* pieces */
    char name[64];  /* of the one at hand */
    double next;    /* on the clock */
    int length;     /* of the line that stands there */
} pieces;

/* All take NULL: then nothing is told. */
void pieces_start(pieces *p, int many);
/* A piece begins. */
void pieces_begin(pieces *p, const char *name);
/* How much of it is done, 0 to 1.  Cheap; draws about ten times a second. */
void pieces_part(pieces *p, double part);
/* The line goes, so that something may be printed. */
void pieces_hide(pieces *p);
/* A piece is done; the line goes. */
void pieces_done(pieces *p);

#endif
