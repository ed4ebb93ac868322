#!/usr/bin/env python3
"""study/profile.py RUN.json... [--reference TABLE.md]: table and performance profile of runs of contact solvers

Each RUN is what `sim solve FOLDER --solver NAME --json` printed, all on the same machine.  --reference names a file with a
table in Markdown of what other programs took: the columns `problem`, and `s` for processor seconds of the fastest to
E <= 1e-8 (`-`: none did).  Prints a row a problem, with each run's seconds over the reference, or without one over the
fastest run.  Then a performance profile (Dolan, More 2002): how many problems each run solves within so many times that.

    --solved E       the error at which a problem counts as solved; default 1e-8
    --split N        count problems with N contacts or more apart; default 150
    --apart WORD     count problems whose name holds WORD not at all; may be given several times
"""
import json
import math
import os
import sys

from markdown import figure, reference_times, table
from shared import Options, ratio

TIMES = (1, 2, 5, 10, 100)


def arguments():
    parser = Options(__doc__)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--reference")
    parser.add_argument("--solved", type=float, default=1e-8)
    parser.add_argument("--split", type=int, default=150)
    parser.add_argument("--apart", action="append", default=[])
    return parser.parse_args()


def name_of(case):
    return os.path.splitext(os.path.basename(case["file"]))[0]


def seconds(case, options):
    """Infinite: not solved."""
    good = case.get("E") is not None and case["E"] <= options.solved
    return case["seconds"] if good else math.inf


def run_in(path):
    """(solver, cases by name)"""
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        return told["solver"], {name_of(case): case for case in told["problems"]}
    except OSError as error:
        sys.exit(f"study/profile.py: {path}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        sys.exit(f"study/profile.py: {path}: not what sim solve --json printed")


def times_in(path):
    try:
        return reference_times(path)
    except OSError as error:
        sys.exit(f"study/profile.py: {path}: {error.strerror}")


def main():
    options = arguments()
    runs = [run_in(path) for path in options.runs]
    known = times_in(options.reference) if options.reference else None
    common = set.intersection(*(set(cases) for _, cases in runs))
    problems = sorted(common, key=lambda name: (runs[0][1][name]["contacts"], name))
    least = {name: known.get(name, math.inf) if known is not None else
             min(seconds(cases[name], options) for _, cases in runs) for name in problems}
    head = ["problem", "contacts", "reference [s]" if known is not None else "fastest [s]"]
    rows = []
    for solver, _ in runs:
        head += [f"{solver}: E", "s", "ratio", "by"]
    for name in problems:
        row = [name, runs[0][1][name]["contacts"], figure(least[name])]
        for _, cases in runs:
            case = cases[name]
            row += ["-" if case.get("E") is None else f"{case['E']:.1e}", figure(case.get("seconds", math.inf)),
                    figure(ratio(seconds(case, options), least[name])), case.get("finished_by") or ""]
        rows.append(row)
    print(table(head, rows))
    counted = [name for name in problems if not any(word in name for word in options.apart)]
    timed = [name for name in counted if least[name] < math.inf]
    print(f"\nsolved: E <= {options.solved:g}; of {len(timed)} problems with a time to compare with, within so many times it:\n")
    rows = []
    for solver, cases in runs:
        row = [solver]
        for small in (True, False):
            group = [name for name in counted if (cases[name]["contacts"] < options.split) == small]
            row.append(f"{sum(seconds(cases[name], options) < math.inf for name in group)} of {len(group)}")
        rows.append(row + [sum(ratio(seconds(cases[name], options), least[name]) <= times for name in timed) for times in TIMES])
    print(table(["solver", f"under {options.split} contacts", f"{options.split} or more", *(f"{t}x" for t in TIMES)], rows))


if __name__ == "__main__":
    main()
