/* How far did the solvers get?  Rows of a Markdown table, a case after the other, and how time grows; or JSON. */
#include "app/contest/contest_runs.h"
#include "app/output/json_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures of many problems ---- */

typedef enum figure { E_RIGID, E_OWN, LEE, LEE_SCALED, SECONDS, ITERATIONS, ROUNDS, FIGURES } figure;

static double value_of(const contest_answer *a, figure which) {
    const double value[FIGURES] = {a->certificate.E, a->certificate.own, a->certificate.lee, a->certificate.lee_scaled,
                                   a->seconds,       a->iterations,      a->rounds};
    return value[which];
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct spread {
    double median, most, mean;
} spread;

static spread spread_of(const contest_entry *entry, figure which) {
    int n = entry->problems->count;
    double *all = malloc((size_t)n * sizeof *all);
    spread s = {NAN, NAN, 0};
    for (int k = 0; k < n && all; k++) {
        all[k] = value_of(&entry->answer[k], which);
        s.mean += all[k] / n;
    }
    if (all) {
        qsort(all, (size_t)n, sizeof *all, ascending);
        s.median = 0.5 * (all[(n - 1) / 2] + all[n / 2]);
        s.most = all[n - 1];
    }
    free(all);
    return s;
}

static int within(const contest_entry *entry, double level) {
    int count = 0;
    for (int k = 0; k < entry->problems->count; k++) {
        count += entry->answer[k].certificate.E <= level;
    }
    return count;
}

static int gave_up(const contest_entry *entry) {
    int count = 0;
    for (int k = 0; k < entry->problems->count; k++) {
        count += entry->answer[k].outcome != SIM_SOLVED && entry->answer[k].outcome != SIM_AT_ROUNDING;
    }
    return count;
}

/* ---- for people ---- */

void contest_report_open(const contest_request *request) {
    if (!request->json) {
        printf("sim %s, %s\n", sim_version(), sim_build_info());
    }
}

void contest_report_problems(const contest_request *request, const contest_problems *p) {
    if (request->json) {
        return;
    }
    printf("\n%s: %d problems of %d bodies, %d velocities, %d to %d contacts\n\n", p->c->name, p->count, p->bodies,
           p->velocities, p->least, p->most);
    printf("| case | solver | gave up | E median | E worst | within 1e-4 | 1e-6 | 1e-8 | own worst | lee median | lee "
           "worst | "
           "rounds | most | iterations | most | us median | most | times the first |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void contest_report_entry(const contest_request *request, const contest_entry *entry, const contest_entry *first) {
    const char *name = entry->problems->c->name;
    if (request->json) {
        return;
    }
    if (entry->trouble.status) {
        printf("| %s | %s | failed |\n", name, entry->solver->text);
        return;
    }
    spread f[FIGURES];
    for (int k = 0; k < FIGURES; k++) {
        f[k] = spread_of(entry, (figure)k);
    }
    printf("| %s | `%s`%s | %d | %.1e | %.1e | %d | %d | %d | %.1e | %.1e | %.1e |", name, entry->solver->text,
           entry->equal_time ? ", equal time" : "", gave_up(entry), f[E_RIGID].median, f[E_RIGID].most,
           within(entry, 1e-4), within(entry, 1e-6), within(entry, 1e-8), f[E_OWN].most, f[LEE].median, f[LEE].most);
    printf(" %.4g | %.4g | %.4g | %.4g | %.4g | %.4g | %.2f |\n", f[ROUNDS].median, f[ROUNDS].most,
           f[ITERATIONS].median, f[ITERATIONS].most, 1e6 * f[SECONDS].median, 1e6 * f[SECONDS].most,
           f[SECONDS].median / spread_of(first, SECONDS).median);
    fflush(stdout);
}

/* What the contacts of the first solver's answers do. */
void contest_report_kinds(const contest_request *request, const contest_entry *first) {
    double open = 0, stick = 0, slide = 0;
    for (int k = 0; k < first->problems->count; k++) {
        open += first->answer[k].open;
        stick += first->answer[k].stick;
        slide += first->answer[k].slide;
    }
    double all = fmax(1, open + stick + slide);
    if (!request->json) {
        printf("\ncontacts: %.0f %% open, %.0f %% stick, %.0f %% slide\n", 100 * open / all, 100 * stick / all,
               100 * slide / all);
    }
}

/* ---- growth: time = c (bodies + contacts)^e, by least squares of logarithms ---- */

static int belongs(const contest_entry *a, const contest_entry *b) {
    return !a->trouble.status && strcmp(a->problems->c->family, b->problems->c->family) == 0 &&
           strcmp(a->solver->text, b->solver->text) == 0 && a->equal_time == b->equal_time;
}

static double slope(const contest_entry *entry, int count, const contest_entry *like, int *sizes) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < count; k++) {
        if (belongs(&entry[k], like)) {
            double a = log(entry[k].problems->bodies + entry[k].problems->mean),
                   b = log(spread_of(&entry[k], SECONDS).mean);
            n++;
            x += a;
            y += b;
            xx += a * a;
            xy += a * b;
        }
    }
    *sizes = (int)n;
    return (n * xy - x * y) / (n * xx - x * x);
}

