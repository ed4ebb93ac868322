"""Two arms pour balls from bottle to bottle: do solvers of fixed effort complete it, and how large is their residual over the whole task?"""
import itertools
import math
import statistics

from .frame.context import Curve

NAME = "g1_pours"
ORDER = 57
TITLE = "Two arms pour"
PAPER = "lee2024"
SHOWN = "section VII-C, figures 10 and 11"
ABOUT = ("The upper body of a G1, 28 degrees of freedom, grasps two bottles, lifts them and pours 9 to 45 balls of 5 mm from one into the other. As in the "
         "paper the effort is 5 rounds for CANAL, 100 iterations for SubADMM and for PGS, none of them accelerated, and figures are means over the whole "
         "task. Bottles, hands, friction, path and gains are ours. How many balls arrive, and how do residual and time depend on their number?")
SECONDS = (5, 300)

LIKE_PAPER = (9, 18, 27, 36, 45)
FIXED = {"canal": "canal:rounds=5,tolerance=0", "subadmm": "subadmm:acceleration=none,max_iterations=100,tolerance=0",
         "pgs": "pgs:acceleration=none,max_iterations=100,tolerance=0"}
ACCELERATED = {"subadmm": "subadmm:max_iterations=100,tolerance=0", "pgs": "pgs:max_iterations=100,tolerance=0"}
TOLERANT = ("auto", "canal", "subadmm")
RADIUS, HEIGHT = 0.0237, 0.12  # m: outside of a bottle
LAYER = 9
STRONG, CLOSED = 1.4, (1.35, 1.5)  # N m: the limit of the fingers' efforts; s: from when they are closed to when the bottles are lifted
MILLI = 1e3


def into_frame(q, d):
    """A vector of the world in the axes of a body with the unit quaternion q: R(q)' d."""
    w, x, y, z = q[0], -q[1], -q[2], -q[3]
    t = (2 * (y * d[2] - z * d[1]), 2 * (z * d[0] - x * d[2]), 2 * (x * d[1] - y * d[0]))
    return (d[0] + w * t[0] + y * t[2] - z * t[1], d[1] + w * t[1] + z * t[0] - x * t[2], d[2] + w * t[2] + x * t[1] - y * t[0])


def poured(record, balls):
    """Share of the balls that end with their centre within the second bottle, %."""
    def last(body, parts):
        return [record[f"{body}.{part}"][-1] for part in parts]

    place, turn, within = last("empty_bottle", "xyz"), last("empty_bottle", ("qw", "qx", "qy", "qz")), 0
    for ball in range(balls):
        x, y, z = into_frame(turn, [b - a for a, b in zip(place, last(f"ball{ball}_ball", "xyz"))])
        within += math.hypot(x, y) < RADIUS and 0 < z < HEIGHT
    return 100 * within / balls


def restlessness(record):
    """Root of the mean square speed of the first bottle while the fingers are closed on it, m/s."""
    rows = [row for row in zip(*(record[name] for name in ("time", "full_bottle.x", "full_bottle.y", "full_bottle.z"))) if CLOSED[0] < row[0] < CLOSED[1]]
    return math.sqrt(statistics.mean(sum((b - a) ** 2 for a, b in zip(one[1:], two[1:])) / (two[0] - one[0]) ** 2 for one, two in zip(rows, rows[1:])))


def pour(context, solver, balls, *words):
    return context.run("robots/g1_pours", "--solver", solver, "--every", 1, "--set", f"instances/3/repeat/counts=[3, 3, {balls // LAYER}]",
                       "--set", 'record/signals=["coordinates", "statistics"]', *words)


def told_of(record, solver, balls):
    """Row of the table, and its figures."""
    found = {"poured": poured(record, balls), "residual": statistics.mean(record["certificate.lee"]), "E": statistics.median(record["certificate.E"]),
             "contacts": record.summary["contacts"]["mean"], "ms": MILLI * record.summary["wall_time"] / record.summary["steps"]}
    return [solver, balls, *found.values(), record.summary["real_time_factor"]], found


def grip(context, solver):
    """Restlessness of the bottle in a grip as strong as the fingers can."""
    force = [sign * STRONG for sign in (1, 1, -1, -1, -1, -1)]
    words = [word for hand, way in ((0, 1), (1, -1))
             for word in ("--set", f"controllers/4/phases/1/targets/{hand}/values={[way * f for f in force]}")]
    return restlessness(pour(context, solver, LAYER, "--duration", CLOSED[1], *words))


def run(context):
    if context.quick:
        record = pour(context, FIXED["canal"], LAYER, "--duration", 1.5)
        context.figure("canal_residual", statistics.mean(record["certificate.lee"]))
        return
    rows, held = [], {}
    runs = [*((solver, 27) for solver in TOLERANT), *itertools.product(FIXED.values(), LIKE_PAPER), *((solver, 27) for solver in ACCELERATED.values())]
    told = dict(zip(runs, context.together(lambda run: told_of(pour(context, *run), *run), runs)))
    for solver in TOLERANT:
        row, found = told[solver, 27]
        rows.append(row)
        context.figure(f"{solver}_poured", found["poured"])
        if solver == "auto":
            context.figure("faster", row[-1])
    for name, solver in FIXED.items():
        held[name] = []
        for balls in LIKE_PAPER:
            row, found = told[solver, balls]
            rows.append(row)
            held[name].append(found)
        context.figure(f"{name}_fixed_poured", held[name][-1]["poured"])
        context.figure(f"{name}_flatness", held[name][-1]["residual"] / held[name][0]["residual"])
    accelerated = {}
    for name, solver in ACCELERATED.items():
        row, accelerated[name] = told[solver, 27]
        rows.append(row)
    context.figure("subadmm_over_pgs_accelerated", accelerated["subadmm"]["residual"] / accelerated["pgs"]["residual"])
    added = {name: found[-1]["ms"] - found[0]["ms"] for name, found in held.items()}
    context.figure("canal_residual", statistics.mean(one["residual"] for one in held["canal"]))
    for figure in ("subadmm_over_pgs", "canal_over_subadmm", "canal_over_pgs"):
        one, other = figure.split("_over_")
        context.figure(figure, statistics.geometric_mean(a["residual"] / b["residual"] for a, b in zip(held[one], held[other])))
    context.figure("added_subadmm_over_pgs", added["subadmm"] / added["pgs"])
    context.figure("added_pgs_over_canal", added["pgs"] / added["canal"])
    pgs, auto = context.together(lambda solver: grip(context, solver), (FIXED["pgs"], "auto"))
    context.figure("strong_grip", pgs / auto)
    context.table("The whole task", ["solver", "balls", "poured [%]", "residual [N s]", "E", "contacts", "time of a step [ms]", "real-time factor"], rows,
                  note="E is the median, the others are means. The time is that of the whole step, with the search for contacts.")
    for figure, title, y in (("residual", "Residual", "[N s]"), ("ms", "Time of a step", "[ms]")):
        context.plot(f"{title}, mean of the whole task", [Curve([(40 + 6 * balls, one[figure]) for balls, one in zip(LIKE_PAPER, found)], name, "both")
                                                          for name, found in held.items()], x="degrees of freedom", y=y, log="xy")
