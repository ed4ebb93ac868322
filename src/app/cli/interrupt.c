/* Signals during a run.  Ctrl-C leaves a note that the loop reads between two steps; the second kills.  SIGTERM is sent
 * once, by programs that do not wait, as is SIGHUP, by a terminal that closes: where the note is not read in time, they
 * kill after all.  A SIGHUP that is ignored stays so (nohup).  SIGALRM ends reading under a time limit, before anything
 * is written. */
#include "app/cli/interrupt.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

/* With the default action: the parent process sees that the signal ended the program. */
static void kill_process(int number) {
    (void)number;
    kill(getpid(), SIGTERM);
}

static void take_note(int number) {
    seen = 1;
    struct sigaction again = {.sa_handler = SIG_DFL}, late = {.sa_handler = kill_process};
    sigaction(SIGINT, &again, NULL);
    sigaction(SIGTERM, &again, NULL);
    if (number != SIGINT) {
        sigaction(SIGALRM, &late, NULL);
        alarm(INTERRUPT_GRACE_SECONDS);
    }
}

void interrupt_watch(void) {
    struct sigaction action = {.sa_handler = take_note, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &action, NULL);
    }
    /* A file that may grow no more is an error to be told like a full disk, not a reason to kill_process. */
    signal(SIGXFSZ, SIG_IGN);
}

int interrupt_noted(void) { return seen; }

static void give_up_reading(int number) {
    static const char text[] = "sim: interrupted: --time-limit reached before the run began\n";
    (void)number;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(INTERRUPTED_STATUS);
}

void interrupt_deadline(double seconds) {
    static const double most = 1e9;
    struct sigaction action = {.sa_handler = seconds > 0 ? give_up_reading : SIG_DFL};
    alarm(0);
    sigaction(SIGALRM, &action, NULL);
    if (seconds > 0) {
        alarm((unsigned)ceil(fmin(seconds, most)));
    }
}

int interrupt_seen(void) {
    if (seen) {
        alarm(0); /* the note is read */
    }
    return seen;
}
