"""How much friction at rest may yield, against what it costs."""
import math
import statistics

from .frame import shared
from .frame.context import Curve

NAME = "slip_parameter"
ORDER = 34
TITLE = "The slip parameter"
PAPER = "castro2021"
SHOWN = "section VI-C, figures 14 and 15"
ABOUT = ("In SAP friction that holds yields by sigma times what the contact could be moved by; sigma is chosen. The clutter of 40 objects runs "
         "for 10 s with several. How fast does at the end slip what should hold, how badly conditioned is the Hessian there, and how many Newton "
         "steps did it take?")
SECONDS = (12, 45)

SCENE, SMALL, HEAPS = "papers/clutter", "bench/clutter", 10
PLACES = {"walls": "within walls", "open": "without walls"}
OPEN = 'bodies/box/shapes=[{"type": "half_space", "material": "rough"}]'
FRICTION, STEP, GRAVITY = 1, 0.01, 9.81


def estimate(sigma):
    return sigma * FRICTION * STEP * GRAVITY


def at_end(context, place, sigma):
    problem = context.folder / "end.h5"
    record = context.run(SCENE, "--set", f"world/law/sigma={sigma:g}", *(["--set", OPEN] if place == "open" else []), "--dump-problem", 1000,
                         problem)
    words = context.helper("condition", problem, f"{sigma:g}").split()
    return {"sigma": sigma, "condition": float(words[2]), "slip": float(words[5]), "newton": statistics.mean(record["solver_iterations"][1:])}


def newton_of_heaps(context, sigma):
    """Newton steps a step, means of heaps of 16 objects within walls: their steps [s] differ by 2e-4, so that each comes to rest otherwise."""
    words = [word for k in (0, 1) for word in ("--set", f"instances/{k}/repeat/counts/2=2")]
    runs = [context.run(SMALL, "--duration", 5, "--every", 1, "--step", STEP * (1 + 2e-4 * k), "--solver", f"{shared.SAP}:tolerance=1e-5", "--set",
                        f"world/law/sigma={sigma:g}", *words) for k in range(2 if context.quick else HEAPS)]
    return statistics.mean(statistics.mean(record["solver_iterations"][1:]) for record in runs)


def slope(told, figure, low, high):
    """Of logarithms."""
    return shared.exponent([(one["sigma"], one[figure]) for one in told if low <= one["sigma"] <= high])


def logarithm_misfit(steps):
    """The greatest ratio by which the steps leave a + b ln(1 / sigma), fitted by least squares; 1: none does."""
    x, y = [-math.log(sigma) for sigma in steps], list(steps.values())
    b = statistics.covariance(x, y) / statistics.variance(x)
    line = [statistics.mean(y) + b * (xi - statistics.mean(x)) for xi in x]
    return max(math.inf if fit <= 0 else max(fit / yi, yi / fit) for fit, yi in zip(line, y))


def run(context):
    sigmas = [10.0 ** k for k in ((-6, -4, -3, -2) if context.quick else range(-7, 1))]
    told = {place: [at_end(context, place, sigma) for sigma in sigmas] for place in PLACES}
    def curves(figure):
        return [Curve([(one["sigma"], one[figure]) for one in told[place]], PLACES[place], "both") for place in PLACES]
    context.plot("Slip of what sticks, at the end", curves("slip") + [
        Curve([(sigma, estimate(sigma)) for sigma in sigmas], "sigma mu dt g", dash="dash", colour=8)], x="sigma", y="mean [m/s]", log="xy")
    context.plot("Newton steps a step, mean of 10 s", curves("newton"), x="sigma", log="x", y_range=(0, None))
    context.plot("Condition number of H at the end", curves("condition"), x="sigma", log="xy")
    walls, free = told.values()
    context.figure("slip_slope", slope(walls, "slip", 1e-6, 1e-2))
    context.figure("slip_over_estimate", max(one["slip"] / estimate(one["sigma"]) for place in PLACES for one in told[place]))
    context.figure("slip_open", math.exp(statistics.mean(math.log(b["slip"] / a["slip"]) for a, b in zip(walls, free))))
    context.figure("condition_slope", slope(walls, "condition", 1e-7, 1e-2))
    steps = {sigma: newton_of_heaps(context, sigma) for sigma in sigmas}
    context.plot("Newton steps a step, means of heaps of 16 objects", [Curve(list(steps.items()), None, "both")], x="sigma", log="x", y_range=(0, None))
    context.table("Newton steps a step by sigma, means of heaps of 16 objects", ["sigma", "Newton steps"], [list(pair) for pair in steps.items()])
    context.figure("newton_growth", steps[1e-6] / steps[1e-2])
    context.figure("newton_logarithm", logarithm_misfit(steps))
    head = ["sigma", "sigma mu dt g [m/s]"] + [f"{what}, {PLACES[place]}" for what in ("slip [m/s]", "condition", "Newton steps") for place in PLACES]
    context.table("At the end of 10 s", head, [
        [a["sigma"], estimate(a["sigma"])] + [one[figure] for figure in ("slip", "condition", "newton") for one in (a, b)]
        for a, b in zip(walls, free)])
