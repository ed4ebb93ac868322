/* Report of `sim bench contact`:  A row a case, exponents of growth and threads for people, or one JSON object for
 * programs. */
#include "app/bench/bench.h"
#include "app/output/json_out.h"

#include <math.h>
#include <string.h>

/* Columns of times: the five stages and the judge add up to the whole; factors and the shift of positions are parts of
 * solving. */
enum { FREE, COLLIDE, BUILD, SOLVE, JUDGE, INTEGRATE, WHOLE, FACTOR, SHIFT, COLUMNS };
typedef struct columns {
    double time[COLUMNS];
} columns;
static const char *const column_name[COLUMNS] = {"free",      "collide", "build",  "solve", "judge",
                                                 "integrate", "whole",   "factor", "shift"};

static columns make_columns(const bench_figures *f) {
    const double *s = f->seconds;
    return (columns){{[FREE] = s[SIM_TIME_FREE],
                      [COLLIDE] = s[SIM_TIME_COLLIDE],
                      [BUILD] = s[SIM_TIME_BUILD],
                      [SOLVE] = s[SIM_TIME_SOLVE] - s[SIM_TIME_JUDGE],
                      [JUDGE] = s[SIM_TIME_JUDGE],
                      [INTEGRATE] = s[SIM_TIME_INTEGRATE],
                      [WHOLE] = f->whole,
                      [FACTOR] = s[SIM_TIME_FACTOR],
                      [SHIFT] = s[SIM_TIME_TOUCHDOWN]}};
}

/* Floating-point operations of the factorisations of a step: a multiplication goes with a subtraction. */
static double count_operations(const bench_figures *f) { return 2 * f->multiplications; }

static double factor_speed(const bench_figures *f) {
    return f->seconds[SIM_TIME_FACTOR] > 0 ? count_operations(f) / f->seconds[SIM_TIME_FACTOR] : 0;
}

/* ---- growth: time = c bodies^e, by least squares of logarithms ---- */

typedef struct growth {
    const char *family, *solver;
    int cases, least, most; /* bodies */
    double exponent[COLUMNS], rest, operations;
} growth;

/* Everything that is not the factorisation, of which only the operations are left to judge. */
static double value_of(const bench_figures *f, int which) {
    columns c = make_columns(f);
    return which < COLUMNS ? c.time[which] : which == COLUMNS ? c.time[WHOLE] - c.time[FACTOR] : count_operations(f);
}

static bool is_of_series(const bench_figures *f, const bench_figures *first) {
    return !f->trouble.status && strcmp(f->c->family, first->c->family) == 0 && strcmp(f->solver, first->solver) == 0;
}

static double fit_exponent(const bench_figures *f, int count, const bench_figures *first, int which) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < count; k++) {
        double value = is_of_series(&f[k], first) ? value_of(&f[k], which) : 0;
        if (value > 0) {
            double a = log(f[k].bodies), b = log(value);
            n++;
            x += a;
            y += b;
            xx += a * a;
            xy += a * b;
        }
    }
    double spread = n * xx - x * x;
    return n >= 3 && spread > 0 ? (n * xy - x * y) / spread : NAN;
}

/* Of the family and solver of case `k`, if it is the first of them and there are three sizes. */
static bool find_growth(const bench_figures *f, int count, int k, growth *g) {
    *g = (growth){f[k].c->family, f[k].solver, 0, f[k].bodies, 0, {0}, 0, 0};
    for (int i = 0; i < count; i++) {
        if (is_of_series(&f[i], &f[k])) {
            if (i < k) {
                return false;
            }
            g->cases++;
            g->least = f[i].bodies < g->least ? f[i].bodies : g->least;
            g->most = f[i].bodies > g->most ? f[i].bodies : g->most;
        }
    }
    if (f[k].trouble.status || g->cases < 3) {
        return false;
    }
    for (int i = 0; i < COLUMNS; i++) {
        g->exponent[i] = fit_exponent(f, count, &f[k], i);
    }
    g->rest = fit_exponent(f, count, &f[k], COLUMNS);
    g->operations = fit_exponent(f, count, &f[k], COLUMNS + 1);
    return true;
}

/* ---- for people ---- */

void bench_report_open(const bench_request *request) {
    if (request->json) {
        return;
    }
    printf("sim %s, %s\nprocessor microseconds per step, least of %d runs\n", sim_version(), sim_build_info(),
           (int)request->repeat);
    printf("%-17s %-6s %6s %8s %7s |", "case", "solver", "bodies", "contacts", "islands");
    for (int k = 0; k < COLUMNS; k++) {
        printf("%s%10s", k == FACTOR ? " |" : "", column_name[k]);
    }
    printf(" %8s %5s | %6s %8s | %7s %7s %7s %7s\n", "Mflop", "GF/s", "iter.", "unsolved", "E mean", "E", "own",
           "momentum");
}

void bench_report_case(const bench_request *request, const bench_figures *f) {
    if (request->json) {
        return;
    }
    printf("%-17s %-6s ", f->c->name, f->solver);
    if (f->trouble.status) {
        printf("failed\n");
        return;
    }
    columns c = make_columns(f);
    printf("%6d %8.1f %7.1f |", f->bodies, f->contacts, f->islands);
    for (int k = 0; k < COLUMNS; k++) {
        printf("%s%10.1f", k == FACTOR ? " |" : "", 1e6 * c.time[k]);
    }
    printf(" %8.3f %5.2f | %6.2f %8d | %7.0e %7.0e %7.0e %7.0e\n", 1e-6 * count_operations(f), 1e-9 * factor_speed(f),
           f->iterations, f->unsolved, f->E.mean, f->E.most, f->own.most, f->momentum.most);
    fflush(stdout);
}

