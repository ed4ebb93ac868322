#!/usr/bin/env python3
"""study/refinements.py [CELL...]: refinements of `incp` on balls in a cube, left out one by one (Todorov 2010, section III)

The refinements are edges that are searched and stayed on, the dogleg, and steps projected on edges.  For each cell of table 1
(cube-5-mu0.1 to cube-15-mu2.0): iterations, Newton's points taken, steps left unsolved, and how rare chattering is.
docs/images/chattering.svg shows l against iterations, and x of one contact beside its edge, in a step that chatters.  Some ten minutes.

    --quick        one run of each cell in place of ten
    --jobs N       so many cells at once; default 1
    --json         figures in place of tables; nothing is drawn without --image
    --image PATH   draw there; with --quick nothing is drawn without it

SIM_PROGRAM=PATH uses that program instead of building one.
"""
import collections
import concurrent.futures
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import cases
import compare
import markdown
import plots
from reproduction.frame.context import Curve
from shared import ROOT, Options, program, t_value

FRICTION = ("0.1", "0.5", "1.0", "2.0")
CELLS = [f"cube-{balls}-mu{mu}" for balls in (5, 10, 15) for mu in FRICTION]
PLAIN = "incp:start=sticking:restart=off"  # as in the paper: from where all would stick, and into the first minimum
WITHOUT = ("edges", "dogleg", "projection")
DRAWN = {"edges": "edges", "projection": "steps put back"}  # what chatters without
MORE, TIMES = 5, 2  # a step chatters if it takes so many iterations more without, and so many times as many
SEEN = 30           # iterations of which x is drawn
LOOKED_AT = 12      # steps that are looked at for it
ROUNDED = 1e-9      # of the size of x: no side of an edge


