#!/usr/bin/env python3
"""Records of a run, files from strangers, and the user's own files. Prints TAP.

    records.py SIM SCENES [WORD]     runs the tests whose names hold WORD, each in a folder of its own
"""
import fcntl
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


def records_the_same_readings_of_sensors_after_a_restart():
    scene = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenes", "articulated", "sensors.json")
    sim(scene, "--duration", 0.6, "--out", "whole.csv")
    sim(scene, "--duration", 0.3, "--checkpoint", "half", "--out", "first.csv")
    sim("--resume", "half", "--duration", 0.6, "--out", "second.csv")
    whole, first, second = (read(f"{name}.csv").splitlines() for name in ("whole", "first", "second"))
    assert whole == first + second[2:] and second[1] == first[-1]


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


def finds_the_files_of_a_scene_from_a_checkpoint_in_another_folder():
    for folder in ("scene/parts", "kept"):
        os.makedirs(folder)
    model = json.loads(FALL)
    write("scene/parts/ball.json", json.dumps({"sim": 1, "bodies": [{**model["bodies"][1], "shapes": [
        {"type": "mesh", "file": "tetrahedron.obj", "density": 1000}]}]}))
    write("scene/parts/tetrahedron.obj", "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    write("scene/all.json", json.dumps({**model, "bodies": model["bodies"][:1], "instances": [
        {"prefix": "a_", "file": "parts/ball.json"}]}))
    go_on = ("--duration", 0.1, "--quiet", "--out")
    sim("scene/all.json", *go_on, "whole.csv")
    sim("scene/all.json", "--duration", 0.05, "--checkpoint", "kept/half.state", "--quiet")
    sim("--resume", "kept/half.state", *go_on, "rest.csv")
    sim("--resume", "half.state", *go_on, "../beside.csv", "--checkpoint", "../end.state", cwd="kept")
    sim("--resume", "end.state", "--duration", 0.11, "--quiet")
    os.rename("scene/parts", "kept/parts")
    assert "scene/parts/ball.json" in sim("--resume", "kept/half.state", *go_on, "none.csv", status=3).stderr
    os.remove("scene/all.json")
    os.rmdir("scene")
    sim("--resume", "kept/half.state", *go_on, "moved.csv")
    rest = read("rest.csv")
    assert rest == read("beside.csv") == read("moved.csv")
    assert rest.splitlines()[2:] == read("whole.csv").splitlines()[-len(rest.splitlines()) + 2:]
    assert len(rest.splitlines()) > 10


def goes_on_with_the_scene_that_the_checkpoint_holds():
    write("fall.json", FALL)
    sim("fall.json", *OTHERWISE, "--duration", 0.07, "--out", "whole.csv", "--summary", "whole.sum", "-q")
    sim("fall.json", *OTHERWISE, "--duration", 0.035, "--checkpoint", "half.state", "-q")
    os.remove("fall.json")
    sim("--resume", "half.state", "--duration", 0.07, "--out", "rest.csv", "--summary", "rest.sum", "-q")
    whole, rest = read("whole.csv").splitlines(), read("rest.csv").splitlines()
    assert rest[2:] == whole[-len(rest) + 2:] and len(rest) > 10
    a, b = json.loads(read("whole.sum")), json.loads(read("rest.sum"))
    assert a["scene_hash"] == b["scene_hash"] and b["scene_file"] == "half.state"
    assert sim("--resume", "half.state", "--validate").stdout.startswith("half.state: ok")
    sim("--resume", "half.state", "--duration", 0.07, "--checkpoint", "half.state", "-q")
    sim("--resume", "half.state", "--duration", 0.08, "-q")
    refuses("is the checkpoint to continue from", "--resume", "half.state", "--html", "./half.state")
    refuses("made with a step of", "--resume", "half.state", "--step", 0.001, "-q")
    refuses("not a checkpoint", "--resume", write("none.state", "x"), "-q")


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
    said = sim("render", "a.h5", *picture, "--out", "kept.png", status=3).stderr
    assert "part.json" in said and "--scene" in said, said
    said = sim("render", "a.h5", "--scene", "scenes/user.json", *picture, "--out", "kept.png").stderr
    assert read("kept.png") == read("ran.png") and not said, said
    write("scenes/part.json", MODEL.replace("[1, 1, 1]", "[1, 1, 2]"))
    said = sim("render", "a.h5", "--scene", "scenes/user.json", *picture, "--out", "other.png").stderr
    assert "warning" in said and "another version" in said, said


# ---- what is not ours to read ----

