"""Nonsmooth Newton: forces that turn within a step, and starts."""
import json
import statistics

NAME = "newton_starts"
ORDER = 42
TITLE = "Geometric stiffness and starts"
PAPER = "macklin2019"
SHOWN = "sections 8.1 and 8.3"
ABOUT = ("Chains of two to five balls on massless rods move at 4 m/s, up and down in turns; one step takes the lengths of the rods at its end. How "
         "many Newton steps does it take with the stiffness of forces that turn, and without, as the step grows? Then nsn as it stands "
         "answers steps of contact scenes from zero and from the impulses of the step before.")
SECONDS = (4, 12)

STEPS = (0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.25, 0.35)
CHAINS = (2, 3, 4, 5)
MOST_STEPS = 60
RODS = f"nsn:positions=on:friction=fixed-point:tolerance=1e-10:linear_tolerance=1e-9:max_iterations={MOST_STEPS}"
SPEED = 4  # m/s
SCENES = ("stack-3", "arch", "gripper", "hand")


def rods(context, count, step):
    """Balls one metre apart along x, the first on a rod from the origin."""
    path = context.folder / "rods.json"
    path.write_text(json.dumps({
        "sim": 1, "world": {"step": step, "duration": step, "gravity": [0, 0, 0], "integrator": "symplectic"},
        "bodies": [{"name": f"ball{k}", "joint": "free", "pose": {"position": [k + 1, 0, 0]}, "v": [0, 0, -SPEED if k % 2 else SPEED, 0, 0, 0],
                    "shapes": [{"type": "sphere", "radius": 0.1, "mass": 1}]} for k in range(count)],
        "constraints": [{"type": "distance", "first": f"ball{k}", "distance": 1, **({"second": f"ball{k - 1}"} if k else {})} for k in range(count)],
        "record": {"every": 1, "signals": ["coordinates", "statistics"]}}), encoding="utf-8")
    return path


def one_step(context, count, step, stiffness):
    out = context.folder / "rods.csv"
    context.sim(rods(context, count, step), "--quiet", "--solver", f"{RODS}:stiffness={stiffness}", "--out", out)
    record = context.csv(out)
    return {"solved": record["unsolved"][1] == 0, "steps": record["solver_iterations"][1],
            "at": [record[f"ball{k}.{axis}"][1] for k in range(count) for axis in "xz"]}


def stiffness(context):
    rows, ratios, apart, solved = [], [], [], [0, 0]
    for count in CHAINS[::2] if context.quick else CHAINS:
        for step in STEPS[1::3] if context.quick else STEPS:
            told = [one_step(context, count, step, word) for word in ("on", "off")]
            solved = [sum(pair) for pair in zip(solved, (one["solved"] for one in told))]
            if told[0]["solved"] and told[1]["solved"]:
                ratios.append(told[0]["steps"] / told[1]["steps"])
                apart.append(max(abs(a - b) for a, b in zip(told[0]["at"], told[1]["at"])))
            rows.append([count, step, *(one["steps"] if one["solved"] else "not solved" for one in told)])
    context.table("Newton steps of one step of a chain", ["rods", "step [s]", "with stiffness", "without"], rows)
    context.figure("stiffness_solved", solved[0] - solved[1])
    context.figure("stiffness_steps", statistics.geometric_mean(ratios))
    context.figure("stiffness_same", max(apart))


def starts(context):
    folder = context.folder / "steps"
    folder.mkdir()
    context.compare(*SCENES, "--solver", "nsn", "--repeat", 1, "--out", folder)
    rows, ratios = [], []
    for name in SCENES:
        files = sorted(folder.glob(f"{name}_*.hdf5"))
        cold, warm = (context.json("solve", *files, "--solver", "nsn", *words, "--json", statuses=(0, 1))["problems"]
                      for words in ((), ("--guess",)))
        both = [(b["iterations"], a["iterations"]) for a, b in zip(cold, warm) if max(a["E"], b["E"]) <= 1e-8 and a["iterations"]]
        ratios += [max(b, 1) / a for b, a in both]
        rows.append([name, len(files), len(both), statistics.mean(a for _, a in both), statistics.mean(b for b, _ in both)])
    context.table("Newton steps from zero and from the step before", ["scene", "problems", "solved both ways", "from zero", "from the step before"], rows)
    context.figure("warm_steps", statistics.geometric_mean(ratios))


def run(context):
    stiffness(context)
    starts(context)
