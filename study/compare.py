#!/usr/bin/env python3
"""study/compare.py [CASE...]: several solvers on the same contact problems

Prints, a row a solver: how wrong its solutions are by the rigid law (E), by the law of the solver (own) and as Lee et al. (2024)
measure it; how many are within 1e-4, 1e-6 and 1e-8; iterations and processor time.  A CASE is a name of --list, or the family
of some; default: nut and dishes.

    --solver A,B      solvers, with options as in pgs:max_iterations=100; default: canal,pgs
    --equal-time      every solver but the first once more, on each problem for as long as the first took for it
    --repeat N        solve what takes little time N times and take the least time; default 3
    --quick           a few problems of each case
    --curves FILE     write how the error of each problem falls with effort and time to FILE (CSV), below any tolerance
    --curves-of N     of every Nth problem alone
    --out FOLDER      keep the problems there, as files that sim solve and other programs read
    --json            JSON in place of the tables, with every solution
    --list            print the cases

bench/step_problems makes the problems, `sim solve --json` solves and judges them.  SIM_PROGRAM=PATH uses that program instead of
building one.
"""
import contextlib
import csv
import dataclasses
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

import cases
import markdown
import shared

ENOUGH = 0.05        # s of processor time on a problem after which it is not solved again
LIMITS = ("rounds", "max_iterations", "iterations")  # options that limit the effort
FIGURES = ("E", "own", "lee", "lee_scaled", "seconds", "iterations", "rounds")
COUNTS = ("failures", "searches", "whole_steps", "dogleg_steps", "edge_steps", "open", "stick", "slide")
MAX_ROUNDS, MAX_ITERATIONS, MAX_QUICK = 100, 3000, 3  # effort at which a curve ends
SOLVED = ("solved", "solved to rounding")


@dataclasses.dataclass
class Source:
    """Where the problems come from, for solvers that must be given more than the files hold."""
    case: cases.Case
    facts: dict
    quick: bool

    @property
    def is_articulated(self):
        return self.facts["velocities"] != 6 * self.facts["bodies"]


class Failure(Exception):
    """A case, or a solver on a case, that gives no figures; `status` is that of the program."""

    def __init__(self, text, status=3):
        super().__init__(text)
        self.status = status


def say(text):
    """On a terminal a line that the next one covers."""
    if sys.stderr.isatty():
        print(f"\r{text[:78]}\x1b[K", end="\r", file=sys.stderr, flush=True)


# ---- problems ----


