"""`sim ik` as its users meet it: joint coordinates that a run finds where they should be, and clear refusals.

    ik.py SIM SCENES [WORD]     runs the tests whose names hold WORD, each in a folder of its own
"""
import csv
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402

SIM, SCENES = (os.path.abspath(path) for path in sys.argv[1:3])
WORD = sys.argv[3] if len(sys.argv) > 3 else ""
PANDA = os.path.join(SCENES, "robots", "panda.json")


def sim(*arguments, status=0):
    done = subprocess.run([SIM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}"
    return done


def refuses(words, *arguments):
    said = sim("ik", *arguments, status=2)
    assert words in said.stderr and said.stdout == "" and said.stderr.count("\n") == 1, f"'{words}' is not in: {said}"


def stands(initial, **place):
    """Where a run that starts there has the site or the body."""
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump({"sim": 1, "world": {"step": 1e-3, "duration": 0.001}, "instances": [{"file": PANDA}], "initial": initial,
                   "record": {"signals": ["coordinates"], "points": [{"name": "tool", **place}]}}, file)
    sim("scene.json", "--out", "run.csv", "--quiet")
    with open("run.csv", encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(line for line in file if not line.startswith("#")))
    return [float(value) for key, value in row.items() if key.startswith("tool.")]


def puts_the_tool_where_it_should_be():
    for to in ("0.5 0.1 0.3", "0.4, -0.2, 0.5, 0, 1, 0, 0"):
        done = sim("ik", PANDA, "--site", "tool", "--to", to)
        assert "\"tool\" reaches it" in done.stderr
        at, due = stands(json.loads(done.stdout)["initial"], site="tool"), re.split("[, ]+", to)
        assert all(abs(at[k] - float(due[k])) < 1e-8 for k in range(3)), (at, due)


def takes_a_body_for_its_frame():
    """The frame of the last link stands where the scene records that body."""
    to = (0.4, 0.1, 0.5)
    initial = json.loads(sim("ik", PANDA, "--site", "link7", "--to", " ".join(map(str, to))).stdout)["initial"]
    at = stands(initial, body="link7")
    assert all(abs(a - b) < 1e-8 for a, b in zip(at, to)), at


def gives_keyframes_for_several_poses_each_from_the_one_before():
    poses = "0.5 0 0.3 0 1 0 0", "0.5 0 0.2 0 1 0 0", "0.5 0.1 0.2 0 1 0 0"
    done = sim("ik", PANDA, "--site", "tool", *(word for pose in poses for word in ("--to", pose)))
    frames = json.loads(done.stdout)["keyframes"]
    assert [frame["name"] for frame in frames] == ["pose1", "pose2", "pose3"]
    for before, after in zip(frames, frames[1:]):
        assert all(abs(after["initial"][joint] - q) < 0.6 for joint, q in before["initial"].items())
    alone = sim("ik", PANDA, "--site", "tool", "--to", poses[0], "--start", "home")
    assert json.loads(alone.stdout)["initial"] == frames[0]["initial"]


def says_what_is_left_of_a_pose_out_of_reach():
    done = sim("ik", PANDA, "--site", "tool", "--to", "2 0 0.333", status=1)
    left = float(re.search(r"([\d.]+) m and", done.stderr)[1])
    at = stands(json.loads(done.stdout)["initial"], site="tool")
    assert abs(left - ((at[0] - 2) ** 2 + at[1] ** 2 + (at[2] - 0.333) ** 2) ** 0.5) < 1e-5 and left > 1


def refuses_what_it_cannot_mean():
    refuses("--site is missing", PANDA, "--to", "0 0 0")
    refuses("--to is missing", PANDA, "--site", "tool")
    refuses("there are the sites \"tool\"", PANDA, "--site", "finger", "--to", "0 0 0")
    for wrong in "1 2", "1 2 3 4", "x y z", "1 2 3 0 0 0 0", "1 2 3 nan 0 0 1", "1 2 3 1 0 0 0 1":
        refuses(f"--to \"{wrong}\"", PANDA, "--site", "tool", "--to", wrong)
    refuses("no scene given", "--site", "tool", "--to", "0 0 0")


SIM, SCENES = os.path.abspath(SIM), os.path.abspath(SCENES)
sys.exit(tap.run(tap.cases_of(globals(), WORD)))
