"""study/beside.py: does its judge measure what it says, and does it run where no other engine is installed?

    beside.py SIM [WORD]     runs the tests whose names hold WORD
"""
import json
import math
import os
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "study")]
import beside  # noqa: E402
import beside_judge as judge  # noqa: E402
import beside_scenes as scenes  # noqa: E402
import tap  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
WORD = sys.argv[2] if len(sys.argv) > 2 else ""
BENCH = os.path.join(os.path.dirname(SIM), "..", "..", "bench")
UPRIGHT, HALF = (1, 0, 0, 0), math.sqrt(0.5)
CUBE = scenes.Body("box", (1, 1, 1), 1)
BALL = scenes.Body("ball", (0.5,), 1)


def study(*words, engines=("beside_sim",), status=0):
    """The study with a build that has these programs alone."""
    os.makedirs("bench/beside", exist_ok=True)
    for name in engines:
        if not os.path.lexists(f"bench/beside/{name}"):
            os.symlink(os.path.abspath(os.path.join(BENCH, "beside", name)), f"bench/beside/{name}")
    done = subprocess.run([os.path.join(ROOT, "study", "beside.py"), *words], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "SIM_PROGRAM": SIM, "SIM_BENCH": os.path.abspath("bench")})
    assert done.returncode == status, f"status {done.returncode}, not {status}: {words}\n{done.stderr}"
    return done


def close(value, right, tolerance=1e-12):
    assert abs(value - right) <= tolerance, f"{value!r}, not {right!r}"


def over(a, at_a, b, at_b, turn_a=UPRIGHT, turn_b=UPRIGHT):
    """The overlap of two bodies, in both orders, and after a turn and a shift of both together."""
    both = (0.5, 0.1, -0.7, 0.5)
    norm = math.hypot(*both)
    both = tuple(x / norm for x in both)

    def times(p, q):
        return (p[0] * q[0] - judge.dot(p[1:], q[1:]),
                *(p[0] * v + q[0] * u + w for u, v, w in zip(p[1:], q[1:], judge.cross(p[1:], q[1:]))))

    def moved(at):
        return tuple(x + y for x, y in zip(scenes.turned(both, at), (3, -2, 1)))
    here = judge.overlap(judge.Placed(a, at_a, turn_a), judge.Placed(b, at_b, turn_b))
    close(judge.overlap(judge.Placed(b, at_b, turn_b), judge.Placed(a, at_a, turn_a)), here)
    close(judge.overlap(judge.Placed(a, moved(at_a), times(both, turn_a)), judge.Placed(b, moved(at_b), times(both, turn_b))), here)
    return here


def record(step, *states):
    return {"step": step, "spent": 0, "unsolved": 0, "state": [list(state) for state in states]}


def overlaps_of_balls_and_planes_are_those_of_geometry():
    close(over(BALL, (0, 0, 0), BALL, (0.6, 0, 0.7)), 1 - math.hypot(0.6, 0.7))
    plane = scenes.ground()
    close(over(plane, (0, 0, 0), BALL, (4, 5, 0.4)), 0.1)
    close(over(plane, (0, 0, 0), CUBE, (4, 5, 0.4)), 0.1)
    close(over(plane, (0, 0, 0), CUBE, (4, 5, 0.4), turn_b=scenes.about((1, 0, 0), math.pi / 4)), HALF - 0.4)
    corner = scenes.about((HALF, -HALF, 0), math.acos(1 / math.sqrt(3)))
    close(over(plane, (0, 0, 0), CUBE, (0, 0, 0.8), turn_b=corner), math.sqrt(3) / 2 - 0.8)
    assert over(plane, (0, 0, 0), BALL, (0, 0, 0.7)) < 0


