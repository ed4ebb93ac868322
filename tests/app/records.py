#!/usr/bin/env python3
"""What is kept of a run, what is read of a stranger's file, and what becomes of the user's own files.  Prints TAP.

    records.py SIM SCENES [WORD]     runs the tests whose names hold WORD, each in a folder of its own
"""
import hashlib
import json
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402

SIM, SCENES = map(os.path.abspath, sys.argv[1:3])
WORD = sys.argv[3] if len(sys.argv) > 3 else ""
os.environ["XDG_CACHE_HOME"] = "/dev/null"  # tests leave nothing in the user's cache
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout
FALL = """{"sim": 1, "name": "fall", "world": {"step": 0.001, "duration": 0.2, "solver": "sap"},
 "bodies": [{"name": "ground", "joint": "fixed", "shapes": [{"type": "half_space"}]},
            {"name": "ball", "pose": {"position": [0, 0, 0.3]}, "joint": "free",
             "shapes": [{"type": "sphere", "radius": 0.05, "density": 1000}]}],
 "record": {"every": 5, "signals": ["poses", "contacts", "energy"]}}"""


def scene(name):
    return os.path.join(SCENES, name + ".json")


def sim(*words, status=0, timeout=120, **more):
    done = subprocess.run([SIM, *map(str, words)], capture_output=True, text=True, timeout=timeout, **more)
    assert done.returncode == status, f"status {done.returncode}, not {status}: {words}\n{done.stderr}"
    return done


def refuses(words, *arguments, status=2, **more):
    """One clear sentence, the right status, and every file as it was."""
    before = contents_of(".")
    said = sim(*arguments, status=status, **more).stderr
    assert words in said and said.count("\n") == 1, f"'{words}' is not all of: {said}"
    after = contents_of(".")
    assert after == before, f"{sorted(before)} became {sorted(after)}"


def contents_of(folder):
    return {name: read(name) for name in os.listdir(folder) if os.path.isfile(name)}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def recorded_scene(path):
    """The text of the scene that stands in a trajectory, where HDF5 keeps it as it is."""
    data = read(path).decode("latin-1")
    start = data.index('{\n  "sim"')
    return data[start:start + json.JSONDecoder().raw_decode(data[start:])[1]] + "\n"


# ---- what ran is what is kept ----

OTHERWISE = ("--set", "bodies/ball/shapes/0/radius=0.2", "--solver", "pgs", "--step", 0.0007, "--duration", 0.13,
             "--integrator", "symplectic", "--every", 3, "--seed", 77)


def keeps_the_scene_that_ran_which_runs_again_to_the_same_bits():
    write("fall.json", FALL)
    sim("fall.json", *OTHERWISE, "--out", "a.csv", "--out", "a.h5", "--summary", "a.sum", "--threads", 2)
    kept = recorded_scene("a.h5")
    assert json.loads(kept)["world"] == {"step": 0.0007, "duration": 0.13, "solver": "pgs", "seed": 77,
                                         "integrator": "symplectic"}, kept
    write("kept.json", kept)
    sim("kept.json", "--out", "b.csv", "--summary", "b.sum")
    assert read("a.csv") == read("b.csv")
    a, b = json.loads(read("a.sum")), json.loads(read("b.sum"))
    assert a["scene_hash"] == b["scene_hash"] == hashlib.sha256(kept.encode()).hexdigest()


def keeps_a_scene_that_runs_as_it_is_letter_by_letter():
    write("fall.json", FALL)
    sim("fall.json", "--out", "a.h5", "--summary", "a.sum", "--threads", 2)
    assert FALL.encode() in read("a.h5")
    assert json.loads(read("a.sum"))["scene_hash"] == hashlib.sha256(FALL.encode()).hexdigest()


def has_another_hash_whatever_is_said_otherwise():
    write("fall.json", FALL)
    hashes = set()
    for words in ((), ("--set", "bodies/ball/shapes/0/radius=0.2"), ("--solver", "pgs"), ("--step", 0.002),
                  ("--duration", 0.1), ("--integrator", "symplectic"), ("--every", 7), ("--seed", 3)):
        sim("fall.json", *words, "--summary", "s", "--quiet")
        hashes.add(json.loads(read("s"))["scene_hash"])
    assert len(hashes) == 8


def draws_a_recorded_run_as_it_was():
    write("fall.json", FALL)
    wide = ("--set", "bodies/ball/shapes/0/radius=0.2")
    picture = ("--time", 0.1, "--size", "160x120", "--quiet")
    sim("fall.json", *wide, "--out", "a.h5")
    sim("render", "fall.json", *wide, *picture, "--out", "ran.png")
    sim("render", "fall.json", *picture, "--out", "plain.png")
    sim("render", "a.h5", *picture, "--out", "kept.png")
    assert read("kept.png") == read("ran.png") != read("plain.png")
    write("kept.json", recorded_scene("a.h5"))
    sim("kept.json", "--out", "b.h5")
    sim("view", "a.h5", "--html", "a.html", "--quiet")
    sim("view", "b.h5", "--html", "b.html", "--quiet")
    assert read("a.html") == read("b.html")


MODEL = '{"sim": 1, "bodies": [{"name": "b", "joint": "free", "shapes": [{"type": "box", "size": [1, 1, 1], "density": 1}]}]}'
USER = """{"sim": 1, "world": {"duration": 0.01}, "instances": [{"file": "part.json"}],
 "record": {"signals": ["poses"]}}"""


def finds_the_files_of_a_recorded_scene_beside_the_scene_that_is_named():
    os.makedirs("scenes")
    write("scenes/part.json", MODEL)
    write("scenes/user.json", USER)
    wide = ("--set", "instances/0/overrides={\"bodies/b/shapes/0/size\": [3, 1, 1]}")
    picture = ("--size", "160x120", "--quiet")
    sim("scenes/user.json", *wide, "--out", "a.h5")
    sim("render", "scenes/user.json", *wide, *picture, "--out", "ran.png")
    said = sim("render", "a.h5", *picture, "--out", "kept.png", status=2).stderr
    assert "part.json" in said and "--scene" in said, said
    said = sim("render", "a.h5", "--scene", "scenes/user.json", *picture, "--out", "kept.png").stderr
    assert read("kept.png") == read("ran.png") and not said, said
    write("scenes/part.json", MODEL.replace("[1, 1, 1]", "[1, 1, 2]"))
    said = sim("render", "a.h5", "--scene", "scenes/user.json", *picture, "--out", "other.png").stderr
    assert "warning" in said and "another text" in said, said


if not HDF5:
    for test in (keeps_the_scene_that_ran_which_runs_again_to_the_same_bits, draws_a_recorded_run_as_it_was,
                 keeps_a_scene_that_runs_as_it_is_letter_by_letter,
                 finds_the_files_of_a_recorded_scene_beside_the_scene_that_is_named):
        del globals()[test.__name__]

sys.exit(tap.run(tap.cases_of(globals(), WORD)))
