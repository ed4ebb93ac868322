"""Balls thrown about in a cube: iterations a step, table 1 of Todorov (2010)."""
import math
import statistics

from .frame import shared
from .frame.context import Curve

NAME = "todorov_table"
ORDER = 20
TITLE = "Balls in a cube"
PAPER = "todorov2010"
SHOWN = "section IV, table 1"
ABOUT = ("5, 10 or 15 balls of five sizes are thrown into a cube of 60 cm, with four values of friction, 200 steps of "
         "5 ms each. How many iterations does a step "
         "take, how often is the plain Newton step good enough, and which steps stay without an answer? In the paper "
         "each step begins where all contacts "
         "would stick; it does not say what size the balls have, how they are thrown, or how many steps it left unsolved.")
SECONDS = (5, 60)

MIDDLE, PYRAMID = "cube-10-mu1.0", "mlcp-pfb-rlm:directions=8:alignment=fixed"
PLAIN, HELPED, USUAL = "incp:start=sticking:restart=off", "incp:start=sticking", "incp"
WAYS = {PLAIN: "plain", HELPED: "with restarts", USUAL: "with restarts, from the step before"}
FRICTION = ("0.1", "0.5", "1.0", "2.0")
PAPER_TABLE = {5: ((3.8, 99), (2.6, 95), (2.8, 90), (2.9, 88)),  # iterations, percent of Newton points taken
               10: ((4.8, 98), (5.3, 85), (4.9, 71), (4.6, 71)),
               15: ((6.5, 90), (7.5, 73), (10.2, 60), (16.2, 55))}


def least_mean(runs):
    """Iterations a step, less two standard errors of the runs.  Steps without an answer count as the longest of all."""
    each = [run["iterations_to_answer"] for run in runs["each"]]
    return statistics.mean(each) - 2 * shared.standard_error(each)


def where_lost(context, found, names):
    """Steps that plain descent leaves: of which kind, and by contacts for each ball."""
    kinds, at = {}, {}
    for cell in names:
        balls = int(cell.split("-")[1])
        for answer in found[cell, PLAIN]["answers"]:
            density = math.floor(2 * (answer["open"] + answer["stick"] + answer["slide"]) / balls) / 2
            lost = not answer["E"] <= 1e-8
            at.setdefault(density, []).append(lost)
            if lost:
                kinds[answer["outcome"]] = kinds.get(answer["outcome"], 0) + 1
    context.table("Plain descent, all cells: steps without an answer, by contacts for each ball", ["contacts a ball, from", "steps", "without an answer [%]"], [
        [density, len(lost), 100 * statistics.mean(lost)] for density, lost in sorted(at.items())])
    context.figure("minima_share", 100 * kinds.get("stalled", 0) / max(1, sum(kinds.values())))
    context.figure("unsolved_loose", 100 * statistics.mean(lost for density, of in at.items() if density < 1 for lost in of))


def searches(context, found, names):
    """Where searches end in the steps that plain descent solves."""
    answers = [answer for cell in names for answer in found[cell, PLAIN]["answers"] if answer["E"] <= 1e-8]
    count = sum(answer["iterations"] - answer["whole_steps"] for answer in answers)
    for figure, key in (("beyond_cauchy", "dogleg_steps"), ("on_edges", "edge_steps")):
        context.figure(figure, 100 * sum(answer[key] for answer in answers) / count)


def pyramid(context):
    """Seconds an iteration beside those of the linear complementarity problem of eight directions, in one run."""
    told = context.compare(MIDDLE, "--quick", "--repeat", 3, "--solver", f"{PLAIN},{PYRAMID}")
    each = [[sum(answer[key] for answer in entry["answers"]) for key in ("seconds", "iterations")] for entry in told["entries"]]
    rows = [[way, steps, 1e6 * seconds / steps, 100 * entry["runs"]["unsolved_1e-8"]]
            for way, (seconds, steps), entry in zip(("plain descent", "eight directions"), each, told["entries"])]
    context.table("10 balls, friction 1, 200 steps", ["way", "iterations", "us an iteration", "error above 1e-8 [%]"], rows,
                  note="The error is that of the round cone, which a pyramid of eight directions does not meet.")
    context.figure("against_pyramid", rows[0][2] / rows[1][2])


def run(context):
    told = context.compare(*(f"cube-{balls}" for balls in PAPER_TABLE), "--repeat", 1, "--solver", ",".join(WAYS),
                           *(["--quick"] if context.quick else []))
    found = {(entry["case"], entry["solver"]): entry for entry in told["entries"]}
    runs = {key: entry["runs"] for key, entry in found.items()}
    cells = [(balls, mu, *PAPER_TABLE[balls][k]) for balls in PAPER_TABLE for k, mu in enumerate(FRICTION)]
    name = "cube-{}-mu{}".format
    for balls in PAPER_TABLE:
        context.plot(f"{balls} balls: iterations a step", [
            Curve([(float(mu), PAPER_TABLE[balls][k][0]) for k, mu in enumerate(FRICTION)], "paper", "both"),
            *(Curve([(float(mu), runs[name(balls, mu), way]["iterations"]) for mu in FRICTION], title, "both") for way, title in WAYS.items())],
            x="friction", y="median", y_range=(0, None))
    context.table("Iterations a step (median of a run, mean of the runs) and percent of Newton steps taken",
                  ["balls", "friction", "contacts", "paper", *WAYS.values(), "paper, %", "plain, %"], [
        [balls, float(mu), found[name(balls, mu), PLAIN]["contacts"], iterations, *(runs[name(balls, mu), way]["iterations"] for way in WAYS),
         share, 100 * runs[name(balls, mu), PLAIN]["whole_steps"]] for balls, mu, iterations, share in cells])
    context.table("Steps without an answer to 1e-8, in percent; Gauss-Seidel sweeps a step",
                  ["balls", "friction", *WAYS.values(), "sweeps, with restarts", "sweeps, from the step before"], [
        [balls, float(mu), *(100 * runs[name(balls, mu), way]["unsolved_1e-8"] for way in WAYS),
         *(runs[name(balls, mu), way]["searches"] for way in (HELPED, USUAL))]
        for balls, mu, _, _ in cells],
        note="A restart begins from sweeps of Gauss and Seidel: 100, then 2,000, then 10,000, as long as the step has no answer.")
    for way, word in ((PLAIN, "plain"), (HELPED, "helped")):
        context.figure(f"beyond_paper_{word}", sum(least_mean(runs[name(balls, mu), way]) > iterations for balls, mu, iterations, _ in cells))
    context.figure("unsolved", max(100 * runs[name(balls, mu), way]["unsolved_1e-8"] for balls, mu, *_ in cells for way in (HELPED, USUAL)))
    where_lost(context, found, [name(balls, mu) for balls, mu, *_ in cells])
    searches(context, found, [name(balls, mu) for balls, mu, *_ in cells])
    pyramid(context)
    context.figure("unsolved_plain", max(100 * runs[name(balls, mu), PLAIN]["unsolved_1e-8"] for balls, mu, *_ in cells))
    context.figure("middle_iterations", runs[name(10, "1.0"), PLAIN]["iterations"])
    context.figure("middle_share", 100 * runs[name(10, "1.0"), PLAIN]["whole_steps"])
