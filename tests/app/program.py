"""The program as its users meet it: what it writes, what it says, with which status it ends.

    program.py SIM SCENES [WORD]     runs the tests whose names hold WORD, each in a folder of its own
"""
import csv
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402
import terminal  # noqa: E402

SIM, SCENES = sys.argv[1:3]
WORD = sys.argv[3] if len(sys.argv) > 3 else ""
os.environ["XDG_CACHE_HOME"] = "/dev/null"  # tests leave nothing in the user's cache
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout


def scene(name):
    return os.path.join(SCENES, name + ".json")


def sim(*arguments, status=0, **more):
    done = subprocess.run([SIM, *map(str, arguments)], capture_output=True, text=True, timeout=120, **more)
    expected = (0, 1) if status is None else (status,)
    assert done.returncode in expected, f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}"
    return done


def refuses(words, *arguments, status=2):
    """One clear sentence, the right status, no file."""
    before = sorted(os.listdir("."))
    said = sim(*arguments, status=status).stderr
    assert words in said, f"'{words}' is not in: {said}"
    assert sorted(os.listdir(".")) == before, f"wrote {os.listdir('.')}"


def read(path, mode="rb"):
    with open(path, mode) as file:
        return file.read()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def begin(*arguments):
    return subprocess.Popen([SIM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("waited ten seconds in vain")


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


# ---- what a run writes ----

def writes_the_first_every_nth_and_the_last_step():
    sim(scene("arm"), "--out", "a.csv", "--every", 30)
    assert [int(row["step"]) for row in rows("a.csv")] == [0, 30, 60, 90, 120, 150, 180, 200]


def writes_csv_to_standard_output_and_talks_on_standard_error():
    done = sim(scene("arm"), "--out", "-", "--every", 100)
    assert done.stdout.startswith("time [s],step,") and done.stdout.count("\n") == 4
    assert "finished" in done.stderr


def writes_several_files_at_once():
    outs = ["a.csv", "b.csv"] + (["c.h5"] if HDF5 else [])
    sim(scene("arm"), *[word for out in outs for word in ("--out", out)])
    assert read("a.csv") == read("b.csv") and all(size_of(out) > 1000 for out in outs)


def is_silent_when_asked_to_be():
    done = sim(scene("arm"), "--quiet")
    assert done.stdout == "" and done.stderr == ""
    said = sim(write("slides.json", SLIDES), "--quiet", "--solver", "pgs:max_iterations=1").stderr.splitlines()
    assert said[1].startswith("  NOT SOLVED") and not any("energy" in line or "wall time" in line for line in said), said


def shows_progress_on_a_terminal_only():
    seen = terminal.standard_error_of((SIM, scene("long"), "--duration", max(tap.part_of(2000), 500)))
    assert "x real time" in seen and "\r" in seen and "\x1b" not in seen, seen
    assert "x real time" not in sim(scene("long"), "--duration", tap.part_of(1000)).stderr


def takes_duration_step_integrator_and_set():
    for integrator in ("midpoint", "symplectic", "implicit", "moreau", "rk4"):
        sim(scene("arm"), "--step", 0.001, "--duration", 0.05, "--integrator", integrator, "--summary", "s.json",
            "--set", "world/gravity=[0,0,0]")
        summary = json.loads(read("s.json"))
        assert (summary["integrator"], summary["step"], summary["steps"]) == (integrator, 0.001, 50)
        assert abs(summary["time"] - 0.05) < 1e-12


def records_the_first_state_when_no_time_passes():
    sim(scene("arm"), "--duration", 0, "--out", "a.csv")
    assert [row["step"] for row in rows("a.csv")] == ["0"]


def refuses_a_step_longer_than_the_duration():
    """The run would end behind its end; a duration of whole steps but for rounding is taken as such, any other is stepped over."""
    refuses("the step of 1 s is longer than the duration of 0.5 s", scene("arm"), "--step", 1, "--duration", 0.5)
    refuses("is longer than the duration", scene("arm"), "--step", 1, "--duration", 0.5, "--validate")
    for step, duration, steps in (0.1, 0.1 * (1 - 1e-9), 1), (0.1, 0.3, 3), (0.3, 0.5, 2), (0.1, 0, 0):
        sim(scene("arm"), "--step", step, "--duration", duration, "--out", "a.csv")
        assert int(rows("a.csv")[-1]["step"]) == steps, (step, duration)


def names_one_thing_in_the_singular():
    told = sim(scene("arm"), "--duration", 0.01, "--step", 0.01, "--every", 2).stderr
    assert "  verdict        the only step" in told and "  integrator     " in told and " 1 steps" not in told, told


def places_things_differently_with_another_seed():
    for seed in (1, 1, 2):
        sim(scene("flock"), "--seed", seed, "--out", "new.csv", "--duration", 0.01)
        os.replace("new.csv", f"{seed}{os.path.exists(f'{seed}.csv')}.csv" if seed == 1 else "2.csv")
        if seed == 1 and not os.path.exists("1.csv"):
            os.replace("1False.csv", "1.csv")
    assert read("1.csv") == read("1True.csv") != read("2.csv")


def starts_at_a_keyframe():
    pendulum = write("pendulum.json", json.dumps({
        "sim": 1, "world": {"gravity": [0, 0, 0], "duration": 0.1}, "bodies": [
            {"name": "rod", "joint": "hinge", "inertia": {"mass": 1, "moments": [1, 1, 1]}}],
        "keyframes": [{"name": "up", "time": 2, "initial": {"rod": {"q": 3, "v": 1}}}, {"name": "down"}]}))
    sim(pendulum, "--start", "up", "--out", "a.csv", "--every", 100)
    for row, time, angle in zip(rows("a.csv"), (2, 2.1), (3, 3.1), strict=True):
        assert abs(float(row["time [s]"]) - time) < 1e-12 and abs(float(row["rod [rad]"]) - angle) < 1e-12
    sim("convert", pendulum, "--start", "up", "--out", "b.json")
    sim("b.json", "--out", "b.csv", "--every", 100)
    assert read("a.csv") == read("b.csv")
    refuses('there is no keyframe "u": there are "up", "down"', pendulum, "--start", "u")
    sim(pendulum, "--start", "up", "--duration", 0.01, "--checkpoint", "c")
    refuses("--resume continues a run: leave out --start", pendulum, "--resume", "c", "--start", "up")
    sim("render", pendulum, "--start", "up", "--out", "up.png", "--size", "64x48")
    if HDF5:
        sim(pendulum, "--out", "a.h5")
        refuses("--start needs a scene", "render", "a.h5", "--start", "up", "--out", "a.png")
        refuses("--start and --set need --live", "view", "a.h5", "--start", "up")


# ---- the summary ----

def summarises_a_run_in_json():
    sim(scene("arm"), "--summary", "s.json", "--out", "a.csv", "--every", 1)
    summary = json.loads(read("s.json"), parse_constant=lambda word: 1 / 0)
    assert summary["ending"] == "finished" and summary["exit_status"] == 0 and summary["reason"] is None
    assert summary["steps"] == 200 and summary["nonconverged_steps"] == 0 and summary["first_nonconverged_time"] is None
    assert re.fullmatch("[0-9a-f]{64}", summary["scene_hash"])
    assert summary["outputs"] == [{"file": "a.csv", "records": 201}]
    energies = [float(row["energy.total [J]"]) for row in rows("a.csv")]
    energy = summary["energy"]
    assert (energy["start"], energy["end"]) == (energies[0], energies[-1])
    assert (energy["min"], energy["max"]) == (min(energies), max(energies))
    assert energy["max_change"] == max(abs(e - energies[0]) for e in energies)
    assert summary["worst_residual"] == max(float(row["residual"]) for row in rows("a.csv"))
    assert summary["iterations_max"] == max(int(row["iterations"]) for row in rows("a.csv"))
    assert summary["peak_memory"] > 1 << 20 and summary["real_time_factor"] > 0


def tells_which_loop_is_open():
    """An arm of 1 m is tied to a point at 3 m: 2 m are left at the least, however it swings."""
    arm = {"sim": 1, "world": {"duration": 0.1, "gravity": [0, 0, 0]}, "bodies": [
        {"name": "arm", "joint": "hinge", "inertia": {"mass": 1, "com": [1, 0, 0], "moments": [0.1, 0.1, 0.1]}}], "constraints": [
        {"type": "connect", "first": "arm", "first_point": [1, 0, 0], "second_point": [3, 0, 0]}]}
    said = sim(write("arm.json", json.dumps(arm)), "--summary", "s.json").stderr
    told = json.loads(read("s.json"))["opening"]
    assert told["worst"] == 2 and sorted(told["worst_bodies"]) == ["arm", "world"], told
    assert '  open           constraint by 2 m at most, at ' in said and '"arm"' in said, said
    sim(scene("arm"), "--summary", "s.json")
    assert json.loads(read("s.json"))["opening"] == {"worst": None, "worst_time": None, "worst_bodies": None}


def column(path, name):
    return [float(row[name]) for row in rows(path)[1:]]


def summarises_contacts_and_how_right_their_answers_were():
    for solver in ("sap", "pgs", "canal", "subadmm", "auto"):
        done = sim(scene("pile"), "--solver", solver, "--set", "world/duration=0.2", "--summary", "s.json", "--out", "a.csv")
        found = json.loads(read("s.json"), parse_constant=lambda word: 1 / 0)["contacts"]
        contacts = column("a.csv", "contacts")
        assert found["solver"] == solver and found["steps"] == sum(c > 0 for c in contacts) == 40
        assert found["most"] == max(contacts) and abs(found["mean"] - sum(contacts) / 40) < 1e-12
        assert found["most_islands"] == max(column("a.csv", "islands")) > 1
        assert found["iterations_max"] == max(column("a.csv", "solver_iterations"))
        assert abs(found["iterations_mean"] - sum(column("a.csv", "solver_iterations")) / 40) < 1e-9
        assert found["iterations_total"] == sum(column("a.csv", "solver_total"))
        assert found["unsolved_islands"] == sum(column("a.csv", "unsolved"))
        if solver == "auto":
            assert sum(found["finished_by"].values()) == sum(column("a.csv", "islands")) - found["unsolved_islands"]
            assert "finished by    pgs" in done.stderr
        else:
            assert "finished_by" not in found and "finished by" not in done.stderr
        for figure, unit in (("E", ""), ("own", ""), ("momentum", ""), ("penetration", " [m]"), ("slip", " [m/s]")):
            values = column("a.csv", f"certificate.{figure}{unit}")
            assert found[figure]["worst"] == max(values) > 0, figure
            assert abs(found[figure]["mean"] - sum(values) / 40) < 1e-9 * max(values), figure
            worst = rows("a.csv")[1 + values.index(max(values))]
            assert found[figure]["worst_time"] == float(worst["time [s]"]), figure
        assert f"{solver}, " in done.stderr and "  rigid Coulomb  E " in done.stderr
    apart = json.loads(sim(scene("arm"), "--summary", "-").stdout)["contacts"]
    assert apart["solver"] is None and apart["steps"] == 0 and apart["E"]["worst"] is None


def tells_who_sleeps_and_leaves_them_out_of_the_means_of_what_was_judged():
    sleepy = ("--set", "world/sleep=true", "--set", "world/sleep_speed=0.1", "--set", "world/sleep_time=0.1", "--duration", "3")
    done = sim(scene("pile"), *sleepy, "--summary", "s.json", "--out", "a.csv")
    summary = json.loads(read("s.json"))
    found, bodies = summary["sleep"], column("a.csv", "asleep_bodies")
    assert found["bodies"] == bodies[-1] > 0 and found["bodies_most"] == max(bodies)
    assert abs(found["bodies_mean"] - sum(bodies) / len(bodies)) < 1e-9
    assert found["woken"] == sum(column("a.csv", "woken"))
    assert 0 < found["stilled"] and abs(found["stilled"] / sum(column("a.csv", "stilled [J]")) - 1) < 1e-9
    judged = [c > a for c, a in zip(column("a.csv", "contacts"), column("a.csv", "asleep_contacts"))]
    assert summary["contacts"]["steps"] == sum(judged) and max(column("a.csv", "asleep_contacts")) > 0
    assert "asleep" in done.stderr and "not judged" in done.stderr
    sim(scene("pile"), "--duration", "0.1", "--summary", "s.json", "--out", "b.csv")
    assert "sleep" not in json.loads(read("s.json")) and "asleep" not in rows("b.csv")[0]


def counts_what_is_solved_where_nothing_touches():
    hard = ("--solver", "pgs", "--set", "world/solver_options/max_iterations=1")
    done = sim(scene("linkage"), *hard, "--set", 'record={"every": 1, "signals": ["statistics"]}', "--summary", "s.json", "--out", "a.csv")
    found = json.loads(read("s.json"))["contacts"]
    assert found["solver"] == "pgs" and found["steps"] == 0 and found["mean"] is None and found["solved_for"] == 1000
    assert found["iterations_max"] <= 2, "one, and one more where the step lowers targets and tries again"
    assert found["iterations_total"] == sum(column("a.csv", "solver_total")) > 500
    assert abs(1000 * found["iterations_mean"] - found["iterations_total"]) < 1e-9
    assert found["unsolved_steps"] == sum(u > 0 for u in column("a.csv", "unsolved")) > 0
    assert found["E"]["worst"] == max(column("a.csv", "certificate.E")) > 1e-8
    assert "NOT SOLVED" in done.stderr and "solver         pgs, " in done.stderr and "contacts  " not in done.stderr


SLIDES = """{"sim": 1, "world": {"step": 0.001, "duration": 0.3}, "record": {"signals": ["statistics"]}, "bodies": [
 {"name": "floor", "shapes": [{"type": "half_space"}]},
 {"name": "box", "joint": "free", "v": [1, 0, 0, 0, 0, 0], "pose": {"position": [0, 0, 0.05]},
  "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1]}], "inertia": {"mass": 1, "moments": [1.7e-3, 1.7e-3, 1.7e-3]}}]}"""


def opens_the_summary_with_a_verdict_and_names_the_worst():
    path = write("slides.json", SLIDES)
    told = sim(path, "--solver", "sap", "--summary", "s.json").stderr.splitlines()
    own, E = (json.loads(read("s.json"))["contacts"][key] for key in ("own", "E"))
    assert told[1] == f"  verdict        all 300 steps solved; the contact law of sap holds to {own['worst']:.1e}", told
    assert own["worst_bodies"] == ["floor", "box"] and sum('"floor" and "box"' in line for line in told) == 5, told
    assert "not an error" in told[1 + [line.startswith("  rigid Coulomb") for line in told].index(True)]
    assert E["worst"] > 0.9 and not any(line.startswith("  error") and f"{E['worst']:.1e}" in line for line in told), told
    told = sim(path).stderr.splitlines()
    assert "elastic law" in told[1 + [line.startswith("  rigid Coulomb") for line in told].index(True)]
    assert "not an error" not in sim(path, "--set", "world/compliance=rigid").stderr
    told = sim(path, "--solver", "pgs:max_iterations=1", "--summary", "s.json").stderr.splitlines()
    assert told[1].startswith("  NOT SOLVED") and told[1].endswith(', "floor" and "box"'), told
    found = json.loads(read("s.json"))["contacts"]
    assert found["first_unsolved_bodies"] == ["floor", "box"]
    count = found["unsolved_steps"]
    assert found["jammed"] == [{"bodies": ["floor", "box"], "steps": count, "steps_at_most": count}], found["jammed"]
    assert f'  greatest errors: {count} steps, "floor" and "box"' in "\n".join(told), told
    told = sim(path, "--set", "world/contacts=false").stderr.splitlines()
    assert told[1] == "  verdict        all 300 steps converged; no contacts or constraints", told
    error = sim(path, "--solver", "pgs:max_iterations=1", "--on-nonconverged", "fail", status=1).stderr
    assert '"floor" and "box")' in error.splitlines()[0], error


def does_not_believe_a_solver_that_the_certificate_refutes():
    """Asked for E = 1, pgs takes no push at all for an answer: not even that is within it."""
    done = sim(write("slides.json", SLIDES), "--solver", "pgs:tolerance=1", "--duration", 1, "--summary", "s.json")
    found = json.loads(read("s.json"))["contacts"]
    assert "NOT SOLVED" in done.stderr and found["gave_up"]["refuted"] > 0
    assert sum(found["gave_up"].values()) == found["unsolved_islands"]
    assert "refuted: the certificate refutes the claim" in done.stderr and "verdict" not in done.stderr


PUCK = """{"sim": 1, "world": {"step": 0.001, "duration": 0.5},
"materials": [{"name": "felt", "friction": 0.5}],
"bodies": [
 {"name": "floor", "shapes": [{"type": "half_space", "material": "felt"}]},
 {"name": "puck", "joint": "free", "v": [5, 0, 0, 0, 0, 0], "pose": {"position": [0, 0, 0.0125]},
  "shapes": [{"type": "cylinder", "radius": 0.05, "length": 0.025, "density": 1000, "material": "felt"}]}],
"record": {"every": 1, "signals": ["poses"]}}"""


def says_how_far_the_law_lifts_what_slides():
    """A point hops by (mu v / (1 + mu^2))^2 / 2g under the convex law, 0.204 m; the puck, which tilts a little, by less."""
    due = (0.5 * 5 / 1.25) ** 2 / (2 * 9.81)
    for step in 1e-3, 2e-4:
        told = sim(write("puck.json", PUCK), "--solver", "sap", "--set", f"world/step={step}", "--summary", "s.json", "--out", "puck.csv").stderr
        lift = json.loads(read("s.json"))["contacts"]["lift"]
        with open("puck.csv", newline="") as file:
            hop = max(float(row["puck.pose.z [m]"]) for row in csv.DictReader(file)) - 0.0125
        assert abs(lift["worst"] - due) < 0.03 * due and abs(lift["worst"] - hop) < 0.01 * due, (lift, due, hop)
        assert lift["worst_bodies"] == ["floor", "puck"] and lift["worst_time"] == step, lift
        assert '\n  lift           0.2 m at most' in told and '"floor" and "puck": sap lifts sliding bodies\n' in told, told
    for solver in "pgs", "auto":
        told = sim("puck.json", "--solver", solver, "--summary", "s.json").stderr
        assert "lift" not in told and "lift" not in json.loads(read("s.json"))["contacts"], told
    told = sim("puck.json", "--solver", "sap", "--set", "bodies/puck/v=[0,0,0,0,0,0]").stderr
    assert "  lift" not in told, told


def says_what_sinks_in_under_its_load():
    for moment, factor, sinks in (1.7e-3, 1, False), (1e-8, 1, True), (1e-8, 1e6, False):
        path = write("slides.json", SLIDES.replace("1.7e-3", str(moment)))
        told = sim(path, "--solver", "sap", "--set", f"world/law/carried={factor}", "--summary", "s.json").stderr
        sag = json.loads(read("s.json"))["contacts"]["sag"]
        assert bool(sag["sinks"]) == sinks == ("  SINKS          " in told) == (sag["worst"] > 1e-2), (sag, told)
        assert "cannot part" not in told, told  # a load is no squeeze
        assert not sinks or ('under load' in told and '"floor" and "box":' in told and "world/law/carried" in told), told
    """A grain that a step of 10 ms sinks by a quarter of its radius: the advice of the elastic law helps, and no other is given."""
    write("grain.json", '''{"sim": 1, "world": {"step": 0.01, "duration": 1}, "bodies": [{"name": "floor", "shapes": [{"type": "half_space"}]},
        {"name": "grain", "joint": "free", "pose": {"position": [0, 0, 1e-4]}, "shapes": [{"type": "sphere", "radius": 1e-4, "density": 1000}]}]}''')
    told = sim("grain.json").stderr
    assert "  SINKS          " in told and "world/law/beta (0.1)" in told and "carried" not in told, told
    for advice in "world/step=0.001", "world/law/beta=0.1", "world/compliance=rigid":
        assert "SINKS" not in sim("grain.json", "--set", advice).stderr, advice


def counts_islands_that_the_solver_gives_up_on():
    hard = ("--solver", "pgs", "--set", "world/solver_options/max_iterations=1", "--set", "world/duration=0.1")
    done = sim(scene("pile"), *hard, "--summary", "s.json", "--out", "a.csv")
    found = json.loads(read("s.json"))["contacts"]
    counts = [pair["steps"] for pair in found["jammed"]]
    assert counts == sorted(counts, reverse=True) and 1 < len(counts) <= 10 and sum(counts) <= found["unsolved_steps"]
    assert "NOT SOLVED" in done.stderr and found["unsolved_steps"] == sum(u > 0 for u in column("a.csv", "unsolved")) > 0
    assert found["unsolved_islands"] == sum(column("a.csv", "unsolved"))
    many, created = (found["gave_up"].get(why, 0) for why in ("out of iterations", "creates energy"))
    assert many > 0 and many + created == found["unsolved_islands"] and created >= found["refused_steps"], found
    assert f"{many} out of iterations: the limit of iterations is reached" in done.stderr
    first = next(row for row in rows("a.csv") if float(row["unsolved"]))
    assert found["first_unsolved_time"] == float(first["time [s]"])
    done = sim(scene("pile"), *hard, "--on-nonconverged", "fail", "--out", "b.csv", "--summary", "s.json", status=1)
    summary, last = json.loads(read("s.json")), rows("b.csv")[-1]
    assert "the solver pgs gave up on" in done.stderr, done.stderr
    assert summary["last_step"] == int(last["step"]) == int(first["step"]) - 1
    kept = next(row for row in rows("a.csv") if row["step"] == last["step"])
    assert all(kept[key] == last[key] for key in kept if "low0" in key), "not the last good state"


def writes_the_summary_to_standard_output():
    done = sim(scene("arm"), "--summary", "-")
    assert json.loads(done.stdout)["ending"] == "finished" and not os.listdir(".")
    refuses("written twice", scene("arm"), "--summary", "-", "--out", "-")


def spells_odd_arguments_as_valid_json():
    arm = os.path.join("a\"b\\\n\x01é", "arm.json")
    os.mkdir(os.path.dirname(arm))
    write(arm, read(scene("arm"), "r"))
    sim(arm, "--summary", "s.json", "--duration", 0.01)
    assert json.loads(read("s.json", "r"))["scene_file"] == arm
    raw = b"\xff\xc3.json"
    write(raw, read(scene("arm"), "r"))
    subprocess.run([SIM.encode(), raw, b"--summary", b"s.json", b"--quiet"], check=True)
    assert json.loads(read("s.json", "r"))["scene_file"] == "\ufffd\ufffd.json"


# ---- going on from a checkpoint ----

def resumed(name, half, whole, *options):
    sim(scene(name), "--duration", whole, "--out", "whole.csv", "--checkpoint", "whole.state", *options)
    sim(scene(name), "--duration", half, "--out", "first.csv", "--checkpoint", "half.state", *options)
    sim(scene(name), "--duration", whole, "--resume", "half.state", "--out", "second.csv", "--checkpoint", "end.state",
        *options)
    once, first, second = (read(f"{part}.csv").splitlines() for part in ("whole", "first", "second"))
    assert once == first + second[2:], f"{name} {options}: the trajectory differs"
    assert read("whole.state") == read("end.state"), f"{name} {options}: the state differs"


def goes_on_from_a_checkpoint_with_the_same_bits():
    for integrator in ("midpoint", "symplectic", "implicit", "moreau", "rk4"):
        resumed("arm", 0.2, 0.4, "--integrator", integrator, "--every", 10)
        if tap.part_of(2) == 2 or integrator == "midpoint":
            resumed("flock", 0.05, 0.1, "--integrator", integrator, "--every", 10, "--threads", 2)


def goes_on_with_contacts_with_the_same_bits():
    """200 steps of a pile, against 100 and 100, on one thread and two: every solver and every integrator, in long runs every
    pair of them."""
    ends, pairs, span = set(), set(), max(tap.part_of(10), 2) / 10  # s
    solvers = ("auto", "sap", "pgs", "canal", "subadmm")[:tap.part_of(5)]
    integrators = ("midpoint", "symplectic", "implicit", "moreau")
    for number, solver in enumerate(solvers):
        limit = () if solver == "auto" else ("--set", "world/solver_options/max_iterations=60")
        for integrator in integrators if tap.LONG_RUNS or len(solvers) == 1 else (integrators[number % 4],):
            for threads in (1, 2):
                options = ("--solver", solver, "--integrator", integrator, "--threads", threads, *limit)
                resumed("pile", span / 2, span, *options)
                ends.add((solver, integrator, read("whole.csv")))
            pairs.add((solver, integrator))
    assert len(ends) == len(pairs) >= 4, "threads change bits"


def starts_the_resumed_trajectory_at_the_kept_state():
    sim(scene("arm"), "--duration", 0.2, "--out", "a.csv", "--checkpoint", "c")
    sim(scene("arm"), "--resume", "c", "--out", "b.csv")
    a, b = rows("a.csv")[-1], rows("b.csv")[0]
    counts = ("iterations", "sweeps", "nonconverged", "residual", "saturated") # of a step not taken in this run
    assert b["step"] == "100" and all(a[key] == b[key] for key in a if key not in counts)


def says_that_a_resumed_run_begins_after_its_end():
    sim(scene("arm"), "--duration", 0.2, "--checkpoint", "c")
    assert "BEGINS LATE    at 0.2 s, after the end of the run at 0.1 s" in sim("--resume", "c", "--duration", 0.1).stderr
    assert "BEGINS LATE" in sim("--resume", "c", "--duration", 0.1, "--quiet").stderr
    assert "BEGINS LATE" not in sim("--resume", "c", "--duration", 0.2).stderr
    for duration in (0.1, 0.2, 0.3):
        sim("--resume", "c", "--duration", duration, "--summary", "s.json")
        assert json.load(open("s.json"))["begins_late"] is (duration == 0.1)


SPINNER = """{"sim": 1, "world": {"step": 0.01, "duration": 4, "contacts": false},
 "bodies": [{"name": "rotor", "joint": "hinge", "inertia": {"mass": 1, "moments": [1, 1, 1]}, "v": 3},
            {"name": "shaft", "parent": "rotor", "joint": {"type": "universal", "axis2": [0, 1, 0]}, "v": [3, 1],
             "inertia": {"mass": 1, "moments": [1, 1, 1]}}],
 "record": {"every": 1, "signals": ["poses"]}}"""


def writes_the_same_quaternions_after_a_break():
    spinner = write("spinner.json", SPINNER)
    sim(spinner, "--out", "whole.csv")
    sim(spinner, "--duration", 1.5, "--checkpoint", "c")
    sim(spinner, "--resume", "c", "--out", "second.csv")
    whole, second = (read(part).splitlines() for part in ("whole.csv", "second.csv"))
    assert min(float(row["rotor.pose.qw"]) for row in rows("whole.csv")) < -0.5, "the rotor does not turn once"
    assert whole[151:] == second[1:]


def has_nothing_to_do_when_the_end_is_reached():
    sim(scene("arm"), "--checkpoint", "c")
    sim(scene("arm"), "--resume", "c", "--out", "a.csv", "--summary", "s.json")
    assert len(rows("a.csv")) == 1 and json.loads(read("s.json"))["real_time_factor"] == 0


def keeps_a_checkpoint_every_so_many_steps():
    process = begin(scene("long"), "--checkpoint", "c", "--checkpoint-every", 1000, "--quiet")
    wait_for(lambda: size_of("c"))
    process.kill()
    process.communicate()
    for left in os.listdir("."):
        assert left == "c" or left.endswith(".new")
    sim(scene("long"), "--resume", "c", "--validate")


def gives_the_same_bits_for_any_number_of_threads():
    for threads in (1, 2, 3):
        sim(scene("flock"), "--threads", threads, "--out", f"{threads}.csv")
    assert read("1.csv") == read("2.csv") == read("3.csv")


# ---- how a run ends ----

BLOW_UP = """{"sim": 1, "world": {"step": 0.01, "duration": 1, "contacts": false, "integrator": "rk4"},
 "bodies": [{"name": "calm", "joint": "free", "inertia": {"mass": 1, "moments": [1, 1, 1]}},
            {"name": "wild", "joint": {"type": "slider", "stiffness": 1.2e5}, "q": [1],
             "inertia": {"mass": 1, "moments": [1, 1, 1]}}],
 "record": {"every": 7, "signals": ["coordinates", "velocities"]}}"""


def fails_with_a_name_a_place_and_a_time_and_keeps_the_good_part():
    write("wild.json", BLOW_UP)
    done = sim("wild.json", "--out", "a.csv", "--summary", "s.json", "--checkpoint", "c", status=1)
    summary = json.loads(read("s.json"))
    assert "wild" in done.stderr and "calm" not in done.stderr, done.stderr
    assert summary["ending"] == "failed" and summary["exit_status"] == 1 and "wild" in summary["reason"]
    table = rows("a.csv")
    assert int(table[-1]["step"]) == summary["last_step"] > 7
    assert all(re.fullmatch(r"-?[0-9.e+-]+", cell) for row in table for cell in row.values())
    assert not os.path.exists("c")


def counts_steps_that_do_not_converge_and_goes_on():
    done = sim(scene("arm"), "--set", "world/max_iterations=2", "--summary", "s.json")
    assert json.loads(read("s.json"))["nonconverged_steps"] > 0 and "NOT CONVERGED" in done.stderr


def stops_before_a_step_that_does_not_converge_if_asked_to():
    done = sim(scene("arm"), "--set", "world/max_iterations=2", "--summary", "s.json", "--on-nonconverged", "fail",
               "--out", "a.csv", status=1)
    summary = json.loads(read("s.json"))
    assert summary["last_step"] == int(rows("a.csv")[-1]["step"]) == summary["steps"] - 1, summary
    assert "did not converge" in done.stderr


def interrupted_by(number):
    if os.path.exists("a.csv"):
        os.remove("a.csv")
    process = subprocess.Popen([SIM, scene("long"), "--out", "a.csv", "--checkpoint", "c", "--summary", "s.json", "--every", "100"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # nohup's child inherits an ignored SIGHUP
    wait_for(lambda: size_of("a.csv") > 10000)
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130, process.returncode
    summary = json.loads(read("s.json"))
    assert summary["ending"] == "interrupted" and "interrupted at" in said
    text = read("a.csv", "r")
    assert text.endswith("\n") and int(rows("a.csv")[-1]["step"]) == summary["last_step"]
    sim(scene("long"), "--resume", "c", "--duration", summary["time"] + 1)


def write_a_step_without_end():
    """A hundred tons on 39 boxes of a kilogram: the sweeps of pgs grow with the ratio and the square of the height."""
    body = '{"name": "%s", "pose": {"position": [0, 0, %g]}, "joint": "%s", "shapes": [{"type": "box", "size": [1, 1, 1], "mass": %g}]}'
    boxes = [(f"box{k}", 1 + k, "free", 1e5 if k == 39 else 1) for k in range(40)]
    bodies = ", ".join(body % it for it in [("floor", 0, "fixed", 1)] + boxes)
    world = '{"solver": "pgs", "solver_options": {"tolerance": 0, "max_iterations": 1e9}}'
    write("endless.json", '{"sim": 1, "world": %s, "bodies": [%s]}' % (world, bodies))


def watches(process, number):
    """Does the program catch the signal?  Before it does, and after the first, nothing is noted."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        caught = next(line for line in file if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


def is_in_the_step(process):
    """Has it worked for half a second?  Reading a scene of 40 boxes takes hundredths."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        user = int(file.read().rsplit(")", 1)[1].split()[11])
    return user > 0.5 * os.sysconf("SC_CLK_TCK")


def dies_of(numbers, *command):
    """By the last of the signals and not before."""
    write_a_step_without_end()
    process = begin(*command, "endless.json", *(("--time", 1, "--out", "a.png") if command else ()))
    try:
        wait_for(lambda: watches(process, signal.SIGTERM) and is_in_the_step(process))
        for number in numbers[:-1]:
            process.send_signal(number)
            wait_for(lambda: not watches(process, signal.SIGINT))
            assert process.poll() is None
        process.send_signal(numbers[-1])
        if command:  # stopped, it counts its five seconds of grace without working through them
            wait_for(lambda: not watches(process, signal.SIGTERM))
            process.send_signal(signal.SIGSTOP)
            time.sleep(5)
            process.send_signal(signal.SIGCONT)
        assert process.wait(timeout=60) == -numbers[-1]
    finally:
        process.kill()
        process.communicate()


def dies_of_the_second_interrupt():
    dies_of([signal.SIGINT, signal.SIGINT])


def dies_of_sigterm_where_nobody_gives_up_a_step_without_end():
    dies_of([signal.SIGTERM], "render")


def seconds_until_a_step_without_end_is_given_up(number, *more):
    """In the state before it, which is kept; and what is said."""
    write_a_step_without_end()
    process = begin("endless.json", "--out", "a.csv", "--checkpoint", "c", "--summary", "s.json", *more)
    try:
        wait_for(lambda: watches(process, signal.SIGTERM))
        began = time.monotonic()
        if number:
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, process.returncode
    assert "step 1 was given up" in said and json.loads(read("s.json"))["ending"] == "interrupted", said
    assert [row["step"] for row in rows("a.csv")] == ["0"]
    return time.monotonic() - began, said


def gives_up_a_step_that_outlasts_an_interrupt():
    for number in (signal.SIGINT, signal.SIGTERM)[:tap.part_of(2)]:
        seconds_until_a_step_without_end_is_given_up(number)
    again = sim("--resume", "c", "--time-limit", 0.1, status=130)
    assert "step 1 was given up" in again.stderr, again.stderr


def ends_in_time():
    seconds, said = seconds_until_a_step_without_end_is_given_up(None, "--time-limit", 0.3)
    assert seconds < 10 and "--time-limit reached at 0 s" in said, (seconds, said)
    done = sim(scene("long"), "--time-limit", 0.3, "--out", "a.csv", "--summary", "s.json", status=130)
    summary = json.loads(read("s.json"))
    assert "--time-limit reached" in done.stderr and "stopped the step" not in done.stderr, done.stderr
    assert 0 < int(rows("a.csv")[-1]["step"]) == summary["last_step"] and 0.2 < summary["wall_time"] < 5, summary
    sim(scene("arm"), "--time-limit", 600)
    for wrong in "0", "-1", "nan", "soon":
        refuses("--time-limit takes a positive number", scene("arm"), f"--time-limit={wrong}")


def counts_reading_as_time():
    body = '{"name": "%d", "pose": {"position": [%d, 0, 0]}, "joint": "free", "shapes": [{"type": "sphere", "radius": 0.1, "density": 1}]}'
    write("many.json", '{"sim": 1, "bodies": [%s]}' % ", ".join(body % (k, k) for k in range(tap.part_of(40_000 if tap.LONG_RUNS else 16_000))))
    began = time.monotonic()
    sim("many.json", "--validate")
    whole = time.monotonic()
    done = sim("many.json", "--time-limit", 0.1, "--out", "a.csv", status=130)
    assert time.monotonic() - whole < max(whole - began, 2), (whole - began, time.monotonic() - whole)
    quick = "--time-limit reached at 0 s" in done.stderr  # a machine that reads all that within the limit
    assert quick or "--time-limit reached before the run began" in done.stderr, done.stderr
    assert quick == os.path.exists("a.csv")


def says_how_large_a_step_is_before_it_takes_long():
    """Bodies that touch twelve others each, at random: the factor fills up, to less than a full one of n = 6 times 2000."""
    place, count = random.Random(1), 2000
    pairs = sorted({tuple(sorted(place.sample(range(count), 2))) for _ in range(6 * count)})
    bodies = [{"name": str(k), "joint": "free", "shapes": []} for k in range(count)]
    for at, pair in enumerate(pairs):
        for k in pair:
            bodies[k]["shapes"].append({"type": "sphere", "radius": 0.1, "density": 1000, "pose": {"position": [at, 0, 0]}})
    write("net.json", json.dumps({"sim": 1, "bodies": bodies}))
    done = sim("net.json", "--duration", 0.001, "--solver", "sap:most_work=1")  # which is less than a factor
    assert f"step 1 is large: {len(pairs)} constraints with {3 * len(pairs)} rows in one island; a factorisation takes " in done.stderr
    assert 3e10 < float(re.search(r"takes ([\d.e+]+) mult", done.stderr).group(1)) < (6 * count) ** 3 / 6, done.stderr
    assert "NOT SOLVED" in done.stderr and "1 too much work" in done.stderr, done.stderr


@tap.long_run
def says_how_large_a_full_factor_is():
    """Balls in one place: all touch all, and one factor of sap takes n^3 / 6 multiplications of n = 6 times 1000."""
    ball = '{"name": "%d", "joint": "free", "shapes": [{"type": "sphere", "radius": 0.1, "density": 1000}]}'
    write("balls.json", '{"sim": 1, "bodies": [%s]}' % ", ".join(ball % k for k in range(1000)))
    done = sim("balls.json", "--duration", 0.001, "--solver", "sap:most_work=1")  # which is less than a factor
    assert "step 1 is large: 499500 constraints with 1498500 rows in one island; a factorisation takes 3.6e+10" in done.stderr
    assert "NOT SOLVED" in done.stderr and "1 too much work" in done.stderr, done.stderr


def ends_cleanly_when_interrupted():
    interrupted_by(signal.SIGINT)
    interrupted_by(signal.SIGTERM)
    interrupted_by(signal.SIGHUP)


def goes_on_where_the_end_of_the_terminal_is_ignored():
    """As under nohup."""
    process = subprocess.Popen([SIM, scene("long"), "--out", "a.csv", "--quiet"],
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(lambda: size_of("a.csv") > 10000)
    process.send_signal(signal.SIGHUP)
    before = size_of("a.csv")
    wait_for(lambda: size_of("a.csv") > before + 100000)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130


def writes_no_file_that_another_run_writes():
    for out in ["a.csv"] + (["a.h5"] if HDF5 else []):
        process = begin(scene("long"), "--out", out, "--quiet")
        wait_for(lambda: size_of(out) > 10000)
        assert "it is open in another program" in sim(scene("arm"), "--out", out, status=3).stderr
        assert size_of(out) > 10000
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        sim(scene("arm"), "--out", out)


# ---- what is refused ----

def refuses_bad_scenes_and_writes_nothing():
    write("bad.json", '{"sim": 1, "bodis": []}')
    refuses("bad.json:1:12: error: ", "bad.json", "--out", "a.csv", "--summary", "s.json", "--checkpoint", "c")
    refuses("absent.json", "absent.json", "--out", "a.csv", status=3)
    refuses("error", scene("arm"), "--set", "world/stp=1", "--out", "a.csv")
    refuses("error", scene("arm"), "--set", "nonsense", "--out", "a.csv")
    refuses("a path has slashes", scene("arm"), "--set", "world.step=1", "--out", "a.csv")


def refuses_bad_options_with_a_hint():
    arm = scene("arm")
    refuses("--every takes a whole number from 1", arm, "--every", 0)
    refuses("--every takes a whole number", arm, "--every", "1.5")
    refuses("--step takes a positive number, not 'nan'", arm, "--step", "nan")
    refuses("--step takes a positive number, not '0x10'", arm, "--step", "0x10")
    refuses("--step takes a positive number, not ' 1'", arm, "--step", " 1")
    refuses("--duration takes a number of at least 0, not '-1'", arm, "--duration", "-1")
    refuses("--threads takes a whole number from 1 to 64", arm, "--threads", 65)
    refuses("--seed takes a whole number", arm, "--seed", "-1")
    refuses("did you mean 'midpoint'?", arm, "--integrator", "midpiont")
    refuses("did you mean --duration?", arm, "--duratoin", 1)
    refuses("--every needs a value", arm, "--every")
    refuses("takes no value", arm, "--quiet=1")
    refuses("short for more than one", arm, "--s", 1)
    refuses("no option -x", arm, "-x")
    refuses("needs --checkpoint", arm, "--checkpoint-every", 5)
    refuses("one scene at a time", arm, arm)
    refuses("no scene given")
    refuses("--solver: there is no solver 'spa' (did you mean 'sap'?); there are sap, pgs, canal, ", arm, "--solver", "spa")
    refuses("the solver pgs has no option 'max_iteration' (did you mean 'max_iterations'?)", arm, "--solver", "pgs:max_iteration=3")
    refuses("pgs: option max_iterations takes a whole number from 0", arm, "--solver", "pgs:max_iterations=1.5")
    refuses("options of a solver are set as OPTION=VALUE, not 'tolerance'", arm, "--solver", "pgs:tolerance")
    refuses("one solver is wanted here, with options as in pgs:OPTION=VALUE, not 'pgs,canal'", arm, "--solver", "pgs,canal")
    refuses("the integrator rk4 takes no contacts", scene("pile"), "--integrator", "rk4")
    refuses("the solver pgs has no option", scene("pile"), "--solver", "pgs", "--set",
            'world/solver_options={"line_search": "exact"}')
    refuses("exceed the maximum number of steps", arm, "--duration", "1e300")


COMMANDS = ([], ["solve"], ["bench"], ["view"], ["plot"], ["render"])


def short_options_are_those_of_the_help():
    for command in COMMANDS:
        told = sim(*command, "--help").stdout
        assert sim(*command, "-h").stdout == told and "  -h, --help " in told and "  -q, --quiet " in told, command
        for quiet in ("--quiet", "-q", "--qui")[:tap.part_of(3)]:
            done = subprocess.run([SIM, *command, quiet, "no-such-file", "no-such-case"], capture_output=True, text=True, timeout=60)
            assert done.returncode in (2, 3) and "sim: error: " in done.stderr, (command, quiet, done)
            assert done.stdout == "" or "solve" in command, (command, quiet, done)  # its table has a row for a file that is not read


ROBOT = """<robot name="arm">
<link name="base"><collision><geometry><mesh filename="package://arm/meshes/base.obj" scale="0.1 0.1 0.1"/></geometry></collision></link>
<joint name="hinge" type="continuous"><origin xyz="0 0 0.3" rpy="1.5707963267948966 0 0"/><parent link="base"/><child link="bob"/></joint>
<link name="bob"><inertial><origin xyz="0 0.4 0.1"/><mass value="0.7"/><inertia ixx="0.01" iyy="0.01" izz="0.02"/></inertial>
<visual><geometry><box size="0.1 0.8 0.1"/></geometry></visual></link></robot>"""


def reads_robots_and_writes_them_as_scenes():
    for folder in "robots/arm/meshes", "robots/arm/urdf", "scenes":
        os.makedirs(folder)
    write("robots/arm/meshes/base.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    robot = write("robots/arm/urdf/arm.urdf", ROBOT)
    assert "finished" in sim(robot, "--duration", 0.5, "--out", "robot.csv").stderr
    # the scene moves alike, wherever it is, and is converted to itself
    sim("convert", robot, "--out", "scenes/arm.json")
    assert '"../robots/arm/meshes/base.obj"' in read("scenes/arm.json", "r")
    sim("scenes/arm.json", "--duration", 0.5, "--out", "scene.csv")
    assert read("robot.csv") == read("scene.csv")
    sim("convert", "scenes/arm.json", "--out", "scenes/again.json")
    assert read("scenes/arm.json") == read("scenes/again.json")
    assert sim("convert", "scenes/arm.json").stdout == read("scenes/arm.json", "r").replace("../robots", "robots")
    # options of robots
    assert "7 dofs" in sim(robot, "--base", "free", "--set", "bodies/base/inertia/mass=1", "--set",
                           "bodies/base/inertia/moments=[1,1,1]", "--validate").stdout
    refuses("--base takes one of fixed, free, planar", robot, "--base", "loose")
    refuses("--package takes NAME=DIR", robot, "--package", "arm")
    refuses("there is no file \"arm/meshes/base.obj\"", write("elsewhere.urdf", ROBOT), status=3)
    sim("elsewhere.urdf", "--package", "arm=robots/arm", "--validate")
    refuses("is ignored", write("gazebo.urdf", "<robot><link name='a'/><gazebo/></robot>"), "--strict", "--validate")
    refuses("would be overwritten", "convert", robot, "--out", robot)
    if HDF5:
        sim(robot, "--duration", 0.2, "--out", "run.h5")
        sim("view", "run.h5", "--html", "page.html", "--scene", robot)
        assert read("page.html").startswith(b"<!doctype html>")


def conversions_are_fixed_points_and_move_alike():
    root = os.path.join(SCENES, "..", "..", "..")
    files = [os.path.join(root, "tests/scene/robots", name) for name in sorted(os.listdir(os.path.join(root, "tests/scene/robots")))]
    files += [os.path.join(root, "scenes/robots", name + ".json") for name in ("a1_stands", "g1_arms", "panda_lifts_cube")]
    assert len(files) > 10
    if tap.part_of(2) < 2:
        files = list({os.path.splitext(file)[1]: file for file in files}.values())  # the last of each format
    assert {os.path.splitext(file)[1] for file in files} == {".urdf", ".xml", ".sdf", ".json"}
    for file in files:
        sim("convert", file, "--out", "once.json")
        sim("convert", "once.json", "--out", "twice.json")
        assert read("once.json") == read("twice.json"), file
        for given, out in (file, "file.csv"), ("once.json", "once.csv"):
            sim(given, "--duration", 0.02, "--set", "record/every=1", "--out", out, "-q")
        assert read("file.csv") == read("once.csv"), file
        assert read("file.csv").count(b"\n") > 5, file


def an_option_that_is_not_shown_has_no_abbreviation():
    for word in "--ma", "--compl":
        refuses(f"there is no option {word}", word)
    assert sim("--man").stdout.startswith(".TH SIM") and "_sim" in sim("--completion").stdout


def one_way_to_write_a_solver():
    def iterations(*arguments):
        sim(*arguments, "--duration", 0.02, "-q", "--summary", "s.json")
        contacts = json.loads(read("s.json"))["contacts"]
        return contacts["solver"], contacts["iterations_max"]
    pile = json.loads(read(scene("pile")))
    pile["world"]["solver"] = "pgs:max_iterations=3,tolerance=0"
    write("words.json", json.dumps(pile))
    wanted = iterations(scene("pile"), "--solver", "pgs", "--set", 'world/solver_options={"max_iterations": 3, "tolerance": 0}')
    assert wanted == ("pgs", 3), wanted
    assert iterations("words.json") == wanted
    for words in "pgs:max_iterations=3:tolerance=0", "pgs:max_iterations=3,tolerance=0":
        assert iterations(scene("pile"), "--solver", words) == wanted, words
        assert iterations(scene("pile"), "--set", f"world/solver={words}") == wanted, words
    assert iterations("words.json", "--solver", "pgs:max_iterations=2", "--set", "world/solver_options/max_iterations=4") == ("pgs", 2)
    sim("render", scene("pile"), "--solver", "pgs:max_iterations=3", "--out", "a.png", "--size", "32x32", "--time", 0.01, "-q")
    for command, arguments in (("render", ("--out", "b.png")), ("view", ("--live",))):
        refuses("the solver pgs has no option 'more'", command, scene("pile"), "--solver", "pgs:more=1", *arguments)


def refuses_words_that_are_no_scenes():
    refuses("neither a scene file nor a command (did you mean 'run'?)", "rnu")
    refuses("neither a scene file nor a command", "dance")
    refuses("neither a scene file nor a command (did you mean 'view'?)", "viw", scene("arm"))
    refuses("sim view run.h5 shows a recorded run", write("run.h5", ""))
    for command in [], ["run"], ["render", "--out", "a.png"], ["view", "--live"]:
        refuses("arm.urdf:1:1: error: /robot[arm]: <link> is missing in <robot>", *command, write("arm.urdf", "<robot name='arm'/>"))
    refuses("a trajectory in CSV, not a scene: sim plot draws it", write("run.csv", "time [s],q\n0,1\n"))
    for command in ["view", "--html", "a.html"], ["plot", "--out", "a.svg"], ["render", "--out", "a.png", "--scene", scene("arm")]:
        refuses("robot.csv: is a robot in URDF, not a recorded run", *command, write("robot.csv", "<robot name='arm'/>"))
    piped = subprocess.run([SIM, "/dev/stdin"], input="<robot/>", capture_output=True, text=True, timeout=60)
    assert piped.returncode == 2 and "<link> is missing in <robot>" in piped.stderr


def shows_no_scene_without_bodies():
    none = write("none.json", '{"sim": 1, "world": {"duration": 0.01}}')
    refuses("none.json: has no bodies: there is nothing to show", none, "--html", "a.html")
    refuses("none.json: has no bodies: there is nothing to show", "render", none, "--out", "a.png")
    assert "has no bodies: nothing moves" in sim(none).stderr
    assert "no bodies" not in sim(scene("arm"), "--duration", 0.01).stderr


def says_that_nothing_can_move():
    held = write("held.json",
                 '{"sim": 1, "world": {"duration": 0.01}, "bodies": [{"name": "a", "shapes": [{"type": "sphere", "radius": 1, "mass": 1}]}]}')
    told = 'sim: warning: held.json: no body can move: all joints are fixed'
    assert told in sim(held).stderr and told in sim(held, "--validate").stderr
    assert told in sim(held, "-q").stderr and "no body can move" not in sim(scene("arm"), "--duration", 0.01).stderr


def refuses_to_write_over_what_it_reads_or_writes():
    arm = write("arm.json", read(scene("arm"), "r"))
    refuses("a trajectory file ends in .csv or .h5", arm, "--out", "a.txt")
    refuses("written twice", arm, "--out", "a.csv", "--out", "a.csv")
    refuses("written twice", arm, "--out", "a.csv", "--out", "./a.csv")
    refuses("is the scene", arm, "--summary", arm)
    refuses("is the scene", arm, "--checkpoint", "./arm.json")
    refuses("written twice", arm, "--out", "a.csv", "--summary", "a.csv")
    refuses("written twice", arm, "--checkpoint", "a", "--summary", "a")
    sim(arm, "--checkpoint", "c", "--duration", 0.1)
    refuses("is the checkpoint to continue from", arm, "--resume", "c", "--summary", "./c")
    sim(arm, "--resume", "c", "--checkpoint", "./c")


def refuses_checkpoints_that_do_not_fit():
    sim(scene("arm"), "--duration", 0.1, "--checkpoint", "c")
    refuses("another model", scene("long"), "--resume", "c", "--out", "a.csv")
    refuses("a step of 0.002", scene("arm"), "--step", 0.001, "--resume", "c", "--out", "a.csv")
    refuses("the integrator 'midpoint', not 'rk4'", scene("arm"), "--integrator", "rk4", "--resume", "c")
    sim(scene("pile"), "--duration", 0.02, "--checkpoint", "p")
    for other, words in (("--solver pgs", "made with contacts 'auto', not 'pgs'"),
                         ("--set world/contacts=false", "made with contacts 'auto', not 'off'"),
                         ("--set world/solver_options/tolerance=1e-7", "other options"),
                         ("--set world/compliance=rigid", "other options"), ("--set world/law/sigma=1e-4", "other options"),
                         ("--set world/contact_margin=0.001", "other options"),
                         ("--set models/box/bodies/box/shapes/0/mask=2", "other options"),
                         ("--set exclusions=[{\"first\":\"ball\",\"second\":\"low0_box\"}]", "other options")):
        refuses(words, scene("pile"), "--resume", "p", "--out", "a.csv", *other.split())
    arm = json.loads(read(scene("arm")))
    hinge = next(body["name"] for body in arm["bodies"] if "hinge" in str(body["joint"]))
    driven = write("driven.json", json.dumps({**arm, "actuators": [{"joint": hinge, "kp": 1, "target": "sin(t)"}]}))
    sim(driven, "--duration", 0.1, "--checkpoint", "d")
    for other in "cos(t)", '{"times":[0,1,2],"values":[0,1,0],"interpolation":"spline"}', "1":
        refuses("other options", driven, "--resume", "d", "--out", "a.csv", "--set", f"actuators/0/target={other}")
    sim(scene("pile"), "--duration", 0.03, "--resume", "p", "--set", "world/solver_options/tolerance=1e-8")
    for way in "none", "bodies":  # to the same solution
        sim(scene("pile"), "--duration", 0.02, "--solver", "sap", "--checkpoint", "p")
        sim(scene("pile"), "--duration", 0.03, "--solver", f"sap:relaxation={way}", "--resume", "p")
    refuses("No such file", scene("arm"), "--resume", "absent", "--out", "a.csv", status=3)


def one_status_for_files_that_are_absent():
    write("mesh.json", '{"sim": 1, "bodies": [{"name": "a", "joint": "free", "shapes": [{"type": "mesh", "file": "no.stl", "mass": 1}]}]}')
    write("mesh.urdf", '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
                       '</inertial><collision><geometry><mesh filename="no.stl"/></geometry></collision></link></robot>')
    write("mesh.sdf", '<sdf version="1.7"><model name="r"><link name="a"><inertial><mass>1</mass></inertial><collision name="c"><geometry><mesh>'
                      "<uri>no.stl</uri></mesh></geometry></collision></link></model></sdf>")
    write("mesh.xml", '<mujoco><asset><mesh name="a" file="no.stl"/></asset><worldbody><body><freejoint/><geom type="mesh" mesh="a"/></body>'
                      "</worldbody></mujoco>")
    write("part.xml", '<mujoco><include file="no.xml"/></mujoco>')
    for given in "mesh.json", "mesh.urdf", "mesh.sdf", "mesh.xml", "part.xml":
        refuses("no." + ("xml" if given == "part.xml" else "stl"), given, status=3)
    for command in [], ["view"], ["plot"], ["solve"], ["convert"], ["sweep", "--out", "a.csv"], ["render", "--out", "a.png"]:
        for given in "no.json", "no.h5":
            refuses(given, *command, given, status=3)


def places_the_refusal_of_a_solver_at_its_name():
    write("disc.json", '''{"sim": 1, "world": {"exclude": "initial", "duration": 0.01}, "materials": [{"name": "felt", "torsion": 0.01}],
        "bodies": [{"name": "floor", "shapes": [{"type": "half_space"}]}, {"name": "a", "joint": "free", "pose": {"position": [0, 0, 2]},
                    "shapes": [{"type": "sphere", "radius": 1, "density": 1, "material": "felt"}]}]}''')
    refuses("world/solver=canal: error: /world/solver: the solver canal takes no contacts with rolling or torsion", "disc.json", "--solver", "canal")
    sim("disc.json")


def says_what_a_command_expects_and_what_to_run_instead():
    arm = scene("arm")
    refuses(f"{arm} is a scene, where a contact problem in HDF5 is expected: sim {arm} --dump-problem", "solve", arm)
    refuses(f"a scene, where a sweep is expected: sim {arm} runs it", "sweep", arm, "--out", "a.csv")
    refuses("a sweep, where a scene is expected: sim sweep s.json --out FILE runs it", write("s.json", '{"sweep": 1, "scene": "a.json"}'))
    for command in ["solve", arm], ["sweep", arm, "--out", "a.csv"], ["s.json"]:
        assert sim(*command, status=2).stderr.count("\n") == 1, command


def says_which_resource_could_not_be_had():
    arm = scene("arm")
    refuses("/nowhere/a.csv: cannot create: No such file", arm, "--out", "/nowhere/a.csv", status=3)
    refuses("/nowhere/s.json: cannot create", arm, "--summary", "/nowhere/s.json", status=3)
    refuses("/nowhere/c: cannot write a checkpoint", arm, "--checkpoint", "/nowhere/c", status=3)
    os.mkdir("folder")
    refuses("folder: cannot write a checkpoint: not an ordinary file", arm, "--checkpoint", "folder", "--out", "a.csv",
            status=3)
    refuses("cannot write the summary", arm, "--summary", "/dev/full", status=3)
    with open("/dev/full", "w") as full:
        for words in ([arm, "--out", "-"], ["--help"]):
            done = subprocess.run([SIM, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            assert done.returncode == 3 and "standard output" in done.stderr, done
    os.symlink("/dev/full", "full.csv")
    refuses("full.csv: cannot write: No space left on device", arm, "--out", "full.csv", status=3)
    if HDF5:
        os.symlink("/dev/full", "full.h5")
        refuses("full.h5: cannot write: No space left on device", arm, "--out", "full.h5", status=3)


def stops_with_readable_files_when_the_disk_fills_up():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    for out in ["a.csv"] + (["a.h5"] if HDF5 else []):
        done = sim(scene("long"), "--out", out, "--checkpoint", "c", status=3, preexec_fn=limit)
        assert f"{out}: cannot write: File too large" in done.stderr and "stopped at" in done.stderr, done.stderr
        assert len(read(out)) <= 400_000
        sim(scene("long"), "--resume", "c", "--validate")
        os.remove(out)


def refuses_hdf5_where_the_build_has_none():
    if not HDF5:
        refuses("this build has no HDF5", scene("arm"), "--out", "a.h5")


# ---- what it tells ----

def checks_a_scene_without_running_it():
    done = sim(scene("arm"), "--validate")
    assert done.stdout == scene("arm") + ": ok, 5 bodies, 13 dofs, 2 trees, 200 steps of 0.002 s (midpoint)\n"


def refuses_files_of_a_run_where_there_is_none():
    for information in "--validate", "--contacts":
        for file in ("--out", "a.csv"), ("--html", "a.html"), ("--view",), ("--summary", "-"), ("--checkpoint", "a.state"), \
                ("--dump-problem", 1, "a.h5"):
            refuses(f"{information} simulates nothing: leave out {file[0]}", scene("arm"), information, *file)


def refuses_standard_output_where_a_file_is_written_in_one_move():
    for option in "--html", "--checkpoint":
        refuses(f"{option} takes the name of a file", scene("arm"), option, "-")
        refuses(f"{option} takes the name of a file, not ''", scene("arm"), option, "")
    refuses("--html takes the name of a file", "view", "run.h5", "--html", "-")
    sim(scene("arm"), "--duration", 0.01, "--html", "./-")
    assert read("-").startswith(b"<!doctype html>")


def refuses_an_option_of_a_solver_that_is_given_twice():
    refuses("option tolerance is given twice", scene("arm"), "--solver", "pgs:tolerance=1e-3,tolerance=1e-4")


def refuses_options_of_robots_for_scenes_without_robots():
    for option in ("--base", "free"), ("--mesh", "exact"), ("--strict",), ("--repair-inertia",), ("--allow", "mesh"), \
            ("--package", "arm=robots"):
        said = sim(scene("arm"), *option, status=2).stderr
        assert f"{option[0]}: error: the scene" in said and "no robot" in said, said


def warns_of_what_overlaps_where_a_run_starts():
    ball = '{"name": "%s", "joint": "free", "shapes": [{"type": "sphere", "radius": 1, "density": 1000}]}'
    write("balls.json", '{"sim": 1, "world": {"gravity": [0, 0, 0], "duration": 0.1}, "bodies": [%s, %s]}' % (ball % "a", ball % "b"))
    for how in [], ["--validate"]:
        said = sim("balls.json", *how).stderr
        for word in 'warning: "a" and "b" overlap by 2 m', '{"first": "a", "second": "b"}', '"exclude": "initial"':
            assert word in said, said
        assert "overlap" not in sim("balls.json", "--set", "world/exclude=initial", *how).stderr
    assert "overlap by 2 m" in sim("balls.json", "--quiet", "--summary", "sum.json").stderr
    ball = '<body name="%s"><freejoint/><geom size="1"/></body>'
    write("balls.xml", '<mujoco><worldbody>%s%s</worldbody><keyframe><key name="apart" qpos="9 0 0 1 0 0 0 0 0 0 1 0 0 0"/></keyframe></mujoco>'
          % (ball % "a", ball % "b"))
    said = sim("balls.xml", "--duration", "0.01").stderr
    for word in 'warning: "a" and "b" overlap by 2 m', "(--start apart)", "<exclude> in <contact>", "--set world/exclude=initial":
        assert word in said, said
    for how in ["--start", "apart"], ["--set", "world/exclude=initial"]:
        assert "overlap" not in sim("balls.xml", "--duration", "0.01", *how).stderr
    told = json.loads(read("sum.json"))["energy"]
    assert 10 < told["end"] < 11 and abs(told["undone"] - told["end"]) < 1e-3 * told["end"], told


def names_what_no_motion_undoes_and_takes_no_energy_from_nothing():
    write("hinge.json", '''{"sim": 1, "world": {"step": 0.002, "duration": 0.1}, "bodies": [
        {"name": "ground", "shapes": [{"type": "half_space"}]},
        {"name": "turn", "pose": {"position": [0, 0, 0.1]}, "joint": {"type": "hinge", "axis": [0, 0, 1]}, "v": 1,
         "shapes": [{"type": "cylinder", "radius": 0.09, "length": 0.25, "density": 1000}]}]}''')
    said = sim("hinge.json", "--solver", "auto", "--summary", "sum.json").stderr
    assert 'cannot part    "ground" and "turn", 0.025 m deep' in said, said
    told = json.loads(read("sum.json"))
    assert told["contacts"]["stuck_steps"] == 50 and told["contacts"]["stuck_b"] == "turn"
    assert told["energy"]["max_change"] < 1e-6
    write("force.json", '''{"sim": 1, "bodies": [{"name": "box", "joint": "free", "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1],
        "density": 1000}]}], "loads": [{"body": "box", "force": [1e200, 0, 0]}]}''')
    assert "faster than light" in sim("force.json", status=1).stderr


def tells_its_version_solvers_and_options():
    assert re.match(r"sim \d+\.\d+\.\d+\n.*(gcc|clang).*\nHDF5 .*cJSON \d", sim("--version").stdout)
    solvers = sim("--list-solvers").stdout
    assert all(len(line) < 81 for line in solvers.splitlines())
    for words in ("sap\n", "pgs\n", "canal\n", "subadmm\n", "Castro, Permenter, Han 2021", "Law: convex", "Law: strict", "most_work"):
        assert words in solvers, words
    assert "relaxation" not in solvers and "relaxation" in sim("--list-solvers", "--study").stdout
    assert "--study needs --list-solvers" in sim("--study", status=2).stderr
    assert "sap pgs canal subadmm" in sim("--completion").stdout
    told = sim("--help").stdout
    assert all(len(line) < 81 for line in told.splitlines()) and "--man" not in told
    page, completion = sim("--man").stdout.replace("\\-", "-"), sim("--completion").stdout
    for option in re.findall(r"^  (--[a-z-]+)", told, re.M):
        assert option in page and option in completion, option


TOUCHING = """{"sim": 1, "world": {"contacts": false, "gravity": [0, 0, 0]},
 "materials": [{"name": "rubber", "friction": 0.8, "stiffness": 1e5}],
 "bodies": [{"name": "floor", "shapes": [{"type": "half_space"}]},
  {"name": "ball", "joint": "free", "pose": {"position": [3, 4, 0.9]}, "v": [0, 0, 1, 0, 0, 0],
   "shapes": [{"name": "skin", "type": "sphere", "radius": 1, "mass": 2, "material": "rubber"}]}]}"""


def lists_where_shapes_touch():
    found = json.loads(sim(write("touch.json", TOUCHING), "--contacts").stdout)
    contact, = found["contacts"]
    assert found["count"] == 1 and found["time"] == 0
    assert contact["a"]["body"] == "floor" and contact["b"] == {"body": "ball", "shape": "skin", "index": 1, "type": "sphere"}
    assert abs(contact["gap"] + 0.1) < 1e-15 and contact["normal"] == [0, 0, -1]
    assert all(abs(x - y) < 1e-15 for x, y in zip(contact["position"], [3, 4, -0.05]))
    assert contact["stiffness"] == 1e5 and abs(contact["friction"] - 0.4 ** 0.5) < 1e-15


def lists_contacts_of_a_checkpoint_and_writes_nothing():
    path = write("touch.json", TOUCHING)
    sim(path, "--duration", "0.05", "--checkpoint", "c", "--quiet")
    contact, = json.loads(sim(path, "--resume", "c", "--contacts").stdout)["contacts"]
    refuses("leave out --out", path, "--contacts", "--out", "never.csv")
    refuses("leave out --validate", path, "--contacts", "--validate")
    assert abs(contact["gap"] + 0.05) < 1e-12 and sorted(os.listdir(".")) == ["c", "touch.json"]
    sim(path, "--duration", "0.5", "--checkpoint", "c", "--quiet")
    assert json.loads(sim(path, "--resume", "c", "--contacts").stdout)["contacts"] == []


SAMPLED = """{"sim": 1, "world": {"contacts": false}, "bodies": [
 {"name": "floor", "shapes": [{"type": "half_space"}]},
 {"name": "tip", "joint": "free", "pose": {"position": [0, 0, 0.15]}, "shapes": [{"type": "sdf", "mass": 1,
  "field": {"type": "grid", "file": "tip.obj", "cell": 0.02}}]}]}"""


PILE = """{"sim": 1, "world": {"step": 0.005, "duration": 0.05}, "record": {"signals": ["coordinates", "statistics"]}, "bodies": [
 {"name": "floor", "shapes": [{"type": "half_space"}]},
 {"name": "low", "joint": "free", "pose": {"position": [0, 0, 0.1]}, "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "mass": 1}]},
 {"name": "top", "joint": "free", "pose": {"position": [0, 0, 0.3]}, "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "mass": 1}]}]}"""


def writes_the_problem_of_a_step_from_which_its_answer_follows():
    if not HDF5:
        return
    path = write("pile.json", PILE)
    sim(path, "--out", "a.csv", "--every", 1, "-q")
    sim("--dump-problem", 7, "p.hdf5", path, "--out", "b.csv", "--every", 1, "-q")
    assert read("a.csv") == read("b.csv")  # looking changes nothing
    found, = json.loads(sim("solve", "p.hdf5", "--solver", "sap", "--guess", "--json").stdout)["problems"]
    step = rows("a.csv")[7]
    assert found["contacts"] == int(float(step["contacts"])) == 8, found
    assert abs(found["own"] - float(step["certificate.own"])) <= 1e-12, (found, step)
    refuses("the run ends with step 10", path, "--dump-problem", 11, "c.h5")
    refuses("needs a file that ends in .h5", path, "--dump-problem", 1)


def solves_a_written_problem_alike_again_and_again():
    if not HDF5:
        return
    sim("--dump-problem", 30, "p.hdf5", scene("rows"), "--out", "a.csv", "-q", "--duration", 0.2)
    solved = set()
    needed = {"sap", "pgs", "canal", "subadmm", "auto", "mlcp-pivot"}
    for card in json.loads(sim("--list-solvers", "--json").stdout)["solvers"]:
        if card["name"] not in needed and tap.part_of(2) < 2:
            continue
        words = "--solver", card["name"], "--json"
        first, again, stored = (json.loads(sim("solve", *other, status=None).stdout)["problems"][0] for other in (
            ("p.hdf5", *words, "--out", "answer.hdf5"), ("answer.hdf5", *words), ("answer.hdf5", "--stored", "--json")))
        assert first["contacts"] > 0 and first["rows"] > 3 * first["contacts"] + 11, first  # 11 rows of constraints
        assert {**first, "file": 0, "seconds": 0} == {**again, "file": 0, "seconds": 0}, (first, again)
        assert abs(stored["E"] - first["E"]) <= 1e-12 * first["E"] + 1e-15, (first, stored)
        solved |= {card["name"]} if first["outcome"].startswith("solved") else set()
    assert needed <= solved, solved


def writes_a_problem_of_nothing_where_nothing_touches():
    if not HDF5:
        return
    write("fall.json", PILE.replace("[0, 0, 0.1]", "[0, 0, 5.1]").replace("[0, 0, 0.3]", "[0, 0, 9.3]"))
    sim("--dump-problem", 1, "p.hdf5", "fall.json", "--out", "a.csv", "-q")
    found, = json.loads(sim("solve", "p.hdf5", "--solver", "sap", "--json").stdout)["problems"]
    assert (found["rows"], found["outcome"], found["E"]) == (0, "solved", 0), found


def refuses_the_problem_of_a_step_that_has_none_before_it_writes_anything():
    if not HDF5:
        return
    write("free.json", PILE.replace('"duration": 0.05', '"duration": 0.05, "contacts": false'))
    for name in "a.csv", "p.hdf5":
        write(name, "kept")
    outputs = "--out", "a.csv", "--summary", "s.json"
    refuses("there is no contact problem", "free.json", "--dump-problem", 3, "p.hdf5", *outputs)
    pile = write("pile.json", PILE)
    refuses("the run ends with step 10", pile, "--dump-problem", 11, "p.hdf5", *outputs)
    refuses("cannot write a contact problem", pile, "--dump-problem", 3, "nowhere/p.hdf5", *outputs, status=3)
    assert read("a.csv") == read("p.hdf5") == b"kept"
    sim(pile, "--duration", 0.02, "--checkpoint", "half.h5", "-q")
    refuses("the run begins with step 5", pile, "--resume", "half.h5", "--dump-problem", 4, "p.hdf5", *outputs)
    assert read("a.csv") == read("p.hdf5") == b"kept"


def keeps_what_it_sampled_in_the_users_cache():
    with open("tip.obj", "w") as file:
        file.write("v 0 0 -0.2\nv 1 0 -0.1\nv 0 1 -0.1\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    path, home = write("sampled.json", SAMPLED), os.path.abspath("home")
    at_home = {**os.environ, "HOME": home, "XDG_CACHE_HOME": "relative/paths/do/not/count"}
    elsewhere = {**at_home, "XDG_CACHE_HOME": os.path.abspath("caches")}
    nowhere = {**at_home, "HOME": os.path.abspath(path)}  # a file: no folder can be made in it
    told = sim(path, "--contacts", env=at_home).stdout
    assert json.loads(told)["count"] > 0
    kept, = os.listdir("home/.cache/sim")
    kept = os.path.join("home/.cache/sim", kept)
    made, content = os.stat(kept).st_mtime_ns, read(kept)
    assert sim(path, "--contacts", env=at_home).stdout == told and os.stat(kept).st_mtime_ns == made
    for broken in content[:len(content) // 2], content[:-1] + bytes([content[-1] ^ 1]), b"":
        with open(kept, "wb") as file:
            file.write(broken)
        assert sim(path, "--contacts", env=at_home).stdout == told and read(kept) == content
    for environment in elsewhere, nowhere, {"PATH": os.environ["PATH"]}:
        assert sim(path, "--contacts", env=environment).stdout == told
    assert [read(os.path.join("caches/sim", name)) for name in os.listdir("caches/sim")] == [content]
    assert sorted(os.listdir(".")) == ["caches", "home", "sampled.json", "tip.obj"]
    assert "~/.cache/sim" in sim("--help").stdout and "/.cache/sim" in sim("--man").stdout


def makes_no_cache_without_need():
    sim(scene("arm"), "--validate", env={**os.environ, "HOME": os.path.abspath("home"), "XDG_CACHE_HOME": ""})
    assert os.listdir(".") == []


def runs_under_the_name_of_its_command():
    assert sim("run", scene("arm"), "--out", "-", "--quiet").stdout == sim(scene("arm"), "--out", "-", "--quiet").stdout


SIM, SCENES = os.path.abspath(SIM), os.path.abspath(SCENES)
sys.exit(tap.run(tap.cases_of(globals(), WORD)))