def overlaps_of_balls_and_boxes_take_face_edge_corner_and_inside():
    close(over(CUBE, (0, 0, 0), BALL, (0.9, 0.1, 0.2)), 0.1)
    close(over(CUBE, (0, 0, 0), BALL, (0.8, 0.8, 0.2)), 0.5 - math.hypot(0.3, 0.3))
    close(over(CUBE, (0, 0, 0), BALL, (0.7, 0.7, -0.7)), 0.5 - math.sqrt(0.12))
    close(over(CUBE, (0, 0, 0), BALL, (0.1, 0.2, 0.4)), 0.6)


def overlaps_of_boxes_take_faces_and_edges():
    close(over(CUBE, (0, 0, 0), CUBE, (0.1, 0.2, 0.95)), 0.05)
    x, y = (scenes.about(axis, math.pi / 4) for axis in ((1, 0, 0), (0, 1, 0)))
    close(over(CUBE, (0, 0, 0), CUBE, (0, 0, 0.5 + HALF - 0.02), turn_b=x), 0.02)  # an edge in a face
    close(over(CUBE, (0, 0, 0), CUBE, (0, 0, 2 * HALF - 0.03), x, y), 0.03)  # edge across edge: no face's normal says so little
    assert over(CUBE, (0, 0, 0), CUBE, (0, 0, 2 * HALF + 0.01), x, y) <= 0
    flat = scenes.Body("box", (2, 2, 0.1), 1)
    close(over(flat, (0, 0, 0), CUBE, (0, 0, 0.5)), 0.05)


def the_deepest_pair_of_a_heap_is_found():
    heap = scenes.pit(40)
    state = [(*body.position, *body.quaternion) for body in heap.moving]
    assert judge.deepest(heap, state) == 0, "nothing overlaps at the start"
    ball = next(k for k, body in enumerate(heap.moving) if body.shape == "ball" and k > 10)
    lower = heap.moving[ball - 4]
    state[ball] = (*(x + y for x, y in zip(lower.position, scenes.turned(lower.quaternion, (0, 0, 0.09)))), *UPRIGHT)
    close(judge.deepest(heap, state), 0.01)
    state[3] = (0.38, 0, 1, *UPRIGHT)  # in the wall, which begins at 0.4
    close(judge.deepest(heap, state), 0.03)


def every_right_answer_is_judged_to_be_right():
    roll, slope, free = scenes.roll(), scenes.incline(1.05), scenes.spin()
    rolled = [record(k, (0, 0, 0.1, *UPRIGHT, 2 * 5 / 7 if k else 2, 0, 0, 0, 0, 0)) for k in (0, roll.steps)]
    close(judge.speed_error(roll, rolled), 0)
    angle = math.atan(0.5 * 1.05)
    pull = 9.81 * (math.sin(angle) - 0.5 * math.cos(angle))
    down = scenes.turned(slope.moving[0].quaternion, (1, 0, 0))
    assert down[2] < 0
    slid = [record(k, (0, 0, 0, *UPRIGHT, *(pull * k * slope.step * x for x in down), 0, 0, 0)) for k in range(slope.steps + 1)]
    close(judge.acceleration_error(slope, slid), 0, 1e-9)
    slid[-1]["state"][0][7] *= 1.5
    assert judge.acceleration_error(slope, slid) > 10
    body = free.moving[0]
    states = [(0, 0, 0, *UPRIGHT, 0, 0, 0, *body.spin), (0, 0, 0, HALF, HALF, 0, 0, 0, 0, 0, *body.spin)]
    records = [record(k, state) for k, state in enumerate(states)]
    assert judge.energy_error(free, records[:1]) == judge.momentum_error(free, records[:1]) == 0
    i = body.inertia()
    energy = [sum(moment * w * w for moment, w in zip(moments, body.spin)) for moments in (i, (i[0], i[2], i[1]))]
    close(judge.energy_error(free, records), 100 * (energy[1] / energy[0] - 1), 1e-9)
    assert judge.momentum_error(free, records) > 10


