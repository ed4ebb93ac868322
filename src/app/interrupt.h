/* Has the user asked us to stop? */
#ifndef APP_INTERRUPT_H
#define APP_INTERRUPT_H

/* From now on the first SIGINT or SIGTERM is noted; the second kills, as if nobody watched.  A
 * file that outgrows its limit is an error like any other. */
void interrupt_watch(void);
int interrupt_seen(void);

#endif