/* The exponent of the family and solver of entry `k`, if it is the first of them and there are three sizes. */
static int find_growth(const contest_entry *entry, int count, int k, int *sizes, double *exponent) {
    for (int i = 0; i < k; i++) {
        if (belongs(&entry[i], &entry[k])) {
            return 0;
        }
    }
    *exponent = slope(entry, count, &entry[k], sizes);
    return *sizes >= 3;
}

static void print_growth(const contest_entry *entry, int count) {
    static const char head[] = "\nTime grows as bodies and contacts together to the power of\n\n"
                               "| family | solver | sizes | exponent |\n|---|---|---|---|\n";
    for (int k = 0, any = 0, sizes; k < count; k++) {
        double exponent;
        if (find_growth(entry, count, k, &sizes, &exponent)) {
            printf("%s| %s | `%s` | %d | %.2f |\n", any++ ? "" : head, entry[k].problems->c->family,
                   entry[k].solver->text, sizes, exponent);
        }
    }
}

/* ---- for programs ---- */

static void write_answer(json_out *out, const contest_answer *a) {
    static const char *const name[FIGURES] = {"E", "own", "lee", "lee_scaled", "seconds", "iterations", "rounds"};
    json_open_line(out, NULL, '{');
    json_text(out, "outcome", sim_outcome_name(a->outcome));
    for (int k = 0; k < FIGURES; k++) {
        json_real(out, name[k], value_of(a, (figure)k));
    }
    json_whole(out, "failures", a->failures);
    json_whole(out, "searches", a->searches);
    json_whole(out, "whole_steps", a->whole_steps);
    json_whole(out, "open", a->open);
    json_whole(out, "stick", a->stick);
    json_whole(out, "slide", a->slide);
    json_close(out, '}');
}

static void write_runs(json_out *out, const contest_entry *entry) {
    contest_runs r;
    if (entry->trouble.status || !contest_runs_of(entry, &r)) {
        return;
    }
    json_open_line(out, "runs", '{');
    json_whole(out, "count", r.runs);
    json_whole(out, "steps", r.steps);
    json_whole(out, "idle", entry->problems->idle);
    json_real(out, "iterations", r.median);
    json_real(out, "iterations_mean", r.mean);
    json_whole(out, "iterations_most", r.most);
    json_real(out, "whole_steps", r.whole);
    json_real(out, "restarted", r.restarted);
    json_real(out, "searches", r.searches);
    json_real(out, "unsolved_1e-8", r.beyond_8);
    json_real(out, "unsolved_1e-6", r.beyond_6);
    json_close(out, '}');
}

static void write_entry(json_out *out, const contest_entry *entry) {
    const contest_problems *p = entry->problems;
    json_open(out, NULL, '{');
    json_text(out, "case", p->c->name);
    json_text(out, "family", p->c->family);
    json_text(out, "solver", entry->solver->text);
    json_text(out, "budget", entry->equal_time ? "time of the first" : "its own");
    json_text(out, "failed", entry->trouble.status ? entry->trouble.text : NULL);
    json_whole(out, "bodies", p->bodies);
    json_whole(out, "velocities", p->velocities);
    json_real(out, "contacts", p->mean);
    json_whole(out, "contacts_least", p->least);
    json_whole(out, "contacts_most", p->most);
    if (p->c->runs) {
        write_runs(out, entry);
    }
    json_open(out, "answers", '[');
    for (int k = 0; k < p->count && !entry->trouble.status; k++) {
        write_answer(out, &entry->answer[k]);
    }
    json_close(out, ']');
    json_close(out, '}');
}

void contest_report_close(const contest_request *request, const contest_entry *entry, int count) {
    if (!request->json) {
        print_growth(entry, count);
        return;
    }
    json_out out = {.file = stdout};
    json_open(&out, NULL, '{');
    json_text(&out, "format", "sim bench solvers");
    json_whole(&out, "format_version", 1);
    json_text(&out, "sim_version", sim_version());
    json_text(&out, "build", sim_build_info());
    json_open(&out, "entries", '[');
    for (int k = 0; k < count; k++) {
        write_entry(&out, &entry[k]);
    }
    json_close(&out, ']');
    json_open(&out, "growth", '[');
    for (int k = 0, sizes; k < count; k++) {
        double exponent;
        if (find_growth(entry, count, k, &sizes, &exponent)) {
            json_open_line(&out, NULL, '{');
            json_text(&out, "family", entry[k].problems->c->family);
            json_text(&out, "solver", entry[k].solver->text);
            json_whole(&out, "sizes", sizes);
            json_real(&out, "exponent", exponent);
            json_close(&out, '}');
        }
    }
    json_close(&out, ']');
    json_close(&out, '}');
    putchar('\n');
}
