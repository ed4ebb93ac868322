#!/usr/bin/env python3
"""study/solvers.py STUDY...: convergence and growth of contact solvers.  Prints tables in Markdown and draws them:

    convergence   a nut on its bolt and a stack of dishes, 100 problems each    docs/images/convergence.svg    3 minutes
    growth        balls poured into a cup, 9 to 2,000; balls in a cup that two
                  arms hold, 9 to 45; robots, 1 to 64                           docs/images/growth.svg         9 minutes
    quadrupeds    SubADMM with and without splitting: 8 and 27 robots                                          1 minute

--quick takes a few problems of each and small sizes only, and draws into the folder of the system's temporary files.
SIM_PROGRAM=PATH uses that program instead of building one.  After Lee et al. 2024, figures 7, 9 and 11, table III.
"""
import collections
import csv
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile

import compare
import markdown
import plots
import shared
from shared import ROOT, printed

COLOUR = {"canal": plots.BLUE, "subadmm": plots.GREEN, "pgs": plots.RED, "pgs:acceleration=none": plots.ORANGE}
TITLE = {"canal": "CANAL", "subadmm": "SubADMM", "pgs": "PGS, accelerated", "pgs:acceleration=none": "PGS",
         "subadmm:acceleration=none": "SubADMM, plain", "canal:inner=cascaded:acceleration=none": "CANAL as printed"}
CASE = {"nut": "M48 nut on its bolt", "dishes": "Dishes under a pot"}
SIZES = (9, 18, 27, 36, 45, 100, 200, 490, 1000, 2000)
HELD = (9, 18, 27, 36, 45)
ROBOTS = (1, 8, 27, 64)
FAMILIES = {"pour": ("balls", "solid"), "grasp": ("held balls", "dashdot"), "quadrupeds": ("robots", "dash")}
FIXED = {"subadmm": "subadmm:max_iterations=100:tolerance=0", "pgs:acceleration=none": "pgs:max_iterations=100:tolerance=0:acceleration=none",
         "canal": "canal:rounds=5:tolerance=0"}


def there():
    """The solvers that this build has, of those that are compared here."""
    names = {solver["name"] for solver in json.loads(printed("--list-solvers", "--json"))["solvers"]}
    return [solver for solver in COLOUR if solver.split(":")[0] in names]


def words(cases, solvers, *options):
    """Words of study/compare.py."""
    return [*cases, "--solver", ",".join(solvers), *options]


def compared(cases, solvers, *options):
    """Output of study/compare.py."""
    done = subprocess.run([os.path.join(ROOT, "study", "compare.py"), *words(cases, solvers, *options)], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "SIM_PROGRAM": shared.program()}, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def image(name, quick):
    return os.path.join(tempfile.gettempdir() if quick else os.path.join(ROOT, "docs", "images"), name)


# ---- how the error falls ----


