#!/usr/bin/env python3
"""study/stands.py [SOLVER...]: scenes that must stand, by each solver: penetration, drift, energy, error, cost

Prints the table of docs/results/stands.md.  Solvers: sap pgs canal subadmm auto by default; `all`: all there are; with options as in
pgs:max_iterations=100.  --only WORD takes the scenes whose name has WORD.  A run that has taken --limit S seconds (default 120) is
interrupted, and the row says how far it came.  SIM_PROGRAM=PATH uses that program instead of building one.  Progress goes to standard
error.
"""
import csv
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

import markdown
from shared import ROOT, Options, name_and_options, printed, program, solvers_named

# name, scene, changes, law, duration [s], start of rest [s], greatest motion then [m] (None: any).  A law is for those that yield.
SCENES = [
    ("stack of 10 boxes", "stack", [], {}, 60, 0, 0.02),
    ("tables on 2, 3, 4 legs", "tables", [], {}, 60, 0, 0.01),
    ("box on 20 degrees, friction 0.8", "box_incline", ["materials/smooth/friction=0.64"], {}, 60, 0, 0.01),
    ("wedge, and block in a clamp", "wedge", [], {}, 5, 1, 0.01),
    ("box dropped on its corner", "corner", [], {}, 10, 3, 0.001),
    ("arch of 20 stones", "arch", ["world/law/sigma=1e-3"], {}, 60, 0, 0.05),
    ("arch of 20 stones", "arch", [], {"sigma": 1e-5}, 60, 0, 0.05),
    ("house of cards", "cards", ["world/law/sigma=1e-3"], {}, 60, 0, 0.01),
    ("house of cards", "cards", [], {"sigma": 1e-5}, 60, 0, 0.01),
] + [
    (f"7 kg under {mass} kg", "mass_ratio", [f"bodies/top/shapes/0/mass={mass}", "world/law/carried=1"], law, 5, 0, 0.1)
    for mass in (10, 100, 1000, 10000)
    for law in ({}, {"carried": 1e4})
] + [
    ("clutter of 45, balls roll", "clutter", [], {}, 6, 4, None),
    ("pendulum of 12 links", "../papers/pendulum_12", ["materials/rubber/restitution=0"], {}, 20, None, None),
    ("the same, restitution 0.7", "../papers/pendulum_12", [], {}, 20, None, None),
]
SOLVERS = ["sap", "pgs", "canal", "subadmm", "auto"]
HEAD = ["scene", "solver", "stands", "moved [mm]", "drift [um/s]", "overlap [mm]", "gained [J]", "lost [J]", "E", "own",
        "iterations", "unsolved", "us a step"]


def figure(x):
    """Two digits."""
    x = float(f"{x:.2g}")
    return f"{x:g}" if x == 0 or 1e-3 <= abs(x) < 1e4 else f"{x:.0e}"


def solvers_there():
    return [solver for solver in json.loads(printed("--list-solvers", "--json"))["solvers"] if not solver.get("study")]


def arguments():
    """(solvers, those of them that do not yield, scenes, limit)."""
    parser = Options(__doc__)
    parser.add_argument("solvers", nargs="*")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=120)
    options = parser.parse_args()
    law = {solver["name"]: solver["law"] for solver in solvers_there()}
    chosen = list(law) if options.solvers == ["all"] else solvers_named(parser, options.solvers) or SOLVERS
    scenes = [scene for scene in SCENES if options.only in scene[0]]
    if not scenes:
        parser.error(f"no scene's name holds '{options.only}'")
    return chosen, {solver for solver in chosen if law[name_and_options(solver)[0]] == "rigid"}, scenes, options.limit


def wait(command, limit):
    """Until it ends, or is interrupted after `limit` seconds: then it closes its files.  Whether it was."""
    process = subprocess.Popen(command)
    try:
        status = process.wait(limit)
        interrupted = False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        interrupted = True
        try:
            status = process.wait(limit)  # the present step may be a long one
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
    if status and not (interrupted and status == 130):
        raise subprocess.CalledProcessError(status, command)
    return interrupted


