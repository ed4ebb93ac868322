#!/usr/bin/env python3
"""study/nonsmooth.py [CASE...]: Newton and linear iterations of `nsn` on the rigid examples of Macklin et al. 2019, beside their table

Also the effect of mass ratios, of the r of friction and of the complementarity function (their figure 9).  The progress of each linear
solver in a Newton step is their figure 11.  Prints tables in Markdown and draws docs/images/nonsmooth.svg and docs/images/mass_ratios.svg.

Cases are those of study/compare.py --list, or `ratio`, all of these; default: stack-3 can arch gripper hand pile ratio (some
minutes).  A picture is drawn if all its cases are there.

    --json             figures in place of tables
    --images FOLDER    draw there

SIM_PROGRAM=PATH uses that program instead of building one.
"""
import collections
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

import compare
import markdown
import plots
from cases import CASES
from cases import chosen as cases_chosen
from reproduction.frame.context import Curve
from shared import ROOT, Options, program

USUAL = ["stack-3", "can", "arch", "gripper", "hand", "pile"]
RATIOS = {"heavy": "three of 1 kg carry a heavy one", "smooth": "the same without friction",
          "light": "a heavy one carries three of 1 kg", "up": "each heavier than the one below",
          "down": "each lighter than the one below", "scale": "four alike"}
DRAWN = ["stack-3", "arch", "hand", "pile"]
SYSTEMS = DRAWN + ["gripper", "ratio-heavy-1e3", "ratio-up-1e3"]
LINEAR = {"pcr": plots.BLUE, "pcg": plots.GREEN, "gauss-seidel": plots.ORANGE, "jacobi": plots.RED}
PLAIN = ["friction=fixed-point"]  # as in the paper
LINES = {"pcr": PLAIN, "cholesky": PLAIN + ["linear=cholesky"], "nsn as it stands": []}
WAYS = {"r adapted": PLAIN, "r = W_ii": PLAIN + ["r=fixed"], "r = 1": PLAIN + ["r=fixed", "preconditioned=off"]}
COLOURS = dict(zip(WAYS, (plots.PURPLE, plots.CYAN, plots.INK)))
FUNCTIONS = ["fischer-burmeister", "minimum"]
SLOW = ["pile"]  # seconds each: its first problem alone tells of strategies
PAPER_TABLE = {"arch": ("20 stones, 134 contacts", 6, 20), "pile": ("54 tables, 936 contacts", 4, 20),
               "hand": ("hand of 21 bodies, 104 contacts", 8, 20),
         "gripper": ("arm of 42 bodies, 300 contacts", 6, 50)}
STEPS, LONGEST, TIME_LIMIT, LOOKED, SWEEPS = (1, 3), 200, 4, 150, 5000


