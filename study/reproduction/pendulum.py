"""Twelve links that swing against floor and wall: five solvers, one motion, and what it costs."""
import json

from .frame.context import Curve

NAME = "pendulum"
ORDER = 12
TITLE = "Pendulum of twelve links"
PAPER = "mylapilli2016"
SHOWN = "section 6.2, figures 15 to 18, table 1"
ABOUT = ("Twelve balls on hinged rods fall from 45 degrees, strike floor and wall with restitution 0.7 and friction "
         "0.5, and come to rest on the floor; 20 s at "
         "1 ms. Do solvers of the pyramid (MLCP), whose directions here follow the slip of the answer, and of the "
         "cone (MNCP) go the same way? What does it cost, and does the contact problem grow with the number of links?")
SECONDS = (12, 40)

SCENE = "papers/pendulum_12"
PAPER_SECONDS = {"mlcp-pivot": 23.92, "mlcp-pfb-rlm": 22.78, "mlcp-pfb-plm": 24.24, "mncp-rlm": 22.85, "mncp-plm": 22.82}
PAPER_NAMES = {"mlcp-pivot": "MLCP-PATH", "mlcp-pfb-rlm": "MLCP-PFB-RLM", "mlcp-pfb-plm": "MLCP-PFB-PLM",
               "mncp-rlm": "MNCP-RLM", "mncp-plm": "MNCP-PLM"}
SOLVERS = list(PAPER_SECONDS)
WEIGHTS = (1, 0.95, 0.9, 0.8, 0.7, 0.5)
HEIGHT, SPEED = "tip.point.z", "tip.point.vz"


def apart(a, b, name, first, last):
    return max(abs(x - y) for t, x, y in zip(a["time"], a[name], b[name]) if first <= t <= last)


def most_apart(runs, solvers, name, first, last):
    return max(apart(runs[a], runs[b], name, first, last) for a in solvers for b in solvers)


def rise(energy):
    least, most = energy[0], 0
    for e in energy:
        least, most = min(least, e), max(most, e - least)
    return most


def run(context):
    runs = {solver: context.run(SCENE, "--solver", solver) for solver in SOLVERS}
    curves(context, runs)
    groups = {"of the pyramid": SOLVERS[:3], "of the cone": SOLVERS[3:], "of both": SOLVERS}
    spans = [(0, 1), (1, 5), (5, 20), (19, 20)]
    context.table("How far apart the last ball is",
                  ["solvers", *(f"height, {a} to {b} s [m]" for a, b in spans), *(f"speed, {a} to {b} s [m/s]" for a, b in spans)], [
        [name, *(most_apart(runs, group, HEIGHT, a, b) for a, b in spans),
         *(most_apart(runs, group, SPEED, a, b) for a, b in spans)] for name, group in groups.items()])
    context.figure("apart_at_first", most_apart(runs, SOLVERS, HEIGHT, 0, 1))
    context.figure("apart", most_apart(runs, SOLVERS, HEIGHT, 0, 20))
    context.figure("energy_rise", max(rise(r["energy.total"]) for r in runs.values()))
    context.figure("unsolved", sum(unsolved(r.summary) for r in runs.values()))
    aligned(context, runs)
    penalty(context)
    costs(context)
    sizes(context)


def aligned(context, runs):
    """As in the paper, directions of the pyramid against the slip before the step: do pyramid and cone part?"""
    pyramids = {solver: context.run(SCENE, "--solver", f"{solver}:alignment=sliding") for solver in SOLVERS[:3]}
    both = pyramids | {solver: runs[solver] for solver in SOLVERS[3:]}
    within = max(most_apart(both, group, HEIGHT, 19, 20) for group in (SOLVERS[:3], SOLVERS[3:]))
    context.figure("groups", most_apart(both, SOLVERS, HEIGHT, 19, 20) / within)
    context.figure("moves", max(abs(v) for t, v in runs[SOLVERS[0]].pairs("time", SPEED) if t >= 19))


