"""Step problems out of scenes, and what each solver makes of each: the measuring half of study/league.py."""
import concurrent.futures
import csv
import glob
import json
import math
import os
import subprocess

from shared import ROOT, name_and_options

LEVELS = (1e-4, 1e-6, 1e-8)
WRONG = 1e-6        # E of an answer called solved; 100 times a tolerance that is given, if that is more
MOST_STEPS = 1000   # of a scene, however long it goes on
# Scenes made to be large, or slow: settings, steps.
SMALLER = {"bench-nut": ([], 24), "bench-islands": (["--set", "instances/0/repeat/counts=[3, 3, 1]"], MOST_STEPS)}
SHORT = 5e-3        # seconds: what takes less is timed again, several times
# Seconds that a process may take, whatever the machine has to do besides.
HANGS = 300
# Solvers whose iterations are so cheap that time is their limit, unless they are told another.
LIFTED = {name: ["--set", "max_iterations=1000000"] for name in ("pgs", "subadmm")}
GRACE = 1.1         # an answer that comes so much later than the limit still counts


# ---- problems ----


def wanted_steps(path):
    """(moment, step): the first with anything to do, the first of those with the most contacts, the last with any."""
    with open(path, encoding="ascii", newline="") as file:
        head = next(csv.reader([file.readline()]))
        if "contacts" not in head:
            return []
        step, contacts, total = (head.index(name) for name in ("step", "contacts", "solver_total"))
        rows = [(int(row[step]), int(row[contacts])) for row in csv.reader(file) if int(row[contacts]) and int(row[total])]
    if not rows:
        return []
    fullest = max(rows, key=lambda row: row[1])
    return [("landing", rows[0][0]), ("fullest", fullest[0]), ("rest", rows[-1][0])]


