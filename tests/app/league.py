#!/usr/bin/env python3
"""Does study/league.py count what it says?  Prints TAP.

    league.py SIM PROBLEMS
"""
import json
import math
import os
import stat
import subprocess
import sys
import tempfile

SIM, PROBLEMS = (os.path.abspath(path) for path in sys.argv[1:3])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout
sys.path.insert(0, os.path.join(ROOT, "study"))
import league_run
import shared


def league(*words, program=SIM):
    done = subprocess.run([os.path.join(ROOT, "study", "league.py"), *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "SIM_PROGRAM": program})
    assert done.returncode == 0, done.stderr
    return done.stdout


def names():
    return [card["name"] for card in league_run.solvers(SIM)]


def every_solver_gets_every_problem_and_each_is_counted_once():
    """Of a robot and a soft body, too, in long runs."""
    told = json.loads(league("--quick", "--only", "stack,push" if "SIM_TEST_LONG" in os.environ else "contact/stack,push", "--json", PROBLEMS))
    assert set(told["leagues"]) == {"scenes", os.path.basename(PROBLEMS)}
    assert len(told["entries"]) == len(told["problems"]) * len(names())
    for league_of_set in told["leagues"].values():
        assert [figures["solver"] for figures in league_of_set] == names()
        for figures in league_of_set:
            assert figures["says_solved"] + sum(figures["gave_up"].values()) == figures["problems"], figures
            solved = list(figures["solved"].values())
            assert solved == sorted(solved, reverse=True) and not figures["wrong"], figures
            assert (figures["own"] is None) == (figures["solver"] not in ("sap", "mlcp-pfb-rlm", "mlcp-pfb-plm", "mlcp-pivot"))
    for entry in told["entries"]:
        for level, seconds in entry["to"].items():
            assert seconds is None or (entry["E"] <= float(level) and 0 < seconds <= entry["seconds"]), entry
    fastest = [min(figures["profile"]["1e-08"][0] for figures in told["leagues"][name]) for name in told["leagues"]]
    assert fastest == [1, 1], "somebody is the fastest"


def tables_and_picture_can_be_made_of_earlier_figures():
    with open("told.json", "w", encoding="utf-8") as file:
        file.write(league("--quick", "--only", "push", "--json", "--solver", "canal,pgs"))
    said = league("--from", "told.json", "--quick")
    assert "| `canal` | 1 | 1 | 1 |" in said and "scenes: 1 problems of" in said


def options_behind_a_solver_are_its_own_and_stay():
    loose, short = "pgs:max_iterations=2,tolerance=1e-3", "pgs:max_iterations=2"
    told = json.loads(league("--quick", "--only", "contact/stack", "--json", "--solver", f"{loose},canal,{loose}", "--solver", short))
    figures = {figures["solver"]: figures for figures in told["leagues"]["scenes"]}
    assert list(figures) == [loose, "canal", short]
    assert figures[short]["gave_up"] == {"out of iterations": 1} and max(entry["iterations"] for entry in told["entries"][::2]) == 2
    assert figures["canal"]["solved"]["1e-08"] == 1 and not any(row["wrong"] for row in figures.values())
    loose = json.loads(league("--only", "contact/stack", "--json", "--solver", "pgs:tolerance=1e-3", "--picture", os.path.abspath("told.svg")))
    assert all(entry["gave_up"] is None and entry["to"]["1e-08"] is None for entry in loose["entries"]), "one tolerance for all levels"
    with open("told.svg", encoding="utf-8") as file:
        assert "pgs:tolerance=1e-3" in file.read()


def steps_are_the_first_the_fullest_and_the_last_with_anything_to_do():
    with open("run.csv", "w", encoding="ascii") as file:
        file.write("step,contacts,solver_total\n1,0,0\n2,3,0\n3,1,4\n4,5,9\n5,5,2\n6,2,1\n7,4,0\n")
    assert league_run.wanted_steps("run.csv") == [("landing", 3), ("fullest", 4), ("rest", 6)]
    with open("run.csv", "w", encoding="ascii") as file:
        file.write("step,energy\n1,0\n")
    assert league_run.wanted_steps("run.csv") == []


def profiles_climb_by_one_problem_at_a_time_and_leave_out_what_is_not_solved():
    points = shared.profile([1, 3, 50, 2000, math.inf])
    assert points == [(1, 0), (1, 0.2), (3, 0.4), (50, 0.6), (1000, 0.6)]


def crashes_and_hangs_are_told_as_such():
    impostor = "#!/bin/sh\ncase \"$*\" in *.h5*pgs*) kill -SEGV $$;; *.h5*canal*) while :; do :; done;; esac\nexec " + SIM + ' "$@"\n'
    with open("sim", "w", encoding="utf-8") as file:
        file.write(impostor)
    os.chmod("sim", stat.S_IRWXU)
    told = json.loads(league("--quick", "--only", "push", "--json", "--solver", "pgs,canal,nsn", program=os.path.abspath("sim")))
    assert [figures["gave_up"] for figures in told["leagues"]["scenes"]] == [{"crash": 1}, {"killed": 1}, {}], told["leagues"]


TESTS = [value for name, value in list(globals().items())
         if callable(value) and getattr(value, "__module__", None) == "__main__" and name not in ("league", "names")]
print(f"1..{len(TESTS) if HDF5 else 0}", flush=True)
failed = 0
for number, test in enumerate(TESTS if HDF5 else [], 1):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            test()
            word, reason = "ok", ""
        except Exception as caught:  # one failure must not hide the others
            failed += 1
            word, reason = "not ok", f"\n# {caught!r}"
        print(f"{word} {number} - {test.__name__.replace('_', ' ')}{reason}", flush=True)
        os.chdir("/")
sys.exit(failed > 0)
