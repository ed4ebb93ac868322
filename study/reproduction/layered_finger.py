"""The pneumatic finger with its inextensible layer: rows that keep lengths beside elasticity, gas and contacts."""
import math
import re

from .frame.context import Curve
from .soft_grasps import angles, ways

NAME = "layered_finger"
ORDER = 48
TITLE = "A pneumatic finger with an inextensible layer"
PAPER = "macklin2019"
SHOWN = "figure 2, table of examples: PneuNet"
ABOUT = ("A layer in the palm of the finger keeps its lengths, as paper in rubber does, and bends: 260 edges of the mesh are stiff distances. So the finger "
         "bends the more as its back grows. `nsn` takes the paper's 4 Newton and 80 linear iterations, then goes to 1e-6; `auto` stands beside it. Sizes, "
         "stiffness and pressure are ours, and the law is the elastic one. Does the layer keep its lengths, and does the finger bend alike whatever solver and step?")
SECONDS = (3, 120)

SCENE, FULL, END = "soft/pneunet", 1.0, 1.5  # s: pressure is at its most; the end
STEP = {"nsn, 4 x 80": 0.02, "nsn to 1e-6": 0.02, "auto": 0.02, "auto, half the step": 0.01}
PLAIN = ("--set", "bodies/finger/soft/inextensible=[]")


def stretch(record, at=-1):
    """Greatest change of the length of a line of the palm, from the mount to the tip, relative to that at the start."""
    place = {int(key.split("/")[1].split(".")[0]): tuple(record.columns[key.replace(".x", f".{axis}")] for axis in "xyz")
             for key in record.columns if re.match(r"finger/\d+\.x\b", key)}
    low = min(columns[2][0] for columns in place.values())
    lines = {}
    for x, y, z in place.values():
        if abs(z[0] - low) < 1e-9:
            lines.setdefault(round(y[0], 6), []).append((x, y, z))
    worst = 0
    for line in lines.values():
        line.sort(key=lambda columns: columns[0][0])
        then, now = (sum(math.dist([c[row_] for c in a], [c[row_] for c in b]) for a, b in zip(line, line[1:])) for row_ in (0, at))
        worst = max(worst, abs(now / then - 1))
    return worst


def bend(context, solver, step, end, *words, law="elastic"):
    return context.run(SCENE, "--solver", solver, "--set", f"world/compliance={law}", "--step", step, "--every", round(0.04 / step), "--duration", end, *words)


def row(way, record):
    """Its line of the table; errors by the law of the solver."""
    told = record.summary["contacts"]
    return [way, told["most"], told["iterations_mean"], told["iterations_max"], told["own"]["mean"], told["own"]["worst"], told["unsolved_steps"],
            1e3 * record.summary["wall_time"] / record.summary["steps"], stretch(record)]


def run(context):
    # the quick mode: its first steps
    for name, law in (("unsolved", "elastic"), ("unsolved_rigid", "rigid")):
        context.figure(name, bend(context, "auto", 0.02, 0.2, law=law).summary["contacts"]["unsolved_steps"])
    if context.quick:
        return
    # the whole bend, by every solver, and without the layer
    solvers = {**ways(4, 80), "auto, half the step": "auto"}
    records = context.together(lambda way: bend(context, solvers[way], STEP[way], END), STEP)
    plain = bend(context, "auto", 0.02, END, *PLAIN)
    bent = {way: angles(record) for way, record in zip(STEP, records)}
    ends = [bent[way][-1][1] for way in STEP]
    context.figure("rises", int(all(b > a for curve in bent.values() for (t, a), (_, b) in zip(curve, curve[1:]) if t < FULL - 0.05)))
    context.figure("angle", min(ends))
    context.figure("agrees", max(ends[1:]) / min(ends[1:]) - 1)
    context.figure("agrees_budget", abs(ends[0] / ends[1] - 1))
    context.figure("keeps", max(stretch(record) for record in records[1:]) / stretch(plain))
    context.plot("How far its end has turned", [Curve(curve, way) for way, curve in bent.items()] + [Curve(angles(plain), "without the layer")],
                 x="time [s]", y="[degrees]")
    context.table("Solvers", ["solver", "contacts, most", "iterations a step", "most", "error, mean", "error, worst", "steps unsolved", "ms a step",
                              "palm's change of length"],
                  [row(way, record) for way, record in zip([*STEP, "auto, without the layer"], [*records, plain])], note="Times are of a loaded machine.")
