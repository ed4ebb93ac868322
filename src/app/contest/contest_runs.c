/* How do the steps of whole runs go?  Per step, over the steps of a run in which something touches, as Todorov (2010, table 1)
 * counts them: the median of the iterations of a run, averaged over runs; the share of iterations that take Newton's point
 * as it stands; the share of steps whose answer is not within 1e-8, and within 1e-6, of the law. */
#include "app/contest/contest_runs.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The mean over runs of the median in each; `list` has room for all. */
static double median_of_runs(const contest_entry *entry, int *list, int *runs) {
    const contest_problems *p = entry->problems;
    double sum = 0;
    *runs = 0;
    for (int k = 0; k < p->count;) {
        int run = p->run[k], n = 0;
        for (; k < p->count && p->run[k] == run; k++) {
            list[n++] = entry->answer[k].iterations;
        }
        qsort(list, (size_t)n, sizeof *list, ascending);
        sum += 0.5 * (list[(n - 1) / 2] + list[n / 2]);
        ++*runs;
    }
    return *runs ? sum / *runs : 0;
}

/* 0 would be a figure. */
static void leave_out(unsigned counts, contest_runs *r) {
    r->searches = counts & SIM_COUNTS_SEARCHES ? r->searches : NAN;
    r->restarted = counts & SIM_COUNTS_FAILURES ? r->restarted : NAN;
    r->whole = counts & SIM_COUNTS_WHOLE_STEPS ? r->whole : NAN;
}

int contest_runs_of(const contest_entry *entry, contest_runs *r) {
    const contest_problems *p = entry->problems;
    int *list = malloc((size_t)(p->count + 1) * sizeof *list);
    *r = (contest_runs){.steps = p->count};
    if (!list || p->count == 0) {
        free(list);
        return 0;
    }
    r->median = median_of_runs(entry, list, &r->runs);
    double all = 0, whole = 0, share = 1.0 / p->count;
    for (int k = 0; k < p->count; k++) {
        const contest_answer *a = &entry->answer[k];
        all += a->iterations;
        whole += a->whole_steps;
        r->most = a->iterations > r->most ? a->iterations : r->most;
        r->searches += share * a->searches;
        r->restarted += share * (a->failures > 0);
        r->beyond_8 += share * !(a->certificate.E <= 1e-8);
        r->beyond_6 += share * !(a->certificate.E <= 1e-6);
    }
    r->mean = all * share;
    r->whole = all > 0 ? whole / all : 1;
    leave_out(entry->solver->info->counts, r);
    free(list);
    return 1;
}

static void print_if_counted(double figure, int digits) {
    if (isnan(figure)) {
        printf(" - |");
    } else {
        printf(" %.*f |", digits, figure);
    }
}

void contest_report_runs(const contest_request *request, const contest_entry *entry, int count) {
    const contest_problems *p = entry->problems;
    if (request->json || !p->c->runs) {
        return;
    }
    printf("\n%d steps with contacts, %.1f in the mean; %d without\n\n", p->count, p->mean, p->idle);
    printf("| case | solver | iterations | mean | most | Newton's point, %% | restarted, %% | searches | unsolved to "
           "1e-8, %% | "
           "to 1e-6, "
           "%% |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < count; k++) {
        contest_runs r;
        if (!entry[k].trouble.status && contest_runs_of(&entry[k], &r)) {
            printf("| %s | `%s` | %.2f | %.2f | %d |", p->c->name, entry[k].solver->text, r.median, r.mean, r.most);
            print_if_counted(100 * r.whole, 1);
            print_if_counted(100 * r.restarted, 2);
            print_if_counted(r.searches, 1);
            printf(" %.2f | %.2f |\n", 100 * r.beyond_8, 100 * r.beyond_6);
        }
    }
    fflush(stdout);
}
