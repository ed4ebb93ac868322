/* Runner of test cases: one fork a case, or one for all.
 *
 *   PROGRAM [--list] [--file NAME]... [--filter SUITE/NAME]
 *
 * SUITE/NAME is a pattern as for file names; --file NAME takes the cases of NAME.c; output is TAP.
 * Cases of long runs (share.h) are left out unless they are named or asked for.
 *
 * Cases are those that Criterion's macros put into the sections cr_tst and cr_sts.  Each runs in a child of its own, so a
 * crash, an exit or a limit of time ends that case alone.  A case passes if it comes to its end, no assertion fails, and the
 * process exits with 0: a leak found at exit fails it.
 *
 * SIM_TEST_TOGETHER=yes: all cases in one child, and a new one after a case that ended it.  A leak then fails the last case, and
 * the report of the sanitizer names the function that leaked.  tools/check sets it for the sanitizers.
 *
 * Reference: Criterion 2.4, whose headers tests include; this file stands in for its library.
 * Departures: the library starts the program anew for each case, with all its shared libraries.
 * Cost of a short case: 3 ms of processor time (the library: 80 ms); sanitized 0.12 s (0.5 s), 5 ms
 * together. */
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
    size_t at;                 /* of the cases */
    int others_failed;         /* cases before it in the same process */
    double seconds;            /* which these took */
} outcome;

typedef struct {
    struct criterion_test *test;
    void *parameter;
    size_t number; /* of the parameter */
} one;

