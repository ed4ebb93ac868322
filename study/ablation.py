#!/usr/bin/env python3
"""study/ablation.py [CASE...]: CANAL with four forms of its inner problem (Lee et al. 2024, table II)

Ten outer iterations with the inner problem in convex form (cascaded), or strict, by trust-region dogleg or damped semismooth Newton.
Not of the paper: mixed takes the dogleg, and the cascaded form where that fails.

Cases are those of study/compare.py --list (default: dishes nut).  --penalty P begins with that penalty (default 100 and 1e4).  The paper's
1e4 kg is about 1e4 for dishes of 0.1 kg under 5 kg.  SIM_PROGRAM=PATH uses that program instead of building one.
"""
import statistics

import cases
import compare
import markdown
from shared import Options, digits

INNER = ["cascaded", "dogleg", "semismooth", "mixed"]
# of the paper, for its dishes: steps, failures in percent, -log10 of the residual
PAPER_TABLE = {"cascaded": (30.55, 0, 8.2231), "dogleg": (118.8, 1.2, 8.5693), "semismooth": (246.9, 1.1, 8.5644)}
HEAD = ["case", "penalty", "inner problem", "steps", "failed rounds [%]", "-log residual", "worst", "-log E", "worst", "ms"]


def solver(inner, penalty):
    return f"canal:rounds=10:tolerance=0:acceleration=none:penalty={penalty}:inner={inner}"


def row(entry, inner, penalty):
    answers = entry["answers"]
    lee, E = ([digits(answer[figure]) for answer in answers] for figure in ("lee", "E"))
    rounds = sum(answer["rounds"] for answer in answers)
    return [entry["case"], f"{penalty:g}", inner, f"{statistics.mean(a['iterations'] for a in answers):.4g}",
            f"{100 * sum(a['failures'] for a in answers) / rounds:.2g}", f"{statistics.mean(lee):.3g}", f"{min(lee):.3g}",
            f"{statistics.mean(E):.3g}", f"{min(E):.3g}", f"{1e3 * statistics.mean(a['seconds'] for a in answers):.3g}"]


# ---- the experiment of study/reproduce.py: what is the cascade of CANAL worth ----

NAME = "ablation"
ORDER = 52
TITLE = "CANAL: a convex problem a round"
PAPER = "lee2024"
SHOWN = "section VII-D, table II"
ABOUT = ("Each round of CANAL solves a convex problem whose normals are shifted by the slip of the round before. "
         "Instead the strict law may be put into every "
         "round, and a root be sought by trust-region dogleg or by a damped semismooth Newton method. Ten rounds of "
         "each on the dishes: how many Newton "
         "steps, how many rounds fail, how right is the answer?")
SECONDS = (2, 40)

PENALTY, DEFAULT_PENALTY = 1e4, 100
JUDGED = 0.1  # force over weight, of each body


def pushes(context, whole):
    """The cascaded form where the same dishes are pushed less: more contacts stick, and fewer slides are a round behind."""
    told = context.compare(*(f"dishes-{force}" for force in cases.PUSHES), "--solver", solver("cascaded", PENALTY), *(["--quick"] if context.quick else []))
    rows = []
    for force, entry in zip((*cases.PUSHES, 1), (*told["entries"], whole)):
        answers = entry["answers"]
        found = statistics.mean(digits(a["lee"]) for a in answers)
        rows.append([force, statistics.mean(a["iterations"] for a in answers), found, min(digits(a["lee"]) for a in answers)])
        if force == JUDGED:
            context.figure("pushed_digits", found)
    context.table("Cascaded, by the size of the wrenches", ["force over weight", "Newton steps", "-log10 residual", "of the worst problem"], rows,
                  note="The paper has 30.55 steps and 8.22 digits; it tells neither the wrenches of its dishes nor their friction.")


def ten_rounds(context):
    """CANAL as printed, with the penalty that it begins with by default: where is it after the paper's ten rounds?"""
    for case in ("nut", "dishes"):
        told = context.compare(case, "--solver", solver("cascaded", DEFAULT_PENALTY), *(["--quick"] if context.quick else []))
        context.figure(f"{case}_ten", statistics.median(a["lee"] for a in told["entries"][0]["answers"]))


def run(context):
    ways = [inner for inner in INNER if inner in PAPER_TABLE]
    told = context.compare("dishes", "--solver", ",".join(solver(inner, PENALTY) for inner in ways), *(["--quick"] if context.quick else []))
    found, rows = {}, []
    for inner, entry in zip(ways, told["entries"]):
        answers = entry["answers"]
        found[inner] = {"steps": statistics.mean(a["iterations"] for a in answers),
                        "failed": 100 * sum(a["failures"] for a in answers) / sum(a["rounds"] for a in answers),
                        "digits": statistics.mean(digits(a["lee"]) for a in answers)}
        rows.append([inner, *found[inner].values(), 1e3 * statistics.mean(a["seconds"] for a in answers), *PAPER_TABLE[inner]])
    context.table("Ten rounds, means", ["inner problem", "Newton steps", "failed rounds [%]", "-log10 residual", "time [ms]", "paper: steps",
                                        "failed [%]", "-log10 residual"], rows)
    context.figure("cascaded_failed", found["cascaded"]["failed"])
    context.figure("dogleg_steps", found["dogleg"]["steps"] / found["cascaded"]["steps"])
    context.figure("semismooth_steps", found["semismooth"]["steps"] / found["cascaded"]["steps"])
    for inner in ways:
        context.figure(f"{inner}_digits", found[inner]["digits"])
    for inner in ways[1:]:
        context.figure(f"{inner}_failed", found[inner]["failed"])
    pushes(context, told["entries"][ways.index("cascaded")])
    ten_rounds(context)


# ---- the command ----


def main():
    parser = Options(__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--penalty", type=float)
    options = parser.parse_args()
    penalties = [100.0, 1e4] if options.penalty is None else [options.penalty]
    ways = [(inner, penalty) for penalty in penalties for inner in INNER]
    try:
        chosen = [case.name for case in cases.chosen(options.cases or ["dishes", "nut"])]
    except cases.Unknown as why:
        parser.error(str(why))
    told = compare.compare(chosen, [solver(*way) for way in ways])
    rows = [row(entry, *ways[k % len(ways)]) for k, entry in enumerate(told["entries"])]
    rows += [["the paper's dishes", "", inner, *PAPER_TABLE[inner], "", "", "", ""] for inner in PAPER_TABLE]
    print(markdown.table(HEAD, rows))


if __name__ == "__main__":
    main()
