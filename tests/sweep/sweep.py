"""`sim sweep` as its users meet it: rows, restarts, dead workers, arrays of jobs.

    sweep.py SIM [WORD]     runs the tests whose names hold WORD, each in a folder of its own
"""
import csv
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402
import terminal  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
WORD = sys.argv[2] if len(sys.argv) > 2 else ""
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout

NS = "{http://www.w3.org/2000/svg}"

BOXES = {
    "sim": 1, "world": {"step": 0.005, "duration": 0.2, "gravity": [0, 0, -9.81]}, "materials": [{"name": "wood", "friction": 0.5}],
    "bodies": [{"name": "floor", "shapes": [{"type": "half_space", "material": "wood"}]}] + [
        {"name": name, "joint": "free", "pose": {"position": [x, 0, z]}, "v": [0.3, 0, 0, 0, 0, 0.1],
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "mass": 1, "material": "wood"}]}
        for name, x, z in (("low", 0, 0.1), ("top", 0.06, 0.3))],
    "record": {"every": 3}}
INPUTS = [
    {"set": ["materials/wood/friction"], "from": 0.1, "to": 1, "count": 4},
    {"name": "mass", "set": ["bodies/top/shapes/0/mass", "bodies/low/shapes/0/mass"], "from": 0.5, "to": 2, "count": 3, "log": True},
    {"set": ["world/solver"], "values": ["sap", "pgs:max_iterations=50"]}]
SIGNALS = ["top.pose.z", {"column": "energy.total", "take": "most"}, {"column": "top.twist.vx", "take": "mean"}]
SLOW = {"world/duration": max(tap.part_of(20 if tap.LONG_RUNS else 12), 2)}  # a run of some tenths of a second


def sim(*arguments, status=0, **more):
    done = subprocess.run([SIM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == status, f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}"
    return done


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, value):
    with open(path, "w") as file:
        json.dump(value, file)
    return path


def sweep(path="sweep.json", **keys):
    write("boxes.json", BOXES)
    return write(path, {"sweep": 1, "scene": "boxes.json", "inputs": INPUTS, "signals": SIGNALS, **keys})


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def number(text):
    return math.nan if text is None else float(text)


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def rows_are_those_of_single_runs():
    sim("sweep", sweep(), "--out", "all.csv")
    table = rows("all.csv")
    assert [int(r["run"]) for r in table] == list(range(24))
    frictions = [float(r["friction"]) for r in table]
    assert frictions == sorted(frictions) and {r["solver"] for r in table} == {"sap", "pgs:max_iterations=50"}
    for row in table[::7]:
        sets = [f"materials/wood/friction={row['friction']}", f"world/solver={row['solver']}",
                f"bodies/top/shapes/0/mass={row['mass']}", f"bodies/low/shapes/0/mass={row['mass']}",
                'record/signals=["poses", "twists", "energy"]']
        options = [word for s in sets for word in ("--set", s)]
        alone = json.loads(sim("boxes.json", *options, "--summary", "-", "--out", "run.csv").stdout)
        contacts, energy = alone["contacts"], alone["energy"]
        expected = {"steps": alone["steps"], "time": alone["time"], "contacts_mean": contacts["mean"],
                    "contacts_most": contacts["most"], "unsolved_steps": contacts["unsolved_steps"],
                    "solver_iterations_mean": contacts["iterations_mean"], "energy_end": energy["end"],
                    "energy_change": energy["max_change"], "own_worst": contacts["own"]["worst"],
                    "E_mean": contacts["E"]["mean"], "momentum_worst": contacts["momentum"]["worst"],
                    "penetration_worst": contacts["penetration"]["worst"],
                    "past_range_worst": contacts["past_range"]["worst"], "slip_worst": contacts["slip"]["worst"]}
        for name, value in expected.items():
            assert same(float(row[name]), number(value)), (name, row[name], value)
        run = rows("run.csv")
        assert float(row["top.pose.z"]) == float(run[-1]["top.pose.z [m]"])
        assert float(row["most energy.total"]) == max(float(r["energy.total [J]"]) for r in run)
        total = 0.0
        for record in run:
            total += float(record["top.twist.vx [m/s]"])
        assert float(row["mean top.twist.vx"]) == total / len(run)