def problems_of(case, folder, quick):
    """The files of a case, in order, and its sizes."""
    try:
        command = [shared.bench_program("step_problems"), os.path.join(shared.ROOT, "scenes", case.scene), os.path.join(folder, case.name)]
    except FileNotFoundError as why:
        raise Failure(str(why)) from None
    done = subprocess.run(command + case.arguments(quick), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{case.name}: {done.stderr.strip().removeprefix('step_problems: error: ')}", done.returncode)
    facts = json.loads(done.stdout)
    return [os.path.join(folder, f"{case.name}_{k:03d}.hdf5") for k in range(len(facts["run"]))], facts


# ---- solutions ----


class Solver:
    """A solver with its options, and which of these limit its effort."""

    def __init__(self, text, info):
        self.text = text
        name, self.given = shared.name_and_options(text)
        self.info = info[name]
        options = {option["name"]: option for option in self.info["options"]}
        self.has_rounds = "rounds" in options
        self.effort = next((name for name in LIMITS[:2] if name in options), None)
        self.least_tolerance = options["tolerance"]["low"] if "tolerance" in options else None
        same = all(name not in options or float(value) == options[name]["default"] for name, value in self.given.items() if name in LIMITS)
        self.is_unlimited = same and self.effort is not None and self.info["law"] == "rigid"

    def counts(self, what):
        return what in self.info.get("counts", COUNTS)


def runs_in_memory(solver, source):
    return solver.info["bodies"] and source.is_articulated


def run_in_memory(solver, source, *words):
    """The same for all problems of a case by bench/step_problems: for solvers that use bodies, which no file holds."""
    settings = [word for name, word in zip(words, words[1:]) if name == "--set"]
    repeat = [str(word) for pair in zip(words, words[1:]) if pair[0] == "--repeat" for word in pair]
    command = [shared.bench_program("step_problems"), os.path.join(shared.ROOT, "scenes", source.case.scene), source.case.name,
               *source.case.arguments(source.quick), "--solver", ":".join([solver.text.replace(",", ":"), *settings]),
               *repeat, *(["--guess"] if source.case.warm else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(done.stderr.strip().removeprefix("step_problems: error: "), done.returncode)
    return json.loads(re.sub(r": -?(inf|nan)", ": null", done.stdout))


def run_solver(solver, source, files, *words):
    """Answers of `sim solve` for each file."""
    if not files:
        return []
    if runs_in_memory(solver, source) and "--history" not in words:
        told = run_in_memory(solver, source, *words)
        return [told[int(os.path.splitext(path)[0].rsplit("_", 1)[1])] for path in files]
    command = [shared.program(), "solve", *files, "--solver", solver.text, "--json", "--quiet",
               *(["--guess"] if source.case.warm else []), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        told = json.loads(done.stdout)["problems"]
    except (json.JSONDecodeError, KeyError):
        raise Failure(done.stderr.strip().removeprefix("sim: error: "), done.returncode or 3) from None
    for problem in told:
        if "seconds" not in problem:
            raise Failure(problem["reason"], done.returncode)
    return told


def solve_all(solver, source, files, repeat, *words):
    """Solutions of all files; those that take little time are solved `repeat` times, the least time counts.  In memory a
    second run would simulate the scene again: there all are solved so often."""
    if runs_in_memory(solver, source):
        return run_solver(solver, source, files, *words, "--repeat", repeat)
    told = run_solver(solver, source, files, *words)
    short = [k for k, problem in enumerate(told) if problem["seconds"] < ENOUGH] if repeat > 1 else []
    again = run_solver(solver, source, [files[k] for k in short], *words, "--repeat", repeat - 1)
    for k, problem in zip(short, again):
        told[k]["seconds"] = min(told[k]["seconds"], problem["seconds"])
    return told


def count_rounds(solver, source, files, told):
    """Rounds are the records of the history where they are not the iterations."""
    if not solver.has_rounds:
        return [problem["iterations"] for problem in told]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "history.csv")
        run_solver(solver, source, files, "--history", path)
        with open(path, encoding="utf-8", newline="") as file:
            seen = [row["file"] for row in csv.DictReader(file)]
    return [seen.count(path) for path in files] if len(files) < 200 else counted(seen, files)


def counted(seen, files):
    number = dict.fromkeys(files, 0)
    for path in seen:
        number[path] += 1
    return list(number.values())


def with_effort(solver, source, files, amount, repeat, *words):
    return solve_all(solver, source, files, repeat, "--set", f"{solver.effort}={amount:d}", *words)


def solve_within(solver, source, path, seconds, first, more, repeat):
    """As much as can be done in `seconds`, if an effort k takes t + k s: from two efforts, then from the last one."""
    least, amount, tries = 1, 33, 4
    told = more
    for _ in range(tries):
        if abs(told["seconds"] - seconds) <= 0.03 * seconds:
            break
        each = max((told["seconds"] - first["seconds"]) / max(amount - least, 1), 1e-9)
        before, amount = amount, max(least, math.floor(least + (seconds - first["seconds"]) / each))
        if amount >= before and (told["outcome"] != "at its limit" or amount <= before):
            break  # it is done, or the time cannot be met more closely
        told = with_effort(solver, source, [path], min(amount, 1000000), repeat)[0]
    return told


def answer_of(problem, rounds):
    return {"outcome": problem["outcome"], **{name: problem[name] for name in FIGURES[:-1]}, "rounds": rounds,
            **{name: problem[name] for name in COUNTS}}


def answers_of(solver, source, files, repeat, first=None):
    """A solution a problem; as long as those of `first` took, if it is given."""
    if first is None:
        told = solve_all(solver, source, files, repeat)
        return [answer_of(*pair) for pair in zip(told, count_rounds(solver, source, files, told))]
    little, more = (with_effort(solver, source, files, amount, repeat) for amount in (1, 33))
    told = [solve_within(solver, source, path, one["seconds"], a, b, repeat) for path, one, a, b in zip(files, first["answers"], little, more)]
    return [answer_of(problem, problem["iterations"]) for problem in told]


def curves_of(solver, source, files, quick):
    """Rows (problem, effort, solution) for 1, 2, ..., 10 and then a third more each time; a problem that is done stops."""
    most = MAX_QUICK if quick else MAX_ROUNDS if solver.has_rounds else MAX_ITERATIONS
    words = [] if solver.least_tolerance is None else ["--set", f"tolerance={solver.least_tolerance:.17g}"]
    left, effort, rows = list(range(len(files))), 1, []
    while left and effort <= most:
        told = with_effort(solver, source, [files[k] for k in left], effort, 1, *words)
        rows += [(k, effort, problem) for k, problem in zip(left, told)]
        left = [k for k, problem in zip(left, told) if problem["outcome"] == "at its limit"]
        effort = effort + 1 if effort < 10 else effort + effort // 3
    return sorted(rows, key=lambda row: row[:2])


# ---- summaries ----


def each_run(answers, solver, longest):
    """Figures of one run: what differs by chance from run to run.  `iterations_to_answer`: steps without an answer count as the longest of all."""
    counts = [answer["iterations"] for answer in answers]
    to_answer = [answer["iterations"] if answer["E"] <= 1e-8 else longest for answer in answers]
    whole = sum(answer["whole_steps"] for answer in answers) / sum(counts) if sum(counts) and solver.counts("whole_steps") else 1
    return {"iterations": statistics.median(counts), "iterations_to_answer": statistics.median(to_answer), "mean": statistics.mean(counts),
            "whole_steps": whole,
            "unsolved": statistics.mean(not answer["E"] <= 1e-8 for answer in answers)}


def runs_of(entry, solver, facts):
    """Figures a step, over the steps with contacts, as Todorov (2010, table 1) counts them; None where a solver does not count."""
    answers = entry["answers"]
    if not answers:
        return None
    of_run = {}
    for run, answer in zip(facts["run"], answers):
        of_run.setdefault(run, []).append(answer)
    total, share, longest = sum(answer["iterations"] for answer in answers), 1 / len(answers), max(answer["iterations"] for answer in answers)
    whole = sum(answer["whole_steps"] for answer in answers) / total if total else 1
    return {"count": len(of_run), "steps": len(answers), "idle": facts["idle"],
            "iterations": statistics.mean(statistics.median(a["iterations"] for a in of) for of in of_run.values()), "iterations_mean": total * share,
            "each": [each_run(of, solver, longest) for of in of_run.values()],
            "iterations_most": max(answer["iterations"] for answer in answers),
            "whole_steps": whole if solver.counts("whole_steps") else None,
            "restarted": share * sum(answer["failures"] > 0 for answer in answers) if solver.counts("failures") else None,
            "searches": share * sum(answer["searches"] for answer in answers) if solver.counts("searches") else None,
            "unsolved_1e-8": share * sum(not answer["E"] <= 1e-8 for answer in answers),
            "unsolved_1e-6": share * sum(not answer["E"] <= 1e-6 for answer in answers)}


def growth_of(entries):
    """Exponents e of time = c (bodies + contacts)^e for each family and solver with three sizes."""
    points = {}
    for entry in entries:
        if entry["answers"]:
            mean = statistics.mean(answer["seconds"] for answer in entry["answers"])
            points.setdefault((entry["family"], entry["solver"], entry["budget"]), []).append((entry["bodies"] + entry["contacts"], mean))
    return [{"family": family, "solver": solver, "sizes": len(of), "exponent": shared.exponent(of)}
            for (family, solver, _), of in points.items() if len({size for size, _ in of}) >= 3]


# ---- tables ----

HEAD = ["case", "solver", "gave up", "E median", "E worst", "within 1e-4", "1e-6", "1e-8", "own worst", "lee median", "lee worst", "rounds", "most",
        "iterations", "most", "us median", "most", "times the first"]


def of(entry, figure):
    return [math.inf if answer[figure] is None else answer[figure] for answer in entry["answers"]]


def row_of(entry, first):
    solver = f"`{entry['solver']}`" + ("" if entry["budget"] == "its own" else ", equal time")
    if entry["failed"]:
        return [entry["case"], solver, "failed"]
    E, lee, seconds = of(entry, "E"), of(entry, "lee"), of(entry, "seconds")
    gave_up = sum(answer["outcome"] not in SOLVED for answer in entry["answers"])
    return [entry["case"], solver, gave_up, f"{statistics.median(E):.1e}", f"{max(E):.1e}",
            *(sum(e <= level for e in E) for level in (1e-4, 1e-6, 1e-8)),
            f"{max(of(entry, 'own')):.1e}", f"{statistics.median(lee):.1e}", f"{max(lee):.1e}",
            *(f"{figure(of(entry, name)):.4g}" for name in ("rounds", "iterations") for figure in (statistics.median, max)),
            f"{1e6 * statistics.median(seconds):.4g}", f"{1e6 * max(seconds):.4g}",
            f"{statistics.median(seconds) / statistics.median(of(first, 'seconds')):.2f}" if first["answers"] else "-"]


def print_kinds(first):
    kinds = {kind: sum(answer[kind] for answer in first["answers"]) for kind in ("open", "stick", "slide")}
    total = max(1, sum(kinds.values()))
    print("\ncontacts: " + ", ".join(f"{100 * count / total:.0f} % {kind}" for kind, count in kinds.items()))


def print_runs(entries, facts):
    def cell(value, digits, scale=1):
        return "-" if value is None else f"{scale * value:.{digits}f}"
    print(f"\n{len(facts['run'])} steps with contacts, {entries[0]['contacts']:.1f} in the mean; {facts['idle']} without\n")
    head = ["case", "solver", "iterations", "mean", "most", "Newton's point, %", "restarted, %", "searches", "unsolved to 1e-8, %", "to 1e-6, %"]
    print(markdown.table(head, [[entry["case"], f"`{entry['solver']}`", cell(r["iterations"], 2), cell(r["iterations_mean"], 2), r["iterations_most"],
                                 cell(r["whole_steps"], 1, 100), cell(r["restarted"], 2, 100), cell(r["searches"], 1),
                                 cell(r["unsolved_1e-8"], 2, 100), cell(r["unsolved_1e-6"], 2, 100)]
                                for entry in entries for r in [entry["runs"]] if r]))


def print_case(case, entries, facts, count):
    one = entries[0]
    print(f"\n{case.name}: {count} problems of {one['bodies']} bodies, {one['velocities']} velocities, {one['contacts_least']} to "
          f"{one['contacts_most']} contacts\n")
    print(markdown.table(HEAD, [row_of(entry, one) for entry in entries]))
    if one["answers"]:
        print_kinds(one)
    if case.runs:
        print_runs(entries, facts)
    sys.stdout.flush()


def print_growth(growth):
    if growth:
        print("\nTime grows as bodies and contacts together to the power of\n")
        print(markdown.table(["family", "solver", "sizes", "exponent"],
                             [[one["family"], f"`{one['solver']}`", one["sizes"], f"{one['exponent']:.2f}"] for one in growth]))


# ---- the comparison ----


def infos():
    """Descriptions of the program's solvers, by name."""
    return {info["name"]: info for info in json.loads(shared.printed("--list-solvers", "--json"))["solvers"]}


class Comparison:
    """Cases by solvers, one after the other; `entries` collects one a case and solver."""

    def __init__(self, solvers, quick=False, repeat=3, equal_time=False, curves=None, out=None, shown=None, curves_of=1):
        known = infos()
        self.solvers = [Solver(text, known) for text in solvers]
        self.quick, self.repeat, self.equal_time, self.out, self.shown = quick, 1 if repeat < 1 else repeat, equal_time, out, shown
        self.curve_stride = curves_of
        self.curves = csv.writer(curves, lineterminator="\n") if curves else None
        self.entries, self.status = [], 0
        if self.curves:
            self.curves.writerow(["case", "solver", "problem", "effort", "iterations", "seconds", "E", "own", "lee", "lee_scaled"])

    def enter(self, case, files, facts, solver, first=None):
        contacts = facts["contacts"]
        entry = {"case": case.name, "family": case.family, "solver": solver.text,
                 "budget": "time of the first" if first else "its own", "failed": None,
                 "bodies": facts["bodies"], "velocities": facts["velocities"], "contacts": statistics.mean(contacts) if contacts else 0,
                 "contacts_least": min(contacts, default=0), "contacts_most": max(contacts, default=0), "answers": []}
        source = Source(case, facts, self.quick)
        try:
            entry["answers"] = answers_of(solver, source, files, self.repeat, first)
            if self.curves and not first and solver.is_unlimited:
                for number, effort, one in curves_of(solver, source, files[::self.curve_stride], self.quick):
                    self.curves.writerow([case.name, solver.text, number, effort, one["iterations"],
                                          *(f"{one[name]:.4g}" for name in ("seconds", "E", "own", "lee", "lee_scaled"))])
        except Failure as why:
            entry["failed"], self.status = str(why), max(self.status, why.status)
            print(f"study/compare.py: {case.name}, {solver.text}: {why}", file=sys.stderr)
        if case.runs:
            entry["runs"] = runs_of(entry, solver, facts)
        self.entries.append(entry)
        return entry

    def run_case(self, case, folder):
        files, facts = problems_of(case, folder, self.quick)
        made = []
        for number, solver in enumerate(self.solvers, 1):
            say(f"{case.name}: {number} of {len(self.solvers)}, {solver.text}")
            made.append(self.enter(case, files, facts, solver))
        for solver in self.solvers[1:] if self.equal_time and made[0]["answers"] else []:
            if solver.is_unlimited:
                say(f"{case.name}: {solver.text}, equal time")
                made.append(self.enter(case, files, facts, solver, made[0]))
        say("")
        if self.shown:
            self.shown(case, made, facts, len(files))

    def run(self, chosen):
        for case in chosen:
            with contextlib.ExitStack() as stack:
                folder = self.out or stack.enter_context(tempfile.TemporaryDirectory())
                say(case.name)
                try:
                    self.run_case(case, folder)
                except Failure as why:
                    self.status = max(self.status, why.status)
                    print(f"study/compare.py: {why}", file=sys.stderr)
        version, build = shared.printed("--version").strip().splitlines()[:2]
        return {"format": "study compare", "format_version": 1, "sim_version": version, "build": build, "entries": self.entries,
                "growth": growth_of(self.entries)}


def compare(words, solvers, **options):
    """All figures of the cases named, for other studies; a failure ends the process."""
    comparison = Comparison(solvers, **options)
    told = comparison.run(cases.chosen(words))
    if comparison.status:
        sys.exit(comparison.status)
    return told


def arguments():
    parser = shared.Options(__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--solver", action="append", default=[])
    for flag in ("--equal-time", "--quick", "--json", "--list"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--curves")
    parser.add_argument("--curves-of", type=int, default=1)
    parser.add_argument("--out")
    options = parser.parse_args()
    try:
        options.cases = cases.chosen(options.cases)
    except cases.Unknown as why:
        parser.error(str(why))
    options.solver = options.solver and shared.solvers_named(parser, options.solver) or ["canal", "pgs"]
    return options


def main():
    options = arguments()
    if options.list:
        for case in cases.CASES:
            print(f"{case.name:16} {case.scene:26} {'' if case.usual else '(if named) '}{case.count()} problems")
        return 0
    if not options.json:
        print("\n".join(shared.printed("--version").strip().splitlines()[:2]))
    with contextlib.ExitStack() as stack:
        curves = stack.enter_context(open(options.curves, "w", encoding="utf-8")) if options.curves else None
        comparison = Comparison(options.solver, options.quick, options.repeat, options.equal_time, curves, options.out,
                                None if options.json else print_case, options.curves_of)
        told = comparison.run(options.cases)
    if options.json:
        print(json.dumps(told, indent=1))
    else:
        print_growth(told["growth"])
    return comparison.status


if __name__ == "__main__":
    sys.exit(main())
