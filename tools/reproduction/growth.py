"""Balls poured into a cup: how time and error grow with their number."""
import collections
import math
import statistics

from .frame import shared
from .frame.context import Curve

NAME = "growth"
ORDER = 56
TITLE = "Pouring"
PAPER = "lee2024"
SHOWN = "section VII-C, figure 11"
ABOUT = ("Balls of 5 mm and 5 g are poured from one cup into another; each solver has a fixed effort, 5 rounds for CANAL and 100 iterations for SubADMM "
         "and PGS. How do time and error grow with the number of balls? The robot that holds the cup in the paper is not there: the cup is moved as "
         "if held.")
SECONDS = (4, 50)

LIKE_PAPER = (9, 18, 27, 36, 45)


def run(context):
    solvers = shared.tool("solvers")
    chosen = list(solvers.FIXED)
    sizes = LIKE_PAPER if context.quick else tuple(n for n in solvers.SIZES if n <= 490)
    told = context.json(*solvers.asked([f"pour-{n}" for n in sizes], [solvers.FIXED[s] for s in chosen], "--json"))
    found = collections.defaultdict(list)
    for number, entry in enumerate(told["entries"]):
        answers = entry["answers"]
        found[chosen[number % len(chosen)]].append({
            "balls": int(entry["case"].split("-")[1]), "size": entry["bodies"] + entry["contacts"], "contacts": entry["contacts"],
            "ms": 1e3 * statistics.mean(a["seconds"] for a in answers), "lee": statistics.mean(a["lee"] for a in answers),
            "E": statistics.median(a["E"] for a in answers), "whole": all(a["outcome"] == "at its limit" for a in answers)})
    for figure, title, y in (("ms", "Time of a solve, mean", "[ms]"), ("lee", "Residual, mean", "[N s]")):
        context.plot(title, [Curve([(6 * one["balls"], one[figure]) for one in found[s]], solvers.TITLE[s], "both") for s in chosen],
                     x="degrees of freedom", y=y, log="xy")
    head = ["balls", "contacts"] + [f"{solvers.TITLE[s]} {what}" for s in chosen for what in ("[ms]", "residual [N s]", "E")]
    context.table("Five problems of each size", head, [
        [n, found[chosen[0]][k]["contacts"]] + [found[s][k][what] for s in chosen for what in ("ms", "lee", "E")] for k, n in enumerate(sizes)],
        note="E is the median, the others are means.")
    paper = {s: [one for one in found[s] if one["balls"] in LIKE_PAPER] for s in chosen}
    context.figure("canal_residual", statistics.mean(one["lee"] for one in paper["canal"]))
    shares = [a["lee"] / b["lee"] for a, b in zip(paper["subadmm"], paper["pgs:acceleration=none"]) if a["lee"] > 1e-12 or b["lee"] > 1e-12]
    context.figure("subadmm_over_pgs", statistics.geometric_mean(shares))
    context.figure("canal_over_subadmm", statistics.geometric_mean(
        a["lee"] / b["lee"] for a, b in zip(paper["canal"], paper["subadmm"]) if a["lee"] > 1e-12 or b["lee"] > 1e-12))
    for s, name in (("canal", "canal"), ("subadmm", "subadmm"), ("pgs:acceleration=none", "pgs")):
        points = [one for one in found[s] if one["whole"]]
        context.figure(f"time_exponent_{name}", exponent(points))


def exponent(points):
    """Of time against bodies and contacts together, of the sizes at which all that was asked for had to be done."""
    return statistics.linear_regression([math.log(p["size"]) for p in points], [math.log(p["ms"]) for p in points]).slope