static void print_growth(const bench_figures *f, int count) {
    growth g;
    for (int k = 0, any = 0; k < count; k++) {
        if (!find_growth(f, count, k, &g)) {
            continue;
        }
        if (!any++) {
            printf("\ntime grows as bodies to the power of\n%-17s %-6s %-12s", "", "solver", "bodies");
            for (int i = 0; i < COLUMNS; i++) {
                printf(" %9s", column_name[i]);
            }
            printf(" %9s %9s\n", "w/o fact.", "flop");
        }
        printf("%-17s %-6s %4d .. %-4d", g.family, g.solver, g.least, g.most);
        for (int i = 0; i < COLUMNS; i++) {
            printf(" %9.2f", g.exponent[i]);
        }
        printf(" %9.2f %9.2f\n", g.rest, g.operations);
    }
}

static void print_threads(const bench_figures *f, int count) {
    for (int k = 0, any = 0; k < count; k++) {
        if (f[k].trouble.status || f[k].threads == 0) {
            continue;
        }
        if (!any++) {
            printf("\nwall-clock microseconds per step\n%-17s %-6s %10s %10s %9s  %s\n", "", "solver", "1 thread",
                   "threads", "speedup", "bits");
        }
        printf("%-17s %-6s %10.1f %7.1f/%-2d %8.2fx  %s\n", f[k].c->name, f[k].solver, 1e6 * f[k].alone,
               1e6 * f[k].together, f[k].threads, f[k].alone / f[k].together,
               f[k].same_bits ? "the same" : "NOT THE SAME");
    }
}

/* ---- for programs ---- */

static void write_summary(json_out *out, const char *name, bench_summary s) {
    json_open_line(out, name, '{');
    json_real(out, "mean", s.mean);
    json_real(out, "worst", s.most);
    json_close(out, '}');
}

static void write_times(json_out *out, const bench_figures *f) {
    json_open_line(out, "seconds", '{');
    for (int k = 0; k < SIM_TIMES; k++) {
        json_real(out, sim_time_name((sim_time)k), f->seconds[k]);
    }
    json_real(out, "whole", f->whole);
    json_close(out, '}');
}

static void write_threads(json_out *out, const bench_figures *f) {
    json_open_line(out, "threads", '{');
    json_whole(out, "count", f->threads);
    json_real(out, "wall_alone", f->alone);
    json_real(out, "wall_together", f->together);
    json_text(out, "bits", f->same_bits ? "same" : "different");
    json_close(out, '}');
}

static void write_bench_case(json_out *out, const bench_figures *f) {
    /* what was run */
    json_open(out, NULL, '{');
    json_text(out, "case", f->c->name);
    json_text(out, "scene", f->c->scene);
    json_text(out, "solver", f->solver);
    json_text(out, "integrator", f->integrator);
    json_text(out, "failed", f->trouble.status ? f->trouble.text : NULL);
    if (!f->trouble.status) {
        /* size and contacts */
        json_whole(out, "bodies", f->bodies);
        json_whole(out, "velocities", f->velocities);
        json_whole(out, "steps", f->steps);
        json_real(out, "contacts", f->contacts);
        json_real(out, "islands", f->islands);
        json_real(out, "iterations", f->iterations);
        json_whole(out, "unsolved", f->unsolved);
        json_branches(out, f->info, &f->finished);
        /* times and work */
        write_times(out, f);
        json_real(out, "factorisations", f->factorisations);
        json_real(out, "factor_flop", count_operations(f));
        json_real(out, "factor_flop_per_second", factor_speed(f));
        /* certificates */
        write_summary(out, "E", f->E);
        write_summary(out, "own", f->own);
        write_summary(out, "momentum", f->momentum);
        write_summary(out, "slip", f->slip);
        write_summary(out, "penetration", f->penetration);
        if (f->threads) {
            write_threads(out, f);
        }
    }
    json_close(out, '}');
}

static void write_growth(json_out *out, const growth *g) {
    json_open_line(out, NULL, '{');
    json_text(out, "family", g->family);
    json_text(out, "solver", g->solver);
    json_whole(out, "least", g->least);
    json_whole(out, "most", g->most);
    for (int k = 0; k < COLUMNS; k++) {
        json_real(out, column_name[k], g->exponent[k]);
    }
    json_real(out, "without_factor", g->rest);
    json_real(out, "factor_flop", g->operations);
    json_close(out, '}');
}

static void write_bench_cases(const bench_request *request, const bench_figures *f, int count) {
    /* build and settings */
    json_out out = {.file = stdout};
    growth g;
    json_open(&out, NULL, '{');
    json_text(&out, "format", "sim bench contact");
    json_whole(&out, "format_version", 1);
    json_text(&out, "sim_version", sim_version());
    json_text(&out, "build", sim_build_info());
    json_whole(&out, "repeat", request->repeat);
    /* figures of each case */
    json_open(&out, "cases", '[');
    for (int k = 0; k < count; k++) {
        write_bench_case(&out, &f[k]);
    }
    json_close(&out, ']');
    /* exponents of growth between cases of one family */
    json_open(&out, "growth", '[');
    for (int k = 0; k < count; k++) {
        if (find_growth(f, count, k, &g)) {
            write_growth(&out, &g);
        }
    }
    json_close(&out, ']');
    json_close(&out, '}');
    putchar('\n');
}

void bench_report_close(const bench_request *request, const bench_figures *f, int count) {
    if (request->json) {
        write_bench_cases(request, f, count);
    } else {
        print_growth(f, count);
        print_threads(f, count);
    }
}