def processes_do_not_change_the_bytes():
    sweep()
    for jobs in (1, 2, 5):
        sim("sweep", "sweep.json", "--out", f"{jobs}.csv", "--jobs", jobs)
    assert read("1.csv") == read("2.csv") == read("5.csv")
    assert sorted(os.listdir(".")) == ["1.csv", "2.csv", "5.csv", "boxes.json", "sweep.json"]


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)


def part_rows(path="cut.csv.part"):
    return read(path).count(b"\n") - 1 if os.path.exists(path) else 0


def goes_on_after_a_kill_and_repeats_nothing():
    sweep(set=SLOW)
    sim("sweep", "sweep.json", "--out", "whole.csv")
    command = [SIM, "sweep", "sweep.json", "--out", "cut.csv", "--jobs", "2"]
    for kill in (signal.SIGKILL, signal.SIGINT):
        before = part_rows()
        run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: part_rows() >= before + 3)
        run.send_signal(kill)
        said = run.communicate(timeout=60)[1]
        assert run.returncode == (130 if kill == signal.SIGINT else -kill), said
        assert "goes on from here" in said or kill == signal.SIGKILL
    with open("cut.csv.part", "ab") as file:
        file.write(b"23,0.1,torn")  # a kill in the middle of a line
    kept = read("cut.csv.part").rsplit(b"\n", 1)[0]
    done = kept.count(b"\n")
    assert 6 <= done < 24
    said = sim("sweep", "sweep.json", "--out", "cut.csv").stderr
    assert f"{done} of them before" in said, said
    assert read("cut.csv") == read("whole.csv") and not os.path.exists("cut.csv.part")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(p) for p in file.read().split()]


def loses_nothing_when_a_worker_is_killed():
    sweep(set=SLOW)
    sim("sweep", "sweep.json", "--out", "whole.csv")
    run = subprocess.Popen([SIM, "sweep", "sweep.json", "--out", "cut.csv", "--jobs", "2"], stderr=subprocess.PIPE, text=True)
    wait_for(lambda: part_rows() >= 2)
    victim = children(run.pid)[0]
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: len(children(run.pid)) == 2 and victim not in children(run.pid))
    said = run.communicate(timeout=120)[1]
    assert run.returncode == 0 and "24 of 24 runs, 0 failed" in said, said
    assert read("cut.csv") == read("whole.csv")


def gives_a_run_that_kills_twice_a_row():
    sweep(set=SLOW, inputs=[{"set": ["world/seed"], "values": [0, 1]}])
    run = subprocess.Popen([SIM, "sweep", "sweep.json", "--out", "cut.csv", "--jobs", "1"])
    seen = set()
    for _ in range(2):
        wait_for(lambda: children(run.pid) and children(run.pid)[0] not in seen)
        seen.add(children(run.pid)[0])
        os.kill(children(run.pid)[0], signal.SIGKILL)
    assert run.wait(timeout=120) == 0
    table = rows("cut.csv")
    assert [r["ending"] for r in table] == ["stopped", "finished"]
    assert table[0]["reason"] == "its process was killed twice, by signal 9" and table[0]["steps"] == "nan"


def a_failed_run_is_a_row_with_its_reason():
    inputs = [{"set": ["materials/wood/friction"], "values": [0.5, -1, 0.7]},
              {"name": "limit", "set": ["bodies/low/v/0"], "values": [0.3, 1e200]}]
    said = sim("sweep", sweep(inputs=inputs), "--out", "all.csv").stderr
    table = rows("all.csv")
    assert "6 of 6 runs, 4 failed" in said, said
    assert [r["ending"] for r in table] == ["finished", "failed", "refused", "refused", "finished", "failed"]
    assert "must be from 0" in table[2]["reason"] and "friction=-1" in table[2]["reason"]
    assert table[1]["reason"] and float(table[1]["steps"]) < 40 and not table[0]["reason"]
    sim("sweep", sweep(inputs=[{"set": ["world/step"], "values": [0.001, 9]}]), "--out", "steps.csv")
    late = rows("steps.csv")[1]
    assert late["ending"] == "refused" and "the step of 9 s is longer than the duration" in late["reason"], late


