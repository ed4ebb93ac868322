/* Runner of test cases: one fork a case.
 *
 *   PROGRAM [--list] [--filter SUITE/NAME]      SUITE/NAME is a pattern as for file names; output is TAP
 *
 * Cases of long runs (share.h) are left out unless they are named or asked for.
 *
 * Cases are those that Criterion's macros put into the sections cr_tst and cr_sts.  Each runs in a child of its own, so a
 * crash, an exit or a limit of time ends that case alone.  A case passes if it comes to its end, no assertion fails, and the
 * process exits with 0: a leak found at exit fails it.
 *
 * Reference: Criterion 2.4, whose headers tests include; this file stands in for its library.
 * Departures: the library starts the program anew for each case, with all its shared libraries.
 * Cost of a short case: 3 ms of processor time (the library: 80 ms); sanitized 0.2 s (0.5 s). */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, wait4 */
#include "share.h"
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MOST = 100000, REASON_BYTES = 200 };

typedef struct { /* between a case and the runner */
    bool ended;
    int failed; /* assertions */
    bool skipped;
    char reason[REASON_BYTES]; /* for skipping */
} outcome;

typedef struct {
    const char *filter;
    bool list;
    int ran, failed;
    outcome *of; /* of the present case */
} runner;

static outcome before_cases; /* where an assertion fails while parameters are made */
static outcome *present = &before_cases;
static const struct criterion_test *test;
static const struct criterion_suite *suite;
static void *parameter;
static jmp_buf leave;
static const struct criterion_test_extra_data long_run = {LONG_RUN};
static bool may_leave;

struct criterion_options criterion_options;

extern struct criterion_test *__start_cr_tst[] __attribute__((weak)),
    *__stop_cr_tst[] __attribute__((weak)); /* a file may have none */
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak)), *__stop_cr_sts[] __attribute__((weak));

/* ---- functions that the macros call */

int cr_asprintf(char **text, const char *format, ...) {
    char none[1];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(none, sizeof none, format, list);
    va_end(list);
    *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!*text) {
        return -1;
    }
    va_start(list, format);
    vsnprintf(*text, (size_t)length + 1, format, list);
    va_end(list);
    return length;
}

void cr_asprintf_free(char *text) { free(text); }

/* The expression of the assertion, which the macro hands over as the only argument of the message. */
char *cr_translate_assert_msg(int message, ...) {
    static const char *const form[] = {
        [CRITERION_ASSERT_MSG_FAIL] = "The conditions for this assertion were not met.",
        [CRITERION_ASSERT_MSG_EXPR_FALSE] = "The expression %s is false.",
        [CRITERION_ASSERT_MSG_EXPR_AS_STRINGS_FALSE] = "The expression (as strings) %s is false.",
        [CRITERION_ASSERT_MSG_IS_NULL] = "%s is null.",
        [CRITERION_ASSERT_MSG_IS_NOT_NULL] = "%s is not null.",
        [CRITERION_ASSERT_MSG_IS_EMPTY] = "%s is empty.",
        [CRITERION_ASSERT_MSG_IS_NOT_EMPTY] = "%s is not empty.",
    };
    va_list list;
    va_start(list, message);
    const char *expression = message == CRITERION_ASSERT_MSG_FAIL ? "" : va_arg(list, const char *);
    va_end(list);
    bool known = message >= 0 && (size_t)message < sizeof form / sizeof *form && form[message];
    char *text = NULL;
    cr_asprintf(&text, known ? form[message] : "The assertion %s failed.", expression);
    return text;
}

void cri_asserts_passed_incr(void) {}

/* Prints lines of TAP's comments. */
static void comment(const char *head, const char *text) {
    printf("# %s", head);
    for (; *text; text++) {
        fputs(*text == '\n' && text[1] ? "\n# " : (char[]){*text, 0}, stdout);
    }
    puts("");
    fflush(stdout);
}

void criterion_send_assert(struct criterion_assert_stats *stats) {
    char head[REASON_BYTES];
    snprintf(head, sizeof head, "%s:%u: Assertion failed: ", stats->file, stats->line);
    comment(head, stats->message ? stats->message : "");
    present->failed++;
}

void cr_log(enum criterion_severity severity, const char *format, ...) {
    char text[2000];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    comment(severity == CR_LOG_INFO ? "" : severity == CR_LOG_WARNING ? "Warning: " : "Error: ", text);
    present->failed += severity == CR_LOG_ERROR;
}

void criterion_continue_test(void) {}

/* Goes to the teardown, from the case itself; ends the process elsewhere. */
void criterion_abort_test(void) {
    if (may_leave) {
        longjmp(leave, 1);
    }
    comment("", "an assertion failed outside the case");
    exit(1);
}

void criterion_skip_test(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(present->reason, sizeof present->reason, format, list);
    va_end(list);
    present->skipped = true;
    criterion_abort_test();
    abort(); /* never */
}

