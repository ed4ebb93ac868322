/* Which signals change the course of a run?  Ctrl-C leaves a note that the loop reads between two steps. */
#include "app/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen;

static void take_note(int number) {
    seen = 1;
    struct sigaction again = {.sa_handler = SIG_DFL};
    sigaction(number == SIGINT ? SIGTERM : SIGINT, &again, NULL);
}

void interrupt_watch(void) {
    struct sigaction action = {.sa_handler = take_note, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A file that may grow no more is an error to be told like a full disk, not a reason to die. */
    signal(SIGXFSZ, SIG_IGN);
}

int interrupt_seen(void) { return seen; }
