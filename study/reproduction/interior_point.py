"""SAP beside an interior point method on the same convex problems: steps, times, errors."""
import math
import statistics

from .frame import shared
from .frame.context import Curve

NAME = "interior_point"
ORDER = 33
TITLE = "SAP beside an interior point method"
PAPER = "castro2021"
SHOWN = "sections VI-C and VI-E, figures 9, 12, 13, 19 and 21"
ABOUT = ("The clutter of 40 objects within walls, and of 8, is simulated with SAP and with ipm, an interior point method of our own on the "
         "same convex problem and with the same sparse factors, as the paper's Geodesic IPM; figures of 40 objects are means of ten heaps. How many steps does each take at first and at "
         "rest, what does a step cost, and which errors does each leave? Then SAP runs with tolerances from 0.1 to 1e-6.")
SECONDS = (12, 60)

SCENE, SMALL = "papers/clutter", "bench/clutter"
TOLERANCE = 1e-5            # of the momentum (SAP) and of the slackness (ipm), as in the paper; ipm stops on the root of its gap
WAYS = {"sap": f"{shared.SAP}:tolerance={TOLERANCE:g}", "ipm": f"ipm:tolerance={math.sqrt(TOLERANCE):.3g}"}
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
FIRST, REST = 100, 500      # steps of 10 ms: the transient ends after the first second, all rests after five
HEAPS, QUICK_HEAPS = 10, 2
STEP, APART = 0.01, 2e-4    # heaps are chaotic: runs whose steps [s] differ by that part come to rest as other heaps


def columns(record):
    return {name: record[name][1:] for name in ("solver_iterations", "certificate.momentum", "certificate.slackness", "contacts")}


def heaps(context, solver, *words):
    """Records of the clutter of 40, of a heap each."""
    return context.together(lambda k: context.run(SCENE, "--step", STEP * (1 + k * APART), "--solver", solver, *words),
                            range(QUICK_HEAPS if context.quick else HEAPS))


def mean_of(records, column, first=0, end=None):
    """Of so many steps of all heaps."""
    return statistics.mean(value for one in records for value in columns(one)[column][first:end])


def figure_9(context, runs):
    context.plot("Steps of the solver a step of the clutter, 40 objects, the first heap", [
        Curve(records[0].pairs("time", "solver_iterations"), way, colour=k) for k, (way, records) in enumerate(runs.items(), 1)],
        x="time [s]", y="of the hardest island", y_range=(0, None))
    first = {way: mean_of(records, "solver_iterations", 0, FIRST) for way, records in runs.items()}
    rest = {way: mean_of(records, "solver_iterations", REST) for way, records in runs.items()}
    context.figure("more_at_first", first["sap"] / first["ipm"])
    context.figure("fewer_at_rest", rest["sap"] / rest["ipm"])
    context.figure("ipm_steady", rest["ipm"] / first["ipm"])
    context.figure("momentum", mean_of(runs["ipm"], "certificate.momentum"))
    context.figure("slackness", mean_of(runs["ipm"], "certificate.slackness"))
    context.figure("unsolved", int(sum(sum(record["unsolved"]) for records in runs.values() for record in records)))
    context.table("Means of steps, and errors of 10 s", ["solver", "steps in the first second", "after 5 s", "momentum error", "slackness"], [
        [way, first[way], rest[way], mean_of(records, "certificate.momentum"), mean_of(records, "certificate.slackness")]
        for way, records in runs.items()])


def times(context):
    """Seconds of the solver in 10 s of clutter, ipm over sap, by objects."""
    rows = []
    for count in (1, 5) if context.quick else (1, 2, 5, 10):
        words = [word for k in (0, 1) for word in ("--set", f"instances/{k}/repeat/counts/2={count}")]
        seconds = {}
        for way, solver in WAYS.items():
            record = context.run(SMALL, "--duration", 2 if context.quick else 10, "--integrator", "symplectic", "--solver", solver, *words)
            seconds[way] = record.summary["wall_time"]
        rows.append([8 * count, seconds["sap"], seconds["ipm"], seconds["ipm"] / seconds["sap"]])
    context.table("Wall-clock time of whole runs [s]", ["objects", *WAYS, "ipm over sap"], rows)
    context.figure("time_over_sap", statistics.geometric_mean(row[3] for row in rows))


def tolerances(context):
    """SAP: the worst momentum error beside the tolerance, and steps."""
    rows = []
    for tolerance in TOLERANCES[::2] if context.quick else TOLERANCES:
        told = heaps(context, f"{shared.SAP}:tolerance={tolerance:g}", *(["--duration", 3] if context.quick else []))
        errors = [error for one in told for error in columns(one)["certificate.momentum"]]
        rows.append([tolerance, mean_of(told, "solver_iterations"), statistics.median(errors), statistics.mean(errors), max(errors)])
    context.table("SAP, 10 s of clutter by tolerance, all heaps", ["tolerance", "steps", "momentum error: median", "mean", "worst"], rows)
    context.figure("worst_over_tolerance", max(row[4] / row[0] for row in rows))
    context.figure("steps_rise", sum(b[1] < a[1] for a, b in zip(rows, rows[1:])))


def run(context):
    runs = {way: heaps(context, solver) for way, solver in WAYS.items()}
    figure_9(context, runs)
    times(context)
    tolerances(context)
