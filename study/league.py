#!/usr/bin/env python3
"""study/league.py [FOLDER...]: every contact solver on the same problems, judged by the same figure

The problems are three steps of every scene with contacts, and those in the FOLDERs (FCLIB's or our own, .hdf5 or .h5).  The steps are the
first with anything to solve (landing), the first with the most contacts (fullest), the last with any (rest).  Problems that need no
impulse are left out.

A solver has solved a problem to 1e-4, 1e-6 or 1e-8 if E, the error of rigid contact with Coulomb friction, is that small within the time
limit.  It runs with its tolerance at each of the three, and may be timed by a tighter run.  pgs and subadmm have no limit of iterations.
Solvers of another law have the error of their own law beside it.  Prints tables in Markdown and draws performance profiles (Dolan,
More 2002; Acary, Bremond, Huber 2018): docs/images/league.svg.

    --quick           one step a scene, one run with the tightest tolerance, little time, no picture unless --picture names one
    --json            one JSON object with every figure in place of the tables
    --picture FILE    the profiles to FILE.svg
    --solver A,B      these solvers, with options as in pgs:max_iterations=100,relaxation=0.8; options given stay as they are,
                      and a tolerance that is given is the only one; default: all of sim --list-solvers
    --law LAW         rigid, near-rigid or elastic for all, and their own law's error in place of E
    --time-limit S, --time-per-contact S    processor seconds; 0.5 and 0.004, quick 0.05 and 0.001
    --jobs N          so many at a time; default 2
    --only WORD,...   of the scenes those whose names hold one of the words
    --keep FOLDER     leave the problems of the scenes there
    --from FILE       tables and picture of what --json printed earlier; beside those of a FOLDER's README.md

A FOLDER with a README.md that has a table of other programs' times (columns `problem`, `s`) and one of how many each solved
(`solver`, `tried`, `solved`) is set beside them.  SIM_PROGRAM=PATH uses that program instead of building one.
"""
import contextlib
import glob
import json
import math
import os
import statistics
import sys
import tempfile

import league_run
import markdown
import shared
from league_picture import draw
from reproduction.frame.context import Curve

TAUS = (1, 2, 10, 100)
# Methods of ours, and what Siconos calls its own of that kind.
FAMILIES = ((("nsn",), ("NSN-AC",)), (("incp", "mncp-rlm", "mncp-plm"), ("NSN-NM", "PPA-NSN")),
            (("mlcp-pfb-rlm", "mlcp-pfb-plm"), ("NSN-FB",)), (("pgs",), ("NSGS-NSN", "NSGS-PLI")),
            (("subadmm",), ("ADMM-BAL", "ADMM-SBAL")), (("canal", "auto"), ()))


def arguments():
    parser = shared.Options(__doc__)
    parser.add_argument("folders", nargs="*")
    for flag in "--quick", "--json":
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--from", dest="earlier")
    parser.add_argument("--solver", action="append", default=[])
    for text in "--picture", "--keep", "--only":
        parser.add_argument(text)
    parser.add_argument("--law", choices=("rigid", "near-rigid", "elastic"))
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--time-per-contact", type=float)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.solver = shared.solvers_named(parser, options.solver)
    return options


def set_of(folder):
    return os.path.basename(os.path.normpath(folder))


def problem_files(folder):
    return sorted(path for end in ("h5", "hdf5") for path in glob.glob(os.path.join(folder, "*." + end)))


def worth_asking(sim, path, origin):
    """Its sizes; None if it is answered before anybody has done anything."""
    case = league_run.solve(sim, "auto", path, (0.2, 1e-3, 0, None))
    if "died" in case or (case["outcome"] == "solved" and case["iterations"] == 0):
        return None
    name = os.path.splitext(os.path.basename(path))[0]
    sizes = {key: case.get(key) for key in ("contacts", "rows", "velocities", "form")}
    return {"file": path, "name": name, "set": origin, **sizes}


def collect(options, sim, folder):
    names = {"scenes": league_run.dump_all(sim, folder, options.quick, options.jobs, (options.only or "").split(","))}
    names.update({set_of(given): problem_files(given) for given in options.folders})
    asked = [worth_asking(sim, path, origin) for origin, paths in names.items() for path in paths]
    problems = [problem for problem in asked if problem]
    return problems, len(asked) - len(problems)


