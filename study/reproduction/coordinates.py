"""A chain on the ground in minimal coordinates, and the same chain of free bodies with constraints for joints."""
import json
import statistics

NAME = "coordinates"
ORDER = 13
TITLE = "Minimal and redundant coordinates"
PAPER = "mylapilli2016"
SHOWN = "section 2.4"
ABOUT = ("A chain of balls on rods with ball joints hangs to the ground, on which its last links slide. It is modelled twice: as one tree, whose "
         "coordinates are those of its joints, and as free bodies that constraints connect. How do the contact problem, the time to "
         "answer it and the time of a whole step grow with the links?")
SECONDS = (6, 25)

LINKS, FEW_LINKS, LYING, RADIUS = (12, 24, 48), (12, 24), 3, 0.25
STEP, STEPS = 0.001, 20
SOLVER = "mlcp-pivot"
BALL = {"type": "sphere", "radius": RADIUS, "mass": 1, "material": "rubber"}


def places(links):
    """Points of the chain [m], from its suspension: straight down, and then along the ground."""
    points = [(0.0, 0.0, links - LYING + RADIUS)]
    for k in range(links):
        x, y, z = points[-1]
        points.append((x, y, z - 1) if k < links - LYING else (x + 1, y, z))
    return points


def minimal(links):
    """Bodies in their parents; a ball one metre along z below its joint, or along x."""
    bodies = []
    for k in range(links):
        way = [0, 0, -1] if k < links - LYING else [1, 0, 0]
        before = [0, 0, -1] if k - 1 < links - LYING else [1, 0, 0]
        bodies.append({"name": f"link{k}", "joint": "ball", "shapes": [{**BALL, "pose": {"position": way}}],
                       **({"parent": f"link{k - 1}", "pose": {"position": before}} if k else {"pose": {"position": places(links)[0]}})})
    return bodies, [], [1, 0, 0]


def redundant(links):
    """Free balls; each is connected to the one before at that one's centre."""
    at = places(links)
    bodies = [{"name": f"link{k}", "joint": "free", "pose": {"position": at[k + 1]}, "shapes": [BALL]} for k in range(links)]
    joints = [{"type": "connect", "first": f"link{k}", "first_point": [a - b for a, b in zip(at[k], at[k + 1])],
               **({"second": f"link{k - 1}"} if k else {"second_point": at[0]})} for k in range(links)]
    return bodies, joints, [0, 0, 0]


def scene(context, form, links):
    bodies, joints, tip = form(links)
    ground = {"name": "ground", "shapes": [{"type": "half_space", "material": "rubber"}]}
    path = context.folder / f"{form.__name__}_{links}.json"
    path.write_text(json.dumps({
        "sim": 1, "world": {"step": STEP, "duration": STEP * STEPS, "gravity": [0, 3, -9.81], "solver": SOLVER, "compliance": "rigid",
                            "integrator": "symplectic"},
        "materials": [{"name": "rubber", "friction": 0.2}], "bodies": [ground, *bodies], **({"constraints": joints} if joints else {}),
        "record": {"every": 1, "signals": ["statistics"], "points": [{"name": "tip", "body": f"link{links - 1}", "point": tip}]}}), encoding="utf-8")
    return path


def measured(context, form, links):
    """Way of the last ball, sizes of the last problem, times."""
    path, out, summary, problem = scene(context, form, links), *(context.folder / f"run.{end}" for end in ("csv", "json", "h5"))
    context.sim(path, "--quiet", "--out", out, "--summary", summary, "--dump-problem", STEPS, problem)
    record, told = context.csv(out), json.loads(summary.read_text(encoding="utf-8"))
    answer = context.json("solve", problem, "--solver", SOLVER, "--repeat", 3 if context.quick else 20, "--json")["problems"][0]
    return {"way": list(zip(record["tip.point.x"], record["tip.point.y"], record["tip.point.z"])), "contacts": answer["contacts"],
            "rows": answer["rows"], "velocities": answer["velocities"], "us": 1e6 * answer["seconds"], "E": answer["E"],
            "step": 1e6 * told["wall_time"] / STEPS}


def run(context):
    sizes = FEW_LINKS if context.quick else LINKS
    found = {form.__name__: [measured(context, form, links) for links in sizes] for form in (minimal, redundant)}
    few, many = found["minimal"], found["redundant"]
    context.table("The last of 20 steps by coordinates", ["links", "coordinates", "velocities", "contacts", "rows", "answer [us]", "step [us]", "E"], [
        [links, name, *(of[k][key] for key in ("velocities", "contacts", "rows", "us", "step", "E"))]
        for k, links in enumerate(sizes) for name, of in found.items()], note="The step is the mean of wall-clock times, the answer is processor time.")
    context.figure("apart", max(sum((a - b) ** 2 for a, b in zip(p, q)) ** 0.5 for x, y in zip(few, many) for p, q in zip(x["way"], y["way"])))
    context.figure("error", max(of["E"] for of in few + many))
    context.figure("minimal_rows", max(of["rows"] for of in few) / min(of["rows"] for of in few))
    context.figure("redundant_rows", (many[-1]["rows"] - many[0]["rows"]) / (sizes[-1] - sizes[0]))
    context.figure("answer_growth", (many[-1]["us"] / many[0]["us"]) / (few[-1]["us"] / few[0]["us"]))
    context.figure("answer", statistics.geometric_mean(b["us"] / a["us"] for a, b in zip(few, many)))
    context.figure("step", many[-1]["step"] / few[-1]["step"])
