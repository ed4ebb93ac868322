"""Grasps of the paper's sizes with the Newton and linear iterations that it spends on them."""
import json

from .frame.context import Curve

NAME = "budgets"
ORDER = 46
TITLE = "Grasps within the paper's iterations"
PAPER = "macklin2019"
SHOWN = "table of examples: Allegro DexNet, Fetch Beam"
ABOUT = ("A hand of 22 bodies holds a block of 50 kg at 112 points, and a gripper lifts a beam of 38 hinged pieces by 304 points. Each step "
         "has the Newton steps and linear iterations that the paper gives for its own hand and gripper, whose masses, shapes and errors it "
         "does not tell, and takes whatever they leave. Do the grasps hold?")
SECONDS = (8, 60)

PAPER_WAY = "nsn:friction=fixed-point:linear_tolerance=0:max_iterations={}:linear_iterations={}"
HAND, JERK = "papers/hand", 1.45            # s: before the jerk
HALVES = (-0.014, 0.014)                    # m: two pads side by side on the first three links of each finger
PIECES, SIDE, GAP = 38, 0.04, 0.002         # of the beam, m
JAW_FORCE, LIFT = 400.0, 0.05               # N, m


def pads():
    return [{"type": "box", "size": [0.02, 0.022, 0.058], "mass": 0.025, "material": "rubber", "pose": {"position": [0, y, -0.03]}} for y in HALVES]


def hand(context):
    words = [word for link in "123" for word in ("--set", f"models/finger/bodies/{link}/shapes={json.dumps(pads())}")]
    record = context.run(HAND, *words, "--duration", 0.25 if context.quick else JERK, "--every", 6, "--solver", PAPER_WAY.format(8, 20), "--set", "world/compliance=rigid")
    slip = [(t, 1e3 * (block - palm)) for t, block, palm in zip(record["time"], record["block.point.z"], record["palm.point.z"])]
    context.plot("Slip of the block in the hand", [Curve([(t, z - slip[0][1]) for t, z in slip])], x="time [s]", y="[mm]")
    context.figure("hand_contacts", min(record["contacts"][1:]))
    context.figure("hand_slip", max(z for _, z in slip) - min(z for _, z in slip))
    return ["hand", record["contacts"][-1], "8 x 20", record.summary["contacts"]["E"]["mean"], record.summary["contacts"]["E"]["worst"]]


def beam():
    """Jaws that slide on a wrist, which slides up; pieces on hinges in a row between them."""
    length = PIECES * (SIDE + GAP)
    jaw = {"type": "box", "size": [length, 0.02, SIDE], "mass": 0.5, "material": "rubber"}
    bodies = [{"name": "arm", "joint": {"type": "slider", "axis": [0, 0, 1]}, "inertia": {"mass": 2, "moments": [0.1, 0.1, 0.1]}},
              {"name": "wrist", "parent": "arm", "joint": {"type": "hinge", "axis": [1, 0, 0]}, "inertia": {"mass": 1, "moments": [0.1, 0.1, 0.1]}}]
    for name, side in (("left", 1), ("right", -1)):
        bodies.append({"name": name, "parent": "wrist", "pose": {"position": [0, side * (SIDE / 2 + 0.01), 1]}, "shapes": [jaw],
                       "joint": {"type": "slider", "axis": [0, -side, 0]}})
    for k in range(PIECES):
        place = {"position": [SIDE + GAP, 0, 0] if k else [-length / 2, 0, 1]}
        joint = {"type": "hinge", "axis": [0, 1, 0], "stiffness": 50, "damping": 0.5}
        bodies.append({"name": f"piece{k}", "pose": place, "joint": joint if k else "free", **({"parent": f"piece{k - 1}"} if k else {}),
                       "shapes": [{"type": "box", "size": [SIDE, SIDE, SIDE], "mass": 0.1, "material": "rubber",
                                    "pose": {"position": [(SIDE + GAP) / 2, 0, 0]}}]})
    actuators = [{"name": "lift", "joint": "arm", "kp": 100000, "kd": 5000,
                  "target": {"times": [0, 0.05, 0.35], "values": [0, 0, LIFT], "interpolation": "quintic"}},
                 {"name": "hold", "joint": "wrist", "kp": 5000, "kd": 100, "target": 0},
                 *({"name": f"grip_{name}", "joint": name, "feedforward": JAW_FORCE} for name in ("left", "right"))]
    return {"sim": 1, "world": {"step": 1 / 240, "duration": 0.5, "compliance": "rigid", "solver": PAPER_WAY.format(6, 50)},
            "materials": [{"name": "rubber", "friction": 1}], "bodies": bodies, "actuators": actuators,
            "record": {"every": 4, "signals": ["statistics"], "points": [{"name": name, "body": name} for name in
                                                                        ("arm", "piece0", f"piece{PIECES // 2}", f"piece{PIECES - 1}")]}}


def gripper(context):
    path, out, summary = (context.folder / f"beam.{end}" for end in ("json", "csv", "summary.json"))
    path.write_text(json.dumps(beam()), encoding="utf-8")
    context.sim(path, "--quiet", *(["--duration", 0.05] if context.quick else []), "--out", out, "--summary", summary)
    record, told = context.csv(out), json.loads(summary.read_text(encoding="utf-8"))["contacts"]
    curves = {name: [(t, 1e3 * (z - arm)) for t, z, arm in zip(record["time"], record[f"{name}.point.z"], record["arm.point.z"])]
              for name in ("piece0", f"piece{PIECES // 2}", f"piece{PIECES - 1}")}
    context.plot("Slip of the beam in the jaws", [Curve([(t, z - c[0][1]) for t, z in c], name) for name, c in curves.items()], x="time [s]", y="[mm]")
    context.figure("beam_contacts", min(record["contacts"][1:]))
    context.figure("beam_slip", max(max(z for _, z in c) - min(z for _, z in c) for c in curves.values()))
    return ["gripper", record["contacts"][-1], "6 x 50", told["E"]["mean"], told["E"]["worst"]]


def run(context):
    rows = [hand(context), gripper(context)]
    context.table("Errors that the paper's iterations leave", ["scene", "contacts", "Newton x linear", "E, mean", "worst"], rows)