def sim_output(*arguments):
    done = subprocess.run([program(), *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1, 4) and not done.stdout:
        sys.exit(done.stderr)
    return done.stdout


def solve(paths, settings, *more, solver="nsn"):
    words = [word for setting in settings for word in ("--set", setting)]
    return json.loads(sim_output("solve", *paths, "--solver", solver, "--json", "--time-limit", str(TIME_LIMIT), *words, *more))["problems"]


def rows(path):
    with open(path, encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def cases_named(words):
    """Names of the cases that are named, or belong to `ratio`."""
    return [case.name for word in words for case in CASES if case.name == word or word == case.family == "ratio"]


def problems(case, folder):
    return compare.problems_of(cases_chosen([case])[0], folder, False)[0]


# ---- what is measured ----


def summed(told):
    steps = [one["iterations"] for one in told]
    return {"solved": sum(one["E"] <= 1e-8 for one in told), "of": len(told), "newton": statistics.median(steps), "most": max(steps),
            "linear_per_step": statistics.median(one["searches"] / max(1, one["iterations"]) for one in told),
            "contacts": round(statistics.mean(one["contacts"] for one in told)), "ms": 1e3 * statistics.median(one["seconds"] for one in told),
            "E": statistics.median(one["E"] for one in told), "E_most": max(one["E"] for one in told)}


def newton(case, paths):
    lines = [{"case": case, "linear": linear, **summed(solve(paths, settings))} for linear, settings in LINES.items()]
    if case in PAPER_TABLE:
        _, steps, each = PAPER_TABLE[case]
        few = summed(solve(paths, [*PLAIN, f"max_iterations={steps}", f"linear_iterations={each}", "linear_tolerance=0"]))
        lines[0]["E_of_the_papers_budget"] = few["E"]
    return lines


def strategies(case, paths):
    return [{"case": case, "way": way, "function": function, **summed(solve(paths, settings + ["function=" + function]))}
            for function in FUNCTIONS for way, settings in WAYS.items()]


def sweeps(case, paths):
    """Sweeps from contact to contact, for comparison."""
    return {"case": case, **summed(solve(paths, ["acceleration=none", f"max_iterations={SWEEPS}"], solver="pgs"))}


def linear(path, folder):
    """Residuals of the linear systems of two Newton steps, by each method; all steps before are solved well."""
    found = {}
    file = os.path.join(folder, "linear.csv")
    for method in LINEAR:
        solve([path], [*PLAIN, "linear=" + method, "linear_tolerance=1e-12", f"linear_iterations={LONGEST}", f"max_iterations={max(STEPS)}"],
              "--linear-history", file)
        for row in rows(file):
            if int(row["iteration"]) in STEPS:
                found.setdefault((method, int(row["iteration"])), []).append(float(row["residual"]))
    return found


def courses(path, folder):
    file = os.path.join(folder, "history.csv")
    found = {}
    for function in FUNCTIONS:
        for way, settings in WAYS.items():
            solve([path], settings + ["function=" + function, f"max_iterations={LOOKED}"], "--history", file)
            found[way, function] = [float(row["residual"]) for row in rows(file)]
    return found


# ---- pictures ----


def lines_of(content, style):
    """Of (label, color, dash, points)."""
    return [plots.series([(x, max(y, 1e-17)) for x, y in points], label, color=color, dash=dash, style=style)
            for label, color, dash, points in content]


def least(values):
    best, out = float("inf"), []
    for value in values:
        best = min(best, value)
        out.append(max(best, 1e-17))
    return out


def draw_systems(image, systems, found):
    panels = []
    for case in DRAWN:
        for step in STEPS:
            lines = [(method, color, None, list(enumerate(systems[case].get((method, step), [1])))) for method, color in LINEAR.items()]
            panels.append(plots.panel(lines_of(lines, "line"), f"{case}: residual in Newton step {step}",
                                      "linear iterations", "", "y", (0, None), (1e-12, 2)))
        lines = [(f"{way}, {'minimum' if function == 'minimum' else 'F.-B.'}", COLOURS[way],
                  "dash" if function == "minimum" else None, list(enumerate(least(values))))
                 for (way, function), values in found[case].items()]
        panels.append(plots.panel(lines_of(lines, "line"), f"{case}: least E so far", "Newton steps", "", "y", (0, None), (1e-9, 2)))
    plots.draw(image, panels, width=1180, columns=3)


def split_ratio(case):
    """ratio-KIND-R: kind and ratio."""
    _, kind, ratio = (case + "-1" if case == "ratio-1" else case).split("-", 2)
    return kind, float(ratio)


def draw_ratios(image, told):
    kinds = [kind for kind in RATIOS if kind != "scale"] + ["scale"]
    ways = [one for one in told["strategies"] if one["case"].startswith("ratio")]
    whole = [one for one in told["newton"] if one["case"].startswith("ratio") and not LINES[one["linear"]]]
    panels = []
    for kind in kinds:
        def points(lines, key):
            return sorted((split_ratio(one["case"])[1], one[key]) for one in lines
                          if split_ratio(one["case"])[0] == kind or one["case"] == "ratio-1" and kind != "smooth")
        lines = [(way, COLOURS[way], None,
                  points([one for one in ways if one["way"] == way and one["function"] == FUNCTIONS[0]], "newton")) for way in WAYS]
        lines += [("nsn as it stands", plots.GREEN, None, points(whole, "newton")),
                  ("sweeps of Gauss and Seidel", plots.ORANGE, None, points(told["sweeps"], "newton"))]
        panels.append(plots.panel(lines_of(lines, "both"), RATIOS[kind],
                                  "mass [kg]" if kind == "scale" else "mass ratio", "", "xy", y_range=(3, 6000)))
    plots.draw(image, panels, width=1000, columns=3)


# ---- tables ----


def table(title, head, lines):
    print(f"{title}\n\n" + markdown.table(head, lines) + "\n")


def steps_of(one):
    """Newton steps, and how many are solved if not all."""
    return f"{one['newton']:g}" + ("" if one["solved"] == one["of"] else f" ({one['solved']} of {one['of']})")


def of_paper(case):
    return "{}: {} x {}".format(*PAPER_TABLE[case]) if case in PAPER_TABLE else ""


def after(values, count):
    return f"{values[min(count, len(values) - 1)]:.1e}"


def print_all(told, systems, found):
    examples = [one for one in told["newton"] if not one["case"].startswith("ratio")]
    table("Newton steps from nothing to E = 1e-8, linear iterations in each; what is left after the paper's number of both",
          ["case", "contacts", "linear systems by", "within 1e-8", "Newton steps", "most", "linear iterations a step",
           "ms", "the paper's: Newton x linear", "E after as many"],
          [[one["case"], one["contacts"], one["linear"], f"{one['solved']} of {one['of']}", f"{one['newton']:g}",
            one["most"], f"{one['linear_per_step']:.3g}" if one["linear"] == "pcr" else "",
            f"{one['ms']:.3g}", of_paper(one["case"]) if one["linear"] == "pcr" else "",
            f"{one['E_of_the_papers_budget']:.1e}" if "E_of_the_papers_budget" in one else ""] for one in examples])
    ways = collections.defaultdict(dict)
    for one in told["strategies"]:
        ways[one["case"]][one["way"], one["function"]] = one
    columns = [(way, function) for function in FUNCTIONS for way in WAYS]
    head = ["case", *(f"{way}, {'minimum' if function == 'minimum' else 'F.-B.'}" for way, function in columns)]
    for title, wanted in (("Newton steps by the r of friction and the complementarity function, examples", False), ("The same, mass ratios", True)):
        lines = [[case, *(steps_of(of[key]) for key in columns)] for case, of in ways.items() if case.startswith("ratio") == wanted]
        if lines:
            table(title, head, lines)
    solvers = collections.defaultdict(dict)
    for one in told["newton"]:
        solvers[one["case"]][one["linear"]] = one
    if told["sweeps"]:
        table("Mass ratios: Newton steps x linear iterations, and sweeps of Gauss and Seidel",
              ["case", "masses from the floor", *LINES, "sweeps", "their E, worst"],
              [[one["case"], RATIOS.get(split_ratio(one["case"])[0], "four of 1 kg"),
                *(steps_of(solvers[one["case"]][way]) + (f" x {solvers[one['case']][way]['linear_per_step']:.3g}"
                                                         if way == "pcr" else "") for way in LINES),
                steps_of(one), f"{one['E_most']:.0e}"] for one in told["sweeps"]])
    table("Linear systems of the first problem: residual after 20 and after 80 iterations", ["case", "Newton step", *LINEAR],
          [[case, step, *(" ".join(after(systems[case].get((method, step), [1]), count) for count in (20, 80)) for method in LINEAR)]
           for case in systems for step in STEPS])
    table(f"Least E of the first problem within {LOOKED} Newton steps", head,
          [[case, *(f"{min(found[case][key]):.1e} in {len(found[case][key]) - 1}" for key in columns)] for case in found])


# ---- the experiment of study/reproduce.py: nonsmooth Newton: what the complementarity preconditioner and the linear solver are worth ----

NAME = "nonsmooth_newton"
ORDER = 40
TITLE = "Nonsmooth Newton: how it converges"
PAPER = "macklin2019"
SHOWN = "figures 9 and 11"
ABOUT = ("Contact is written as equations with corners, the complementarity functions, and Newton's method is run on "
         "them. Ten problems of our scenes (an "
         "arch, stacks, wedges, a gripper): how many Newton steps with and without scaling impulses by the inverse mass that they move (the paper's "
         "preconditioner; without our adaptation of r, as in the paper), and how far does it come when linear systems "
         "are answered by 20 iterations of several methods, 50 Newton steps in all?")
SECONDS = (3, 3)

FILES = "tests/data/fclib"
SHOWN_PROBLEMS = {"gen-arch-global-72": "Arch, 72 contacts", "gen-massratio7-global-28": "7 kg under a heavy box, 28 contacts"}
FUNCTION_TITLES = {"fischer-burmeister": "Fischer-Burmeister", "minimum": "minimum map"}
LINEAR_TITLES = {"pcr": "conjugate residuals (PCR)", "pcg": "conjugate gradients", "gauss-seidel": "Gauss-Seidel", "jacobi": "Jacobi"}
LINEAR_ITERATIONS = 20
NEWTON_STEPS = 50  # nsn begins anew, with twice the linear iterations, after 50 at the earliest


def name_of(problem):
    return problem["file"].rsplit("/", 1)[-1].rsplit(".", 1)[0]


def solutions(context, *options, steps=100, history=None):
    words = [word for option in ("friction=fixed-point", *options) for word in ("--set", option)] + (["--history", history] if history else [])
    told = context.json("solve", FILES, "--solver", "nsn", "--set", f"max_iterations={steps}", *words, "--json", statuses=(0, 1))
    return {name_of(problem): problem for problem in told["problems"]}


def steps_ratio(a, b):
    """Of the Newton steps of problems that both solve."""
    both = [name for name in a if a[name]["E"] <= 1e-8 and b[name]["E"] <= 1e-8]
    return statistics.geometric_mean(a[name]["iterations"] / b[name]["iterations"] for name in both)


# Without the shift of the diagonal (its section 8.4), which takes the systems' singularity away.
CAN = {linear: f"friction=fixed-point:linear={linear}:epsilon=0" for linear in ("pcr", "pcg", "cholesky")}


def can_on_its_points(context):
    """A tessellated cylinder on 32 points, of which three would do: linear systems of low rank (the paper's section 10.4)."""
    told = context.compare("can", "--repeat", 1, "--solver", ",".join(f"nsn:{words}" for words in CAN.values()))
    for method, entry in zip(CAN, told["entries"]):
        context.figure(f"can_{method}", 100 * statistics.mean(answer["E"] <= 1e-8 for answer in entry["answers"]))


def run(context):
    can_on_its_points(context)
    found, histories = {}, {}
    for function in FUNCTION_TITLES:
        for scaled in ("on", "off"):
            path = context.folder / "history.csv"
            found[function, scaled] = solutions(context, f"function={function}", f"preconditioned={scaled}", "r=fixed", history=path)
            histories[function, scaled] = context.csv(path)
    for name, title in SHOWN_PROBLEMS.items():
        curves = []
        for (function, scaled), told in histories.items():
            points = [(k, r) for file, k, r in zip(told["file"], told["iteration"], told["residual"]) if name in file]
            curves.append(Curve(points, FUNCTION_TITLES[function] + ("" if scaled == "on" else ", not scaled"),
                                dash="solid" if scaled == "on" else "dash",
                                colour=1 + list(FUNCTION_TITLES).index(function)))
        context.plot(title, curves, x="Newton steps", y="residual", log="y")
    of_linear = {linear: solutions(context, f"linear={linear}", f"linear_iterations={LINEAR_ITERATIONS}",
                                   "linear_tolerance=0", "r=fixed", steps=NEWTON_STEPS) for linear in LINEAR_TITLES}
    names = list(of_linear["pcr"])
    context.plot(f"Error after {NEWTON_STEPS} Newton steps with {LINEAR_ITERATIONS} linear iterations each", [
        Curve([(k, of_linear[linear][name]["E"]) for k, name in enumerate(names, 1)], title, "points")
        for linear, title in LINEAR_TITLES.items()], x="problem", y="E", log="y", x_range=(0, len(names) + 1))
    context.table("Newton steps to E = 1e-8 (at most 100)",
                  ["problem"] + [FUNCTION_TITLES[f] + ("" if s == "on" else ", not scaled") for f, s in found], [
        [name] + [one[name]["iterations"] if one[name]["E"] <= 1e-8 else "not solved" for one in found.values()] for name in names])
    context.table(f"E after {NEWTON_STEPS} Newton steps with {LINEAR_ITERATIONS} linear iterations each", ["problem", *LINEAR_TITLES.values()], [
        [name] + [of_linear[linear][name]["E"] for linear in LINEAR_TITLES] for name in names])
    usual = found["fischer-burmeister", "on"]
    context.figure("solved", sum(one["E"] <= 1e-8 for one in usual.values()))
    context.figure("scaled_solved", sum(one["E"] <= 1e-8 for f in FUNCTION_TITLES for one in found[f, "on"].values())
                   - sum(one["E"] <= 1e-8 for f in FUNCTION_TITLES for one in found[f, "off"].values()))
    context.figure("scaled_steps", steps_ratio(usual, found["fischer-burmeister", "off"]))
    context.figure("arch_steps", next(one["iterations"] for name, one in usual.items() if "arch" in name))
    for linear in ("jacobi", "gauss-seidel"):
        context.figure(f"{linear}_over_pcr".replace("-", "_"), statistics.geometric_mean(
            max(of_linear[linear][name]["E"], 1e-8) / max(of_linear["pcr"][name]["E"], 1e-8) for name in names))


# ---- the command ----


def main():
    parser = Options(__doc__)
    parser.add_argument("case", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--images", metavar="FOLDER", default=os.path.join(ROOT, "docs", "images"))
    request = parser.parse_args()
    cases = cases_named(request.case or USUAL + ["ratio"])
    unknown = [word for word in request.case if word not in cases and word != "ratio"]
    if unknown:
        parser.error(f"there is no case '{unknown[0]}'; see study/compare.py --list")
    told, systems, found = {"format": "nonsmooth", "newton": [], "strategies": [], "sweeps": []}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases, 1):
            if sys.stderr.isatty():
                print(f"\r{number} of {len(cases)}: {case}\x1b[K", end="\r", file=sys.stderr, flush=True)
            paths = problems(case, folder)
            told["newton"] += newton(case, paths)
            told["strategies"] += [] if case in SLOW else strategies(case, paths)
            told["sweeps"] += [sweeps(case, paths)] if case.startswith("ratio") else []
            if case in SYSTEMS:
                systems[case] = linear(paths[0], folder)
            if not case.startswith("ratio"):
                found[case] = courses(paths[0], folder)
    told["linear"] = [{"case": case, "step": step, "method": method, "after_20": values[min(20, len(values) - 1)],
                       "after_80": values[min(80, len(values) - 1)]}
                      for case in systems for (method, step), values in systems[case].items()]
    if request.json:
        print(json.dumps(told, indent=1))
    else:
        print_all(told, systems, found)
    if set(DRAWN) <= set(cases):
        draw_systems(os.path.join(request.images, "nonsmooth.svg"), systems, found)
    if set(cases_named(["ratio"])) <= set(cases):
        draw_ratios(os.path.join(request.images, "mass_ratios.svg"), told)


if __name__ == "__main__":
    main()
