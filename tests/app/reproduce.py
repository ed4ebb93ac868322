#!/usr/bin/env python3
"""Does study/reproduce.py tell the truth?  Runs it, plants errors into what it runs, and opens its page in headless Chromium.
Prints TAP.

    reproduce.py SIM     experiments of at most three seconds; all of them, and a plant in the clutter, in long runs (SIM_TEST_LONG)
"""
import html
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402
from chromium import CHROMIUM, Browser  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = pathlib.Path(SIM).parents[2] / "bench"
EVERY = {}  # what the run of all experiments told
SHORT = ("slide_roll", "ball_drop", "spring_cylinder", "books", "jar", "nonsmooth_newton")
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout


def reproduce(*words, program=SIM, bench=None, status=0):
    """Experiments by name, of the JSON; the page is page.html."""
    done = subprocess.run([ROOT / "study" / "reproduce.py", *words, "--out", "page.html", "--json", "told.json"], capture_output=True, text=True,
                          env={**os.environ, "SIM_PROGRAM": str(program), "SIM_BENCH": str(bench or BENCH)})
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    reproduce.said = done.stdout
    return {entry["name"]: entry for entry in json.loads(pathlib.Path("told.json").read_text())["experiments"]}


def verdicts(entry):
    return {row["figure"]: row["verdict"] for row in entry["rows"]}


