#!/usr/bin/env python3
"""Do the programs of tools/ and study/ say in one sentence what is wrong with a command line, and does a release tag the tree?
Prints TAP.

    tools.py SIM [WORD]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import tap  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
WORD = sys.argv[2] if len(sys.argv) > 2 else ""
STUDIES = ("ablation", "beside", "compare", "league", "nonsmooth", "profile", "refinements", "reproduce", "solvers", "stands")
TOOLS = ("gallery", *STUDIES)
AUTHOR = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **{f"GIT_{role}_{field}": "someone@example.org" for role in ("AUTHOR", "COMMITTER")
                                                          for field in ("NAME", "EMAIL")}}


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
    for tool in (*TOOLS, "figures", "release"):
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


def a_release_is_a_commit_and_a_tag_and_is_refused_where_the_tree_is_not_ready():
    with tempfile.TemporaryDirectory() as tree:
        def git(*words):
            return subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True, check=True, env=AUTHOR).stdout

        def release(*words):
            return subprocess.run([os.path.join(tree, "tools", "release"), *words, "--untested"], capture_output=True, text=True,
                                  check=False, env=AUTHOR)

        def refused(version, saying):
            done = release(version)
            assert done.returncode in (2, 3) and not done.stdout, done
            assert done.stderr.startswith("tools/release: ") and done.stderr.count("\n") == 1 and saying in done.stderr, done.stderr

        def text(path):
            return pathlib.Path(tree, path).read_text(encoding="utf-8")

        for path in ("meson.build", "CITATION.cff", "CHANGELOG.md", "include/sim/base.h", "tools/release", "tools/command_line.py"):
            pathlib.Path(tree, path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), os.path.join(tree, path))
        head, _, old = text("CHANGELOG.md").partition("## [Unreleased]\n")
        old = old[old.index("## ["):]
        for news, subject in (("", "none"), ("\n- Bodies fall upwards.\n\n", "some")):
            pathlib.Path(tree, "CHANGELOG.md").write_text(f"{head}## [Unreleased]\n{news}{old}", encoding="utf-8")
            if not news:
                git("init", "--quiet")
            git("add", "--all")
            git("commit", "--quiet", "--message", subject)
            if not news:
                refused("99.0.0", "nothing stands under Unreleased")
        refused("99", "expected three numbers")
        refused("0.0.1", "does not come after it")
        pathlib.Path(tree, "meson.build").write_text(text("meson.build") + "\n", encoding="utf-8")
        refused("99.0.0", "uncommitted changes")
        git("checkout", "--quiet", "meson.build")
        git("tag", "v99.0.0")
        refused("99.0.0", "there is a tag v99.0.0 already")
        git("tag", "--delete", "v99.0.0")
        done = release("99.0.0")
        assert done.returncode == 0, done
        assert git("log", "-1", "--format=%s") == "release: 99.0.0\n" and not git("status", "--porcelain")
        assert git("tag", "--points-at", "HEAD") == "v99.0.0\n" and "upwards" in git("tag", "--list", "--format=%(contents)")
        assert "version: '99.0.0'" in text("meson.build") and "version: 99.0.0\n" in text("CITATION.cff") and '"99.0.0"' in text("include/sim/base.h")
        dated = text("CHANGELOG.md").partition("## [Unreleased]\n\n## [99.0.0] - ")[2]
        assert re.match(r"\d{4}-\d\d-\d\d\n\n- Bodies fall upwards\.\n", dated), dated[:80]


sys.exit(tap.run(tap.cases_of(globals(), WORD)))