def reads_no_pipe_and_waits_for_none():
    write("fall.json", FALL)
    for name in "pipe.h5", "pipe.csv", "pipe.state", "pipe.stl":
        os.mkfifo(name)
    for words in (("plot", "pipe.h5", "--out", "a.svg"), ("plot", "pipe.csv", "--out", "a.svg"), ("view", "pipe.h5", "--html", "a.html"),
                  ("render", "pipe.h5", "--out", "a.png"), ("solve", "pipe.h5", "--solver", "pgs"),
                  ("fall.json", "--resume", "pipe.state"), ("view", "/dev/zero", "--html", "a.html"),
                  ("solve", "/dev/zero", "--solver", "pgs"), ("fall.json", "--resume", "/dev/zero")):
        done = subprocess.run([SIM, *words], capture_output=True, text=True, timeout=20)
        assert done.returncode in (2, 3) and "not an ordinary file" in done.stderr, (words, done)
    write("mesh.json", '{"sim": 1, "bodies": [{"name": "a", "shapes": [{"type": "mesh", "file": "pipe.stl"}]}]}')
    refuses("not an ordinary file", "mesh.json", "--validate", timeout=20)


# ---- what is the user's ----

def other_names_of(path):
    """A longer one, a hard and a symbolic link."""
    os.link(path, "hard_" + path)
    os.symlink(path, "soft_" + path)
    return "./" + path, os.path.abspath(path), "hard_" + path, "soft_" + path


def writes_over_nothing_that_it_reads_under_any_name():
    write("part.json", MODEL)
    write("user.json", USER)
    sim("user.json", "--out", "run.csv", "--checkpoint", "run.state", "-q")
    for name in ("part.json", *other_names_of("part.json")):
        refuses("is a file of the scene, and would be overwritten", "user.json", "--summary", name)
    for name in other_names_of("user.json"):
        refuses("is the scene, and would be overwritten", "user.json", "--summary", name)
        refuses("is the scene, and would be overwritten", "user.json", "--html", name)
    for name in other_names_of("run.state"):
        refuses("is the checkpoint", "user.json", "--resume", "run.state", "--summary", name)
    os.rename("run.csv", "run.svg")
    for name in ("run.svg", *other_names_of("run.svg")):
        refuses("is an input file, and would be overwritten", "plot", "run.svg", "--out", name)
    refuses("would be written twice", "user.json", "--out", "a.csv", "--summary", "./a.csv")
    refuses("would be written twice", "user.json", "--dump-problem", 1, "p.h5", "--checkpoint", "./p.h5")
    os.rename("user.json", "user.png")
    os.symlink("user.png", "user.json")
    refuses("is the input, and would be overwritten", "render", "user.json", "--out", "user.png")


def keeps_a_trajectory_that_is_shown():
    write("fall.json", FALL)
    sim("fall.json", "--out", "run.h5", "-q")
    for name in ("run.h5", *other_names_of("run.h5")):
        refuses("is the trajectory, and would be overwritten", "view", "run.h5", "--html", name)
        refuses("would be written twice", "fall.json", "--out", "run.h5", "--dump-problem", 1, name)
    os.mkdir("frames")
    os.symlink("../run.h5", "frames/0.png")
    refuses("is the input", "render", "run.h5", "--out", "frames/%d.png", "--size", "16x16")


def empties_no_file_before_all_could_be_opened():
    write("fall.json", FALL)
    sim("fall.json", "--out", "a.csv", "--summary", "s.json", "-q")
    for late in ("--out", "none/b.csv"), ("--html", "none/b.html"), ("--checkpoint", "none/c"), ("--summary", "none/s"):
        refuses("none/", "fall.json", "--out", "a.csv", "--out", "new.csv", *late, "-q", status=3)
    os.mkdir("folder.csv")
    refuses("folder.csv: cannot create: Is a directory", "fall.json", "--out", "a.csv", "--out", "folder.csv", "-q", status=3)


def leaves_a_trajectory_that_another_program_writes():
    write("fall.json", FALL)
    sim("fall.json", "--out", "a.csv", "--out", "run.h5", "-q")
    with open("run.h5") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        refuses("run.h5: cannot create: it is open in another program", "fall.json", "--out", "a.csv", "--out", "run.h5", "-q",
                status=3)