def course_of(sim, scene, name, folder, quick):
    """How the run goes on: the command, the length of a step, the moments that are wanted."""
    settings, most = SMALLER.get(name, ([], MOST_STEPS))
    with open(scene, encoding="utf-8") as file:
        world = json.load(file).get("world", {})
    step = world.get("step", 1e-3)
    duration = min(world.get("duration", 1), (most // 4 if quick else most) * step)
    run, course = [sim, scene, "--quiet", *settings], os.path.join(folder, name + ".csv")
    record = ["--every", "1", "--set", 'record/signals=["statistics"]', "--set", "record/points=[]"]
    done = subprocess.run([*run, "--duration", repr(duration), *record, "--out", course], capture_output=True, text=True, check=False)
    if done.returncode or not os.path.exists(course):
        raise RuntimeError(f"{scene}: {done.stderr}")
    steps = wanted_steps(course)
    os.remove(course)
    return run, step, steps


def name_of(scene):
    """Folder and file below scenes/, as in contact/arch."""
    return os.path.splitext(os.path.relpath(scene, os.path.join(ROOT, "scenes")))[0]


def dump_scene(sim, scene, folder, quick):
    """Files of its steps, named by scene and moment."""
    name = name_of(scene).replace(os.sep, "-")
    run, step, steps = course_of(sim, scene, name, folder, quick)
    seen, files, state = set(), [], []
    for moment, number in sorted(steps[1:2] if quick else steps, key=lambda wanted: wanted[1]):
        if number in seen:
            continue
        seen.add(number)
        kept = os.path.join(folder, name + ".state")
        path = os.path.join(folder, f"{name}.{moment}.h5")
        subprocess.run([*run, *state, "--duration", repr(max(number - 0.5, 1) * step), "--dump-problem", str(number), path,
                        "--checkpoint", kept], check=True, capture_output=True)
        state = ["--resume", kept]
        files.append(path)
    if state:
        os.remove(state[1])
    return files


def dump_all(sim, folder, quick, jobs, words):
    scenes = [path for path in sorted(glob.glob(os.path.join(ROOT, "scenes", "*", "*.json"))) if any(word in name_of(path) for word in words)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = list(pool.map(lambda scene: dump_scene(sim, scene, folder, quick), scenes))
    return [path for paths in made for path in paths]


# ---- answers ----


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def finished(process, most):
    """Its output; None if it had to be ended, by its processor time or as it hangs without any."""
    for _ in range(HANGS):
        try:
            return process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            if processor_seconds(process.pid) > most:
                break
    process.kill()
    process.communicate()
    return None


def solve(sim, solver, path, limits, *options, tolerance=None):
    """The answer of `sim solve` for the file; a case with `died` if the process did not live to say anything."""
    time_limit, per_contact, contacts, law = limits
    name, given = name_and_options(solver)
    lifted = [] if "max_iterations" in given else LIFTED.get(name, [])
    aim = [] if tolerance is None or "tolerance" in given else ["--tolerance", repr(tolerance)]
    command = [sim, "solve", path, "--solver", solver, "--json", "--time-limit", repr(time_limit), "--time-per-contact",
               repr(per_contact), *(["--law", law] if law else []), *lifted, *aim, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = finished(process, 2 * (time_limit + per_contact * contacts) + 1)
    try:
        return json.loads(said[0])["problems"][0] if said else {"file": path, "died": "killed"}
    except (json.JSONDecodeError, IndexError):
        return {"file": path, "died": "crash", "said": said[1].strip()[-200:]}


def error_of(case, measure):
    value = case.get(measure)
    return math.inf if value is None else value


def attempt(sim, solver, path, limits, measure, once):
    """One solver, one problem: least seconds to each level, with the tolerance as tight as the level or tighter."""
    allowed = GRACE * (limits[0] + limits[1] * limits[2])
    tight = solve(sim, solver, path, limits, tolerance=LEVELS[-1])
    runs = [tight]
    entry = {"solver": solver, "file": path, "died": tight.get("died"), "said": tight.get("said"),
             "outcome": tight.get("outcome"), "gave_up": tight.get("gave_up"), "iterations": tight.get("iterations"),
             "E": tight.get("E"), "own": tight.get("own"), "residual": tight.get("residual"),
             "seconds": tight.get("seconds"), "finished_by": tight.get("finished_by")}
    if not once and "died" not in tight and tight.get("outcome") != "refused":
        again = ["--repeat", "5"] if tight["seconds"] < SHORT else []
        runs += [solve(sim, solver, path, limits, *again, tolerance=LEVELS[-1])] if again else []
        for level in [] if "tolerance" in name_and_options(solver)[1] else LEVELS[:-1]:
            # the path is the same and the best answer is kept: what a tight run did not come to, no loose one does
            if error_of(tight, measure) <= level or entry["gave_up"] is None:
                runs.append(solve(sim, solver, path, limits, *again, tolerance=level))
    entry["late"] = tight.get("seconds", 0) > allowed
    entry["to"] = {}
    for level in LEVELS:
        times = [run["seconds"] for run in runs if error_of(run, measure) <= level and run["seconds"] <= allowed]
        entry["to"][f"{level:g}"] = min(times) if times else None
    return entry


def solvers(sim):
    listed = subprocess.run([sim, "--list-solvers", "--json"], check=True, capture_output=True, text=True)
    return [solver for solver in json.loads(listed.stdout)["solvers"] if not solver.get("study")]


def play(sim, names, problems, limits, law, jobs, once):
    """Everyone on everything, `once` with the tightest tolerance alone; `problems` have `file`, `name` and `contacts`.

    Strict solvers that are compliant by default get the rigid law, which E measures, unless `law` names another."""
    measure = "own" if law else "E"
    strict = {card["name"] for card in solvers(sim) if card["cone"] == "strict"}
    pairs = [(solver, problem) for problem in problems for solver in names]

    def one(pair):
        solver, problem = pair
        own_law = law or ("rigid" if name_and_options(solver)[0] in strict else None)
        entry = attempt(sim, solver, problem["file"], (*limits, problem["contacts"], own_law), measure, once)
        entry["problem"] = problem["name"]
        return entry

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, pairs))