typedef struct {
    const char *filter;
    char **file; /* names of files without their ends; none: all */
    int files;
    bool list;
    one *cases;
    size_t count;
    int failed;
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

/* Says why a case whose process goes on did not pass, or "". */
static const char *assertions_failed(const outcome *of, char *text, size_t size) {
    *text = 0;
    if (of->failed > 0) {
        snprintf(text, size, ": %d assertion%s failed", of->failed, of->failed == 1 ? "" : "s");
    }
    return text;
}

/* Says why a process that ended so did not pass, or "". */
static const char *failure(const outcome *of, int status, char *text, size_t size) {
    assertions_failed(of, text, size);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        snprintf(text, size, ": took longer than %g s", seconds_allowed());
    } else if (WIFSIGNALED(status)) {
        snprintf(text, size, ": ended by signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (!of->ended) {
        snprintf(text, size, ": exited with %d before its end", WEXITSTATUS(status));
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(text, size, ": exited with %d after its end", WEXITSTATUS(status));
    }
    return text;
}

static double seconds_in(const struct rusage *used) {
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
           1e-6 * (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

/* Processor time of this process and of those that it waited for, which tells a cost however busy the machine is. */
static double seconds_used(void) {
    struct rusage own, others;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &others);
    return seconds_in(&own) + seconds_in(&others);
}

static void choose(const runner *r, size_t k) {
    test = r->cases[k].test, parameter = r->cases[k].parameter, suite = suite_of(test);
}

/* Prints the verdict on case k. */
static void report(runner *r, size_t k, const char *why, double seconds) {
    const outcome *of = r->of;
    char which[32] = "";
    if (parameter) {
        snprintf(which, sizeof which, "[%zu]", r->cases[k].number);
    }
    bool skipped = !*why && of->skipped;
    printf("%s %zu - %s::%s%s%s (%.2f s)%s%s\n", *why ? "not ok" : "ok", k + 1, test->category, test->name, which, why,
           seconds, skipped ? " # SKIP " : "", skipped ? of->reason : "");
    fflush(stdout);
    r->failed += *why != 0;
}

/* Case k, in this process. */
static void run_case(const runner *r, size_t k) {
    choose(r, k);
    alarm((unsigned)(seconds_allowed() + 0.999)); /* its signal ends the process */
    test->test();
    alarm(0);
    fflush(stdout);
    present->ended = true;
}

/* The cases from k on in this process, to the end or to one that ends it.  The last verdict is the runner's. */
static void run_child(runner *r, size_t k, size_t end) {
    for (;; k++) {
        double began = seconds_used();
        run_case(r, k);
        if (k + 1 == end) {
            exit(0);
        }
        char why[REASON_BYTES];
        report(r, k, assertions_failed(r->of, why, sizeof why), seconds_used() - began);
        *r->of = (outcome){.at = k + 1, .others_failed = r->of->others_failed + (*why != 0), .seconds = seconds_used()};
    }
}

/* Runs the cases k to end - 1 in one process, but those that follow one that ended it. Returns the first of these. */
static size_t run_process(runner *r, size_t k, size_t end) {
    *r->of = (outcome){.at = k};
    fflush(stdout);
    double before = seconds_used();
    pid_t child = fork();
    if (child == 0) {
        present = r->of;
        run_child(r, k, end);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(1);
    }
    char why[REASON_BYTES];
    choose(r, r->of->at);
    report(r, r->of->at, failure(r->of, status, why, sizeof why), seconds_used() - before - r->of->seconds);
    r->failed += r->of->others_failed;
    return r->of->at + 1;
}

static void add_case(runner *r, struct criterion_test *t, void *value, size_t number) {
    r->cases = realloc(r->cases, (r->count + 1) * sizeof *r->cases);
    if (!r->cases) {
        perror("realloc");
        exit(1);
    }
    r->cases[r->count++] = (one){t, value, number};
}

/* Does the test stand in one of the files that are asked for? */
static bool in_files(const runner *r, const struct criterion_test *t) {
    const char *slash = strrchr(t->data->file_, '/'), *name = slash ? slash + 1 : t->data->file_;
    bool found = r->files == 0;
    for (int i = 0; i < r->files; i++) {
        size_t length = strlen(r->file[i]);
        found |= strncmp(name, r->file[i], length) == 0 && strcmp(name + length, ".c") == 0;
    }
    return found;
}

/* The cases of one test: one, or one for each parameter. */
static void add_test(runner *r, struct criterion_test *t) {
    char name[REASON_BYTES];
    snprintf(name, sizeof name, "%s/%s", t->category, t->name);
    bool is_long = t->data->description && strcmp(t->data->description, long_run.description) == 0;
    if (!in_files(r, t) || (r->filter ? fnmatch(r->filter, name, 0) != 0 : is_long && !r->list && !long_runs())) {
        return;
    }
    if (r->list) {
        puts(name);
        return;
    }
    if (t->data->kind_ != CR_TEST_PARAMETERIZED) {
        add_case(r, t, NULL, 0);
        return;
    }
    struct criterion_test_params all = t->data->param_();
    for (size_t k = 0; k < all.length; k++) {
        add_case(r, t, (char *)all.params + k * all.size, k);
    }
}

int main(int count, char **word) {
    runner r = {.file = word + 1, /* which the words that are read give room */
                .of = mmap(NULL, sizeof *r.of, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    if (r.of == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (int i = 1; i < count; i++) {
        if (strcmp(word[i], "--list") == 0) {
            r.list = true;
        } else if (strcmp(word[i], "--filter") == 0 && i + 1 < count) {
            r.filter = word[++i];
        } else if (strcmp(word[i], "--file") == 0 && i + 1 < count) {
            r.file[r.files++] = word[++i];
        } else {
            fprintf(stderr, "usage: %s [--list] [--file NAME]... [--filter SUITE/NAME]\n", word[0]);
            return 2;
        }
    }
    struct criterion_test **first = __start_cr_tst, **end = __stop_cr_tst;
    for (struct criterion_test **t = first; t < end; t++) {
        add_test(&r, *t);
    }
    bool together = getenv("SIM_TEST_TOGETHER");
    for (size_t k = 0; k < r.count;) {
        k = run_process(&r, k, together ? r.count : k + 1);
    }
    free(r.cases);
    if (!r.list) {
        printf("1..%zu\n", r.count);
    }
    /* a program whose cases are all left out here counts as skipped */
    return r.failed > 0 || (!r.list && first < end && r.count == 0);
}