def what_bursts_falls_or_leaves_does_not_stand():
    stack, heap = scenes.stack(), scenes.pit(40)
    start = [(*body.position, *body.quaternion, *body.velocity, *body.spin) for body in stack.moving]
    still = judge.judge(stack, [record(0, *start), record(1000, *start), record(stack.steps, *start)])
    assert still["stands"] and still["whole"] and still["moved"] == still["drift"] == 0 and still["overlap"] < 1e-12, still
    fallen = [(x[0] + 0.2, *x[1:]) for x in start]
    assert not judge.judge(stack, [record(0, *start), record(1000, *start), record(stack.steps, *fallen)])["stands"]
    burst = judge.judge(stack, [record(0, *start), record(stack.steps, (math.nan, *start[0][1:]), *start[1:])])
    assert not burst["stands"] and not burst["finite"] and burst["overlap"] is None
    inside = [(*body.position, *body.quaternion, *body.velocity, *body.spin) for body in heap.moving]
    assert judge.escaped(heap, [record(0, *inside)]) == 0
    assert judge.escaped(heap, [record(0, *inside[:-1], (0.7, *inside[-1][1:]))]) == 1


def runs_with_sim_alone_and_names_what_is_missing():
    done = study("--quick", "--json")
    entries = json.loads(done.stdout)["entries"]
    assert [entry["scene"] for entry in entries[::2]] == [scene.name for scene in scenes.scenes()]
    assert {entry["engine"] for entry in entries} == {"sim", "sap"}
    for package in ("libmujoco-dev", "libode-dev", "libbullet-dev", "libdart-dev"):
        assert package in done.stderr, done.stderr
    for entry in entries:
        figures = entry["figures"]
        assert figures["finite"] and figures["whole"] and entry["unsolved"] == 0 and entry["seconds"] > 0, entry
        assert 0 <= figures["overlap"] < 0.05 and entry["steps"] == beside.QUICK_STEPS, entry


def prints_two_tables_of_the_same_runs():
    lines = study("--quick", "--only", "rolls").stdout.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0] == beside.SUMMARY and [row[0] for row in rows[2:4]] == ["sim", "sim, `sap`"]
    assert rows[5] == beside.HEAD and [row[1] for row in rows[7:]] == ["sim", "sim, `sap`"] and len(rows) == 9
    with open("told.json", "w", encoding="ascii") as file:
        file.write(study("--quick", "--json", "sim", "--only", "rolls").stdout)
    again = study("--from", "told.json").stdout.splitlines()
    assert [line for line in again if "| sim |" in line and "rolls" in line] and again[0] == lines[0], again
    assert all(len(row) == len(rows[0]) for row in rows[:4]) and all(len(row) == len(rows[5]) for row in rows[5:])


def a_ball_of_sim_rolls_and_a_box_of_sim_slides_as_they_should():
    def own(name):
        return json.loads(study("sim", "--only", name, "--repeat", "1", "--json").stdout)["entries"][0]["figures"]["own"]
    close(own("rolls")["speed_error"], 0, 0.5)
    close(own("1.05")["acceleration_error"], 0, 0.5)


def a_run_that_is_stopped_or_fails_is_told_so():
    entry = json.loads(study("sim", "--only", "1000 kg", "--repeat", "1", "--limit", "0.001", "--json").stdout)["entries"][0]
    assert not entry["figures"]["whole"] and entry["figures"]["drift"] is None and 0 < entry["steps"] < 1200, entry
    assert "until" in beside.standing(entry, True)
    os.remove("bench/beside/beside_sim")
    with open("bench/beside/beside_sim", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexit 1\n")
    os.chmod("bench/beside/beside_sim", 0o755)
    assert "| **fails** |" in study("sim", "--only", "rolls").stdout


def refuses_engines_and_scenes_that_are_none():
    assert "there is no engine 'havok'" in study("havok", status=2).stderr
    assert "none of these engines is in this build" in study("bullet", status=2).stderr
    assert "no scene's name holds 'castle'" in study("--only", "castle", status=2).stderr


sys.exit(tap.run(tap.cases_of(globals(), WORD)))
