"""A sphere thrown along the ground: friction along its slip, and along directions turned against it."""
import math

from .frame.context import Curve

NAME = "slide_roll"
ORDER = 10
TITLE = "From sliding to rolling"
PAPER = "mylapilli2016"
SHOWN = "section 6.1, cases 1 and 2"
ABOUT = ("A sphere is thrown along the ground without spin; friction brakes it and spins it up until it rolls, after "
         "2 v0 / (7 mu g). Solvers that put "
         "a pyramid in place of the friction cone have a handful of directions at each contact. In case 1 the first "
         "lies against the slip, in case 2 all "
         "are held at 45 degrees to it, so that the pyramid is at its worst: it brakes less, and for other angles it drives the sphere aside.")
SECONDS = (2, 3)

SCENE = "papers/slide_roll"
SPEED, FRICTION, GRAVITY = 2, 0.2, 9.81
END = 2 * SPEED / (7 * FRICTION * GRAVITY)
PYRAMIDS = ["mlcp-pivot", "mlcp-pfb-rlm", "mlcp-pfb-plm"]
CONES = ["mncp-rlm", "mncp-plm"]
ANGLES = [0, 10, 20, 30, 40, 45]
JUDGED = [10, 20, 30, 40]
DIRECTIONS = [4, 8, 16, 32, 64]


def throw(context, solver, *words):
    """The run, and with it turning in the axes of the world (the program records those of the body)."""
    record = context.run(SCENE, "--solver", solver, *words)
    turning = [rotate(q, w) for q, w in zip(zip(*(record[f"sphere.{k}"] for k in ("qw", "qx", "qy", "qz"))),
                                            zip(*(record[f"sphere.{k}"] for k in ("wx", "wy", "wz"))))]
    for k, axis in enumerate("xyz"):
        record.columns[f"turning.{axis}"] = [w[k] for w in turning]
    return record


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def rotate(q, x):
    twice = tuple(2 * c for c in cross(q[1:], x))
    return tuple(x[k] + q[0] * twice[k] + c for k, c in enumerate(cross(q[1:], twice)))


def turned(context, solver, degrees, directions=4):
    options = {"alignment": '"fixed"', "turn": math.radians(degrees), "directions": directions}
    return throw(context, solver, *(word for name, value in options.items() for word in ("--set", f"world/solver_options/{name}={value}")))


def slips(record):
    return [v - w for v, w in zip(record["sphere.vx"], record["turning.y"])]


def end_of_slip(record):
    """When the slip, which falls in a straight line, reaches zero."""
    slip, time = slips(record), record["time"]
    k = next((k for k, s in enumerate(slip) if s < 1e-5 * SPEED), len(slip) - 1) - 1
    return time[k] + slip[k] * (time[k] - time[k - 1]) / (slip[k - 1] - slip[k])


def greatest(record, name):
    return max(abs(x) for x in record[name])


def aside(record):
    return max(greatest(record, name) for name in ("sphere.vy", "turning.x", "turning.z"))


def run(context):
    straight = {solver: throw(context, solver) for solver in PYRAMIDS + CONES}
    ties = {solver: turned(context, solver, 45) for solver in PYRAMIDS}
    context.plot("Speeds, case 1 and case 2", [
        Curve(straight["mncp-plm"].pairs("time", "sphere.vx"), "cone: v"), Curve(straight["mncp-plm"].pairs("time", "turning.y"), "cone: turning"),
        Curve(ties["mlcp-pivot"].pairs("time", "sphere.vx"), "pyramid at 45 degrees: v", dash="dash"),
        Curve(ties["mlcp-pivot"].pairs("time", "turning.y"), "pyramid at 45 degrees: turning", dash="dash")],
        x="time [s]", y="m/s, rad/s", x_range=(0, 0.6))
    context.table("When it rolls, and how fast", ["solver", "case", "slips until [s]", "v [m/s]", "turning [rad/s]", "most aside [m/s, rad/s]"], [
        [solver, case, end_of_slip(r), r["sphere.vx"][-1], r["turning.y"][-1], aside(r)]
        for case, runs in ((1, straight), (2, ties)) for solver, r in runs.items()])
    context.figure("end_case_1", max((end_of_slip(r) for r in straight.values()), key=lambda t: abs(t - END)))
    context.figure("speed_case_1", max((r["sphere.vx"][-1] for r in straight.values()), key=lambda v: abs(v - SPEED * 5 / 7)))
    context.figure("aside_case_1", max(aside(r) for r in straight.values()))
    context.figure("end_case_2", max((end_of_slip(r) for r in ties.values()), key=lambda t: abs(t - math.sqrt(2) * END)))
    context.figure("aside_case_2", max(aside(r) for r in ties.values()))
    angles(context)
    directions(context)


def angles(context):
    runs = {(solver, angle): turned(context, solver, angle) for solver in PYRAMIDS for angle in ANGLES}
    context.plot("Driven aside", [Curve(runs["mlcp-pivot", angle].pairs("time", "sphere.vy"), f"{angle} degrees") for angle in ANGLES],
                 x="time [s]", y="speed across [m/s]", x_range=(0, 0.5),
                 note="Exact answers have no part across the slip at 45 degrees, where two directions tie: what the "
                      "paper shows there is a matter of its solvers.")
    rows = []
    for angle in ANGLES:
        a = math.radians(angle)
        across = SPEED * math.sin(a) * (math.cos(a) - math.sin(a)) / 3.5
        found = [(end_of_slip(r), greatest(r, "sphere.vy"), greatest(r, "turning.x")) for r in (runs[solver, angle] for solver in PYRAMIDS)]
        rows.append([angle, END * (math.cos(a) + math.sin(a)), across, 2.5 * across, *found[0], max(spread(column) for column in zip(*found))])
        if angle in JUDGED:
            context.figure(f"end_{angle}", found[0][0])
            context.figure(f"across_{angle}", found[0][1])
            context.figure(f"turning_{angle}", found[0][2])
    context.figure("solvers_apart", max(row[-1] for row in rows))
    context.table("Directions turned against the slip", ["degrees", "exact: slips until [s]", "across [m/s]", "turning across [rad/s]",
                                                        "mlcp-pivot: slips until [s]", "across [m/s]",
                                                        "turning across [rad/s]", "three solvers differ by"], rows)


def spread(values):
    return max(values) - min(values)


def directions(context):
    """The slip lies midway between two directions: the worst."""
    errors = [end_of_slip(turned(context, "mlcp-pivot", 180 / n, n)) / END - 1 for n in DIRECTIONS]
    context.plot("More directions", [Curve(list(zip(DIRECTIONS, errors)), "slips longer than on the cone by", "both"),
                                     Curve([(n, math.pi ** 2 / 2 / n ** 2) for n in DIRECTIONS], "(pi / n)^2 / 2", dash="dash")],
                 x="directions", y="relative error", log="xy")
    context.figure("order_directions", math.log2(errors[2] / errors[3]))
