/* Has the user asked us to stop? */
#ifndef APP_INTERRUPT_H
#define APP_INTERRUPT_H

enum { INTERRUPT_PATIENCE = 5 }; /* s */

/* From now on the first SIGINT or SIGTERM is noted; the second kills, as if nobody watched, and so does a SIGTERM that
 * nobody has asked after in INTERRUPT_PATIENCE.  A file that outgrows its limit is an error like any other. */
void interrupt_watch(void);
int interrupt_seen(void);

#endif
