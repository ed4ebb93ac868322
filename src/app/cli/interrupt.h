/* Signals during a run. */
#ifndef APP_CLI_INTERRUPT_H
#define APP_CLI_INTERRUPT_H

enum { INTERRUPT_GRACE_SECONDS = 5 }; /* s */
enum { INTERRUPTED_STATUS = 130 };    /* exit status */

/* From now on the first SIGINT, SIGTERM or SIGHUP is noted.  The second kills by the default action, as does a SIGTERM or
 * SIGHUP that the run has not read within INTERRUPT_GRACE_SECONDS. A file beyond its size limit is an ordinary error. */
void interrupt_watch(void);
int interrupt_seen(void);
/* The same, without confirming it: the timer that kills keeps running. */
int interrupt_noted(void);
/* Before anything is written: the program ends with status 130 in so many whole seconds, at least one; 0: never. */
void interrupt_deadline(double seconds);

#endif