# ---- figures ----


def seconds(entry, level):
    return math.inf if entry["to"][level] is None else entry["to"][level]


def least_seconds(entries, level):
    """By problem: the fastest to the level."""
    least = {}
    for entry in entries:
        least[entry["problem"]] = min(least.get(entry["problem"], math.inf), seconds(entry, level))
    return least


def verdict(entry):
    """Why it gave up on 1e-8, in a word; None: it did not."""
    return entry["died"] or ("refused" if entry["outcome"] == "refused" else entry["gave_up"])


def figures_of(entries, cards, least):
    """All of one solver on one set of problems."""
    solver, levels = entries[0]["solver"], list(least)
    tight = levels[-1]
    done = [entry["iterations"] for entry in entries if entry["to"][tight] is not None]
    reasons = {}
    for entry in entries:
        reasons[verdict(entry)] = reasons.get(verdict(entry), 0) + 1
    answered = reasons.pop(None, 0)
    name, given = shared.name_and_options(solver)
    cone = cards[name]["cone"]
    strict = cone == "strict"
    wrong = max(league_run.WRONG, 100 * float(given.get("tolerance", 0)))
    own = "own" if cone == "convex" else "residual"
    told = {"solver": solver, "problems": len(entries), "says_solved": answered, "gave_up": reasons,
            "solved": {level: sum(entry["to"][level] is not None for entry in entries) for level in levels},
            "own": None if strict else {level: sum(league_run.error_of(entry, own) <= float(level) for entry in entries) for level in levels},
            "iterations_median": statistics.median(done) if done else None, "iterations_most": max(done, default=None),
            "wrong": [entry["problem"] for entry in entries if strict and verdict(entry) is None and league_run.error_of(entry, "E") > wrong],
            "ratio_median": {}, "profile": {}}
    for level in levels:
        ratios = sorted(shared.ratio(seconds(entry, level), least[level][entry["problem"]]) for entry in entries)
        finite = [r for r in ratios if r < math.inf]
        told["ratio_median"][level] = statistics.median(finite) if finite else None
        told["profile"][level] = ratios
    return told


def league_of(entries, solvers, cards):
    levels = [f"{level:g}" for level in league_run.LEVELS]
    least = {level: least_seconds(entries, level) for level in levels}
    return [figures_of([entry for entry in entries if entry["solver"] == solver], cards, least) for solver in solvers]


def shares_of(entries, solver, known):
    """How many it solved to the last level, and within so many times the reference; None: it was not asked."""
    tight = f"{league_run.LEVELS[-1]:g}"
    own = [entry for entry in entries if entry["solver"] == solver and entry["problem"] in known]
    timed = [shared.ratio(seconds(entry, tight), known[entry["problem"]]) for entry in own if known[entry["problem"]] < math.inf]
    if not timed:
        return None
    solved = sum(entry["to"][tight] is not None for entry in own)
    return [f"`{solver}`", len(own), solved,
            *(f"{share:.2f}" for share in (solved / len(own), *(sum(r <= tau for r in timed) / len(timed) for tau in TAUS)))]


def beside_reference(entries, folder):
    """Each family beside its counterparts of another program: how many, and within so many times that program's fastest."""
    readme = os.path.join(folder, "README.md")
    if not os.path.exists(readme):
        return []
    known = markdown.reference_times(readme)
    theirs = {row["solver"]: row for row in markdown.read(readme, ("solver", "tried", "solved"))}
    asked, rows = list(dict.fromkeys(entry["solver"] for entry in entries)), []
    for ours, others in FAMILIES:
        members = [solver for name in ours for solver in asked if shared.name_and_options(solver)[0] == name]
        rows += [row for row in (shares_of(entries, solver, known) for solver in members) if row]
        rows += [[f"Siconos {name}", *list(theirs[name].values())[1:8]] for name in others if name in theirs]
    return rows


# ---- what is printed ----


def reasons_of(figures):
    return ", ".join(f"{count} {reason}" for reason, count in sorted(figures["gave_up"].items(), key=lambda item: -item[1]))


