"""`sim bench contact` and `sim bench solvers` as their users meet them: what they time, print and refuse.

    bench.py SIM SCENES [WORD]     runs the tests whose names hold WORD
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

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


def contest(*arguments):
    return json.loads(sim("bench", "solvers", *arguments, "--quick", "--repeat", 1, "--json").stdout)


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
    for line in lines:
        name, scene, rest = line.split(None, 2) if line.count(" --") else (*line.split()[:2], "")
        settings = shlex.split(rest[rest.find("--set"):]) if "--set" in rest else []
        sim(os.path.join(SCENES, scene), *settings, "--validate")


def values_of_the_scenes_can_be_set():
    soft, stiff = (bench_json("clutter-8", "--set", f"world/step={step}")["cases"][0] for step in (0.001, 0.01))
    assert soft["contacts"] < stiff["contacts"]  # in the same few steps nothing has fallen far


def solvers_meet_the_same_problems_in_every_run():
    def figures(told):
        return [[(a["outcome"], a["E"], a["lee"], a["iterations"]) for a in e["answers"]] for e in told["entries"]]
    first, again = (contest("pour-9", "--solver", "pgs,canal") for _ in range(2))
    assert first["format"] == "sim bench solvers" and figures(first) == figures(again)
    assert [(e["case"], e["solver"], len(e["answers"])) for e in first["entries"]] == [("pour-9", s, 2) for s in ("pgs", "canal")]
    for entry in first["entries"]:
        assert entry["bodies"] == 9 and entry["velocities"] == 54 and entry["contacts_least"] >= 9
        assert all(a["outcome"] == "solved" and a["E"] <= 1e-8 for a in entry["answers"]), entry


def runs_are_summed_up_step_by_step():
    plain, helped = contest("cube-5-mu1.0", "--solver", "incp:start=sticking:restart=off,incp:start=sticking")["entries"]
    for entry in (plain, helped):
        runs, answers = entry["runs"], entry["answers"]
        assert runs["count"] == 1 and runs["steps"] == len(answers) and runs["steps"] + runs["idle"] == 200
        assert runs["iterations_most"] == max(a["iterations"] for a in answers)
        assert abs(runs["unsolved_1e-8"] - sum(a["E"] > 1e-8 for a in answers) / len(answers)) < 1e-12
        whole, all_of = (sum(a[name] for a in answers) for name in ("whole_steps", "iterations"))
        assert 0 < whole <= all_of and abs(runs["whole_steps"] - whole / all_of) < 1e-12
    assert plain["runs"]["restarted"] == plain["runs"]["searches"] == 0
    assert helped["runs"]["unsolved_1e-8"] < 0.01


def what_a_solver_does_not_count_is_no_figure():
    rows = [line.split(" | ") for line in sim("bench", "solvers", "cube-5-mu0.5", "--quick", "--repeat", 1, "--solver", "pgs,canal,incp")
            .stdout.split("Newton's point")[1].splitlines()[2:]]
    assert [[cell == "-" for cell in row[5:8]] for row in rows] == [[True] * 3, [True, False, False], [False] * 3], rows
    runs = [e["runs"] for e in contest("cube-5-mu0.5", "--solver", "pgs,incp")["entries"]]
    assert [[r[name] is None for name in ("whole_steps", "restarted", "searches")] for r in runs] == [[True] * 3, [False] * 3]


def families_are_named_up_to_their_dash():
    def cases(name):
        return [e["case"] for e in contest(name, "--solver", "sap:max_iterations=1")["entries"]]
    assert cases("cube") == [f"cube-{balls}-mu{mu}" for balls in (5, 10, 15) for mu in ("0.1", "0.5", "1.0", "2.0")]
    assert cases("cube-5") == [f"cube-5-mu{mu}" for mu in ("0.1", "0.5", "1.0", "2.0")]
    refuses("there is no case 'cub'", "solvers", "cub")
    refuses("there is no case 'cube-'", "solvers", "cube-")


def dishes_are_pushed_differently_each_time():
    one, other = contest("dishes", "--solver", "sap")["entries"][0]["answers"]
    assert one["E"] != other["E"] and one["own"] < 1e-5 < one["E"]  # the law of sap is another
    contacts = [a["open"] + a["stick"] + a["slide"] for a in (one, other)]
    assert contacts[0] == contacts[1] > 200


def rounds_of_canal_that_get_stuck_do_not_keep_it_from_the_answer():
    """Most contacts of the dishes slide, and more push than the motion can tell apart.  One or two of the hundred are a matter of
    rounding, and so of the compiler."""
    told = json.loads(sim("bench", "solvers", "dishes", "--solver", "canal", "--repeat", 1, "--json").stdout)
    answers = told["entries"][0]["answers"]
    rounds, E = (sorted(answer[figure] for answer in answers) for figure in ("rounds", "E"))
    assert len(answers) == 100
    assert E[97] <= 1e-8 and E[-1] <= 1e-7, E[97:]
    assert all(answer["lee"] <= 1e-8 for answer in answers), max(answer["lee"] for answer in answers)
    assert rounds[50] <= 20 and rounds[97] <= 100, (rounds[50], rounds[97:])


def less_effort_leaves_a_greater_error():
    few, many = (contest("nut", "--solver", f"canal:rounds={k}")["entries"][0] for k in (2, 200))
    assert few["solver"] == "canal:rounds=2"
    assert all(a["rounds"] == 2 and a["outcome"] == "at its limit" for a in few["answers"])
    assert all(a["E"] < 0.1 * b["E"] for a, b in zip(many["answers"], few["answers"]))


def equal_time_is_for_those_who_are_not_limited_already():
    told = contest("pour-18", "--solver", "canal,pgs,pgs:max_iterations=5,sap", "--equal-time")
    entries = [(e["solver"], e["budget"]) for e in told["entries"]]
    assert entries == [(s, "its own") for s in ("canal", "pgs", "pgs:max_iterations=5", "sap")] + [("pgs", "time of the first")]


def curves_fall_with_effort():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "curves.csv")
        contest("pour-18", "--solver", "canal", "--curves", path)
        with open(path, encoding="ascii") as file:
            head, *rows = [line.strip().split(",") for line in file]
    assert head[:7] == ["case", "solver", "problem", "effort", "iterations", "seconds", "E"]
    E = [float(row[6]) for row in rows if row[2] == "0"]
    assert [row[3] for row in rows if row[2] == "0"] == [str(k + 1) for k in range(len(E))]
    assert len(E) >= 3 and all(after <= before for before, after in zip(E, E[1:]))


def problems_are_written_for_other_programs():
    if "HDF5 absent" in sim("--version").stdout:
        return
    with tempfile.TemporaryDirectory() as folder:
        told = contest("pour-9", "--solver", "pgs", "--out", folder)["entries"][0]["answers"]
        done = json.loads(sim("solve", folder, "--solver", "pgs", "--guess", "--json").stdout)["problems"]
    assert [os.path.basename(p["file"]) for p in done] == ["pour-9_000.hdf5", "pour-9_001.hdf5"]
    assert [p["E"] for p in done] == [a["E"] for a in told]


def problems_are_written_with_the_law_of_their_scene():
    """Balls in a cube are not pushed apart: a file that did not say so would be another problem."""
    solver = "incp:start=sticking:restart=off"
    with tempfile.TemporaryDirectory() as folder:
        told = contest("cube-5-mu0.5", "--solver", solver, "--out", folder)["entries"][0]["answers"]
        settings = [word for setting in solver.split(":")[1:] for word in ("--set", setting)]
        done = subprocess.run([SIM, "solve", folder, "--solver", "incp", *settings, "--json"], capture_output=True, text=True, timeout=300)
    files = sorted(json.loads(done.stdout)["problems"], key=lambda one: one["file"])
    assert len(files) == len(told) and sum(a["iterations"] != b["iterations"] for a, b in zip(files, told)) <= 0.02 * len(told), "but for rounding"


def masses_are_no_harder_if_the_heavy_ones_are_below():
    """Impulses are scaled by the inverse mass that they move: neither units nor what is below count."""
    cases = ("ratio-1", "ratio-light-1e5", "ratio-down-1e5", "ratio-scale-1e-3", "ratio-scale-1e3")
    told = {e["case"]: e["answers"] for e in contest(*cases, "--solver", "nsn:friction=fixed-point")["entries"]}
    steps = {case: sum(a["iterations"] for a in answers) / len(answers) for case, answers in told.items()}
    assert set(told) == set(cases) and all(a["E"] <= 1e-8 for answers in told.values() for a in answers)
    assert max(steps.values()) <= 1.5 * steps["ratio-1"], steps


def solvers_are_named_with_their_options():
    names = [c["solver"] for c in bench_json("clutter-8", "--solver", "pgs:max_iterations=3:acceleration=none,sap")["cases"]]
    assert names == ["pgs:max_iterations=3:acceleration=none", "sap"]
    refuses("there is no case 'nit' (did you mean 'nut'?)", "solvers", "nit")
    refuses("did you mean 'max_iterations'", "solvers", "nut", "--solver", "pgs:max_iteration=3")
    refuses("OPTION=VALUE", "contact", "clutter-8", "--solver", "pgs:max_iterations")
    refuses("takes a whole number", "solvers", "nut", "--solver", "pgs:max_iterations=some")
    assert "nut" in sim("bench", "solvers", "--list").stdout


def refuses_what_it_does_not_know():
    refuses("which benchmark?")
    refuses("which benchmark?", "contacts")
    refuses("did you mean 'clutter-40'", "contact", "cluter-40")
    refuses("there is no solver 'sop'", "contact", "--solver", "sap,sop")
    refuses("did you mean --scale", "contact", "--scal3")
    refuses("No such file", "contact", "clutter-8", "--scenes", "/nowhere", status=3)


def progress_counts_cases_on_a_terminal_only():
    for words, last in ((("contact", "clutter-8", "clutter-open-8"), "2 of 2: clutter-open-8"), (("solvers", "nut"), "2 of 2: nut, pgs")):
        command = ("bench", *words, "--quick", "--repeat", 1)
        seen = terminal.standard_error_of((SIM, *command))
        assert "] 1 of 2: " in seen and last in seen and seen.rstrip(" ").endswith("\r"), seen
        assert all(len(line) < 80 for line in seen.split("\r")), seen
        assert sim(*command).stderr == ""


def a_scene_that_is_refused_fails_its_case_alone():
    done = bench("clutter-8", "--set", "world/step=-1", status=2)
    assert "clutter-8" in done.stderr and "failed" in done.stdout


sys.exit(tap.run(tap.cases_of(globals(), WORD), folders=False))
