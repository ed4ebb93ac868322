#!/usr/bin/env python3
"""study/beside.py [ENGINE...]: the same scenes in sim and in other engines: time a step, overlap, drift, standing, unsolved steps

Engines (default: all): sim sap mujoco elliptic ode quick bullet dart dart-own.  They are Debian's libmujoco-dev, libode-dev,
libbullet-dev and libdart-dev; a build without one of them leaves it out.  Each engine keeps its defaults at the same step.  One judge in
Python measures the poses that all engines print.

    --only WORD    scenes whose name has WORD
    --repeat N     run each N times (default 3), the engines in turn, and take the least time
    --limit S      end a run after S seconds in steps (default 60)
    --quick        20 steps a scene, once
    --json         print all figures
    --from FILE    print the tables of such figures

SIM_PROGRAM=PATH names a program whose build has the programs of bench/beside.  Progress goes to standard error.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import beside_judge
import beside_scenes
import markdown
from shared import Options, bench_program

# name here, program, variant, name in tables, package
ENGINES = [
    ("sim", "beside_sim", "default", "sim", None),
    ("sap", "beside_sim", "sap", "sim, `sap`", None),
    ("mujoco", "beside_mujoco", "default", "MuJoCo", "libmujoco-dev"),
    ("elliptic", "beside_mujoco", "elliptic", "MuJoCo, elliptic", "libmujoco-dev"),
    ("ode", "beside_ode", "default", "ODE", "libode-dev"),
    ("quick", "beside_ode", "quick", "ODE, QuickStep", "libode-dev"),
    ("bullet", "beside_bullet", "default", "Bullet", "libbullet-dev"),
    ("dart", "beside_dart", "default", "DART", "libdart-dev"),
    ("dart-own", "beside_dart", "own", "DART, own collision", "libdart-dev"),
]
HEAD = ["scene", "engine", "us a step", "overlap [mm]", "at rest [mm]", "drift [um/s]", "stands", "own figures", "unsolved"]
SUMMARY = ["engine", "1000 kg on 8 kg: top moves", "rolling ball: v", "box on a slope creeps", "three cards move",
           "bin of 40, 80, 160: ms a step", "160 falling: ms a step", "160: overlap, at rest [mm]"]
QUICK_STEPS = 20


def say(words):
    print(f"study/beside.py: {words}", file=sys.stderr, flush=True)


def figure(x):
    """Two digits."""
    if x is None:
        return "-"
    x = float(f"{x:.2g}")
    return f"{x:g}" if x == 0 or 1e-3 <= abs(x) < 1e6 else f"{x:.0e}"


def engines_there(parser, names):
    """The engines of these names whose programs were built; the others are named on standard error."""
    known = [engine[0] for engine in ENGINES]
    for name in names:
        if name not in known:
            parser.error(f"there is no engine '{name}' (there are {' '.join(known)})")
    there = []
    for engine in ENGINES:
        if names and engine[0] not in names:
            continue
        try:
            there.append((engine, bench_program(os.path.join("beside", engine[1]))))
        except FileNotFoundError:
            say(f"left out: {engine[3]}, not in this build" + (f" (package {engine[4]})" if engine[4] else ""))
    if not there:
        parser.error("none of these engines is in this build")
    return there


def run(path, variant, program):
    """Version and records of a run; no records if it fails."""
    done = subprocess.run([program, path, variant], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return "", []
    printed = done.stdout.replace("-nan", "nan").replace("nan", "NaN").replace("inf", "Infinity")  # as JSON has them
    head, *records = map(json.loads, printed.splitlines())
    return head["version"], records


def seconds_a_step(scene, records, begin, end):
    """Mean between two times of the run, None if it does not reach the second; both were recorded."""
    at = {record["step"]: record["spent"] for record in records}
    first, last = round(begin / scene.step), round(end / scene.step)
    return (at[last] - at[first]) / (last - first) if last > first and first in at and last in at else None


def times(scene, records):
    """s a step: falling (the first second of a bin), settled (its last two seconds, or the last one before it was stopped); elsewhere
    the mean of the run."""
    if not records:
        return None, None
    end = records[-1]["step"] * scene.step
    if "escaped" not in scene.figures or end <= 1:
        return None, seconds_a_step(scene, records, 0, end)
    return seconds_a_step(scene, records, 0, 1), seconds_a_step(scene, records, 8 if end > 9 else end - 1, end)


def least(a, b):
    return b if a is None else a if b is None else min(a, b)


def entry_of(scene, engine, version, records):
    """Figures of the first run of an engine on a scene."""
    last = records[-1] if records else {"step": 0, "unsolved": -1}
    return {"scene": scene.name, "right": scene.right, "engine": engine[0], "shown": engine[3], "version": version, "steps": last["step"],
            "reached": last["step"] * scene.step, "unsolved": last["unsolved"],
            "figures": beside_judge.judge(scene, records) if records else {}, "seconds_falling": None, "seconds": None}


def measure(scene, engines, options, folder):
    """One entry for each engine.  The first run is recorded and judged, the others are timed only; the engines take turns."""
    path, entries = os.path.join(folder, "scene"), [None] * len(engines)
    for turn in range(options.repeat):
        beside_scenes.write(path, scene, 1 if turn == 0 else max(1, round(1 / scene.step)), options.limit)
        for k, (engine, program) in enumerate(engines):
            if turn and not entries[k]["figures"].get("whole"):
                continue  # it would be stopped again
            say(f"{scene.name}: {engine[3]}, {turn + 1} of {options.repeat}")
            version, records = run(path, engine[2], program)
            entry = entries[k] = entries[k] or entry_of(scene, engine, version, records)
            falling, settled = times(scene, records)
            entry["seconds_falling"] = least(entry["seconds_falling"], falling)
            entry["seconds"] = least(entry["seconds"], settled)
    return entries


def own_figures(entry):
    parts = [f"falling {figure(1e6 * entry['seconds_falling'])} us"] if entry["seconds_falling"] else []
    for name, value in entry["figures"].get("own", {}).items():
        word, unit, _ = beside_judge.OWN[name]
        parts.append(f"{word} {value:+.2g} {unit}".replace("+0 ", "0 ").strip() if name != "escaped" else f"{value} {word}")
    return ", ".join(parts) or "-"


def standing(entry, bounded):
    """In words."""
    figures = entry["figures"]
    if not figures:
        return "**fails**"
    if not figures["finite"]:
        return "**bursts**"
    word = "-" if not bounded else "yes" if figures["stands"] else "**no**"
    return word if figures["whole"] else f"{word}, until {entry['reached']:.1f} s"


def unsolved(entry):
    return "-" if entry["unsolved"] < 0 else f"{figure(100 * entry['unsolved'] / max(1, entry['steps']))} %"


def scaled(entry, name, factor, figures=None):
    """A figure of an entry, or of the given dictionary, in another unit; None if it has none."""
    value = (figures or entry["figures"]).get(name)
    return None if value is None else factor * value


def row(entry, bounded):
    return [entry["scene"], entry["shown"], figure(scaled(entry, "seconds", 1e6, entry)), figure(scaled(entry, "overlap", 1e3)),
            figure(scaled(entry, "overlap_at_rest", 1e3)), figure(scaled(entry, "drift", 1e6)), standing(entry, bounded),
            own_figures(entry), unsolved(entry)]


def own(name):
    """The cell of an own figure."""
    def show(entry):
        value = entry["figures"].get("own", {}).get(name)
        return "-" if value is None else f"{value:+.2g} {beside_judge.OWN[name][1]}"
    return show


def unless_it_falls(show):
    return lambda entry: show(entry) if entry["figures"].get("stands") else "falls" if entry["figures"] else "fails"


def milliseconds(key):
    """With a star where the run was stopped."""
    return lambda entry: "-" if entry[key] is None else figure(1e3 * entry[key]) + ("" if entry["figures"].get("whole") else "*")


def summary_line(shown, entries):
    """The figures that tell most, of the scenes that were run."""
    stack, ball, slope, house = (scene.name for scene in (
        beside_scenes.stack(), beside_scenes.roll(), beside_scenes.incline(0.95), beside_scenes.cards()))
    pits = [beside_scenes.pit(count).name for count in (40, 80, 160)]
    mine = {entry["scene"]: entry for entry in entries if entry["shown"] == shown}

    def cell(scene, show):
        return show(mine[scene]) if scene in mine else "-"
    return [shown,
            cell(stack, unless_it_falls(own("top_moves"))),
            cell(ball, own("speed_error")),
            cell(slope, lambda entry: f"{figure(scaled(entry, 'drift', 1e6))} um/s"),
            cell(house, unless_it_falls(lambda entry: f"{figure(scaled(entry, 'moved', 1e3))} mm")),
            ", ".join(cell(pit, milliseconds("seconds")) for pit in pits),
            cell(pits[-1], milliseconds("seconds_falling")),
            cell(pits[-1], lambda entry: ", ".join(figure(scaled(entry, key, 1e3)) for key in ("overlap", "overlap_at_rest")))]


def print_tables(entries):
    bounded = {scene.name: scene.moved < 100 or "escaped" in scene.figures for scene in beside_scenes.scenes()}
    engines = dict.fromkeys(entry["shown"] for entry in entries)
    print(markdown.table(SUMMARY, [summary_line(shown, entries) for shown in engines]), end="\n\n")
    print(markdown.table(HEAD, [row(entry, bounded[entry["scene"]]) for entry in entries]))


def main():
    parser = Options(__doc__)
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--from", dest="told", type=argparse.FileType(encoding="utf-8"))
    options = parser.parse_args()
    if options.told:
        print_tables(json.load(options.told)["entries"])
        return
    engines = engines_there(parser, options.engines)
    scenes = [scene for scene in beside_scenes.scenes() if options.only in scene.name]
    if not scenes:
        parser.error(f"no scene's name holds '{options.only}'")
    if options.quick:
        scenes, options.repeat = [scene.shortened(QUICK_STEPS) for scene in scenes], 1
    entries, began = [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for scene in scenes:
            entries += measure(scene, engines, options, folder)
    say(f"done in {time.monotonic() - began:.0f} s")
    if options.json:
        print(json.dumps({"format": "study beside", "entries": entries}, indent=1))
        return
    print_tables(entries)


if __name__ == "__main__":
    main()
