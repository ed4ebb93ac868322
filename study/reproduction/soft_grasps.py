"""Soft bodies of the paper's table: a ball in a hand, a tomato and a beam in a gripper, a pneumatic finger."""
import math
import re
import statistics

from .frame.context import Curve

NAME = "soft_grasps"
ORDER = 47
TITLE = "Soft bodies in grasps, and a pneumatic finger"
PAPER = "macklin2019"
SHOWN = "sections 3.2 and 9, table of examples: Allegro Ball, Fetch Tomato, Fetch Beam, PneuNet"
ABOUT = ("A hand of 17 bodies holds a soft ball, a gripper lifts a soft tomato and a soft beam, and a finger with five chambers bends as they fill. "
         "Sizes, stiffness and pressure are ours, as the paper prints none. `nsn` takes the paper's Newton and linear iterations, then goes "
         "to 1e-6; `auto` stands beside it. Elasticity is in A here, and its rows are contacts alone. Do the grasps hold, and does the finger bend?")
SECONDS = (8, 160)

PAPER_WAY = "nsn:friction=fixed-point:linear_tolerance=0:max_iterations={}:linear_iterations={}"
GRASPS = {"hand_and_ball": ("ball", "palm", 6, 50), "tomato": ("tomato", "lift", 4, 50), "beam": ("beam", "lift", 6, 50)}
GRASPED = {"beam": 0.015}  # m: nodes so far from the middle along y are between the pads; the ends swing on
LIFTED, HELD = 1.4, 2.0   # s: the lift is over, at 1.2 s; the end
FINGER, FULL, END = "soft/pneunet", 1.0, 1.5  # s: pressure is at its most; the end
NO_LAYER = ("--set", "bodies/finger/soft/inextensible=[]")  # layered_finger.py has it


def ways(newton, linear):
    return {f"nsn, {newton} x {linear}": PAPER_WAY.format(newton, linear), "nsn to 1e-6": "nsn:tolerance=1e-6", "auto": "auto"}


def nodes(record, name, axis):
    return [record.columns[key] for key in record.columns if re.match(rf"{name}/\d+\.{axis}\b", key)]


def grasped(record, name):
    """Heights of the nodes that the grasp holds."""
    return [z for y, z in zip(nodes(record, name, "y"), nodes(record, name, "z")) if abs(y[0]) < GRASPED.get(name, math.inf) + 1e-9]


def row(scene, way, record):
    told = record.summary["contacts"]
    return [scene, way, told["most"], told["iterations_mean"], told["iterations_max"], told["E"]["mean"], told["E"]["worst"],
            1e3 * record.summary["wall_time"] / record.summary["steps"]]


def grasp(context, scene):
    """Rows of the table; slips of the body in the grasp after the lift, m: with the paper's iterations first."""
    body, arm, newton, linear = GRASPS[scene]
    rows, slips, curves = [], [], []
    solvers = ways(newton, linear)
    for way, record in zip(solvers, context.together(
            lambda solver: context.run(f"soft/{scene}", "--solver", solver, "--set", "world/compliance=rigid", "--every", 4, "--duration", HELD), solvers.values())):
        heights = [statistics.mean(at) - z for at, z in zip(zip(*grasped(record, body)), record[arm])]
        late = [z for t, z in zip(record["time"], heights) if t >= LIFTED]
        slips.append(max(late) - min(late))
        curves.append(Curve([(t, 1e3 * (z - heights[0])) for t, z in zip(record["time"], heights)], way))
        rows.append(row(scene, way, record))
    context.plot(f"{body}: how far it sinks in the grasp", curves, x="time [s]", y="[mm]")
    return rows, slips


def angles(record):
    """(time, degrees) by which the end of the finger has turned: of the line from its palm to its back."""
    x, z = nodes(record, "finger", "x"), nodes(record, "finger", "z")
    far = max(column[0] for column in x)
    end = [k for k, column in enumerate(x) if column[0] > far - 1e-9]
    low, high = (pick(z[k][0] for k in end) for pick in (min, max))
    sides = [[k for k in end if abs(z[k][0] - side) < 1e-9] for side in (low, high)]
    found = []
    for row_, time in enumerate(record["time"]):
        dx, dz = (statistics.mean(c[k][row_] for k in sides[1]) - statistics.mean(c[k][row_] for k in sides[0]) for c in (x, z))
        found.append((time, math.degrees(math.atan2(dx, dz))))
    return found


def finger(context):
    rows, ends, curves, rises = [], [], [], True
    steps = {"nsn, 4 x 80": 0.02, "nsn to 1e-6": 0.02, "auto": 0.02, "auto, half the step": 0.01}
    solvers = {**ways(4, 80), "auto, half the step": "auto"}
    records = context.together(lambda way: context.run(FINGER, "--solver", solvers[way], "--set", "world/compliance=rigid", "--step", steps[way],
                                                       "--every", round(0.04 / steps[way]), "--duration", END, *NO_LAYER), steps)
    for way, record in zip(steps, records):
        bent = angles(record)
        rises = rises and all(b > a for (t, a), (_, b) in zip(bent, bent[1:]) if t < FULL - 0.05)
        ends.append(bent[-1][1])
        curves.append(Curve(bent, way))
        rows.append(row("pneunet", way, record))
    context.plot("pneunet: how far its end has turned", curves, x="time [s]", y="[degrees]")
    return rows, ends, rises


def run(context):
    table = []
    for scene in ["tomato"] if context.quick else GRASPS:
        rows, slips = grasp(context, scene)
        table += rows
        context.figure(f"{scene}_slip", 1e3 * max(slips[1:]) / (HELD - LIFTED))
        context.figure(f"{scene}_slip_budget", 1e3 * slips[0] / (HELD - LIFTED))
    rises, ends = None, []
    if not context.quick:
        rows, ends, rises = finger(context)
        table += rows
    context.table("Solvers", ["scene", "solver", "contacts, most", "iterations a step", "most", "E, mean", "E, worst", "ms a step"], table)
    if ends:
        context.figure("finger_rises", int(rises))
        context.figure("finger_angle", min(ends))
        context.figure("finger_agrees", max(ends[1:]) / min(ends[1:]) - 1)
        context.figure("finger_agrees_budget", abs(ends[0] / ends[1] - 1))