def print_league(title, league):
    levels = [f"{level:g}" for level in league_run.LEVELS]
    head = ["solver", *(f"to {markdown.power(level)}" for level in levels), "its own law", "iterations", "most",
            *(f"times, {markdown.power(level)}" for level in levels), "gave up", "wrong"]
    rows = []
    for figures in league:
        own = " / ".join(str(figures["own"][level]) for level in levels) if figures["own"] else ""
        whole = lambda x: "-" if x is None else f"{x:.0f}"
        rows.append([f"`{figures['solver']}`", *(figures["solved"][level] for level in levels), own,
                     whole(figures["iterations_median"]), whole(figures["iterations_most"]),
                     *(markdown.figure(figures["ratio_median"][level]) for level in levels), reasons_of(figures), len(figures["wrong"])])
    print(f"### {title}: {league[0]['problems']} problems\n\n" + markdown.table(head, rows) + "\n")
    for figures in league:
        if figures["wrong"]:
            print(f"`{figures['solver']}` calls solved what is wrong by more than {markdown.power(league_run.WRONG)}: {', '.join(figures['wrong'])}\n")


def print_sizes(problems, left_out):
    for name in dict.fromkeys(problem["set"] for problem in problems):
        group = [problem for problem in problems if problem["set"] == name]
        rows = sorted(problem["rows"] for problem in group)
        print(f"{name}: {len(group)} problems of {rows[0]} to {rows[-1]} rows, median {statistics.median(rows):.0f}")
    print(f"{left_out} left out, which need no impulse\n")


def beside_in(options, name, entries):
    given = [folder for folder in options.folders if set_of(folder) == name]
    return beside_reference(entries, given[0]) if given else []


def everything(options, problems, left_out, entries, solvers, cards):
    """All figures in one object."""
    leagues, beside = {}, {}
    for name in dict.fromkeys(problem["set"] for problem in problems):
        members = {problem["name"] for problem in problems if problem["set"] == name}
        chosen = [entry for entry in entries if entry["problem"] in members]
        leagues[name] = league_of(chosen, solvers, cards)
        beside[name] = beside_in(options, name, chosen)
    problems = [dict(problem, file=os.path.basename(problem["file"])) for problem in problems]
    entries = [dict(entry, file=os.path.basename(entry["file"])) for entry in entries]
    return {"format": "sim league", "format_version": 1, "law": options.law, "problems": problems, "left_out": left_out,
            "leagues": leagues, "beside": beside, "entries": entries}


def print_everything(told):
    print_sizes(told["problems"], told["left_out"])
    for name, league in told["leagues"].items():
        print_league(name, league)
        if told["beside"][name]:
            head = ["", "tried", "to 1e-8", "share", *(f"within {tau}x" for tau in TAUS)]
            print(markdown.table(head, told["beside"][name]) + "\n")


def measured(options):
    sim = shared.program()
    limits = (options.time_limit or (0.05 if options.quick else 0.5), options.time_per_contact or (0.001 if options.quick else 0.004))
    cards = {card["name"]: card for card in league_run.solvers(sim)}
    solvers = options.solver or list(cards)
    with contextlib.ExitStack() as stack:
        folder = options.keep or stack.enter_context(tempfile.TemporaryDirectory())
        os.makedirs(folder, exist_ok=True)
        problems, left_out = collect(options, sim, folder)
        entries = league_run.play(sim, solvers, problems, limits, options.law, options.jobs, options.quick)
    return everything(options, problems, left_out, entries, solvers, cards)


# ---- the experiment of study/reproduce.py: all solvers on the same problems: who solves how many, how soon, and why not ----

NAME = "league"
ORDER = 60
TITLE = "All solvers on the same problems"
PAPER = "acary2018"
SHOWN = "performance profiles"
ABOUT = ("Steps out of scenes with contact, and ten problems from files, are given to every contact solver there is. All answers are judged by one "
         "figure that no solver had a hand in: E, the error of rigid contact with Coulomb friction. Who gives up says why. A profile tells which "
         "share of the problems a solver answers within so many times the time of the fastest. What is judged is "
         "solved once more with all the time it wants.")