def errors_have_their_place():
    def refuses(words, text=None, **keys):
        if text is None:
            sweep(**keys)
        else:
            with open("sweep.json", "w") as file:
                file.write(text)
        said = sim("sweep", "sweep.json", "--out", "no.csv", status=2).stderr
        assert words in said and re.search(r"sweep\.json:\d+:\d+: error: ", said), said
        assert not [f for f in os.listdir(".") if f.startswith("no.csv")]

    refuses('unknown key "input" (did you mean "inputs"?)', input=[])
    refuses("the first run: --set materials/would/friction", inputs=[{"set": ["materials/would/friction"], "values": [1]}])
    refuses("/inputs/1", inputs=[INPUTS[0], {"set": ["world/solvr"], "values": [1]}])
    refuses('no run of this scene records "top.pose.zz" (did you mean "top.pose.z"?)', signals=["top.pose.zz"])
    refuses('there is a column "friction" already', inputs=[INPUTS[0], INPUTS[0]])
    refuses("an input has", inputs=[{"set": ["world/seed"], "values": [1], "from": 0}])
    refuses('"count" is missing', inputs=[{"set": ["world/seed"], "from": 0, "to": 1}])
    refuses("equal ratios need numbers above 0", inputs=[{"set": ["world/seed"], "from": 0, "to": 1, "count": 2, "log": True}])
    refuses("3 values, but the first input has 4", design="list", inputs=INPUTS[:2])
    refuses('"runs" is missing', design="latin", inputs=[{"set": ["world/seed"], "values": [1, 2]}])
    refuses("numbers of a Latin hypercube are as many as its runs", design="latin", runs=3)
    refuses("more than 10000000 runs", inputs=[{"name": n, "set": ["world/seed"], "from": 0, "to": 9, "count": 9000} for n in "ab"])
    refuses("expected an array of one or more values, not an empty one", inputs=[{"set": ["world/step"], "values": []}])
    refuses("sweep.json:1:", text='{"sweep": 2}')
    assert "No such file" in sim("sweep", sweep(scene="nowhere.json"), "--out", "no.csv", status=3).stderr
    assert "ends in .csv or .h5" in sim("sweep", sweep(), "--out", "no.txt", status=2).stderr
    assert "--part takes K/N" in sim("sweep", "sweep.json", "--out", "no.csv", "--part", "3/3", status=2).stderr


def designs_have_their_values():
    one = {"name": "a", "set": ["world/gravity/2"], "from": -20, "to": -1}
    two = {"name": "b", "set": ["materials/wood/friction"], "from": 0.01, "to": 1, "log": True}
    words = {"name": "c", "set": ["world/solver"], "values": ["sap", "pgs"]}
    sim("sweep", sweep(design="latin", runs=20, seed=4, inputs=[one, two, words], set={"world/duration": 0.01}), "--out", "l.csv")
    table = rows("l.csv")
    for name, place in (("a", lambda x: (x + 20) / 19), ("b", lambda x: math.log(x / 0.01) / math.log(100))):
        parts = [int(place(float(r[name])) * 20) for r in table]
        assert sorted(parts) == list(range(20)) and parts != sorted(parts), (name, parts)
    assert sorted(r["c"] for r in table) == ["pgs"] * 10 + ["sap"] * 10
    sweep("again.json", design="latin", runs=20, seed=5, inputs=[one, two, words], set={"world/duration": 0.01})
    sim("sweep", "again.json", "--out", "m.csv")
    assert [r["a"] for r in rows("m.csv")] != [r["a"] for r in table]
    sim("sweep", sweep(design="list", inputs=[dict(one, count=3), {"name": "d", "set": ["world/seed"], "values": [7, 8, 9]}]), "--out", "k.csv")
    assert [(r["a"], r["d"]) for r in rows("k.csv")] == [("-20", "7"), ("-10.5", "8"), ("-1", "9")]
    many = [{"set": ["world/seed"], "from": 3, "to": 362, "count": 360}]
    sim("sweep", sweep(inputs=many, set={"world/duration": 0.005}), "--out", "n.csv")
    assert [(r["seed"], r["ending"]) for r in rows("n.csv")] == [(str(k), "finished") for k in range(3, 363)]


def svg_of(*arguments):
    return xml.fromstring(sim("plot", *arguments).stdout)


