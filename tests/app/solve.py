"""`sim solve` as its users meet it: what it prints, writes and refuses.

    solve.py SIM PROBLEMS [WORD]     runs the tests whose names hold WORD, each in a folder of its own
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402

SIM, PROBLEMS = (os.path.abspath(path) for path in sys.argv[1:3])
WORD = sys.argv[3] if len(sys.argv) > 3 else ""
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout


def problem(name):
    return os.path.join(PROBLEMS, name + ".hdf5")


WEDGE, GLOBAL, TRAIN = problem("gen-wedge-local-8"), problem("gen-wedgetrain-global-44"), problem(
    "gen-wedgetrain-local-44")


def solve(*arguments, status=0):
    done = subprocess.run([SIM, "solve", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert status in (None, done.returncode), f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}"
    return done


def solve_json(*arguments, status=0):
    return json.loads(solve(*arguments, "--json", status=status).stdout, parse_constant=lambda word: 1 / 0)


def refuses(words, *arguments, status=2):
    """One clear sentence, the right status, no file."""
    before = sorted(os.listdir("."))
    said = solve(*arguments, status=status).stderr
    assert words in said, f"'{words}' is not in: {said}"
    assert sorted(os.listdir(".")) == before, f"wrote {os.listdir('.')}"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def solves_a_file_and_says_how_right_the_answer_is():
    lines = solve(WEDGE, "--solver", "pgs").stdout.splitlines()
    assert lines[0].split() == "file contacts rows outcome iterations time [s] E own momentum".split()
    name, contacts, rows, outcome, iterations, seconds, error, own = lines[1].split()
    assert (name, contacts, rows, outcome) == ("gen-wedge-local-8.hdf5", "8", "24", "solved")
    assert int(iterations) > 1 and 0 < float(seconds) < 10 and float(error) <= 1e-8 and error == own
    assert "1 of 1 at 1e-8" in lines[-1] and "1 of 1 at 1e-8" in lines[-2]


def says_the_same_as_json():
    told = solve_json(WEDGE, GLOBAL, "--solver", "pgs")
    assert (told["format"], told["solver"], told["law"]) == ("sim solve", "pgs", "rigid")
    local, whole = told["problems"]
    assert (local["form"], local["velocities"], local["momentum"]) == ("local", 0, None)
    assert (whole["form"], whole["velocities"], whole["contacts"]) == ("global", 24, 44)
    assert whole["momentum"] < 1e-14 and max(local["E"], whole["E"]) <= 1e-8
    assert told["summary"]["E"] == {"1e-4": 2, "1e-6": 2, "1e-8": 2} and told["summary"]["unsolved"] == 0


def goes_through_a_folder_in_order():
    names = [os.path.basename(case["file"]) for case in
             solve_json(PROBLEMS, "--solver", "pgs", "--set", "max_iterations=3", status=1)["problems"]]
    assert names == sorted(os.listdir(PROBLEMS)) and len(names) > 7


def solves_one_problem_alike_in_both_forms():
    for solver in "pgs", "sap", "canal", "subadmm", "auto":
        both = solve_json(GLOBAL, TRAIN, "--solver", solver, "--tolerance", 1e-10, status=0)["problems"]
        assert abs(both[0]["E"] - both[1]["E"]) < 1e-6 * max(1, both[0]["E"]), solver


def counts_who_finished():
    told = solve_json(PROBLEMS, "--solver", "auto", status=0)
    by = [case["finished_by"] for case in told["problems"]]
    names = ("pgs", "subadmm", "canal", "acn", "nsn")
    assert told["summary"]["finished_by"] == {name: by.count(name) for name in names}
    assert by.count("acn") > 0 and told["summary"]["E"]["1e-8"] == len(by)
    line = "finished by             " + ", ".join(f"{name} {by.count(name)}" for name in names)
    assert line in solve(PROBLEMS, "--solver", "auto").stdout.splitlines()
    alone = solve_json(WEDGE, "--solver", "pgs")
    assert "finished_by" not in alone["summary"] and "finished_by" not in alone["problems"][0]


def calls_nothing_solved_that_is_wrong_by_1e_6():
    for card in json.loads(solve("--list-solvers", "--json").stdout)["solvers"]:
        if (card["law"], card["cone"]) == ("rigid", "strict"):
            for case in solve_json(PROBLEMS, "--solver", card["name"], status=None)["problems"]:
                assert not case["outcome"].startswith("solved") or case["E"] <= 1e-6, (card["name"], case)


def says_why_it_gave_up():
    names = os.listdir(PROBLEMS)
    told = solve_json(PROBLEMS, "--solver", "pgs", "--set", "max_iterations=3", status=1)
    assert told["summary"]["gave_up"] == {"out of iterations": told["summary"]["unsolved"]}
    for case in told["problems"]:
        solved = case["outcome"].startswith("solved")
        assert (case["gave_up"], case["reason"]) == ((None, None) if solved else (
            "out of iterations", "the limit of iterations is reached")), case
    lines = solve(PROBLEMS, "--solver", "pgs", "--set", "max_iterations=3", status=1).stdout.splitlines()
    given_up = told["summary"]["unsolved"]
    assert 3 < given_up <= len(names) and sum(" out of iterations " in line for line in lines[:-4]) == given_up
    assert f"gave up                 {given_up} out of iterations: the limit of iterations is reached" in lines


def ends_with_3_where_there_is_no_memory():
    """With any amount left: a library that waits for memory without end must not be called."""
    if b"__asan_init" in pathlib.Path(SIM).read_bytes():
        return "a sanitizer wants more memory than that"
    arch, ends = problem("gen-arch-global-72"), set()
    for megabytes in range(80, 260, 20 if tap.LONG_RUNS else 40):
        def limit(bytes=megabytes << 20):
            resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))
        if subprocess.run([SIM, "--version"], capture_output=True, preexec_fn=limit).returncode == 0:
            for solver in "incp", "mncp-rlm", "mlcp-pfb-rlm", "mlcp-pivot", "sap":
                done = subprocess.run([SIM, "solve", arch, "--solver", solver, "--time-limit", "2"], capture_output=True,
                                      text=True, preexec_fn=limit, timeout=60)
                assert done.returncode in (0, 1, 3), (solver, megabytes, done.returncode, done.stderr)
                assert (done.returncode == 3) == ("no memory" in done.stderr), (solver, megabytes, done.stderr)
                ends.add(done.returncode)
    assert 3 in ends, ends


def asks_for_memory_without_filling_it():
    """Where malloc is told to fill what it gives: the room of the BLAS, 128 MiB, is not used by a small problem."""
    if b"__asan_init" in pathlib.Path(SIM).read_bytes():
        return "a sanitizer takes more memory than that"
    running = subprocess.Popen([SIM, "solve", WEDGE, "--solver", "incp", "--quiet"], env={**os.environ, "MALLOC_PERTURB_": "1"},
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(running.pid, 0)
    assert status == 0 and usage.ru_maxrss < 100_000, (status, usage.ru_maxrss)  # KiB


def counts_reading_as_time():
    case = solve_json(TRAIN, "--solver", "pgs", "--time-limit", "1e-9", status=1)["problems"][0]
    assert case["outcome"] == case["gave_up"] == "out of time" and case["iterations"] == case["seconds"] == 0, case


def keeps_its_time_between_panels_too():
    """64 packed boxes: 3,540 rows, one factor of which may take longer than all the time that there is."""
    if b"__asan_init" in pathlib.Path(SIM).read_bytes():
        return "factors under a sanitizer take their own time"
    side, count = 0.1, 4
    places = [(i, j, k) for i in range(count) for j in range(count) for k in range(count)]
    bodies = [{"name": f"{i}-{j}-{k}", "joint": {"type": "free"},
               "pose": {"position": [i * side, j * side, (k + 0.5) * side]},
               "shapes": [{"type": "box", "size": [side, side, side], "density": 1000}]} for i, j, k in places]
    ground = {"name": "ground", "shapes": [{"type": "half_space"}]}
    with open("packed.json", "w") as file:
        json.dump({"sim": 1, "world": {"step": 0.005, "duration": 0.005}, "bodies": [ground, *bodies]}, file)
    subprocess.run([SIM, "packed.json", "--quiet", "--dump-problem", "1", "packed.hdf5"], check=True, capture_output=True)
    os.environ.pop("MALLOC_PERTURB_", None)  # or each allocation of 100 MB is written before it is used
    limit, more = 1.2, 0.7  # s of processor time, of which the matrices take half; what may pass from one panel to the next
    # Each of two ways to a step; other pairs of family and way wait for long runs.
    for solver in ("incp", "mlcp-pfb-plm", *(("mncp-rlm", "mncp-plm", "mlcp-pfb-rlm") if tap.LONG_RUNS else ())):
        seconds = []
        while len(seconds) < 3 and (not seconds or min(seconds) >= limit + more):  # others on the machine lengthen it
            case = solve_json("packed.hdf5", "--solver", solver, "--time-limit", limit, status=1)["problems"][0]
            assert case["rows"] > 3000 and case["gave_up"] == "out of time", case
            seconds.append(case["seconds"])
        assert min(seconds) < limit + more, (solver, seconds)


def refuses_dense_matrices_too_large_before_they_are_made():
    refuses("the solver incp would take", WEDGE, "--solver", "incp:most_memory=1e-6", status=3)
    refuses("its option most_memory allows 1e-06; sap, pgs and subadmm take none", WEDGE, "--solver", "mlcp-pivot",
            "--set", "most_memory=1e-6", status=3)


def takes_options_of_the_solver():
    told = solve_json(WEDGE, "--solver", "pgs", "--set", "max_iterations=2", "--set", "order=alternating", status=1)
    assert told["options"]["max_iterations"] == 2 and told["options"]["order"] == "alternating"
    assert told["problems"][0]["iterations"] == 2 and told["problems"][0]["outcome"] == "at its limit"
    assert solve_json(WEDGE, "--solver", "pgs", "--tolerance", "1e-3")["options"]["tolerance"] == 1e-3


def takes_options_behind_the_name():
    told = solve_json(WEDGE, "--solver", "pgs:max_iterations=2,order=alternating", status=1)
    assert told["options"]["max_iterations"] == 2 and told["options"]["order"] == "alternating"
    assert solve_json(WEDGE, "--solver", "pgs:max_iterations=2", "--set", "max_iterations=3", status=1)["options"]["max_iterations"] == 3
    refuses("has no option 'max_iteration'", WEDGE, "--solver", "pgs:max_iteration=2")


def takes_auto_by_default_and_names_the_law():
    told = solve_json(WEDGE)
    assert told["solver"] == "auto" and told["law"] == "rigid" and told["problems"][0]["E"] < 1e-8

    def law(*words):
        return next(line[24:] for line in solve(WEDGE, *words).stdout.splitlines() if line.startswith("law of the answers"))

    assert law() == "rigid, strict cone; in a step of a scene: elastic (--law elastic)", law()
    assert law("--law", "elastic") == "elastic, strict cone" and law("--solver", "sap") == "near-rigid, convex cone"
    assert law("--stored") == "rigid, strict cone"


def takes_several_solvers():
    told = solve_json(WEDGE, "--solver", "pgs:max_iterations=2,canal", status=1)
    assert [one["solver"] for one in told] == ["pgs", "canal"] and told[0]["options"]["max_iterations"] == 2
    alone = solve_json(WEDGE, "--solver", "canal")
    assert told[1]["problems"][0]["E"] == alone["problems"][0]["E"] and told[1]["options"] == alone["options"]
    lines = solve(WEDGE, "--solver", "canal,pgs").stdout.splitlines()
    assert lines[0] == "canal" and "pgs" in lines and sum(line.startswith("file ") for line in lines) == 2
    refuses("--out takes the solutions of one solver, not of 2", WEDGE, "--solver", "pgs,canal", "--out", "o.h5")
    refuses("the solver pgs has no option 'inner'", WEDGE, "--solver", "canal,pgs", "--set", "inner=mixed")


def quiet_says_nothing_but_the_table():
    done = solve(WEDGE, "--solver", "nsn:positions=on", "--quiet")
    assert done.stderr == "" and done.stdout.startswith("file ")
    assert "files hold no positions at the end of the step" in solve(WEDGE, "--solver", "nsn:positions=on").stderr


def refuses_standard_output_for_files():
    for option in "--out", "--history", "--linear-history", "--places":
        refuses(f"{option} takes the name of a file", WEDGE, option, "-")


def refuses_options_that_are_not_there():
    refuses("has no option 'max_iteration' (did you mean 'max_iterations'?); it has tolerance, max_iterations", WEDGE,
            "--solver", "pgs", "--set", "max_iteration=2")
    refuses("option max_iterations takes a whole number from 0", WEDGE, "--solver", "pgs", "--set", "max_iterations=1.5")
    refuses("takes one of forward, alternating, not 'sideways'", WEDGE, "--solver", "pgs", "--set", "order=sideways")
    refuses("option tolerance takes a number from 0 to 1, not 'nan'", WEDGE, "--solver", "pgs", "--set", "tolerance=nan")
    refuses("set as OPTION=VALUE", WEDGE, "--solver", "pgs", "--set", "tolerance")
    refuses("did you mean 'pgs'?", WEDGE, "--solver", "psg")
    refuses("--law takes one of rigid, near-rigid", WEDGE, "--solver", "pgs", "--law", "soft")
    refuses("did you mean --solver?", WEDGE, "--slover", "pgs")
    refuses("no file given", "--solver", "pgs")
    refuses("--time-per-contact needs --time-limit", WEDGE, "--solver", "pgs", "--time-per-contact", 1)
    refuses("--time-limit takes a positive number", WEDGE, "--solver", "pgs", "--time-limit", 0)


def takes_the_law_that_is_asked_for():
    own, rigid = (solve_json(WEDGE, "--solver", "sap", *law)["problems"][0] for law in ((), ("--law", "rigid")))
    assert own["own"] < 1e-6 < 1e-4 < own["E"], "near-rigid is not rigid"
    assert rigid["E"] != own["E"]
    soft = solve_json(WEDGE, "--solver", "sap", "--beta", 3)
    assert soft["problems"][0]["law"]["beta"] == 3 and soft["problems"][0]["E"] > own["E"]


def writes_the_answer_into_a_new_file():
    before = read(GLOBAL)
    solve(GLOBAL, "--solver", "pgs", "--out", "a.hdf5")
    assert read(GLOBAL) == before and len(read("a.hdf5")) > 1000
    again = solve_json("a.hdf5", "--solver", "pgs")["problems"][0]
    first = solve_json(GLOBAL, "--solver", "pgs")["problems"][0]
    assert all(again[key] == first[key] for key in ("E", "iterations", "residual"))
    solve(GLOBAL, "--solver", "pgs", "--out", "b.hdf5")
    assert read("a.hdf5") == read("b.hdf5")


def judges_the_answers_that_stand_in_files():
    # Made by other programs, to what they could reach: were a sign or an axis read wrongly, none of them would be right.
    told = solve_json(PROBLEMS, "--stored")
    assert told["solver"] == "stored" and all(case["outcome"] == "stored" for case in told["problems"])
    assert all(case["E"] < 1e-10 for case in told["problems"]), [case["E"] for case in told["problems"]]
    assert all(case["momentum"] is None or case["momentum"] < 1e-13 for case in told["problems"])
    for path in WEDGE, GLOBAL:
        first = solve_json(path, "--solver", "pgs", "--tolerance", 1e-4, "--out", "a.hdf5")["problems"][0]
        again = solve_json("a.hdf5", "--stored")["problems"][0]
        assert abs(first["E"] - again["E"]) < 1e-12 and first["E"] > 1e-12
    refuses("--stored solves nothing: leave out --solver", WEDGE, "--stored", "--solver", "pgs")


def writes_many_answers_into_a_folder():
    os.mkdir("answers")
    solve(WEDGE, GLOBAL, "--solver", "pgs", "--out", "answers")
    assert sorted(os.listdir("answers")) == ["gen-wedge-local-8.hdf5", "gen-wedgetrain-global-44.hdf5"]
    refuses("must be an existing folder", WEDGE, GLOBAL, "--solver", "pgs", "--out", "elsewhere")


def does_not_write_over_what_it_reads():
    shutil.copy(WEDGE, "a.hdf5")
    before = read("a.hdf5")
    refuses("would be overwritten", "a.hdf5", "--solver", "pgs", "--out", "./a.hdf5")
    refuses("would be overwritten", ".", "--solver", "pgs", "--out", ".")
    refuses("would be overwritten", "a.hdf5", "--solver", "pgs", "--history", "a.hdf5")
    refuses("would be overwritten", "a.hdf5", "--solver", "pgs", "--history", "./a.hdf5")
    refuses("would be overwritten", "a.hdf5", "--solver", "nsn", "--linear-history", "./a.hdf5")
    refuses("would be overwritten", "a.hdf5", "--solver", "incp", "--places", "./a.hdf5")
    assert read("a.hdf5") == before


def writes_the_way_to_the_answer():
    told = solve_json(GLOBAL, "--solver", "sap", "--history", "h.csv")["problems"][0]
    lines = read("h.csv").decode().splitlines()
    assert lines[0] == "file,iteration,residual,cost" and len(lines) >= told["iterations"]
    costs = [float(line.split(",")[-1]) for line in lines[1:]]
    assert all(a >= b - 1e-12 * abs(b) for a, b in zip(costs, costs[1:])), "the cost falls"


def writes_the_linear_systems_within():
    told = solve_json(GLOBAL, "--solver", "nsn", "--set", "friction=fixed-point", "--linear-history", "l.csv")["problems"][0]
    lines = read("l.csv").decode().splitlines()
    rows = [(int(step), int(within), float(residual)) for step, within, residual in (line.split(",")[1:] for line in lines[1:])]
    assert lines[0] == "file,iteration,linear_iteration,residual"
    assert [step for step, within, residual in rows if within == 0 and residual == 1] == list(range(1, told["iterations"] + 1))
    assert len(rows) == told["searches"] + told["iterations"]


def writes_where_it_stands():
    words = (GLOBAL, "--solver", "incp", "--set", "start=sticking", "--history", "h.csv", "--places", "p.csv")
    told = solve_json(*words)["problems"][0]
    head, *lines = read("p.csv").decode().splitlines()
    assert head == "file,iteration,contact,friction,t1,t2,n"
    rows = [[float(number) for number in line.split(",")[1:]] for line in lines]
    steps = len(read("h.csv").decode().splitlines()) - 1
    assert len(rows) == steps * told["contacts"] and [row[0] for row in rows] == sorted(row[0] for row in rows)
    ends = rows[-told["contacts"]:]
    pushing = sum(n < 0 for *_, n in ends)
    assert pushing and all(row[2] > 0 for row in ends), "some contacts push in the end"
    refuses("--places needs the solver incp", GLOBAL, "--solver", "pgs", "--places", "p.csv")


def says_that_files_do_not_know_where_a_step_ends():
    done = solve(GLOBAL, "--solver", "nsn", "--set", "positions=on")
    assert "velocity level" in done.stderr
    assert "velocity level" not in solve(GLOBAL, "--solver", "nsn").stderr


def goes_on_after_a_file_that_is_no_problem():
    with open("a.h5", "w") as file:
        file.write("not a problem")
    shutil.copy(WEDGE, "b.h5")
    done = solve(".", "--solver", "pgs", status=2)
    assert done.stdout.count(" failed ") == 1 and done.stdout.count(" solved ") == 1
    assert "./a.h5: not an HDF5 file" in done.stderr
    refuses("absent.hdf5: cannot be read: No such file", "absent.hdf5", "--solver", "pgs", status=3)
    os.mkdir("empty")
    refuses("empty: no file ends in .hdf5 or .h5", "empty", "--solver", "pgs")


def stops_when_the_time_is_over():
    """Not before, counted with the reading of the file; and not long after, though a busy machine may be slow."""
    endless = (problem("gen-massratio7-local-28"), "--solver", "pgs", "--set", "max_iterations=1e9", "--tolerance", "1e-300")
    for limit, words in (0.2, ["--time-limit", "0.2"]), (0.1 + 28 * 0.05, ["--time-limit", "0.1", "--time-per-contact", "0.05"]):
        began = time.monotonic()
        case = solve_json(*endless, *words, status=1)["problems"][0]
        took = time.monotonic() - began
        assert case["outcome"] == case["gave_up"] == "out of time" and case["contacts"] == 28, case
        assert case["seconds"] <= took and limit <= took, (case, took)
        assert case["seconds"] > limit - 1, (case, limit)  # less the reading


def gives_the_same_bits_again_and_again():
    first, second = (solve_json(PROBLEMS, "--solver", "sap", "--repeat", repeat, status=0) for repeat in (1, 3))
    for a, b in zip(first["problems"], second["problems"]):
        assert {**a, "seconds": 0} == {**b, "seconds": 0}


def lists_the_solvers():
    text = solve("--list-solvers", "--study").stdout
    assert "line_search" in text and "line_search" not in solve("--list-solvers").stdout
    for words in ["--list-solvers", "--json"], ["solve", "--list-solvers", "--json"]:
        told = json.loads(subprocess.run([SIM, *words], capture_output=True, text=True, check=True).stdout)
        assert told["format"] == "sim solvers"
        for card in told["solvers"]:
            assert card["name"] in text and card["paper"] and card["cone"] in ("strict", "convex", "pyramid")
            assert "contact" in card["kinds"]
            for option in card["options"]:
                assert option["name"] in text and option["help"]
                assert option["default"] in option["choices"] if "choices" in option else (
                    option["low"] <= option["default"] <= option["high"])


def explains_itself():
    told = solve("--help").stdout
    assert all(len(line) < 81 for line in told.splitlines()) and "--time-limit" in told
    page = subprocess.run([SIM, "--man"], capture_output=True, text=True).stdout.replace("\\-", "-")
    completion = subprocess.run([SIM, "--completion"], capture_output=True, text=True).stdout
    for option in [line.split()[0] for line in told.splitlines() if line.startswith("  --")]:
        assert option in page and option in completion, option
    status = " ".join(told.split("Exit status: ")[1].split())
    assert "3 a resource is unavailable" in status and status in " ".join(page.split()), status
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(completion)
        file.flush()
        subprocess.run(["bash", "-n", file.name], check=True)


def says_that_the_build_has_no_hdf5():
    refuses("this build has no HDF5", WEDGE, "--solver", "pgs")


TESTS = [test for test in tap.cases_of(globals(), WORD) if (test is says_that_the_build_has_no_hdf5) != HDF5]
sys.exit(tap.run(TESTS))