SECONDS = (12, 240)
FILES = "tests/data/fclib"
SOME = "stack,arch,cards,mass_ratio,gripper,wedge,pendulum"
LOOK = {"auto": (0, "solid"), "pgs": (1, "solid"), "canal": (2, "solid"), "subadmm": (3, "solid"), "nsn": (4, "solid"), "incp": (5, "solid"),
        "mncp-rlm": (6, "solid"), "mncp-plm": (6, "dash"), "mlcp-pfb-rlm": (7, "solid"), "mlcp-pfb-plm": (7, "dash"), "mlcp-pivot": (8, "dashdot")}
AMPLE_SECONDS = 30  # of processor time a problem, tens of times what is needed: no verdict rests on seconds
LEVELS = ("0.0001", "1e-06", "1e-08")


def within(context, folder, solver, error, level):
    """Names of the problems that it answers so well; one that it refuses (2) is not answered."""
    told = context.json("solve", folder, "--solver", solver, "--tolerance", "1e-8", "--time-limit", AMPLE_SECONDS, "--json", statuses=(0, 1, 2))
    return {os.path.splitext(os.path.basename(problem["file"]))[0] for problem in told["problems"]
            if problem.get(error) is not None and problem[error] <= level}


def run(context):
    words = ["--quick", "--only", SOME] if context.quick else []
    steps = context.folder / "steps"
    jobs = max(2, context.jobs // 2)  # two as by itself
    told = json.loads(context.study("league", FILES, "--json", "--jobs", jobs, "--keep", steps, "--picture", f"{context.folder}/league.svg", *words, jobs=jobs))
    sets = told["leagues"]
    scenes, files = sets["scenes"], sets["fclib"]
    everybody = [figures for league in sets.values() for figures in league]
    names = [problem["name"] for problem in told["problems"] if problem["set"] == "scenes"]
    context.figure("auto_solved_files", len(within(context, FILES, "auto", "E", 1e-8)))
    context.figure("sap_own_law_files", len(within(context, FILES, "sap", "own", 1e-6)))
    context.figure("best_share_scenes", max(len(within(context, steps, solver, "E", 1e-8) & set(names)) for solver in ("canal", "auto")) / len(names))
    context.figure("called_solved_and_wrong", sum(len(figures["wrong"]) for figures in everybody))
    context.figure("crashed", sum(figures["gave_up"].get("crash", 0) for figures in everybody))
    for name, league in (("Scenes", scenes), ("Files", files)):
        rows = [[figures["solver"], *(figures["solved"][level] for level in LEVELS), *(figures["ratio_median"][level] for level in LEVELS[1:]),
                 ", ".join(f"{count} {reason}" for reason, count in figures["gave_up"].items())] for figures in league]
        context.table(f"{name}: {league[0]['problems']} problems",
                      ["solver", "to 1e-4", "1e-6", "1e-8", "times the fastest, 1e-6", "1e-8", "gave up"], rows,
                      note="Counted are answers whose E is that small within the time limit. sap and the pyramids (mlcp) answer another law.")
        curves = [Curve(shared.profile(figures["profile"][LEVELS[2]]), figures["solver"], "steps", *LOOK.get(figures["solver"], (None, "solid")))
                  for figures in league if figures["solved"][LEVELS[2]]]
        context.plot(f"{name}, to E = 1e-8", curves, x="times the fastest", y="share solved", log="x", x_range=(1, 1000))


# ---- the command ----


def main():
    options = arguments()
    if options.earlier:
        with open(options.earlier, encoding="utf-8") as file:
            told = json.load(file)
        for name in told["beside"]:
            members = {problem["name"] for problem in told["problems"] if problem["set"] == name}
            told["beside"][name] = beside_in(options, name, [entry for entry in told["entries"] if entry["problem"] in members])
    else:
        told = measured(options)
    if options.json:
        json.dump(told, sys.stdout)
    else:
        print_everything(told)
    picture = options.picture or (None if options.quick else os.path.join(shared.ROOT, "docs", "images", "league.svg"))
    if picture:
        draw(told["leagues"], [f"{level:g}" for level in league_run.LEVELS], picture)


if __name__ == "__main__":
    main()