def rectangles(svg):
    """Cells of a map by colour: from paths of M x y H x V y H x z."""
    found = {}
    for path in svg.iter(NS + "path"):
        if "fill" in path.get("style", ""):
            for x, y, right, top in re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H", path.get("d")):
                found.setdefault(path.get("style")[5:], []).append((float(x), float(top), float(right), float(y)))
    return found


def draws_two_inputs_as_a_map():
    sim("sweep", sweep(inputs=INPUTS[:2], signals=["top.pose.z"]), "--out", "all.csv")
    svg = svg_of("all.csv", "--quantity", "mass", "--size", "600x400")
    colours = rectangles(svg)
    cells = [c for several in colours.values() for c in several]
    assert len(cells) == 3 and len(colours) == 3, colours  # a row of one mass is one rectangle
    assert len({c[0] for c in cells}) == 1 and len({c[2] for c in cells}) == 1
    assert sorted(c[1] for c in cells)[1:] == sorted(c[3] for c in cells)[:-1]  # they touch
    least, most = colours["#440154"][0], colours["#fde725"][0]
    assert least[1] > most[1], "the least mass is not the lowest row"
    labels = [t.text for t in svg.iter(NS + "text")]
    assert "friction" in labels and labels.count("mass") == 2, labels
    across = rectangles(svg_of("all.csv", "--quantity", "mass", "--x", "mass", "--y", "friction"))
    assert {len(several) for several in across.values()} == {4}
    if HDF5:
        sim("sweep", "sweep.json", "--out", "all.h5")
        assert xml.tostring(svg_of("all.h5", "--quantity", "mass", "--size", "600x400")) == xml.tostring(svg)
    assert "(did you mean \"mass\"?)" in sim("plot", "all.csv", "--x", "mas", status=2).stderr
    assert "one at a time" in sim("plot", "all.csv", "all.csv", status=2).stderr


def lists_the_columns_of_a_sweep():
    """With the extremes of their numbers, from both kinds of files alike."""
    sim("sweep", sweep(inputs=INPUTS[:2], signals=["top.pose.z"]), "--out", "all.csv")
    head, *listed = sim("plot", "all.csv", "--list").stdout.splitlines()
    table = rows("all.csv")
    assert head == f"all.csv: {len(table)} runs of {len(table[0])} columns" and len(listed) == len(table[0]), head
    assert [line.split()[0] for line in listed] == list(table[0])
    for name, group in (("mass", "input"), ("friction", "input"), ("top.pose.z", "signal")):
        found = next(line.split()[1:] for line in listed if line.split()[0] == name)
        values = [float(row[name]) for row in table]
        assert found == [group, f"{min(values):.6g}", "..", f"{max(values):.6g}"], found
    assert next(line.split()[1] for line in listed if line.split()[0] == "ending") == "text"
    if HDF5:
        sim("sweep", "sweep.json", "--out", "all.h5")
        assert sim("plot", "all.h5", "--list").stdout.splitlines()[1:] == listed


def draws_one_input_as_a_line():
    inputs = [INPUTS[0], INPUTS[2]]
    sim("sweep", sweep(inputs=inputs), "--out", "all.csv")
    svg = svg_of("all.csv", "--quantity", "top.pose.z")
    assert [t.text for t in svg.iter(NS + "text") if t.get("class") == "key"] == ["sap", "pgs:max_iterations=50"]
    assert not rectangles(svg)
    failed = [dict(inputs[0], values=[0.2, -1, 0.4]), inputs[1]]
    for key in ("from", "to", "count"):
        failed[0].pop(key)
    sim("sweep", sweep("failed.json", inputs=failed), "--out", "failed.csv")
    svg_of("failed.csv")


def columns_with_their_unit_are_apart():
    """Angle and rate of a joint have one name."""
    scene = {"sim": 1, "world": {"step": 0.01, "duration": 0.1},
             "bodies": [{"name": "a", "joint": {"name": "hip", "type": "hinge"}, "v": 2, "inertia": {"mass": 1, "moments": [1, 1, 1]}}]}
    signals = ["hip", {"name": "angle", "column": "hip [rad]"}, {"name": "rate", "column": "hip [rad/s]"}]
    write("hinge.json", scene)
    write("hip.json", {"sweep": 1, "scene": "hinge.json", "inputs": [{"set": ["world/seed"], "values": [1]}], "signals": signals})
    sim("sweep", "hip.json", "--out", "hip.csv")
    row = rows("hip.csv")[0]
    assert abs(float(row["rate"]) - 2) < 1e-12 and abs(float(row["angle"]) - 0.2) < 1e-12 and row["hip"] == row["angle"], row


