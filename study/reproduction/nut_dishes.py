"""A nut on its bolt, and dishes under a pot: how the error of three solvers falls."""
import collections
import statistics

from .frame import shared
from .frame.context import Curve

NAME = "nut_dishes"
ORDER = 50
TITLE = "Nut and dishes, single steps"
PAPER = "lee2024"
SHOWN = "sections VII-A and VII-B, figures 7 and 9"
ABOUT = ("A nut that touches the thread of its bolt all over, and bowls and a plate of 100 g under a pot of 5 kg, are "
         "pushed by random forces, a hundred "
         "problems each: many contacts, few bodies. How far do CANAL, SubADMM and PGS get in the same time, and what does an iteration cost?")
SECONDS = (6, 250)

PRINTED = "canal:inner=cascaded:acceleration=none"  # Lee et al. 2024, algorithm 1; the shipped one takes the strict inner problem first
SOLVERS = ("canal", "subadmm", "pgs:acceleration=none", PRINTED)
GOOD, DRAWN = 1e-8, 5  # curves are of every fifth problem: they take more time than all the figures


def medians(context, path):
    """(case, solver) -> (effort, time [ms], residual: lower tenth, median, upper tenth); a problem that is done stays where it ended."""
    told = context.csv(path)
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    for case, solver, problem, effort, seconds, lee in zip(*(told[name] for name in ("case", "solver", "problem", "effort", "seconds", "lee"))):
        found[case, solver][problem][effort] = (1e3 * seconds, max(lee, 1e-17))
    for key, problems in found.items():
        lines, last = [], {}
        for effort in sorted({effort for problem in problems.values() for effort in problem}):
            last.update({number: at[effort] for number, at in problems.items() if effort in at})
            errors, times = sorted(one[1] for one in last.values()), [one[0] for one in last.values()]
            lines.append((effort, statistics.median(times), errors[len(errors) // 10], statistics.median(errors), errors[-1 - len(errors) // 10]))
        yield key, lines


def draw(context, paths, solvers):
    curves = {key: lines for path in paths for key, lines in medians(context, path)}
    for case, title in solvers.CASE.items():
        of = {s: curves[case, s] for s in SOLVERS}
        colour = {s: k for k, s in enumerate(SOLVERS, 1)}
        context.plot(f"{title}: residual", [Curve([line[1:] for line in of[s]], solvers.TITLE[s], colour=colour[s]) for s in SOLVERS],
                     x="time [ms]", y="[N s]", log="xy", y_range=(1e-16, None), note="Median of 20 problems; four fifths lie in the band.")
        context.plot(f"{title}: time", [Curve([(k, t) for k, t, *_ in of[s]], solvers.TITLE[s], colour=colour[s]) for s in SOLVERS],
                     x="iterations, of CANAL rounds", y="[ms]", log="xy")


def beside_printed(context, solvers, case):
    """Answers of CANAL as printed, to its tolerance, and of PGS in the time of each."""
    told = context.compare(*solvers.words([case], (PRINTED, SOLVERS[2]), "--equal-time", *(["--quick"] if context.quick else [])))
    printed, _, pgs = (entry["answers"] for entry in told["entries"])
    return printed, pgs


def run(context):
    solvers = shared.study("solvers")
    paths = {case: context.folder / f"{case}.csv" for case in solvers.CASE}
    told = context.together(lambda case: context.compare(*solvers.words(
        [case], SOLVERS, "--equal-time", *(["--quick"] if context.quick else ["--curves", paths[case], "--curves-of", DRAWN]))), paths)
    answers = {}
    for case, of in zip(paths, told):  # each solver by itself, then all but the first for as long as that took
        entries = [e["answers"] for e in of["entries"]]
        answers |= {(case, *key): found for key, found in zip([(s, True) for s in SOLVERS] + [(s, False) for s in SOLVERS[1:]], entries)}
    in_printed_time = dict(zip(paths, context.together(lambda case: beside_printed(context, solvers, case), paths)))
    if not context.quick:
        draw(context, paths.values(), solvers)
    rows = []
    for case, title in solvers.CASE.items():
        for (of, solver, alone), found in answers.items():
            if of == case:
                lee = [a["lee"] for a in found]
                rows.append([title, solvers.TITLE[solver], "to its tolerance" if alone else "in CANAL's time", statistics.median(lee), max(lee),
                             statistics.median(a["rounds"] for a in found), 1e3 * statistics.median(a["seconds"] for a in found)])
        own = {s: answers[case, s, True] for s in SOLVERS}
        each = {s: statistics.median(a["seconds"] / a["rounds"] for a in own[s]) for s in SOLVERS}
        best = statistics.median(a["lee"] for a in own["canal"])
        context.figure(f"{case}_canal_solved", 100 * statistics.mean(a["lee"] <= GOOD for a in own["canal"]))
        context.figure(f"{case}_subadmm_worst", max(a["lee"] for a in own["subadmm"]))
        context.figure(f"{case}_canal_rounds", statistics.median(a["rounds"] for a in own["canal"]))
        context.figure(f"{case}_printed_solved", 100 * statistics.mean(a["lee"] <= GOOD for a in own[PRINTED]))
        context.figure(f"{case}_printed_rounds", statistics.median(a["rounds"] for a in own[PRINTED]))
        context.figure(f"{case}_canal_ms", 1e3 * statistics.median(a["seconds"] for a in own["canal"]))
        context.figure(f"{case}_canal_worst_ms", 1e3 * max(a["seconds"] for a in own["canal"]))
        context.figure(f"{case}_pgs_behind", statistics.median(a["lee"] for a in answers[case, SOLVERS[2], False]) / best)
        printed, pgs = (statistics.median(a["lee"] for a in found) for found in in_printed_time[case])
        context.figure(f"{case}_pgs_behind_printed", pgs / printed)
        context.figure(f"{case}_round_over_sweep", each["canal"] / each[SOLVERS[2]])
        context.figure(f"{case}_sweep_over_turn", each[SOLVERS[2]] / each["subadmm"])
    context.table("Medians of the problems", ["case", "solver", "how long", "residual [N s]", "its worst", "iterations", "time [ms]"], rows,
                  note="The residual is the paper's: the error of the contact conditions over the number of contacts. "
                       "Of CANAL iterations are rounds.")