def penalty(context):
    """Iterations of a step with contacts by the weight of the Fischer-Burmeister function; 1: without the penalty."""
    told = {}
    for weight in WEIGHTS:
        record = context.run(SCENE, "--duration", 5, "--solver", f"mlcp-pfb-rlm:lambda={weight:g}")
        told[weight] = record.summary["contacts"]["iterations_mean"]
    plain = told[1]
    context.table("Steps of mlcp-pfb-rlm by lambda, mean of 5 s", ["lambda", "iterations"], [list(pair) for pair in told.items()])
    context.figure("penalty_best", min(told[weight] for weight in WEIGHTS if weight < 1) / plain)
    context.figure("penalty_worst", max(told[weight] for weight in WEIGHTS if weight < 1) / plain)


def unsolved(summary):
    return summary["contacts"]["unsolved_islands"]


def curves(context, runs):
    every = [(solver, list(runs[solver]["time"])) for solver in SOLVERS]
    for title, name, unit in (("Height of the last ball", HEIGHT, "height [m]"), ("Its vertical speed", SPEED, "speed [m/s]")):
        for span, note in (((0, 5), "The whole of the motion: later it lies on the floor."), ((19, 20), "The last second.")):
            context.plot(f"{title}, {span[0]} to {span[1]} s", [
                Curve([p for p in runs[solver].pairs("time", name) if span[0] <= p[0] <= span[1]], PAPER_NAMES[solver],
                      dash="solid" if k == 0 else "dash")
                for k, (solver, _) in enumerate(every)], x="time [s]", y=unit, x_range=span, note=note)
    context.plot("Energy",
                 [Curve(runs[solver].pairs("time", "energy.total"), PAPER_NAMES[solver],
                        dash="solid" if k == 0 else "dash") for k, solver in enumerate(SOLVERS)],
                 x="time [s]", y="energy [J]", x_range=(0, 5), note="No strike adds to it.")


def costs(context):
    repeat = 1 if context.quick else 3
    told = context.json("bench", "contact", "pendulum-12", "--scenes", "scenes", "--solver", ",".join(SOLVERS), "--repeat", repeat, "--json")
    rows = []
    for case in told["cases"]:
        name, s = case["solver"], case["seconds"]
        whole = s["whole"]
        set_up = s["build"] + s["regularise"]
        rows.append([PAPER_NAMES[name], PAPER_SECONDS[name], 20000 * whole, PAPER_SECONDS[name] / (20000 * whole),
                     100 * s["free"] / whole, 100 * s["collide"] / whole,
                     100 * set_up / whole, 100 * s["solver"] / whole, 100 * (s["touchdown"] + s["judge"] + s["integrate"]) / whole])
    context.figure("times_faster", min(row[3] for row in rows))
    context.table("Processor seconds for the 20 s, and where they go",
                  ["solver", "paper [s]", "here [s]", "times faster", "motion without contacts [%]", "collision [%]",
                                                                      "set-up [%]", "solver [%]", "the rest [%]"], rows,
                  note="The paper's Lemke-like reference is PATH; ours pivots by Lemke. What the paper's computer was "
                       "is not told. The rest is positions, and the judge of every answer.")


def sizes(context):
    told = context.helper("bench_links", *(["--quick"] if context.quick else []), "--json")
    sizes = json.loads(told)["sizes"]
    context.table("Set up and answered: microseconds", ["links", "contacts", "rows", "motion without contacts", "collision", "rows made", "W made",
                                                       *(PAPER_NAMES[a["solver"]] for a in sizes[0]["answers"])], [
        [s["links"], s["contacts"], s["rows"], *(1e6 * s[k] for k in ("free", "collide", "build", "W")),
         *(1e6 * a["seconds"] for a in s["answers"])] for s in sizes],
        note="The same four contacts under chains of different length: what answers the problem does not grow, what sets it up grows with the links.")
    first, last = sizes[0], sizes[-1]
    context.figure("same_rows", len({s["rows"] for s in sizes}))
    context.figure("answer_growth", max(b["seconds"] / a["seconds"] for a, b in zip(first["answers"], last["answers"])))
    context.figure("set_up_growth",
                   sum(last[k] for k in ("free", "collide", "build", "W")) / sum(first[k] for k in ("free", "collide", "build", "W")))