static void call(void (*function)(void)) {
    if (function) {
        function();
    }
}

void criterion_internal_test_setup(void) {
    call(suite ? suite->data->init : NULL);
    call(test->data->init);
}

void criterion_internal_test_main(void (*function)(void)) {
    may_leave = true;
    if (setjmp(leave) == 0) {
        if (parameter) {
            ((void (*)(void *))function)(parameter);
        } else {
            function();
        }
    }
    may_leave = false;
}

void criterion_internal_test_teardown(void) {
    call(test->data->fini);
    call(suite ? suite->data->fini : NULL);
}

/* ---- runner */

static const struct criterion_suite *suite_of(const struct criterion_test *t) {
    for (struct criterion_suite **s = __start_cr_sts; s < __stop_cr_sts; s++) {
        if (strcmp((*s)->name, t->category) == 0) {
            return *s;
        }
    }
    return NULL;
}

static double seconds_allowed(void) {
    double own = test->data->timeout, all = suite ? suite->data->timeout : 0;
    return own > 0 ? own : all > 0 ? all : SECONDS_MOST;
}

/* The case, in its own process. */
static void run_child(void) {
    alarm((unsigned)(seconds_allowed() + 0.999)); /* its signal ends the process */
    test->test();
    alarm(0);
    fflush(stdout);
    present->ended = true;
    exit(0);
}

/* Says why a process that ended so did not pass, or "". */
static const char *failure(const outcome *of, int status, char *text, size_t size) {
    *text = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        snprintf(text, size, ": took longer than %g s", seconds_allowed());
    } else if (WIFSIGNALED(status)) {
        snprintf(text, size, ": ended by signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (!of->ended) {
        snprintf(text, size, ": exited with %d before its end", WEXITSTATUS(status));
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(text, size, ": exited with %d after its end", WEXITSTATUS(status));
    } else if (of->failed > 0) {
        snprintf(text, size, ": %d assertion%s failed", of->failed, of->failed == 1 ? "" : "s");
    }
    return text;
}

/* Processor time of a child that has ended and of its own children, which tells its cost however busy the machine is. */
static double seconds_of(const struct rusage *used) {
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
           1e-6 * (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

static void run_case(runner *r, size_t number) {
    *r->of = (outcome){0};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        present = r->of;
        run_child();
    }
    int status = -1;
    struct rusage used = {0};
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        perror("fork");
        exit(1);
    }
    char which[32] = "", why[REASON_BYTES];
    if (parameter) {
        snprintf(which, sizeof which, "[%zu]", number);
    }
    failure(r->of, status, why, sizeof why);
    r->failed += *why != 0;
    printf("%s %d - %s::%s%s%s (%.2f s)%s%s\n", *why ? "not ok" : "ok", ++r->ran, test->category, test->name, which,
           why, seconds_of(&used), !*why && r->of->skipped ? " # SKIP " : "",
           !*why && r->of->skipped ? r->of->reason : "");
}

/* The cases of one test: one, or one for each parameter. */
static void run_test(runner *r, struct criterion_test *t) {
    char name[REASON_BYTES];
    snprintf(name, sizeof name, "%s/%s", t->category, t->name);
    bool is_long = t->data->description && strcmp(t->data->description, long_run.description) == 0;
    if (r->filter ? fnmatch(r->filter, name, 0) != 0 : is_long && !r->list && !long_runs()) {
        return;
    }
    if (r->list) {
        puts(name);
        return;
    }
    test = t, suite = suite_of(t), parameter = NULL;
    if (t->data->kind_ != CR_TEST_PARAMETERIZED) {
        run_case(r, 0);
        return;
    }
    struct criterion_test_params all = t->data->param_();
    for (size_t k = 0; k < all.length; k++) {
        parameter = (char *)all.params + k * all.size;
        run_case(r, k);
    }
    if (all.cleanup) {
        all.cleanup(&all);
    }
}

int main(int count, char **word) {
    runner r = {.of = mmap(NULL, sizeof *r.of, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    if (r.of == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (int i = 1; i < count; i++) {
        if (strcmp(word[i], "--list") == 0) {
            r.list = true;
        } else if (strcmp(word[i], "--filter") == 0 && i + 1 < count) {
            r.filter = word[++i];
        } else {
            fprintf(stderr, "usage: %s [--list] [--filter SUITE/NAME]\n", word[0]);
            return 2;
        }
    }
    struct criterion_test **first = __start_cr_tst, **end = __stop_cr_tst;
    for (struct criterion_test **t = first; t < end; t++) {
        run_test(&r, *t);
    }
    if (!r.list) {
        printf("1..%d\n", r.ran);
    }
    /* a program whose cases are all left out here counts as skipped */
    return r.failed > 0 || (!r.list && first < end && r.ran == 0);
}
