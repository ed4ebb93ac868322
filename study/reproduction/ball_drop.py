"""Five balls fall together: the shock of the floor goes through the stack within a step."""
import json

from .frame.context import Curve

NAME = "ball_drop"
ORDER = 22
TITLE = "A shock through a stack"
PAPER = "todorov2010"
SHOWN = "section IV, figure 6"
ABOUT = ("Five balls stand one above the other in the air and are let go together, once with the large ones below, "
         "once with the small ones. When the lowest "
         "meets the floor all have to stop within that one step of 5 ms. How many iterations does that take, and what speed is left? Where all "
         "would stick, the start, is the answer there; so the stacks are thrown sideways, too, and have to slide on.")
SECONDS = (1, 1)

SCENE = "papers/ball_drop"
STACKS = {"shrinking": "large balls below", "growing": "small balls below"}
BALLS = range(1, 6)
IMPACT = 29  # 28 steps of free fall
SPEED, FRICTION = 10, 0.05  # m/s: 2/7 of the lowest ball's momentum is more than friction under all five passes on


def fastest(record, step, axes="xyz"):
    return max(abs(record[f"{stack}{ball}.v{axis}"][step]) for stack in STACKS for ball in BALLS for axis in axes)


def thrown(context):
    """All balls with the same speed sideways: contacts slide, and where all would stick is no answer."""
    start = {f"{stack}{ball}": {"v": [SPEED, 0, 0, 0, 0, 0]} for stack in STACKS for ball in BALLS}
    record = context.run(SCENE, "--set", f"initial={json.dumps(start)}", "--set", f"materials/skin/friction={FRICTION}", "--duration", 0.2)
    context.figure("thrown_speed_after", fastest(record, IMPACT, "z"))
    context.figure("thrown_iterations", record["solver_iterations"][IMPACT])


def run(context):
    record = context.run(SCENE)
    for stack, title in STACKS.items():
        context.plot(title, [Curve(record.pairs("time", f"{stack}{ball}.z"), f"ball {ball}") for ball in BALLS],
                     x="time [s]", y="height [m]", x_range=(0, 0.3), y_range=(0, None))
    context.figure("speed_before", fastest(record, IMPACT - 1))
    context.figure("speed_after", fastest(record, IMPACT))
    context.figure("iterations", record["solver_iterations"][IMPACT])
    context.figure("iterations_after", max(record["solver_iterations"][IMPACT:]))
    context.figure("sinking", max(abs(record[f"{stack}{ball}.z"][-1] - record[f"{stack}{ball}.z"][IMPACT - 1]) for stack in STACKS for ball in BALLS))
    context.text("The step before the impact is the one at whose end the lowest balls arrive: contacts that close without a push, to the last digit; "
                 f"it takes {record['solver_iterations'][IMPACT - 1]:.0f} iterations, the fall before it none.")
    thrown(context)
    rows = []
    for solver in ("incp", "canal", "pgs", "subadmm"):
        other = record if solver == "incp" else context.run(SCENE, "--solver", solver)
        rows.append([solver, other["solver_iterations"][IMPACT], fastest(other, IMPACT)])
    context.table("The step of the impact by other methods", ["solver", "iterations", "speed left [m/s]"], rows,
                  note="Solvers count different things: incp and canal steps of Newton's method, pgs sweeps, subadmm rounds.")
