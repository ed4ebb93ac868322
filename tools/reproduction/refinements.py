"""What the refinements of Todorov's method are worth: edges, dogleg, steps put back on edges."""
import json
import statistics

from .frame.context import Curve

NAME = "refinements"
ORDER = 21
TITLE = "Refinements, and the chattering they cure"
PAPER = "todorov2010"
SHOWN = "sections III.C and III.D, figure 4"
ABOUT = ("Where a contact is best on the edge between sticking and slipping, Newton's steps go to and fro across it; the paper searches edges, stays on them and puts steps back. The cells of table 1 "
         "with all refinements and without each, from where all sticks and without restarts; and the problem that chatters most of those that take the most iterations more without edges.")
SECONDS = (8, 400)

WITHOUT = ("edges", "dogleg", "projection")
SMALL = [f"cube-{balls}-mu{mu}" for balls in (5, 10) for mu in ("0.5", "1.0")]


def outside(place):
    friction, t1, t2, n = place
    return (t1 * t1 + t2 * t2) ** 0.5 + friction * n


def run(context):
    told = json.loads(context.tool("refinements", "--json", *(["--quick", *SMALL] if context.quick else [])))
    cells, drawn = told["cells"], told["drawn"]
    tried = {"edges": "edges", "projection": "steps put back"}
    names = ("all", *WITHOUT)
    head = ["cell", "all", *(f"without {name}" for name in WITHOUT)]
    for title, key, factor in (("Iterations a step (median of a run, mean of the runs)", "iterations", 1), ("Newton's points taken, in percent", "newton_points", 100),
                               ("Steps without an answer to 1e-8, in percent", "unsolved", 100)):
        context.table(title, head, [[cell["cell"], *(factor * cell[name][key] for name in names)] for cell in cells])
    for name, title in tried.items():
        context.table(f"How rare chattering is without {title}: steps that take twice the iterations, and five more", ["cell", "steps", "solved both ways", "chatter", "the reverse", "solved only with", "only without"], [
            [cell["cell"], *(cell["compared"][name][key] for key in ("steps", "both", "chatter", "reverse", "only_with", "only_without"))] for cell in cells])
        one = drawn[name]
        context.plot(f"{one['cell']}, problem {one['problem']}", [Curve([(k, max(l, 1e-20)) for k, l in enumerate(one[way]["l"])], f"{word}{title}")
                                                                for way, word in (("with", ""), ("without", "without "))], x="iterations", y="l", log="y")
        places = one["without"]["places"][-40:]
        radius = max(place[0] * abs(place[3]) for place in places)
        context.plot(f"x of one contact without {title}, last iterations: sticks below 0, slips above", [
            Curve([(k, outside(place) / radius) for k, place in enumerate(places)], "", "both", colour=2)], x="iterations", y="beyond the cone, over its radius")
    mean = {name: {key: statistics.mean(cell[name][key] for cell in cells) for key in ("mean", "newton_points", "unsolved")} for name in names}
    for name in WITHOUT:
        context.figure(f"{name}_unsolved", 100 * (mean[name]["unsolved"] - mean["all"]["unsolved"]))
    context.figure("edges_newton", 100 * (mean["edges"]["newton_points"] - mean["all"]["newton_points"]))
    for name in ("dogleg", "projection"):
        context.figure(f"{name}_iterations", mean[name]["mean"] / mean["all"]["mean"])
    for name in tried:
        context.figure(f"{name}_chatter", 100 * sum(cell["compared"][name]["chatter"] for cell in cells) / sum(cell["compared"][name]["both"] for cell in cells))
        context.figure(f"{name}_hops", drawn[name]["with"]["hops"] / max(1, drawn[name]["without"]["hops"]))
