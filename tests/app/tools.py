#!/usr/bin/env python3
"""Do the programs of tools/ and study/ say in one sentence what is wrong with a command line?  Prints TAP.

    tools.py SIM [WORD]
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import tap  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
WORD = sys.argv[2] if len(sys.argv) > 2 else ""
STUDIES = ("ablation", "beside", "compare", "league", "nonsmooth", "profile", "refinements", "reproduce", "solvers", "stands")
TOOLS = ("gallery", *STUDIES)


def path_of(tool):
    return f"study/{tool}.py" if tool in STUDIES else f"tools/{tool}"


def run(tool, *words):
    return subprocess.run([os.path.join(ROOT, path_of(tool)), *words], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "SIM_PROGRAM": SIM, "PYTHONDONTWRITEBYTECODE": "1"})


def refuses(tool, *words, saying, status=2):
    done = run(tool, *words)
    assert done.returncode == status and not done.stdout, (tool, words, done)
    assert done.stderr.startswith(path_of(tool) + ": ") and done.stderr.count("\n") == 1 and saying in done.stderr, (tool, words, done.stderr)


def each_tells_what_it_does():
    for tool in (*TOOLS, "figures"):
        done = run(tool, "--help")
        assert done.returncode == 0 and done.stdout.startswith(path_of(tool)) and not done.stderr, done


def options_that_are_none_are_refused():
    for tool in TOOLS:
        refuses(tool, "x" if tool == "profile" else "growth" if tool == "solvers" else "--quick" if tool == "league" else "--no-such",
                "--no-such", saying="--no-such")


def values_that_are_missing_or_no_numbers_are_told():
    refuses("stands", "--only", saying="--only: expected one argument")
    refuses("stands", "--limit", "soon", saying="--limit: invalid float value: 'soon'")
    refuses("beside", "--limit", "soon", saying="--limit: invalid float value: 'soon'")
    refuses("ablation", "--penalty", saying="--penalty: expected one argument")
    refuses("league", "--jobs", "many", saying="--jobs: invalid int value: 'many'")


def names_that_are_none_are_told():
    refuses("stands", "newton", saying="no solver 'newton'; there are ")
    refuses("stands", "pgs:sweeps=3", saying="the solver pgs has no option 'sweeps'")
    refuses("league", "--solver", "canal,newton", saying="no solver 'newton'; there are ")
    refuses("league", "--solver", "pgs:tolerance=1e-6,sweeps=3", saying="the solver pgs has no option 'sweeps'")
    refuses("stands", "--only", "castle", saying="no scene's name holds 'castle'")
    refuses("solvers", "speed", saying="'speed'")
    refuses("solvers", saying="required: what")
    refuses("gallery", "castle", saying="no scene's path holds castle")
    refuses("ablation", "castle", saying="castle")
    refuses("figures", "arch", saying="there is no 'arch'")
    refuses("profile", "none.json", saying="No such file", status=1)
    refuses("profile", os.path.join(ROOT, "README.md"), saying="not what sim solve --json printed", status=1)


sys.exit(tap.run(tap.cases_of(globals(), WORD)))