def rows_of_another_sweep_are_refused():
    sweep(set=SLOW)
    run = subprocess.Popen([SIM, "sweep", "sweep.json", "--out", "cut.csv", "--jobs", "2"])
    wait_for(lambda: part_rows() >= 2)
    assert "another process is at work" in sim("sweep", "sweep.json", "--out", "cut.csv", status=3).stderr
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130
    before = read("cut.csv.part")
    sweep(set={"world/duration": 0.1})
    assert "rows of another sweep" in sim("sweep", "sweep.json", "--out", "cut.csv", status=2).stderr
    assert read("cut.csv.part") == before
    sim("sweep", "sweep.json", "--out", "whole.csv")
    assert "is there already" in sim("sweep", "sweep.json", "--out", "whole.csv", status=2).stderr


def hdf5_holds_the_numbers_of_csv():
    if not HDF5:
        return
    sim("sweep", sweep(), "--out", "all.csv")
    sim("sweep", "sweep.json", "--out", "all.h5")
    first = read("all.h5")
    assert "24 of 24 runs, 24 of them before" in sim("sweep", "sweep.json", "--out", "all.h5").stderr
    os.remove("all.h5")
    sim("sweep", "sweep.json", "--out", "all.h5", "--jobs", 3)
    assert read("all.h5") == first
    sweep(signals=[])
    assert "is not of this sweep" in sim("sweep", "sweep.json", "--out", "all.h5", status=2).stderr
    try:
        import h5py
    except ImportError:
        return
    with h5py.File("all.h5") as file:
        for group in file.values():
            for name, column in group.items() if isinstance(group, h5py.Group) else ():
                values = [r[name] for r in rows("all.csv")]
                for a, b in zip(column[:], values):
                    assert a.decode() == b if column.dtype.kind == "S" else same(float(a), float(b)), (name, a, b)
        assert json.loads(file["sweep"][()])["inputs"] == INPUTS


SBATCH = """#!/bin/bash
# stands for Slurm: runs the jobs of an array one after the other, but loses one of them
for word; do case $word in --array=*) array=${word#--array=};; --parsable|--dependency=*) ;; *) script=$word;; esac; done
if [ "$array" ]; then
    for ((k = 0; k <= ${array#0-}; k++)); do
        [ $k = 2 ] || SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=$k bash "$script" || exit 1
    done
    ls *.part.* >&2
    echo 7
else
    SLURM_JOB_ID=8 bash "$script"
fi
"""


def an_array_of_jobs_gives_the_same_file():
    sim("sweep", sweep(), "--out", "whole.csv")
    script = sim("sweep", "sweep.json", "--out", "array.csv", "--slurm", 4).stdout
    with open("job.sh", "w") as file:
        file.write(script)
    with open("sbatch", "w") as file:
        file.write(SBATCH)
    os.chmod("sbatch", 0o755)
    done = subprocess.run(["bash", "job.sh"], env={**os.environ, "PATH": os.getcwd() + ":" + os.environ["PATH"], "SIM": SIM},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr.split() == [f"array.csv.part.{k}" for k in (0, 1, 3)], done.stderr
    assert read("array.csv") == read("whole.csv") and not [f for f in os.listdir(".") if ".part" in f]


def tells_the_time_left():
    sweep(set={"world/duration": 2})
    shown = terminal.standard_error_of([SIM, "sweep", "sweep.json", "--out", "all.csv"])
    assert re.search(r"\[=* *\] \d+ of 24 runs, [\d.]+ s left", shown), shown


def lists_its_columns():
    said = sim("sweep", sweep(), "--validate").stdout
    assert "24 runs" in said and "top.pose.z" in said and "E_worst" in said
    for more in ("--out", "a.csv"), ("--part", "0/2"), ("--slurm", 3):
        assert f"--validate runs nothing: leave out {more[0]}" in sim("sweep", "sweep.json", "--validate", *more, status=2).stderr
    assert sorted(os.listdir(".")) == ["boxes.json", "sweep.json"]


sys.exit(tap.run(tap.cases_of(globals(), WORD)))