def run(scene, changes, duration, solver, folder, limit):
    """The records of a run, as columns by name, and its summary; whether it was interrupted."""
    out, summary = os.path.join(folder, "run.csv"), os.path.join(folder, "run.json")
    for file in (out, summary):
        if os.path.exists(file):
            os.remove(file)
    command = [program(), os.path.join(ROOT, "scenes", "contact", scene + ".json"), "--quiet", "--out", out, "--summary", summary,
               "--solver", solver]
    for change in changes + [f"world/duration={duration}", 'record/signals=["poses", "energy", "statistics"]']:
        command += ["--set", change]
    interrupted = wait(command, limit)
    with open(out, encoding="ascii", newline="") as file:
        rows = list(csv.reader(file))
    with open(summary, encoding="utf-8") as file:
        record = {name: [float(row[k] or "nan") for row in rows[1:]] for k, name in enumerate(rows[0])}
        return record, json.load(file), interrupted


def apart(record, i, j):
    """How far the body that moved most stands, in record j, from where it stood in record i."""
    bodies = {name.rsplit(".pose.", 1)[0] for name in record if ".pose.x " in name}
    return max(math.dist(*([record[f"{body}.pose.{axis} [m]"][k] for axis in "xyz"] for k in (i, j))) for body in bodies)


def gained(energy):
    """The most by which energy ever rose above what it had come down to."""
    least, most = energy[0], 0
    for e in energy:
        least, most = min(least, e), max(most, e - least)
    return most


def standing(record, settled, limit, interrupted):
    """Does it stand, and how far has it moved since it should?"""
    time = record["time [s]"]
    last = len(time) - 1
    if settled is None or time[last] <= settled:
        return f"until {time[last]:.1f} s" if interrupted else "-", "-", "-"
    start = next(k for k, t in enumerate(time) if t >= settled)
    late = next(k for k, t in enumerate(time) if t >= time[last] - (time[last] - settled) / 4)
    moved = max(apart(record, start, k) for k in [*range(start, last + 1, max(1, last // 200)), last])
    drift = apart(record, late, last) / (time[last] - time[late])
    stands = "-" if limit is None else "yes" if moved <= limit else "**no**"
    return f"{stands}, until {time[last]:.1f} s" if interrupted else stands, figure(1e3 * moved), figure(1e6 * drift)


def row(name, scene, changes, law, duration, settled, limit, solver, folder, seconds):
    changes = changes + [f"world/law/{key}={value}" for key, value in law.items()]
    name = ", ".join([name] + [f"`{key}` {value:g}" for key, value in law.items()])
    try:
        record, summary, interrupted = run(scene, changes, duration, solver, folder, seconds)
    except (subprocess.CalledProcessError, OSError):
        return [name, solver, "**fails**"] + ["-"] * (len(HEAD) - 3)
    energy, contacts = record["energy.total [J]"], summary["contacts"]
    stands, moved, drift = standing(record, settled, limit, interrupted)
    return [name, solver, stands, moved, drift,
            figure(1e3 * contacts["penetration"]["worst"]), figure(gained(energy)), figure(energy[0] - min(energy)),
            figure(contacts["E"]["mean"]), figure(contacts["own"]["mean"]), f"{contacts['iterations_mean']:.1f}",
            f"{figure(100 * contacts['unsolved_steps'] / max(1, contacts['steps']))} %", f"{1e6 * summary['wall_time'] / summary['steps']:.0f}"]


def main():
    solvers, rigid, scenes, limit = arguments()
    runs = [(scene, solver) for scene in scenes for solver in solvers if not (scene[3] and solver in rigid)]
    print(markdown.table(HEAD, []), flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for k, (scene, solver) in enumerate(runs):
            print(f"{time.monotonic() - began:6.0f} s, {k + 1} of {len(runs)}: {scene[0]}, {solver}", file=sys.stderr, flush=True)
            print(markdown.line(row(*scene, solver, folder, limit)), flush=True)


if __name__ == "__main__":
    main()