def says_that_what_was_printed_did_not_arrive():
    problem = os.path.join(SCENES, "..", "..", "data", "fclib", "gen-wedge-local-8.hdf5")
    write("fall.json", FALL)
    cases = [("--help",), ("--list-solvers", "--json"), ("fall.json", "--validate"), ("fall.json", "--contacts"), ("solve", "--help"),
             ("fall.json", "--out", "-", "-q"), ("fall.json", "--summary", "-", "-q")]
    if HDF5:
        cases += [("solve", problem, "--solver", "pgs"), ("solve", problem, "--solver", "pgs:max_iterations=1,tolerance=0")]
    for words in cases:
        with open("/dev/full", "w") as full:
            done = subprocess.run([SIM, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 3 and "cannot write" in done.stderr, (words, done)


def leaves_nothing_half_written_when_it_is_killed():
    write("fall.json", FALL)
    process = subprocess.Popen([SIM, "fall.json", "--duration", "1e6", "--html", "a.html", "-q"])
    time.sleep(0.5)
    process.kill()
    process.wait()
    try:
        os.close(os.open(".", os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return "this file system has no files without names"
    assert os.listdir(".") == ["fall.json"], os.listdir(".")


def refuses_to_write_two_answers_into_one_file():
    problem = os.path.join(SCENES, "..", "..", "data", "fclib", "gen-wedge-local-8.hdf5")
    for folder in "one", "two", "out":
        os.mkdir(folder)
    for folder in "one", "two":
        with open(folder + "/a.hdf5", "wb") as file:
            file.write(read(problem))
    refuses("out/a.hdf5 would be written twice", "solve", "one", "two", "--solver", "pgs", "--out", "out")
    refuses("would be overwritten by --out", "solve", "one", "two", "--solver", "pgs", "--out", "two")
    refuses("would be written twice", "solve", "one", "--solver", "incp", "--history", "h.csv", "--places", "./h.csv")
    assert os.listdir("out") == []


def keeps_tables_that_it_cannot_replace_all():
    problem = os.path.join(SCENES, "..", "..", "data", "fclib", "gen-wedge-local-8.hdf5")
    write("h.csv", "kept")
    refuses("none/l.csv: cannot", "solve", problem, "--solver", "incp", "--history", "h.csv", "--places", "none/l.csv", status=3)


def records_phases():
    sim(scene("phases"), "--out", "run.csv", "--quiet")
    header, *rows = [line.split(",") for line in read("run.csv").decode().splitlines()]
    phase = header.index("phase.task")
    changes = [rows[0][phase]] + [after[phase] for before, after in zip(rows, rows[1:]) if before[phase] != after[phase]]
    assert changes == ["-1", "0", "1", "2"], changes


def records_events_with_their_times_and_ends_with_one():
    text = json.loads(FALL)
    text["record"]["events"] = [{"name": "hit", "type": "contact_begins", "body": "ball", "other": "ground"},
                                {"name": "low", "type": "leaves_box", "body": "ball", "min": [-1, -1, 0.2], "stop": True}]
    text["world"]["duration"] = 1
    path = write("fall.json", json.dumps(text))
    low = (2 * 0.1 / 9.81) ** 0.5
    outputs = ["--out", "run.csv"] + (["--out", "run.h5"] if HDF5 else [])
    said = sim(path, *outputs).stderr
    assert f'event "low" at {low:.5f}' in said and "ends the run" in said, said
    header, *rows = [line.split(",") for line in read("run.csv").decode().splitlines()]
    time, event, count = (header.index(name) for name in ("time [s]", "event.low [s]", "event.low.count"))
    assert rows[0][event] == "nan" and rows[0][count] == "0" and rows[-1][count] == "1"
    assert abs(float(rows[-1][event]) - low) < 1e-6 and low < float(rows[-1][time]) < low + 0.0011
    assert rows[-1][header.index("event.hit.count")] == "0"
    sim("plot", "run.csv", "--out", "run.svg")
    if HDF5:
        sim("plot", "run.h5", "--quantity", "event.hit.count", "--out", "events.svg")
    text["record"]["events"][1]["stop"] = False
    sim(write("fall.json", json.dumps(text)), "--out", "run.csv", "--quiet")
    header, *rows = [line.split(",") for line in read("run.csv").decode().splitlines()]
    assert abs(float(rows[-1][header.index("event.hit [s]")]) - (2 * 0.25 / 9.81) ** 0.5) < 1e-6


if not HDF5:
    for test in (keeps_the_scene_that_ran_which_runs_again_to_the_same_bits, draws_a_recorded_run_as_it_was,
                 keeps_a_scene_that_runs_as_it_is_letter_by_letter,
                 finds_the_files_of_a_recorded_scene_beside_the_scene_that_is_named, keeps_a_trajectory_that_is_shown,
                 leaves_a_trajectory_that_another_program_writes, refuses_to_write_two_answers_into_one_file,
                 keeps_tables_that_it_cannot_replace_all):
        del globals()[test.__name__]

sys.exit(tap.run(tap.cases_of(globals(), WORD)))
