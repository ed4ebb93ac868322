"""Balls in a cup, at rest or held by two arms: how time and error grow with their number."""
import collections
import statistics

from .frame import shared
from .frame.context import Curve

NAME = "growth"
ORDER = 56
TITLE = "Balls in a cup"
PAPER = "lee2024"
SHOWN = "section VII-C, figure 11"
ABOUT = ("In the paper balls are poured into a bottle that two arms hold; each solver has a fixed effort, 5 rounds "
         "for CANAL and 100 iterations for SubADMM "
         "and PGS. How do time and error grow with the number of balls? Residuals are judged where two arms of seven "
         "joints squeeze a cup with 9 to 45 balls "
         "and hold it up (grasp), the growth of time by balls that fall into a cup that stands still (pour), of which there may be more.")
SECONDS = (8, 60)

LIKE_PAPER = (9, 18, 27, 36, 45)
FAMILIES = {"grasp": "held by two arms", "pour": "in a cup that stands"}
PLAIN = "pgs:acceleration=none"
PLAIN_SPLIT = "subadmm:acceleration=none"
# the paper's SubADMM and PGS have no acceleration; ours have it by default: like is compared with like
ACCELERATED = {"pgs": "pgs:max_iterations=100:tolerance=0"}
UNACCELERATED = {PLAIN_SPLIT: "subadmm:max_iterations=100:tolerance=0:acceleration=none"}


def measured(context, solvers, chosen, cases):
    """(family, solver) -> one for each size."""
    effort = solvers.FIXED | ACCELERATED | UNACCELERATED
    told = context.compare(*solvers.words(cases, [effort[s] for s in chosen]))
    found = collections.defaultdict(list)
    for number, entry in enumerate(told["entries"]):
        answers, (family, balls) = entry["answers"], entry["case"].split("-")
        found[family, chosen[number % len(chosen)]].append({
            "balls": int(balls), "size": entry["bodies"] + entry["contacts"], "contacts": entry["contacts"],
            "ms": 1e3 * statistics.mean(a["seconds"] for a in answers), "lee": statistics.mean(a["lee"] for a in answers),
            "E": statistics.median(a["E"] for a in answers), "whole": all(a["outcome"] == "at its limit" for a in answers)})
    return found


def beside(a, b):
    """Residuals of one over those of the other, geometric mean of the sizes at which there is any."""
    return statistics.geometric_mean(x["lee"] / y["lee"] for x, y in zip(a, b) if min(x["lee"], y["lee"]) > 1e-12)


def show(context, solvers, chosen, found, family, how):
    for figure, title, y in (("ms", "time of a solve, mean", "[ms]"), ("lee", "residual, mean", "[N s]")):
        context.plot(f"Balls {how}: {title}",
                     [Curve([(6 * one["balls"], one[figure]) for one in found[family, s]], solvers.TITLE[s], "both") for s in chosen],
                     x="degrees of freedom of the balls", y=y, log="xy")
    head = ["balls", "contacts"] + [f"{solvers.TITLE[s]} {what}" for s in chosen for what in ("[ms]", "residual [N s]", "E")]
    context.table(f"Balls {how}, five problems of each size", head, [
        [rows[0]["balls"], rows[0]["contacts"]] + [one[what] for one in rows for what in ("ms", "lee", "E")]
        for rows in zip(*(found[family, s] for s in chosen))], note="E is the median, the others are means.")


def run(context):
    solvers = shared.study("solvers")
    chosen = list(solvers.FIXED)
    sizes = LIKE_PAPER if context.quick else tuple(n for n in solvers.SIZES if n <= 490)
    found = measured(context, solvers, chosen, [f"grasp-{n}" for n in LIKE_PAPER] + [f"pour-{n}" for n in sizes])
    for family, how in FAMILIES.items():
        show(context, solvers, chosen, found, family, how)
    others = list(ACCELERATED | UNACCELERATED)
    found |= measured(context, solvers, others, [f"grasp-{n}" for n in LIKE_PAPER])
    held = {s: found["grasp", s] for s in chosen + others}
    context.figure("canal_residual", statistics.mean(one["lee"] for one in held["canal"]))
    context.figure("subadmm_over_pgs", beside(held[PLAIN_SPLIT], held[PLAIN]))
    context.figure("subadmm_over_pgs_accelerated", beside(held["subadmm"], held["pgs"]))
    for s, name in (("canal", "canal"), (PLAIN_SPLIT, "subadmm"), (PLAIN, "pgs")):
        context.figure(f"{name}_flatness", held[s][-1]["lee"] / held[s][0]["lee"])
    context.figure("canal_over_subadmm", beside(held["canal"], held["subadmm"]))
    # of the sizes at which all that was asked for had to be done
    power = {s: shared.exponent([(one["size"], one["ms"]) for one in found["pour", s] if one["whole"]]) for s in ("canal", "subadmm", PLAIN)}
    for s, name in (("canal", "canal"), ("subadmm", "subadmm"), (PLAIN, "pgs")):
        context.figure(f"time_exponent_{name}", power[s])
    context.figure("time_exponent_least", power["subadmm"] - min(power["canal"], power[PLAIN]))
