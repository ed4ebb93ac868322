"""Heavy boxes on light ones and light on heavy: Newton steps of nsn at ratios from 1 to 100,000, after Macklin et al. (2019)."""
import math
import statistics

from .frame import shared
from .frame.context import Curve

NAME = "mass_ratio"
ORDER = 42
TITLE = "Mass ratios"
PAPER = "macklin2019"
SHOWN = "sections 2.1, 7 and 8.2"
ABOUT = ("Four boxes stand on each other and wrenches push them. One is up to 100,000 times as heavy as the others, "
         "or each is heavier or lighter than the one "
         "below. Impulses are scaled by the inverse mass that they move, so that light on heavy should be no harder "
         "than boxes alike, nor grams harder than tons; methods "
         "that go from contact to contact are known to be slow where heavy stands on light. The paper prints no figures.")
SECONDS = (8, 25)

PLAIN = "nsn:friction=fixed-point"  # as in the paper
WAYS = {PLAIN: "r adapted", PLAIN + ":r=fixed": "r = W_ii", PLAIN + ":r=fixed:preconditioned=off": "r = 1",
        PLAIN + ":linear=cholesky": "r adapted, Cholesky", "nsn": "nsn as it stands"}
USUAL, FIXED, ONE, _, WHOLE = WAYS
SWEEPS = "pgs:acceleration=none"
KINDS = {"heavy": "heavy on light", "smooth": "heavy on light without friction", "light": "light on heavy",
         "up": "heavier and heavier", "down": "lighter and lighter"}
SCALES = ("scale-1e-3", "scale-1e3")
SET = 5  # problems of a set, of which a median is taken


def ratio_of(case):
    return float(case.split("-", 2)[2]) if case.count("-") > 1 else 1.0


def steps(entry):
    return statistics.median(answer["iterations"] for answer in entry["answers"])


def solved(entries):
    answers = [answer for entry in entries for answer in entry["answers"]]
    return 100 * sum(answer["E"] <= 1e-8 for answer in answers) / len(answers)


def logarithms(found, case, way):
    """Of the median iterations of each set of wrenches."""
    of = [answer["iterations"] for answer in found[case, way]["answers"]]
    return [math.log(statistics.median(of[k:k + SET])) for k in range(0, len(of), SET)]


def ratio_and_noise(found, case, way):
    """Logarithm of the iterations over those of boxes alike, pushed by the same sets of wrenches: its mean, and two standard errors of it."""
    ratios = [a - b for a, b in zip(logarithms(found, f"ratio-sets-{case}", way), logarithms(found, "ratio-sets-1", way))]
    return statistics.mean(ratios), 2 * shared.standard_error(ratios)


def judge_sets(context):
    """Figures that are judged by ten sets of wrenches: less, or nearer to 1, by two standard errors."""
    told = context.compare("ratio-sets", "--repeat", 1, "--solver", ",".join((USUAL, FIXED, ONE, SWEEPS)))
    found = {(entry["case"], entry["solver"]): entry for entry in told["entries"]}
    rows = []
    def told_of(figure, way, cases, sign):
        pairs = [ratio_and_noise(found, case, way) for case in cases]
        rows.extend([case, WAYS.get(way, "sweeps"), math.exp(mean), math.exp(mean - noise), math.exp(mean + noise)]
                    for case, (mean, noise) in zip(cases, pairs))
        context.figure(figure, math.exp(max(sign(mean) - noise for mean, noise in pairs)))
    for kind in ("light", "down"):
        told_of(f"{kind}_grows", USUAL, [f"{kind}-1e5"], float)
    told_of("scaled_units", FIXED, SCALES, abs)
    told_of("unscaled_units", ONE, SCALES, abs)
    told_of("sweeps_grow", SWEEPS, ["heavy-1e3"], float)
    context.table("Iterations over those of boxes of 1 kg, pushed by the same ten sets of five wrenches", [
        "case", "way", "geometric mean", "less two standard errors", "and more"], rows, note="Sweeps end at 5,000.")


def run(context):
    told = context.compare("ratio", "--repeat", 1, "--solver", ",".join((*WAYS, SWEEPS)), *(["--quick"] if context.quick else []))
    found = {(entry["case"], entry["solver"]): entry for entry in told["entries"]}
    cases = list(dict.fromkeys(case for case, _ in found))
    for kind, title in KINDS.items():
        of_kind = sorted((case for case in cases if case.startswith(f"ratio-{kind}-") or case == "ratio-1" and kind != "smooth"), key=ratio_of)
        context.plot(f"{title.capitalize()}: iterations to E = 1e-8, medians", [
            *(Curve([(ratio_of(case), steps(found[case, way])) for case in of_kind], label, "both") for way, label in WAYS.items()),
            Curve([(ratio_of(case), steps(found[case, SWEEPS])) for case in of_kind], "sweeps of Gauss and Seidel, 5,000 at most", "both", colour=8)],
            x="mass ratio", y="iterations", log="xy")
    context.table("Iterations, medians; in brackets the share of problems solved to 1e-8, in percent, where not "
                  "all are", ["case", *WAYS.values(), "linear iterations a Newton step (PCR)", "sweeps"], [
        [case, *(f"{steps(found[case, way]):g}" + ("" if solved([found[case, way]]) == 100
                                                   else f" ({solved([found[case, way]]):.0f})") for way in WAYS),
         statistics.median(answer["searches"] / max(1, answer["iterations"]) for answer in found[case, USUAL]["answers"]),
         f"{steps(found[case, SWEEPS]):g}" + ("" if solved([found[case, SWEEPS]]) == 100
                                              else f" ({solved([found[case, SWEEPS]]):.0f})")] for case in cases])
    base = steps(found["ratio-1", USUAL])
    for kind in ("heavy", "smooth", "up"):
        context.figure(f"{kind}_grows",
                       steps(found[f"ratio-{kind}-1e5", USUAL]) / (steps(found["ratio-smooth-1e0", USUAL]) if kind == "smooth" else base))
    context.figure("preconditioner", statistics.geometric_mean(steps(found[case, FIXED]) / steps(found[case, ONE]) for case in cases))
    context.figure("solved", solved([found[case, USUAL] for case in cases if ratio_of(case) <= 1e3]))
    context.figure("whole_solved", solved([found[case, WHOLE] for case in cases]))
    judge_sets(context)
