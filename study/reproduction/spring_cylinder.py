"""A cylinder on the ground, tied to a wall by a spring: energy and order of the integrators."""
import math

from .frame.context import Curve

NAME = "spring_cylinder"
ORDER = 30
TITLE = "Cylinder on a spring"
PAPER = "castro2021"
SHOWN = "section VI-B, figures 5 to 7"
ABOUT = ("A cylinder is let go 0.1 m from where its spring rests. Without friction it slides with its mass, with friction it rolls with half "
         "as much again. Which integrator keeps its energy, how much does rolling cost, and how does the error of the path fall with the step?")
SECONDS = (3, 20)

SCENE = "papers/spring_cylinder"
SCHEMES = {"midpoint": "midpoint", "symplectic": "symplectic Euler", "implicit": "implicit Euler"}
STEPS = [0.02, 0.01, 0.005, 0.0025, 0.00125]
RADIUS, MASS, SPRING, STIFFNESS, GRAVITY, START = 0.05, 0.5, 100, 2e4, 9.81, 0.1


def swing(context, scheme, friction, *words):
    return context.run(SCENE, "--integrator", scheme, "--set", f"materials/0/friction={friction}", *words)


def energies(record):
    """Over that of the spring at the start; the weight's is left out."""
    weight = record["energy.total"][0] - SPRING * START ** 2 / 2
    return [(e - weight) / (SPRING * START ** 2 / 2) for e in record["energy.total"]]


def ripple(energy):
    return 100 * (max(energy) - min(energy))


def path_error(record):
    """Root of the mean square of x - x_e; it rolls on the middle of the overlap."""
    lever = RADIUS - MASS * GRAVITY / STIFFNESS / 2
    rate = math.sqrt(SPRING / (MASS + MASS * RADIUS ** 2 / 2 / lever ** 2))
    squares = [(x - START * math.cos(rate * t)) ** 2 for t, x in record.pairs("time", "cylinder.x")][1:]
    return math.sqrt(sum(squares) / len(squares))


def period_steps(record):
    """Steps a period, from the first and the last upward crossing of zero."""
    x = record["cylinder.x"]
    crossings = [k + x[k] / (x[k] - x[k + 1]) for k in range(len(x) - 1) if x[k] < 0 <= x[k + 1]]
    return (crossings[-1] - crossings[0]) / (len(crossings) - 1)


def run(context):
    runs = {(scheme, friction): swing(context, scheme, friction) for scheme in SCHEMES for friction in (0, 1)}
    for friction, how in ((0, "sliding"), (1, "rolling")):
        context.plot(f"Energy, {how}, step 20 ms", [
            Curve(list(zip(runs[s, friction]["time"], energies(runs[s, friction]))), SCHEMES[s]) for s in SCHEMES],
            x="time [s]", y="energy over the first", x_range=(0, 2.5), y_range=(0, 1.25))
    errors = {scheme: [path_error(swing(context, scheme, 1, "--step", step)) for step in STEPS] for scheme in SCHEMES}
    context.plot("Rolling: error of the path over 5 s", [
        *(Curve(list(zip(STEPS, errors[s])), SCHEMES[s], "both") for s in SCHEMES),
        Curve([(h, 0.7 * h) for h in STEPS], "orders 1 and 2", dash="dash", colour=0),
        Curve([(h, 40 * h ** 2) for h in STEPS], dash="dash", colour=0)],
        x="step [s]", y="error [m]", log="xy", x_range=(1e-3, 2.5e-2))
    orders = {s: math.log2(errors[s][-2] / errors[s][-1]) for s in SCHEMES}
    for scheme in SCHEMES:
        context.figure(f"sliding_ripple_{scheme}", ripple(energies(runs[scheme, 0]))) if scheme != "implicit" else None
        context.figure(f"order_{scheme}", orders[scheme])
    context.figure("implicit_left", 100 * energies(runs["implicit", 0])[125])
    context.figure("sliding_period", period_steps(runs["symplectic", 0]))
    context.figure("rolling_period", period_steps(runs["symplectic", 1]))
    first = energies(runs["midpoint", 1])[:101]
    context.figure("rolling_ripple_midpoint", ripple(first))
    context.table("Error of the path over 5 s [m]", ["step [s]", *SCHEMES.values()],
                  [[h, *(errors[s][k] for s in SCHEMES)] for k, h in enumerate(STEPS)])
    if not context.quick:
        for scheme in ("midpoint", "symplectic"):
            context.figure(f"rolling_lost_{scheme}", lost(energies(swing(context, scheme, 1, "--duration", 600))))


def lost(energy):
    """Percent between the first and the last second, each in the mean (its periods are of 0.55 s)."""
    return 100 * (1 - sum(energy[-50:]) / sum(energy[:50]))
