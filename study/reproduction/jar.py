"""Two arms open a jar and pour: how exact must SAP be for the task, and how many iterations does that take?"""
import math

NAME = "jar"
ORDER = 38
TITLE = "Two arms open a jar"
PAPER = "castro2021"
SHOWN = "section VI-E, figures 18 to 21"
ABOUT = ("Two arms with hands, 160 degrees of freedom, pick up a jar, lift its lid off, pour 16 marbles into a bowl, close the jar and put it down, at 5 ms a "
         "step. Shapes, path, gains, the handle of the lid and contacts at points in place of pressure fields are ours. How large is the momentum error, and "
         "is the task completed, as the tolerance grows?")
SECONDS = (3, 300)

TOLERANCES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
LIKE_PAPER = 1e-3
MARBLES, BOWL_RADIUS, BOWL_HEIGHT, JAR_HEIGHT = 16, 0.1, 0.06, 0.16  # m: of the scene
NEAR, UPRIGHT = 0.01, math.cos(math.radians(2))  # m: of the jar's place
MILLI = 1e3


def last(record, body, parts="xyz"):
    return [record[f"{body}.{part}"][-1] for part in parts]


def upright(record, body):
    x, y = last(record, body, ("qx", "qy"))
    return 1 - 2 * (x * x + y * y)


def outcome(record):
    """Marbles in the bowl, the jar's way from its place [m], and whether the task is completed."""
    bowl, jar, lid, within = last(record, "bowl"), last(record, "jar"), last(record, "lid"), 0
    for k in range(MARBLES):
        x, y, z = (a - b for a, b in zip(last(record, f"m{k}_marble"), bowl))
        within += math.hypot(x, y) < BOWL_RADIUS and 0 < z < BOWL_HEIGHT
    off = math.dist(jar, [record[f"jar.{part}"][0] for part in "xyz"])
    on = math.dist(lid, (jar[0], jar[1], jar[2] + JAR_HEIGHT)) < NEAR
    return within, off, within == MARBLES and off < NEAR and on and upright(record, "jar") > UPRIGHT


def open_jar(context, tolerance, *words):
    return context.run("robots/iiwas_open_jar", "--every", 1, "--solver", f"sap:tolerance={tolerance:g}", "--set",
                       'record/signals=["coordinates", "contacts", "statistics"]', *words)


def run(context):
    record = open_jar(context, LIKE_PAPER, "--duration", 0.5)
    context.figure("momentum_at_first", max(record["certificate.momentum"]))
    if context.quick:
        return
    rows = []
    for tolerance, record in zip(TOLERANCES, context.together(lambda tolerance: open_jar(context, tolerance), TOLERANCES)):
        error, (within, off, done) = max(record["certificate.momentum"]), outcome(record)
        context.figure(f"momentum_{tolerance:.0e}", error / tolerance)
        context.figure(f"completed_{tolerance:.0e}", int(done))
        rows.append([f"{tolerance:g}", error, record.summary["contacts"]["iterations_mean"], within, MILLI * off, "completed" if done else "failed",
                     record.summary["real_time_factor"]])
        if tolerance == LIKE_PAPER:
            context.figure("iterations", record.summary["contacts"]["iterations_mean"])
            context.figure("marbles", within)
            context.figure("faster", record.summary["real_time_factor"])
    context.table("The whole task", ["tolerance", "momentum error, worst step", "iterations a step", "marbles in the bowl", "jar off its place [mm]", "task",
                                     "real-time factor"], rows)
