"""`sim bench contact` as its users meet it: what it times, prints and refuses.

    bench.py SIM SCENES [WORD]     runs the tests whose names hold WORD
"""
import json
import os
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402
import terminal  # noqa: E402

SIM, SCENES = (os.path.abspath(path) for path in sys.argv[1:3])
WORD = sys.argv[3] if len(sys.argv) > 3 else ""


def sim(*arguments, status=0):
    done = subprocess.run([SIM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}"
    return done


def bench(*arguments, status=0):
    return sim("bench", "contact", *arguments, "--quick", "--repeat", 1, status=status)


def bench_json(*arguments):
    return json.loads(bench(*arguments, "--json").stdout)


def refuses(words, *arguments, status=2):
    said = sim("bench", *arguments, status=status).stderr
    assert words in said, f"'{words}' is not in: {said}"


def the_stages_of_a_step_add_up_to_the_whole():
    told = bench_json("clutter-8", "quadrupeds-8", "pendulum-12")
    assert (told["format"], told["format_version"], told["repeat"]) == ("sim bench contact", 1, 1)
    assert [c["case"] for c in told["cases"]] == ["clutter-8", "quadrupeds-8", "pendulum-12"]
    assert [(c["bodies"], c["velocities"]) for c in told["cases"]] == [(8, 48), (104, 144), (12, 12)]
    for case in told["cases"]:
        spent = case["seconds"]
        stages = [spent[name] for name in ("free", "collide", "build", "solve", "integrate")]
        parts = [spent[name] for name in ("regularise", "solver", "touchdown", "judge")]
        assert min(stages) >= 0 < spent["free"] and abs(sum(stages) - spent["whole"]) <= 1e-9 * spent["whole"], case
        touched = case["contacts"] > 0
        assert abs(sum(parts) - touched * spent["solve"]) <= 1e-9 * spent["whole"] and spent["factor"] <= spent["solver"]
        assert case["failed"] is None and case["unsolved"] == 0 and case["momentum"]["worst"] <= 1e-6
        for figure in ("E", "own", "momentum", "slip", "penetration"):
            assert 0 <= case[figure]["mean"] <= case[figure]["worst"] * (1 + 1e-9), (figure, case)


def several_solvers_answer_the_same_steps():
    names = [(c["case"], c["solver"]) for c in bench_json("clutter-8", "--solver", "pgs,sap")["cases"]]
    assert names == [("clutter-8", "pgs"), ("clutter-8", "sap")]
    again = bench_json("clutter-8", "--solver", "pgs", "--solver", "sap")["cases"]
    assert [(c["case"], c["solver"]) for c in again] == names
    pgs, sap = again
    assert pgs["factor_flop"] == 0 and sap["factorisations"] > 0 and sap["factor_flop"] > 0 and sap["contacts"] > 0


def three_sizes_tell_how_time_grows():
    told = bench_json("clutter-8", "clutter-40", "clutter-80", "clutter-open-8")
    assert [(g["family"], g["least"], g["most"]) for g in told["growth"]] == [("clutter", 8, 80)]
    assert 0.3 < told["growth"][0]["free"] < 2  # linear, but for the noise of a few steps
    assert "grows" in bench("clutter-8", "clutter-40", "clutter-80").stdout


def threads_answer_with_the_same_bits():
    case = bench_json("clutter-40", "--threads", 2)["cases"][0]
    assert (case["threads"]["count"], case["threads"]["bits"]) == (2, "same")
    assert case["threads"]["wall_alone"] > 0 and case["threads"]["wall_together"] > 0


def every_case_is_a_scene_that_can_be_opened():
    lines = sim("bench", "contact", "--list").stdout.splitlines()
    assert len(lines) > 15
    for line in lines[::len(lines) // tap.part_of(len(lines))]:
        name, scene, rest = line.split(None, 2) if line.count(" --") else (*line.split()[:2], "")
        settings = shlex.split(rest[rest.find("--set"):]) if "--set" in rest else []
        sim(os.path.join(SCENES, scene), *settings, "--validate")


def a_fall_is_timed_from_its_first_step_on():
    rest, fall = bench_json("fall-8", "clutter-8")["cases"]
    assert (rest["case"], fall["case"], rest["bodies"], fall["bodies"]) == ("clutter-8", "fall-8", 8, 8)
    assert fall["E"]["worst"] > 1 > rest["E"]["worst"], (fall, rest)  # the law of an impact is far from rigid
    assert fall["integrator"] == rest["integrator"] == "midpoint"
    assert "shift" in bench("fall-8").stdout.splitlines()[2]


def values_of_the_scenes_can_be_set():
    soft, stiff = (bench_json("clutter-8", "--set", f"world/step={step}")["cases"][0] for step in (0.001, 0.01))
    assert soft["contacts"] < stiff["contacts"]  # in the same few steps nothing has fallen far


def solvers_are_named_with_their_options():
    names = [c["solver"] for c in bench_json("clutter-8", "--solver", "pgs:max_iterations=3:acceleration=none,sap")["cases"]]
    assert names == ["pgs:max_iterations=3:acceleration=none", "sap"]
    refuses("there is no case 'dish' (did you mean 'dishes'?)", "contact", "dish")
    refuses("did you mean 'max_iterations'", "contact", "dishes", "--solver", "pgs:max_iteration=3")
    refuses("OPTION=VALUE", "contact", "clutter-8", "--solver", "pgs:max_iterations")
    refuses("takes a whole number", "contact", "dishes", "--solver", "pgs:max_iterations=some")
    refuses("study/compare.py", "solvers", "nut")


def refuses_what_it_does_not_know():
    refuses("no benchmark given")
    refuses("no benchmark given", "contacts")
    refuses("did you mean 'clutter-40'", "contact", "cluter-40")
    refuses("there is no solver 'sop'", "contact", "--solver", "sap,sop")
    refuses("did you mean --scale", "contact", "--scal3")
    refuses("No such file", "contact", "clutter-8", "--scenes", "/nowhere", status=3)


def progress_counts_cases_on_a_terminal_only():
    command = ("bench", "contact", "clutter-8", "clutter-open-8", "--quick", "--repeat", 1)
    seen = terminal.standard_error_of((SIM, *command))
    assert "] 1 of 2: " in seen and "2 of 2: clutter-open-8" in seen and seen.rstrip(" ").endswith("\r"), seen
    assert all(len(line) < 80 for line in seen.split("\r")), seen
    assert sim(*command).stderr == ""


def a_scene_that_is_refused_fails_its_case_alone():
    done = bench("clutter-8", "--set", "world/step=-1", status=2)
    assert "clutter-8" in done.stderr and "failed" in done.stdout


sys.exit(tap.run(tap.cases_of(globals(), WORD), folders=False))