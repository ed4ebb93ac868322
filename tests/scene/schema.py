#!/usr/bin/env python3
"""Every shipped scene fits the JSON Schema; broken ones do not.  Arguments: the root of the sources."""
import copy
import json
import pathlib
import sys

import jsonschema

root = pathlib.Path(sys.argv[1])
schema = json.loads((root / "scenes/scene.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
failed = 0


def expect(good, scene, name):
    global failed
    errors = list(validator.iter_errors(scene))
    if bool(errors) == good:
        failed += 1
        print("FAILED:", name, "is", "refused: " + errors[0].message if errors else "accepted")


scenes = sorted(p for p in (root / "scenes").rglob("*.json") if not p.name.endswith(".schema.json"))
for path in scenes:
    expect(True, json.loads(path.read_text()), path.name)
if len(scenes) < 24:
    failed += 1
    print("FAILED: only", len(scenes), "scenes found")

whole = {
    "sim": 1,
    "world": {"step": 0.01, "integrator": "moreau", "solver": "pgs", "solver_options": {"relaxation": 1.2, "cone": "pyramid"},
              "compliance": "rigid", "law": {"beta": 0.5}},
    "materials": [{"name": "m", "friction": 1}],
    "models": {"m": {"bodies": [{"name": "a", "joint": "free"}]}},
    "instances": [{"model": "m", "repeat": {"placement": "line", "count": 2, "offset": [1, 0, 0]}}],
    "bodies": [
        {"name": "b", "joint": {"type": "hinge", "axis": [0, 1, 0], "range": [-1, 1], "limit_stiffness": 5, "friction": 0.1}, "q": 1,
         "inertia": {"mass": 1, "moments": [1, 1, 1]},
         "pose": {"rpy": [0, 0, 1]},
         "shapes": [{"type": "sphere", "radius": 1},
                    {"type": "convex", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]},
                    {"type": "mesh", "file": "a.stl", "scale": 0.001},
                    {"type": "height_field", "columns": 2, "extent": [1, 1], "heights": [0, 0, 0, 0]},
                    {"type": "sdf", "resolution": 0.1, "field": {"type": "union", "fields": [
                        {"type": "box", "size": [1, 1, 1]}, {"type": "profile", "points": [[0, 0], [1, 0]], "thickness": 0.1}]}},
                    {"type": "compound", "shapes": [{"type": "sphere", "radius": 1, "pose": {"position": [0, 0, 1]}}]}]}],
    "exclusions": [{"first": "a", "second": "b"}],
    "initial": {"b": 0.1},
    "actuators": [{"joint": "b", "target": {"times": [0, 1], "values": [0, 1]}}],
    "constraints": [{"type": "distance", "first": "b", "first_point": [0, 0, 1], "distance": 2}],
    "loads": [{"body": "b", "force": [1, 2, 3]}],
    "record": {"signals": ["poses", "contacts"]},
    "comment": "all of it",
}
expect(True, whole, "a scene with everything")
for track in ("sin(t)", {"expression": "sin(t)"}, {"sine": {"amplitude": 1, "frequency": 2, "phase_deg": 90}},
              {"times": [0, 1], "values": [0, 1], "interpolation": "spline"}):
    expect(True, {**whole, "actuators": [{"joint": "b", "target": track}]}, f"a track {track}")
for track in (["t", 0, "1"], {"expression": ["t", 0, 1]}, {"sine": {"amplitude": [1, 2, 3], "frequency": 2}}):
    expect(True, {**whole, "loads": [{"body": "b", "force": track}]}, f"a vector track {track}")
expect(True, {**whole, "world": {**whole["world"], "solver": "pgs:max_iterations=100,tolerance=1e-8"}}, "a solver with options behind its name")

REMOVE = object()
broken = [
    ("/sim", REMOVE), ("/sim", 2), ("/wrld", {}), ("/world/step", 0), ("/world/step", "1"), ("/world/integrator", "euler"),
    ("/world/solver", "spa"), ("/world/solver", "pgs:relaxation"), ("/world/solver", "sap:tolerance=1e-6"),
    ("/world/solver", "sap"), ("/world/solver", REMOVE),
    ("/world/solver_options/relaxation", 3), ("/world/solver_options/cone", "ball"), ("/world/solver_options/more", 1),
    ("/world/law/beta", 0), ("/world/law/more", 1), ("/world/compliance", "soft"), ("/world/threads", 65),
    ("/world/threads", 1.5), ("/world/gravity", [0, 0]),
    ("/bodies/0/name", REMOVE), ("/bodies/0/name", "a/b"), ("/bodies/0/joint", "hing"), ("/bodies/0/joint/pitch", 1),
    ("/bodies/0/joint/type", REMOVE), ("/bodies/0/joint/type", "screw"), ("/bodies/0/joint/range", [0, 1, 2]),
    ("/bodies/0/q_deg", 1), ("/bodies/0/inertia/mass", 0), ("/bodies/0/inertia/moments", REMOVE),
    ("/bodies/0/inertia/matrix", [1, 1, 1, 0, 0, 0]), ("/bodies/0/pose/quaternion", [1, 0, 0, 0]),
    ("/bodies/0/shapes/0/radius", REMOVE), ("/bodies/0/shapes/0/radius", -1), ("/bodies/0/shapes/0/length", 1),
    ("/bodies/0/shapes/0/type", "mesh"), ("/bodies/0/shapes/0/type", "box"), ("/instances/0/model", REMOVE),
    ("/instances/0/file", "x.json"), ("/instances/0/repeat/count", REMOVE), ("/instances/0/repeat/counts", [1, 1, 1]),
    ("/initial/b", "x"), ("/actuators/0/joint", REMOVE), ("/actuators/0/target/values", REMOVE),
    ("/actuators/0/target/sine", {"amplitude": 1, "frequency": 1}), ("/actuators/0/target", {"sine": {"amplitude": 1}}),
    ("/actuators/0/target", {"expression": 3}), ("/loads/0/force", ["t", 0]), ("/loads/0/force", {"expression": "t"}),
    ("/loads/0/force", [1, 2]), ("/constraints/0/distance", REMOVE), ("/constraints/0/ratio", 2),
    ("/bodies/0/joint/friction", -1), ("/record/signals", ["pose"]), ("/materials/0/friction", -1), ("/comment", 3),
    ("/bodies/0/shapes/1/points", [[0, 0]]), ("/bodies/0/shapes/2/columns", 2), ("/bodies/0/shapes/3/extent", REMOVE),
    ("/bodies/0/shapes/4/field/type", "unoin"), ("/bodies/0/shapes/4/field/fields/0/size", REMOVE),
    ("/bodies/0/shapes/5/density", 1000), ("/bodies/0/shapes/0/radius", 1e160), ("/exclusions/0/second", REMOVE),
]
for pointer, value in broken:
    scene = copy.deepcopy(whole)
    *path, last = pointer.strip("/").split("/")
    at = scene
    for segment in path:
        at = at[int(segment)] if isinstance(at, list) else at[segment]
    if value is REMOVE:
        del at[last]
    else:
        at[last] = value
    expect(False, scene, f"{pointer} = {'nothing' if value is REMOVE else value}")

print(f"{len(scenes)} scenes, {len(broken)} broken ones, {failed} failures")
sys.exit(failed != 0)