def impostor(script, name="impostor", true=SIM):
    """A program that stands before the true one."""
    path = pathlib.Path(name).absolute()
    path.write_text(f'#!/bin/sh\ntrue={true}\n{script}\nexec "$true" "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def browse(page):
    """The text that the page's own script leaves, and what it said on the console."""
    with Browser(f"file://{os.path.abspath(page)}") as shown:
        return shown.until("document.getElementById('test').textContent"), shown.complaints


def experiments_pass_in_quick_mode():
    if not HDF5:
        return "this build has no HDF5"
    told = reproduce("--quick", "--quiet", *(() if tap.LONG_RUNS else SHORT))
    assert tap.LONG_RUNS or sorted(told) == sorted(SHORT), list(told)
    bad = [f"{name}.{row['figure']}" for name, entry in told.items() for row in entry["rows"] if row["verdict"] in ("miss", "failed")]
    assert not bad and not any(entry["failure"] for entry in told.values()), bad
    assert all(entry["rows"] and entry["commands"] for entry in told.values())
    shutil.copy("page.html", KEPT)
    EVERY.update(told)


def the_page_stands_alone_and_has_every_experiment_with_its_verdicts():
    if not os.path.exists(KEPT):
        return "there is no page"
    page = pathlib.Path(KEPT).read_text()
    assert not re.search(r"""(src|href)=["'](?!#|data:)|@import|url\(""", page)
    assert "<script" not in page
    listed = subprocess.run([ROOT / "study" / "reproduce.py", "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    for name in [line.split()[0] for line in listed if tap.LONG_RUNS or line.split()[0] in SHORT]:
        assert f'<section id="{name}"' in page and f'href="#{name}"' in page, name
        assert f"study/reproduce.py {name} --quick" in page, name
    for row in EVERY["spring_cylinder"]["rows"]:
        assert html.escape(row["quantity"]) in page and html.escape(row["source"]) in page, row


def the_page_fits_windows_wide_and_narrow():
    if not CHROMIUM:
        assert not os.environ.get("SIM_NEEDS_CHROMIUM"), "no Chromium"
        return "no Chromium"
    if not os.path.exists(KEPT):
        return "there is no page"
    frames = "".join(f'<iframe src="{KEPT}" width="{width}" height="900"></iframe>' for width in (400, 1400))
    pathlib.Path("frames.html").write_text(frames + """<pre id="test"></pre><script>onload = () => {
        document.getElementById("test").textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(frame => {
            const page = frame.contentDocument, img = [...page.querySelectorAll("figure > img")].map(s => s.getBoundingClientRect());
            return { wide: page.documentElement.scrollWidth, plots: img.length, drawn: img.filter(r => r.width > 300 && r.height > 200).length };
        })); };</script>""")
    shown, complaints = browse("frames.html")
    narrow, wide = json.loads(shown)
    assert not complaints, complaints
    assert narrow["wide"] <= 400 and wide["wide"] <= 1400, (narrow, wide)
    assert narrow["plots"] == narrow["drawn"] > 5 and wide["drawn"] == wide["plots"], (narrow, wide)


def less_friction_turns_rolling_red():
    told = verdicts(reproduce("--quick", "--quiet", "spring_cylinder", "--also", "--set materials/0/friction=0.05", status=1)["spring_cylinder"])
    assert told["rolling_period"] == told["order_midpoint"] == "miss", told
    assert 'class="bad"' in pathlib.Path("page.html").read_text() and "spring_cylinder.rolling_period" in reproduce.said


def another_integrator_turns_the_energy_red():
    told = verdicts(reproduce("--quick", "--quiet", "spring_cylinder", "--also", "--set world/integrator=implicit --integrator implicit",
                              status=1)["spring_cylinder"])
    assert told["sliding_ripple_midpoint"] == told["sliding_ripple_symplectic"] == told["order_midpoint"] == "miss", told
    assert told["implicit_left"] == told["order_implicit"] == "pass", told


@tap.long_run
def a_solver_that_stops_early_turns_its_errors_red():
    if not HDF5:
        return "this build has no HDF5"
    told = verdicts(reproduce("--quick", "--quiet", "clutter", "--also", "--set world/solver_options/tolerance=1e-2", status=1)["clutter"])
    assert told["worst_momentum"] == told["mean_momentum"] == "miss" and told["step_60_rises"] == "pass", told


@tap.long_run
def solvers_that_do_less_turn_their_residuals_red():
    less = 'for word; do shift; set -- "$@" "$(printf %s "$word" | sed "s/^canal$/canal:rounds=2/; s/=100:tolerance=0:lanes/=1:tolerance=0:lanes/g")"; done'
    program, bench = impostor(less), impostor(less, "step_problems", BENCH / "step_problems").parent
    told = reproduce("--quick", "--quiet", "nut_dishes", program=program, bench=bench, status=1)
    found = verdicts(told["nut_dishes"])
    assert found["nut_canal_solved"] == "miss" and found["nut_subadmm_worst"] == "pass", told["nut_dishes"]["rows"]


def a_program_that_fails_is_a_red_row_and_the_others_go_on():
    program = impostor('case "$*" in *ball_drop*) echo "sim: error: planted" >&2; exit 1;; esac')
    told = reproduce("--quick", "--quiet", "spring_cylinder", "ball_drop", program=program, status=1)
    assert "planted" in told["ball_drop"]["failure"] and set(verdicts(told["ball_drop"]).values()) == {"failed"}, told["ball_drop"]
    assert set(verdicts(told["spring_cylinder"]).values()) == {"pass"} and not told["spring_cylinder"]["failure"]
    page = pathlib.Path("page.html").read_text()
    assert "planted" in page and re.search(r'<section id="ball_drop" class="bad">', page)


def most_at_once(log):
    now, most = 0, 0
    for line in pathlib.Path(log).read_text().split():
        now += 1 if line == "begins" else -1
        most = max(most, now)
    return most


def runs_side_by_side_come_to_the_same():
    program = impostor(f'echo begins >> {os.getcwd()}/log; "$true" "$@"; status=$?; echo ends >> {os.getcwd()}/log; exit $status')
    told = {}
    for jobs in (1, 2):
        pathlib.Path("log").write_text("")
        told[jobs] = reproduce("--quick", "--quiet", "--jobs", str(jobs), "books", "ball_drop", program=program)
        assert most_at_once("log") == jobs, (jobs, most_at_once("log"))
    assert list(told[1]) == list(told[2])
    for name, entry in told[1].items():
        assert entry["rows"] == told[2][name]["rows"] and entry["rows"], name


def commands_wait_for_room():
    sys.path.insert(0, str(ROOT / "study"))
    from reproduction.frame.context import Context, Room
    program = impostor(f'echo begins >> {os.getcwd()}/log; sleep 0.2; echo ends >> {os.getcwd()}/log; exit 0')
    for places, most in ((1, 3), (2, 1)):
        pathlib.Path("log").write_text("")
        context = Context(program, ".", True, room=Room(3))
        context.together(lambda k, places=places: context.command(program, "sim", [k], places=places), range(6))
        assert most_at_once("log") == most, (places, most_at_once("log"))


def figures_of_another_machine_are_recorded_with_its_name():
    sys.path.insert(0, str(ROOT / "study"))
    from reproduction.frame import command, record, verdict
    reproduce("books", "--quiet")
    told = json.loads(pathlib.Path("told.json").read_text())
    there = told["measured"] = {"date": "2001-02-03", "commit": "abcdef", "machine": "another"}
    pathlib.Path("there.json").write_text(json.dumps(told))
    kept, record.PATH = record.PATH, pathlib.Path("record.json")
    try:
        command.keep_file("there.json", command.experiments(), verdict.load())
        entry = json.loads(record.PATH.read_text())["experiments"]["books"]
    finally:
        record.PATH = kept
    assert entry["measured"] == there, entry
    assert {row["figure"]: row["value"] for row in entry["rows"]} == {row["figure"]: row["value"] for row in told["experiments"][0]["rows"]}


def names_that_are_none_are_refused():
    done = subprocess.run([ROOT / "study" / "reproduce.py", "clutter", "nothing"], capture_output=True, text=True,
                          env={**os.environ, "SIM_PROGRAM": SIM})
    assert done.returncode == 2 and "no experiment nothing" in done.stderr, done


def bounds_are_kept_or_missed_at_their_edges():
    sys.path.insert(0, str(ROOT / "study"))
    sys.dont_write_bytecode = True
    from reproduction.frame import verdict
    for bound, inside, outside in (({"most": 2}, 2, 2.01), ({"least": 2}, 2, 1.99), ({"near": [2, 0.5]}, 2.5, 2.51), ({"within": [1, 2]}, 1, 0.99),
                                   ({"equal": 0}, 0, 1), ({"most": 2}, 0, float("nan")), ({"least": 2}, 3, float("inf"))):
        assert verdict.judge(bound, inside, False) == "pass" and verdict.judge(bound, outside, False) == "miss", bound
    rule = {"most": 1, "basis": "paper", "known": "why"}
    assert [verdict.judge(rule, value, False) for value in (1, 2, None)] == ["pass", "known", "failed"]
    rule = {"most": 1, "basis": "observed"}
    assert [verdict.judge(rule, value, False) for value in (1, 2)] == ["observed", "miss"]
    assert [verdict.judge({"most": 1, "quick": "info"}, 2, quick) for quick in (True, False)] == ["info", "miss"]
    for text in ('[a.b]\nquantity = "x"\n', '[a.b]\nquantity = "x"\nsource = "y"\nmost = 1\nleast = 1\n',
                 '[a.b]\nquantity = "x"\nsource = "y"\nmsot = 1\n', '[a.b]\nquantity = "x"\nsource = "y"\nmost = 1\n',
                 '[a.b]\nquantity = "x"\nsource = "y"\nmost = 1\nbasis = "guess"\n',
                 '[a.b]\nquantity = "x"\nsource = "y"\nbasis = "paper"\n'):
        pathlib.Path("rules.toml").write_text(text)
        try:
            verdict.load(pathlib.Path("rules.toml"))
            assert False, text
        except verdict.Mistake:
            pass


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as kept:
        KEPT = os.path.join(kept, "page.html")
        sys.exit(tap.run(tap.cases_of(globals())))
