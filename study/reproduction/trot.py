"""A quadruped trots on the flat and over steps: does the solver matter for the work that it costs?"""
from .frame.context import Curve

NAME = "trot"
ORDER = 62
TITLE = "A quadruped trots"
PAPER = "own"
SHOWN = "robots at work"
ABOUT = ("A quadruped of 18 degrees of freedom trots for 10 s towards a goal, led by joint impedances and a state machine, on the flat and up and down "
         "three steps of 2 cm that its gait does not know. Two solvers with different laws of friction, the default and SAP, move it. Does it arrive, "
         "and does it cost the same work? The cost of transport is the work of the motors, without regard to sign, over weight times way.")
SECONDS = (12, 12)

SCENES = {"flat": "robots/a1_trots", "steps": "robots/a1_trots_over_steps"}
LEGS = ("FR", "FL", "RR", "RL")
JOINTS = [f"dog_{leg}_{part}" for leg in LEGS for part in ("hip", "thigh", "calf")]
FORCES = [f"sensor.{leg}" for leg in LEGS]
WEIGHT = 9.81 * (6 + 4 * (0.696 + 1.013 + 0.166 + 0.06))  # N
AGAIN = 1.0  # s: it trots by then


def work_of(record):
    """Work of the motors, J: their efforts are constant in each step."""
    return sum(abs(effort * (after - before)) for name in JOINTS for effort, before, after in
               zip(record[f"effort.{name}"][1:], record[name], record[name][1:]))


def upright(record):
    """Least vertical part of the trunk's vertical axis."""
    return min(1 - 2 * (x * x + y * y) for x, y in zip(record["dog_trunk.qx"], record["dog_trunk.qy"]))


def mean_force(record):
    """Of all feet together, once it trots, over the weight."""
    rows = [sum(row) for row in zip(record["time"], *(record[name] for name in FORCES)) if row[0] > AGAIN]
    times = [t for t in record["time"] if t > AGAIN]
    return (sum(rows) - sum(times)) / len(rows) / WEIGHT


def run(context):
    rows, cost, forces = [], {}, []
    for place, scene in SCENES.items():
        for solver in ("auto", "sap"):
            record = context.run(scene, "--solver", solver, "--every", 1, "--set", 'record/signals=["coordinates", "efforts", "sensors"]')
            way = record["dog_trunk.x"][-1]
            cost[place, solver] = work_of(record) / (WEIGHT * way)
            context.figure(f"{place}_{solver}_way", way)
            context.figure(f"{place}_{solver}_upright", upright(record))
            times = record.summary["real_time_factor"]
            rows.append([place, solver, way, way / record["time"][-1], cost[place, solver], mean_force(record), times])
            if solver == "auto":
                context.figure(f"{place}_faster", times)
            if place == "flat":
                context.figure(f"flat_{solver}_force", mean_force(record))
                forces += [Curve([(t, force) for t, force in record.pairs("time", f"sensor.{leg}") if 5 < t < 5.6], f"{leg}, {solver}")
                           for leg in ("FR", "FL")]
        context.figure(f"{place}_cost", cost[place, "auto"])
        context.figure(f"{place}_cost_ratio", cost[place, "sap"] / cost[place, "auto"])
    context.table("10 s", ["", "solver", "way [m]", "speed [m/s]", "cost of transport", "mean force on all feet / weight", "real-time factor"], rows)
    context.plot("Forces on the front feet", forces, x="time [s]", y="force [N]", y_range=(0, None))