def curves(path):
    """E, time and their spread over all problems, at every effort: a problem that is done stays where it ended.
    (effort, median time, 10 % of E, median E, 90 % of E)."""
    read = collections.defaultdict(lambda: collections.defaultdict(dict))
    with open(path, encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            read[row["case"], row["solver"]][int(row["problem"])][int(row["effort"])] = (float(row["E"]), 1e3 * float(row["seconds"]))
    for key, problems in read.items():
        lines, last = [], {}
        for effort in sorted({effort for problem in problems.values() for effort in problem}):
            last.update({number: at[effort] for number, at in problems.items() if effort in at})
            E = sorted(max(value[0], 1e-17) for value in last.values())
            n = len(E)
            lines.append((effort, statistics.median(value[1] for value in last.values()), E[n // 10], statistics.median(E),
                          E[n - 1 - n // 10]))
        yield key, lines


def convergence(quick):
    solvers = there()
    limited = ["pgs:max_iterations=100", "pgs:max_iterations=100:acceleration=none", "subadmm:iterations=100", "sap"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "curves.csv")
        limited = [solver for solver in limited if solver.split(":")[0] in ("sap", *solvers)]
        print(compared(CASE, solvers + limited, "--equal-time", "--curves", path, *(["--quick"] if quick else [])), end="")
        draw_convergence(image("convergence.svg", quick), {key: lines for key, lines in curves(path) if key[1] in COLOUR})


def draw_convergence(path, found):
    """Of (case, solver): the lines of `curves`."""
    def lines(case, points):
        return [plots.series([points(line) for line in found[case, solver]], TITLE[solver], color=color, style="line")
                for solver, color in COLOUR.items() if (case, solver) in found]
    panels, ends = [], (1e-17, 10)
    for case, title in CASE.items():
        panels += [plots.panel(lines(case, lambda line: (line[0], *line[2:])), title, "iterations (CANAL: rounds)", "E", "xy", y_range=ends),
                   plots.panel(lines(case, lambda line: (line[1], *line[2:])), title, "time [ms]", "E", "xy", y_range=ends),
                   plots.panel(lines(case, lambda line: line[:2]), title, "iterations (CANAL: rounds)", "time [ms]", "xy")]
    plots.draw(path, panels, width=1180, columns=3)


# ---- how time grows ----


def exponent(rows):
    """Of the sizes at which all that was asked for had to be done: small heaps may be at rest before."""
    points = [row[:2] for row in rows if row[6]]
    return f"{shared.exponent(points):.2f}" if len(points) > 2 else "-"


def print_shares(figures, solvers):
    """Residual and time of each solver over those of plain PGS, of the same case; the geometric mean of the cases with work to do."""
    plain = "pgs:acceleration=none"
    if plain not in solvers:
        return
    rows_of = []
    for family in FAMILIES:
        base = {row[4]: row for row in figures[family, FIXED[plain]] if row[6]}
        told_of = []
        for solver in solvers:
            rows = [row for row in figures[family, FIXED[solver]] if row[4] in base]
            for column in (3, 1):
                told_of.append(f"{statistics.geometric_mean(max(row[column], 1e-30) / max(base[row[4]][column], 1e-30) for row in rows):.2f}" if rows else "-")
        rows_of.append([family, *told_of])
    head = ["", *(word for s in solvers for word in (f"{TITLE[s]}: residual", "time"))]
    print("\nResidual (lee) and time over PGS's, geometric means over the cases\n\n" + markdown.table(head, rows_of))


def growth(quick):
    solvers = [solver for solver in there() if solver in FIXED]
    cases = [f"pour-{n}" for n in SIZES if not quick or n < 40] + [f"grasp-{n}" for n in HELD if not quick or n < 20]
    cases += [f"quadrupeds-{n}" for n in ROBOTS if not quick or n < 9]
    said = json.loads(compared(cases, [FIXED[s] for s in solvers], "--json", *(["--quick"] if quick else [])))
    figures = collections.defaultdict(list)
    for entry in said["entries"]:
        answers = entry["answers"]
        figures[entry["family"], entry["solver"]].append(
            (entry["bodies"] + entry["contacts"], 1e3 * statistics.mean(a["seconds"] for a in answers),
             statistics.median(a["E"] for a in answers), statistics.mean(a["lee"] for a in answers), entry["case"], entry["contacts"],
             all(a["outcome"] == "at its limit" for a in answers)))
    lines = []
    for case in cases:
        rows = [next(f for f in figures[case.split("-")[0], FIXED[s]] if f[4] == case) for s in solvers]
        lines.append([case, f"{rows[0][5]:.0f}", *(word for r in rows for word in (f"{r[1]:.3g}", f"{r[2]:.1e}", f"{r[3]:.1e}"))])
    print(markdown.table(["case", "contacts", *(word for s in solvers for word in (f"{TITLE[s]} [ms]", "E", "lee [N s]"))], lines))
    print("\nTime grows as bodies and contacts together to the power of\n\n" + markdown.table(
        ["", *(TITLE[s] for s in solvers)], [[family, *(exponent(figures[family, FIXED[s]]) for s in solvers)] for family in FAMILIES]))
    print_shares(figures, solvers)
    draw_growth(image("growth.svg", quick), {key: [(row[0], row[1], row[3]) for row in rows] for key, rows in figures.items()}, solvers)


def draw_growth(path, found, solvers):
    """Of (family, solver with its budget): (bodies and contacts, ms, residual)."""
    def lines(column):
        return [plots.series([(row[0], row[column]) for row in found.get((family, FIXED[solver]), ())],
                             f"{TITLE[solver]}, {'5 rounds' if solver == 'canal' else '100'}: {what}",
                               color=COLOUR[solver], dash=dash, style="both") for family, (what, dash) in FAMILIES.items() for solver in solvers]
    plots.draw(path, [plots.panel(lines(1), "Time of a solve", "bodies and contacts", "time [ms]", "xy"),
                        plots.panel(lines(2), "Residual", "bodies and contacts", "lee, mean [N s]", "xy", (30, None),
                                    (1e-16, 1e-2))], width=920, columns=2)


# ---- what splitting is worth ----

WAYS = {"bodies": "SubADMM", "trees": "No Body", "none": "No Sub"}
LANES = ("scalar", "vector")  # one contact or body at a time, as all three can; eight at a time, split by bodies alone
SPLIT = [f"subadmm:max_iterations=100:tolerance=0:lanes={lanes}:split={split}" for lanes in LANES for split in WAYS]
PAPER_SPLIT = {"bodies": (0.435, 4.8802), "trees": (0.638, 4.8562), "none": (1.21, 4.8817)}  # of 8 robots: ms, -log10 residual
SPLIT_ROBOTS = (8, 27)
SPLIT_CASES = ("quadrupeds-8", *(f"quadrupeds-8-heap-{k}" for k in range(2, 11)), "quadrupeds-27")


def split_cases(quick):
    """In quick mode a heap of each size."""
    return [case for case in SPLIT_CASES if not (quick and "heap" in case)]


def split_words(quick):
    """Words of study/compare.py for 100 iterations on the whole system, tree by tree, and body by body."""
    return words(split_cases(quick), SPLIT, *(["--quick", "--repeat", "1"] if quick else ["--repeat", "20"]))


def split_figures(told):
    """(robots, lanes, split) -> what came out, means of the problems of all heaps of so many robots; E is the median."""
    found = {}
    for robots in SPLIT_ROBOTS:
        entries = [e for e in told["entries"] if f"{e['case']}-".startswith(f"quadrupeds-{robots}-")]
        for k, (lanes, split) in enumerate(itertools.product(LANES, WAYS)):
            heaps = entries[k::len(SPLIT)]
            answers = [a for e in heaps for a in e["answers"]]
            found[robots, lanes, split] = {
                "ms": 1e3 * statistics.mean(a["seconds"] for a in answers), "digits": statistics.mean(shared.digits(a["lee"]) for a in answers),
                "digits_of_heaps": [statistics.mean(shared.digits(a["lee"]) for a in e["answers"]) for e in heaps],
                "E": statistics.median(a["E"] for a in answers), "contacts": statistics.mean(e["contacts"] for e in heaps),
                "range": f"{min(e['contacts_least'] for e in heaps)} to {max(e['contacts_most'] for e in heaps)}"}
            found[robots, lanes, split]["times"] = found[robots, lanes, split]["ms"] / found[robots, lanes, "bodies"]["ms"]
    return found


def quadrupeds(quick):
    """Table III."""
    found = split_figures(compare.compare(split_cases(quick), SPLIT, quick=quick, repeat=1 if quick else 20))
    print(markdown.table(["robots", "contacts", "lanes", "", "time [ms]", "times SubADMM", "-log10 residual", "E", "paper [ms]"], [
        [robots, one["range"], lanes, WAYS[split], f"{one['ms']:.3f}", f"{one['times']:.2f}", f"{one['digits']:.2f}", f"{one['E']:.1e}",
         PAPER_SPLIT[split][0] if robots == 8 else ""] for (robots, lanes, split), one in found.items()]))


def main():
    known = {"convergence": convergence, "growth": growth, "quadrupeds": quadrupeds}
    parser = shared.Options(__doc__)
    parser.add_argument("what", nargs="+", choices=list(known))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    for word in options.what:
        known[word](options.quick)


if __name__ == "__main__":
    main()
