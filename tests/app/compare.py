"""study/compare.py as its users meet it: which problems, which figures, what it refuses.

    compare.py SIM [WORD]     runs the tests whose names hold WORD
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import tap  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
WORD = sys.argv[2] if len(sys.argv) > 2 else ""


def sim(*arguments):
    return subprocess.run([SIM, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=True)


def compare(*arguments, status=0):
    done = subprocess.run([os.path.join(ROOT, "study", "compare.py"), *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "SIM_PROGRAM": SIM})
    assert done.returncode == status, f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}"
    return done


def told(*arguments):
    return json.loads(compare(*arguments, "--quick", "--repeat", 1, "--json").stdout)


def refuses(words, *arguments, status=2):
    said = compare(*arguments, status=status).stderr
    assert words in said, f"'{words}' is not in: {said}"


def solvers_meet_the_same_problems_in_every_run():
    def figures(told):
        return [[(a["outcome"], a["E"], a["lee"], a["iterations"]) for a in e["answers"]] for e in told["entries"]]
    first, again = (told("pour-9", "--solver", "pgs,canal") for _ in range(2))
    assert first["format"] == "study compare" and figures(first) == figures(again)
    assert [(e["case"], e["solver"], len(e["answers"])) for e in first["entries"]] == [("pour-9", s, 2) for s in ("pgs", "canal")]
    for entry in first["entries"]:
        assert entry["bodies"] == 9 and entry["velocities"] == 54 and entry["contacts_least"] >= 9
        assert all(a["outcome"] == "solved" and a["E"] <= 1e-8 for a in entry["answers"]), entry


def runs_are_summed_up_step_by_step():
    plain, helped = told("cube-5-mu1.0", "--solver", "incp:start=sticking:restart=off,incp:start=sticking")["entries"]
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
    rows = [line.split(" | ") for line in compare("cube-5-mu0.5", "--quick", "--repeat", 1, "--solver", "pgs,canal,incp")
            .stdout.split("Newton's point")[1].splitlines()[2:]]
    assert [[cell == "-" for cell in row[5:8]] for row in rows] == [[True] * 3, [True, False, False], [False] * 3], rows
    runs = [e["runs"] for e in told("cube-5-mu0.5", "--solver", "pgs,incp")["entries"]]
    assert [[r[name] is None for name in ("whole_steps", "restarted", "searches")] for r in runs] == [[True] * 3, [False] * 3]


def families_are_named_up_to_their_dash():
    sys.path.insert(0, os.path.join(ROOT, "study"))
    from cases import chosen
    def chosen_by_command(name):
        return [e["case"] for e in told(name, "--solver", "sap:max_iterations=1")["entries"]]
    assert [case.name for case in chosen(["cube"])] == [f"cube-{balls}-mu{mu}" for balls in (5, 10, 15) for mu in ("0.1", "0.5", "1.0", "2.0")]
    assert chosen_by_command("clutter") == ["clutter-60", "clutter-520"]
    refuses("there is no case 'cub'", "cub")
    refuses("there is no case 'cube-'", "cube-")


def dishes_are_pushed_differently_each_time():
    one, other = told("dishes", "--solver", "sap")["entries"][0]["answers"]
    assert one["E"] != other["E"] and one["own"] < 1e-5 < one["E"]  # the law of sap is another
    contacts = [a["open"] + a["stick"] + a["slide"] for a in (one, other)]
    assert contacts[0] == contacts[1] > 200


def rounds_of_canal_that_get_stuck_do_not_keep_it_from_the_answer():
    """Most contacts of the dishes slide, and more push than the motion can tell apart.  One or two of the hundred are a matter of
    rounding, and so of the compiler."""
    found = json.loads(compare("dishes", "--solver", "canal", "--repeat", 1, "--json").stdout)
    answers = found["entries"][0]["answers"]
    rounds, E = (sorted(answer[figure] for answer in answers) for figure in ("rounds", "E"))
    assert len(answers) == 100
    assert E[97] <= 1e-8 and E[-1] <= 1e-7, E[97:]
    assert all(answer["lee"] <= 1e-8 for answer in answers), max(answer["lee"] for answer in answers)
    assert rounds[50] <= 20 and rounds[97] <= 100, (rounds[50], rounds[97:])


def less_effort_leaves_a_greater_error():
    few, many = told("nut", "--solver", "canal:rounds=2,canal:rounds=200")["entries"]
    assert few["solver"] == "canal:rounds=2"
    assert all(a["rounds"] == 2 and a["outcome"] == "at its limit" for a in few["answers"])
    assert all(a["E"] < 0.1 * b["E"] for a, b in zip(many["answers"], few["answers"]))


def equal_time_is_for_those_who_are_not_limited_already():
    found = told("pour-18", "--solver", "canal,pgs,pgs:max_iterations=5,sap", "--equal-time")
    entries = [(e["solver"], e["budget"]) for e in found["entries"]]
    assert entries == [(s, "its own") for s in ("canal", "pgs", "pgs:max_iterations=5", "sap")] + [("pgs", "time of the first")]


def curves_fall_with_effort():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "curves.csv")
        told("pour-18", "--solver", "canal", "--curves", path)
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
        found = told("pour-9", "--solver", "pgs", "--out", folder)["entries"][0]["answers"]
        done = json.loads(sim("solve", folder, "--solver", "pgs", "--guess", "--json").stdout)["problems"]
    assert [os.path.basename(p["file"]) for p in done] == ["pour-9_000.hdf5", "pour-9_001.hdf5"]
    assert [p["E"] for p in done] == [a["E"] for a in found]


def problems_are_written_with_the_law_of_their_scene():
    """Balls in a cube are not pushed apart: a file that did not say so would be another problem."""
    solver = "incp:start=sticking:restart=off"
    with tempfile.TemporaryDirectory() as folder:
        found = told("cube-5-mu0.5", "--solver", solver, "--out", folder)["entries"][0]["answers"]
        settings = [word for setting in solver.split(":")[1:] for word in ("--set", setting)]
        done = subprocess.run([SIM, "solve", folder, "--solver", "incp", *settings, "--json"], capture_output=True, text=True, timeout=300)
    files = sorted(json.loads(done.stdout)["problems"], key=lambda one: one["file"])
    assert len(files) == len(found) and sum(a["iterations"] != b["iterations"] for a, b in zip(files, found)) <= 0.02 * len(found), "but for rounding"


def masses_are_no_harder_if_the_heavy_ones_are_below():
    """Impulses are scaled by the inverse mass that they move: neither units nor what is below count."""
    cases = ("ratio-1", "ratio-light-1e5", "ratio-down-1e5", "ratio-scale-1e-3", "ratio-scale-1e3")
    found = {e["case"]: e["answers"] for e in told(*cases, "--solver", "nsn:friction=fixed-point")["entries"]}
    steps = {case: sum(a["iterations"] for a in answers) / len(answers) for case, answers in found.items()}
    assert set(found) == set(cases) and all(a["E"] <= 1e-8 for answers in found.values() for a in answers)
    assert max(steps.values()) <= 1.5 * steps["ratio-1"], steps


def names_that_are_none_are_refused():
    refuses("there is no case 'nit' (did you mean 'nut'?)", "nit")
    refuses("did you mean 'max_iterations'", "nut", "--solver", "pgs:max_iteration=3")
    refuses("takes a whole number", "nut", "--solver", "pgs:max_iterations=some")
    assert "nut" in compare("--list").stdout


def three_sizes_tell_how_time_grows():
    found = told("pour-9", "pour-18", "pour-27", "--solver", "pgs")
    assert [(one["family"], one["sizes"]) for one in found["growth"]] == [("pour", 3)]
    assert "grows" in compare("pour-9", "pour-18", "pour-27", "--solver", "pgs", "--quick", "--repeat", 1).stdout


sys.exit(tap.run([] if "HDF5 absent" in sim("--version").stdout else tap.cases_of(globals(), WORD), folders=False))
