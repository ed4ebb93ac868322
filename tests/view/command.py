#!/usr/bin/env python3
"""How does the program make pages: when, where, and what does it say where it cannot?  Prints TAP.

    command.py SIM
"""
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout
SCENE = """{"sim": 1, "world": {"step": 0.001, "duration": 0.5}, "record": {"signals": ["poses"]},
 "bodies": [{"name": "arm", "joint": {"type": "hinge", "axis": [0, 1, 0]}, "q_deg": 60,
             "shapes": [{"type": "box", "size": [0.1, 0.1, 1], "density": 1000, "pose": {"position": [0, 0, -0.5]}}]}]}"""


def sim(*words, status=0, **environment):
    done = subprocess.run([SIM, *map(str, words)], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


def refused(*words, status=2):
    """The one sentence."""
    said = sim(*words, status=status).stderr
    assert said.startswith("sim: error: ") and said.count("\n") == 1, said
    return said


def fake_browser(status=0):
    pathlib.Path("browser").write_text(f'#!/bin/sh\necho "$1" > opened\nexit {status}\n')
    os.chmod("browser", 0o755)
    return os.path.abspath("browser")


def the_browser_is_given_the_page_once_it_is_whole():
    said = sim("scene.json", "--view", "--html", "run.html", BROWSER=fake_browser()).stderr
    assert "run.html (HTML page)" in said, said
    assert pathlib.Path("opened").read_text().strip() == "run.html"
    assert pathlib.Path("run.html").read_text().rstrip().endswith("</html>")


def without_a_name_the_page_stands_among_temporary_files():
    said = sim("scene.json", "--view", "--quiet", BROWSER=fake_browser(), TMPDIR=os.getcwd()).stderr
    path = re.search(r"the page is (\S+)", said).group(1)
    assert path.startswith(os.getcwd()) and os.path.getsize(path) > 100000
    assert pathlib.Path("opened").read_text().strip() == path


def no_browser_is_no_error():
    said = sim("scene.json", "--view", "--quiet", BROWSER=fake_browser(1), PATH=os.getcwd(), TMPDIR=os.getcwd()).stderr
    assert "open the page by hand" in said


def pages_of_one_scene_are_the_same_to_the_bit():
    sim("scene.json", "--html", "a.html", "--quiet")
    sim("scene.json", "--html", "b.html", "--quiet", "--threads", 3)
    assert pathlib.Path("a.html").read_bytes() == pathlib.Path("b.html").read_bytes()


def places_where_no_page_can_stand_are_refused_before_the_run():
    assert "no such folder" in refused("scene.json", "--html", "no such folder/a.html", status=3)
    assert "would be overwritten" in refused("scene.json", "--html", "scene.json")
    assert "written twice" in refused("scene.json", "--html", "a.csv", "--out", "a.csv")
    assert "--html" in refused("scene.json", "--html", "a.html", "--contacts")
    assert not os.path.exists("a.csv")


def sim_view_says_what_is_wrong_in_one_sentence():
    assert "--help" in refused("view")
    refused("view", "nothing.h5", status=sim_status("view", "nothing.h5"))
    pathlib.Path("text.h5").write_text("no HDF5 at all")
    assert "is not an HDF5 file" in refused("view", "text.h5")
    pathlib.Path("cut.h5").write_bytes(b"\x89HDF\r\n\x1a\n and no more")
    assert "starts as HDF5, but cannot be opened" in refused("view", "cut.h5") or not HDF5
    assert "sim scene.json --view" in refused("view", "scene.json")
    assert "--solver, --start and --set need --live" in refused("view", "text.h5", "--solver", "pgs")
    sim("scene.json", "--out", "run.csv", "--quiet")
    assert "HDF5" in refused("view", "run.csv", "--html", "x.html")
    assert not os.path.exists("x.html")


def sim_status(*words):
    return subprocess.run([SIM, *words], capture_output=True, check=False).returncode


def sim_view_needs_the_scene_that_the_run_was_of():
    if not HDF5:
        return "this build has no HDF5"
    sim("scene.json", "--out", "run.h5", "--quiet")
    pathlib.Path("other.json").write_text(SCENE.replace('"arm"', '"leg"').replace("]}]}", "]}, {\"name\": \"more\"}]}"))
    assert "holds neither poses of the scene's 2 bodies" in refused("view", "run.h5", "--scene", "other.json", "--html", "x.html")
    pathlib.Path("other.json").write_text(SCENE.replace('"arm"', '"leg"'))
    assert "warning" in sim("view", "run.h5", "--scene", "other.json", "--html", "x.html").stderr
    sim("view", "run.h5", "--scene", "scene.json", "--html", "x.html", "--quiet")
    assert os.path.getsize("x.html") > 100000


def the_command_is_in_help_manual_and_completion():
    assert "sim view" in sim("--help").stdout and "--html" in sim("view", "--help").stdout
    assert "--scene" in sim("--man").stdout.replace("\\-", "-") and "view" in sim("--completion").stdout

if __name__ == "__main__":
    sys.exit(tap.run(tap.cases_of(globals()), before=lambda: pathlib.Path("scene.json").write_text(SCENE)))
