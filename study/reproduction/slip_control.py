"""Soft jaws hold a spatula by pressure fields, firmly and loosely in turns."""
import math
import statistics

from .frame.context import Curve

NAME = "slip_control"
ORDER = 36
TITLE = "Slip control with soft jaws"
PAPER = "castro2021"
SHOWN = "section VI-D, figures 16 and 17"
ABOUT = ("Two soft jaws hold a spatula by its handle, with 16 N for 4.5 s and 1 N for 1.5 s in turns; contact acts over the areas of pressure "
         "fields. How many Newton steps does SAP take, and an interior point method of our own beside it, how many contacts are there, and does the "
         "spatula pitch under the loose grip alone?")
SECONDS = (10, 16)

SCENE, TOLERANCE = "papers/slip_control", 1e-3
INTERIOR = math.sqrt(1e-6)  # of ipm, which stops on the root of its gap: the paper's tolerance of Geodesic IPM
PERIOD, FIRM, SETTLED, ARM = 6, 4.5, 1, 0.25  # s; s of firm grip; s until the grip has settled; m from handle to tip
PHASES = 3


def phases(record):
    """(time within the period, index) of every row."""
    return [(t % PERIOD, k) for k, t in enumerate(record["time"]) if t > 0]


def run(context):
    count = PHASES - 1 if context.quick else PHASES
    words = ["--every", 1, "--duration", PERIOD * count, "--set", "record/signals=[\"statistics\"]", "--solver"]
    record = context.run(SCENE, *words, f"sap:tolerance={TOLERANCE:g}")
    interior = context.run(SCENE, *words, f"ipm:tolerance={INTERIOR:g}")
    pitch = [math.degrees(math.asin((tip - handle) / ARM)) for tip, handle in zip(record["tip.point.z"], record["handle.point.z"])]
    context.plot("Pitch of the spatula", [Curve(list(zip(record["time"], pitch)))], x="time [s]", y="[degrees]")
    context.plot("Contacts", [Curve(record.pairs("time", "contacts"))], x="time [s]")
    context.plot("Steps of the solver a step", [Curve(one.pairs("time", "solver_iterations"), name) for name, one in (("sap", record), ("ipm", interior))],
                 x="time [s]")
    firm = [[pitch[k] for t, k in phases(record) if SETTLED <= t < FIRM - 0.1 and int(record["time"][k] // PERIOD) == n] for n in range(count)]
    held = [max(of) - min(of) for of in firm]
    turned = [abs(b[0] - a[-1]) for a, b in zip(firm, firm[1:])]
    context.figure("newton", statistics.mean(record["solver_iterations"][1:]))
    context.figure("newton_over_ipm", statistics.mean(record["solver_iterations"][1:]) / statistics.mean(interior["solver_iterations"][1:]))
    context.figure("ipm_momentum", statistics.mean(interior["certificate.momentum"][1:]))
    context.figure("ipm_time", interior.summary["wall_time"] / record.summary["wall_time"])
    context.figure("momentum", max(record["certificate.momentum"][1:]))
    context.figure("contacts_firm", statistics.mean(record["contacts"][k] for t, k in phases(record) if SETTLED <= t < FIRM))
    context.figure("contacts_loose", statistics.mean(record["contacts"][k] for t, k in phases(record) if t > FIRM + 0.5))
    context.figure("held", max(held))
    context.figure("turned", min(turned))