def sim(*arguments, statuses=(0,)):
    done = subprocess.run([program(), *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode not in statuses:
        sys.exit(done.returncode)
    return done.stdout


def figures(entry):
    runs = entry["runs"]
    return {"iterations": runs["iterations"], "mean": runs["iterations_mean"], "most": runs["iterations_most"], "newton_points": runs["whole_steps"],
            "unsolved": runs["unsolved_1e-8"], "each": runs["each"]}


def compare_steps(whole, without):
    """Steps that both solve, those of them that chatter, those that only one solves; and where the difference is greatest."""
    pairs = list(enumerate(zip(whole, without)))
    both = [(k, a["iterations"], b["iterations"]) for k, (a, b) in pairs if max(a["E"], b["E"]) <= 1e-8]
    worst = sorted(both, key=lambda one: one[1] - one[2])[:LOOKED_AT]
    return {"steps": len(pairs), "both": len(both), "chatter": sum(b - a >= MORE and b >= TIMES * a for _, a, b in both),
            "reverse": sum(a - b >= MORE and a >= TIMES * b for _, a, b in both),
            "only_with": sum(a["E"] <= 1e-8 < b["E"] for _, (a, b) in pairs), "only_without": sum(b["E"] <= 1e-8 < a["E"] for _, (a, b) in pairs),
            "worst": [{"problem": k, "with": a, "without": b} for k, a, b in worst]}


def measure(cell, quick):
    solvers = [PLAIN, *(f"{PLAIN}:{name}=off" for name in WITHOUT)]
    entries = compare.compare([cell], solvers, quick=quick, repeat=1)["entries"]
    return {"cell": cell, "contacts": entries[0]["contacts"], "all": figures(entries[0]),
            **{name: figures(entry) for name, entry in zip(WITHOUT, entries[1:])},
            "compared": {name: compare_steps(entries[0]["answers"], entry["answers"]) for name, entry in zip(WITHOUT, entries[1:]) if name in DRAWN}}


# ---- one problem, step by step ----


def columns(path):
    with open(path, encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def outside(place):
    """How far x is beyond the cone of what sticks, where it presses: above 0 it slips, below it sticks."""
    friction, t1, t2, n = place
    return math.hypot(t1, t2) + friction * n


def side(place):
    size = ROUNDED * (1 + max(abs(x) for x in place[1:]))
    return "break" if place[3] > size else "stick" if outside(place) < -size else "slip" if outside(place) > size and place[3] < -size else "edge"


def hops(places):
    """Iterations in which x goes from sticking to slipping, or back."""
    sides = [one for one in map(side, places) if one != "edge"]
    return sum({a, b} == {"stick", "slip"} for a, b in zip(sides, sides[1:]))


def way(path, folder, *settings):
    """l at every iteration, and x of each contact: (friction, t1, t2, n)."""
    words = [word for setting in ("start=sticking", "restart=off", *settings) for word in ("--set", setting)]
    history, places = os.path.join(folder, "h.csv"), os.path.join(folder, "p.csv")
    sim("solve", path, "--solver", "incp", *words, "--history", history, "--places", places, statuses=(0, 1))
    of = collections.defaultdict(list)
    for row in columns(places):
        of[int(row["contact"])].append(tuple(float(row[key]) for key in ("friction", "t1", "t2", "n")))
    return [float(row["cost"]) for row in columns(history)], of


def look(cell, number, left_out, folder):
    """The problem with all refinements and without one, and the contact that hops most."""
    path = os.path.join(folder, f"{cell}_{number:03d}.hdf5")
    whole, without = way(path, folder), way(path, folder, left_out + "=off")
    contact = max(without[1], key=lambda i: hops(without[1][i]))
    told = {"cell": cell, "problem": number, "contact": contact,
            "hops_of_all": [sum(map(hops, places.values())) for _, places in (whole, without)]}
    for name, (l, places) in (("with", whole), ("without", without)):
        told[name] = {"iterations": len(l) - 1, "l": l, "hops": hops(places[contact]), "places": places[contact]}
    return told


def look_at_worst(found, quick):
    """All steps with the greatest differences; for each refinement that is drawn."""
    wanted = collections.defaultdict(list)
    for name in DRAWN:
        worst = [(one["cell"], step) for one in found for step in one["compared"][name]["worst"]]
        for cell, step in sorted(worst, key=lambda pair: pair[1]["with"] - pair[1]["without"])[:LOOKED_AT]:
            wanted[cell].append((name, step["problem"]))
    seen = {name: [] for name in DRAWN}
    for cell, steps in wanted.items():
        with tempfile.TemporaryDirectory() as folder:
            compare.problems_of(*cases.chosen([cell]), folder, quick)
            for name, number in steps:
                seen[name].append(look(cell, number, name, folder))
    return seen


def most_hopping(seen):
    """For each refinement the step that is drawn."""
    return {name: max(looks, key=lambda one: one["without"]["hops"]) for name, looks in seen.items()}


def hops_of_all(seen):
    """For each refinement: of all contacts of all these steps, with it and without.  One step and one contact would be those that suit it."""
    return {name: [sum(one["hops_of_all"][k] for one in looks) for k in (0, 1)] for name, looks in seen.items()}


def busiest(places):
    """The first of SEEN iterations in a row with the most hops."""
    return max(range(max(1, len(places) - SEEN)), key=lambda k: hops(places[k:k + SEEN]))


COLOUR = {"with": plots.BLUE, "without": plots.RED}


def drawn_l(told, title):
    return [plots.series([(k, max(l, 1e-20)) for k, l in enumerate(told[name]["l"])], word + title, color=COLOUR[name], style="line")
            for name, word in (("without", "without "), ("with", ""))]


def drawn_sides(places, first):
    """How far beyond the cone x is, over the greatest radius of the cone there."""
    seen = list(enumerate(places))[first:first + SEEN]
    radius = max(place[0] * abs(place[3]) for _, place in seen)
    return [plots.series([(k, outside(place) / radius) for k, place in seen], color=COLOUR["without"], style="both")]


def drawn_places(told, first):
    """In the plane of |t| and n; and the range of |t|."""
    seen = [(math.hypot(t1, t2), n) for _, t1, t2, n in told["without"]["places"][first:first + SEEN]]
    friction, t1, t2, n = told["with"]["places"][-1]
    low, high = min(t for t, _ in seen), max(t for t, _ in seen)
    margin = 0.3 * (high - low) + 1e-12
    edge = [(t, -t / friction) for t in (max(0, low - margin), high + margin)]
    lines = [plots.series(seen, color=COLOUR["without"], style="both"), plots.series(edge, "edge of slip", color=plots.INK, style="line")]
    if low - margin < math.hypot(t1, t2) < high + margin:
        lines.append(plots.series([(math.hypot(t1, t2), n)], "answer", color=COLOUR["with"], style="points"))
    return lines, (low - margin, high + margin)


def panels(told, title):
    """l; on which side of its cone x is, iteration by iteration; and where."""
    without = told["without"]["places"]
    first = busiest(without)
    places, ends = drawn_places(told, first)
    return [plots.panel(drawn_l(told, title), f"{told['cell']}, problem {told['problem']}", "iterations", "l", "y"),
            plots.panel(drawn_sides(without, first), f"Without {title}: sticks below 0, slips above", "iterations",
                        "beyond the cone, over its radius"),
            plots.panel(places, "The same x in these iterations", "|x_t|", "x_n", x_range=ends)]


def draw(image, drawn):
    plots.draw(image, [one for name, told in drawn.items() for one in panels(told, DRAWN[name])], width=1180, columns=3)


# ---- tables ----


def percent(share):
    return f"{100 * share:.0f} %" if share > 0.1 else f"{100 * share:.2g} %"


def print_tables(found, drawn):
    names = ["all", *WITHOUT]
    titles = ["all", *(f"without {name}" for name in WITHOUT)]
    print("Iterations a step: median of a run, mean of the runs (mean of all steps); Newton's points taken; steps "
          "unsolved to 1e-8\n\n" + markdown.table(
        ["cell", "contacts", *titles], [[one["cell"], f"{one['contacts']:.1f}", *(
            f"{one[name]['iterations']:.2f} ({one[name]['mean']:.1f}), {percent(one[name]['newton_points'])}, {percent(one[name]['unsolved'])}" for name in names)] for one in found]) + "\n")
    for name, title in DRAWN.items():
        print(f"Chattering without {title}: steps that take {TIMES} times the iterations, and {MORE} more\n\n" + markdown.table(
            ["cell", "steps", "solved both ways", "chatter", "the reverse", "solved only with", "solved only without", "the worst: with", "without"],
            [[one["cell"], *(one["compared"][name][key] for key in ("steps", "both", "chatter", "reverse", "only_with", "only_without")),
              *(one["compared"][name]["worst"][0][key] for key in ("with", "without"))] for one in found]) + "\n")
        told = drawn[name]
        print(f"Drawn: {told['cell']}, problem {told['problem']}: {told['with']['iterations']} iterations, {told['without']['iterations']} without {title}; "
              f"contact {told['contact']} changes sides {told['with']['hops']} and {told['without']['hops']} times\n")


# ---- the experiment of study/reproduce.py: what the refinements of Todorov's method are worth: edges, dogleg, steps put back on edges ----

NAME = "refinements"
ORDER = 21
TITLE = "Refinements, and the chattering they cure"
PAPER = "todorov2010"
SHOWN = "sections III.C and III.D, figure 4"
ABOUT = ("Where a contact is best on the edge between sticking and slipping, Newton's steps go to and fro across it; "
         "the paper searches edges, stays on them and puts steps back. The cells of table 1 "
         "with all refinements and without each, from where all sticks and without restarts; and the problem that "
         "chatters most of those that take the most iterations more without edges.")
SECONDS = (8, 400)

SMALL = [f"cube-{balls}-mu{mu}" for balls in (5, 10) for mu in ("0.5", "1.0")]


def run(context):
    jobs = max(1, context.jobs // 3)
    told = json.loads(context.study("refinements", "--json", "--jobs", jobs, *(["--quick", *SMALL] if context.quick else []), jobs=jobs))
    cells, drawn = told["cells"], told["drawn"]
    names = ("all", *WITHOUT)
    head = ["cell", "all", *(f"without {name}" for name in WITHOUT)]
    for title, key, factor in (("Iterations a step (median of a run, mean of the runs)", "iterations", 1),
                               ("Newton's points taken, in percent", "newton_points", 100),
                               ("Steps without an answer to 1e-8, in percent", "unsolved", 100)):
        context.table(title, head, [[cell["cell"], *(factor * cell[name][key] for name in names)] for cell in cells])
    for name, title in DRAWN.items():
        context.table(f"How rare chattering is without {title}: steps that take twice the iterations, and five more",
                      ["cell", "steps", "solved both ways", "chatter", "the reverse", "solved only with", "only without"], [
            [cell["cell"], *(cell["compared"][name][key]
                             for key in ("steps", "both", "chatter", "reverse", "only_with", "only_without"))] for cell in cells])
        one = drawn[name]
        context.plot(f"{one['cell']}, problem {one['problem']}", [Curve([(k, max(l, 1e-20)) for k, l in enumerate(one[way]["l"])], f"{word}{title}")
                                                                for way, word in (("with", ""), ("without", "without "))],
                     x="iterations", y="l", log="y")
        places = one["without"]["places"][-40:]
        radius = max(place[0] * abs(place[3]) for place in places)
        context.plot(f"x of one contact without {title}, last iterations: sticks below 0, slips above", [
            Curve([(k, outside(place) / radius) for k, place in enumerate(places)], "", "both", colour=2)],
            x="iterations", y="beyond the cone, over its radius")
    mean = {name: {key: statistics.mean(cell[name][key] for cell in cells) for key in ("mean", "newton_points", "unsolved")} for name in names}
    for name in WITHOUT:
        context.figure(f"{name}_unsolved", 100 * (mean[name]["unsolved"] - mean["all"]["unsolved"]))
    context.figure("edges_newton", 100 * (mean["edges"]["newton_points"] - mean["all"]["newton_points"]))
    for name in ("dogleg", "projection"):
        context.figure(f"{name}_iterations", mean[name]["mean"] / mean["all"]["mean"])
    def certainty(name, key):
        """Of what a refinement is worth: runs of the same balls, with it and without."""
        return t_value([b[key] - a[key] for cell in cells for a, b in zip(cell["all"]["each"], cell[name]["each"])])
    for name in WITHOUT:
        context.figure(f"{name}_unsolved_t", certainty(name, "unsolved"))
    context.figure("edges_newton_t", -certainty("edges", "whole_steps"))
    for name in ("dogleg", "projection"):
        context.figure(f"{name}_iterations_t", certainty(name, "mean"))
    for name in DRAWN:
        context.figure(f"{name}_chatter",
                       100 * sum(cell["compared"][name]["chatter"] for cell in cells) / sum(cell["compared"][name]["both"] for cell in cells))
        context.figure(f"{name}_hops", told["hops"][name][0] / max(1, told["hops"][name][1]))


# ---- the command ----


def main():
    parser = Options(__doc__)
    parser.add_argument("cell", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--image", metavar="PATH")
    parser.add_argument("--jobs", type=int, default=1)
    request = parser.parse_args()
    for cell in request.cell:
        if cell not in CELLS:
            parser.error(f"there is no cell '{cell}'; they are {CELLS[0]} to {CELLS[-1]}")
    def measured(cell):
        if sys.stderr.isatty():
            print(f"{cell}\x1b[K", end="\r", file=sys.stderr, flush=True)
        return measure(cell, request.quick)

    with concurrent.futures.ThreadPoolExecutor(request.jobs) as pool:
        found = list(pool.map(measured, request.cell or CELLS))
    seen = look_at_worst(found, request.quick)
    drawn = most_hopping(seen)
    if request.json:
        print(json.dumps({"format": "refinements", "cells": found, "drawn": drawn, "hops": hops_of_all(seen)}, indent=1))
    else:
        print_tables(found, drawn)
    image = request.image or (None if request.quick or request.json or request.cell else os.path.join(ROOT, "docs", "images", "chattering.svg"))
    if image:
        draw(image, drawn)


if __name__ == "__main__":
    main()
