"""A hand of stiff fingers holds a block a thousand times as heavy as a link, after the hands of Macklin et al. (2019)."""
from .frame.context import Curve

NAME = "stiff_grasp"
ORDER = 44
TITLE = "A hand holds a heavy block"
PAPER = "macklin2019"
SHOWN = "figures of the Allegro hand, table of examples"
ABOUT = ("Four fingers of four links, 50 g each, on stiff drives, press on a block of 50 kg at 64 points, lift it, "
         "jerk it down and stop it, and hold it. Forces run in circles through "
         "fingers, palm and block: there are eight times as many contact forces as degrees of freedom. Does the block "
         "stay where it was taken? With friction 0.2 in place of 1 it has to fall.")
SECONDS = (6, 6)

SCENE = "papers/hand"
JERK, STILL = 1.45, 2.0  # s: before the jerk, and when all is at rest after it


def slip(record):
    """(time, block over palm)."""
    return [(t, block - palm) for t, block, palm in zip(record["time"], record["block.point.z"], record["palm.point.z"])]


def spread(points, low, high):
    """Between the highest and the lowest."""
    seen = [z for t, z in points if low <= t <= high]
    return max(seen) - min(seen)


def at(points, time):
    return min(points, key=lambda point: abs(point[0] - time))[1]


def run(context):
    runs = {solver: context.run(SCENE, "--solver", solver, "--set", "world/compliance=rigid") for solver in ("canal", "auto", "nsn")}
    slips = {solver: slip(record) for solver, record in runs.items()}
    loose = context.run(SCENE, "--solver", "canal", "--set", "materials/rubber/friction=0.2", "--duration", 1.4)
    context.plot("How far the block has slipped in the hand",
                 [Curve([(t, 1e6 * (z - points[0][1])) for t, z in points], solver) for solver, points in slips.items()],
                 x="time [s]", y="slip [um]")
    context.plot("Heights",
                 [Curve(runs["auto"].pairs("time", "block.point.z"), "block"), Curve(loose.pairs("time", "block.point.z"), "block, friction 0.2"),
                             Curve(runs["auto"].pairs("time", "palm.point.z"), "palm")], x="time [s]", y="height [m]")
    summed = {solver: record.summary["contacts"] for solver, record in runs.items()}
    context.table("By solver", ["solver", "until [s]", "iterations a step", "most", "worst E", "slip in the jerk [um]"], [
        [solver, record["time"][-1], summed[solver]["iterations_mean"], summed[solver]["iterations_max"], summed[solver]["E"]["worst"],
         1e6 * (at(slips[solver], STILL) - at(slips[solver], JERK))] for solver, record in runs.items()])
    context.figure("contacts", min(runs["auto"]["contacts"][1:]))
    context.figure("held_before", max(spread(points, 0, JERK) for points in slips.values()))
    context.figure("held_after", max(spread(points, STILL, 4) for points in slips.values()))
    jerks = [at(points, STILL) - at(points, JERK) for points in slips.values()]
    context.figure("jerk", -1e6 * jerks[0])
    context.figure("jerk_agrees", (max(jerks) - min(jerks)) / abs(jerks[0]))
    context.figure("error", max(one["E"]["worst"] for one in summed.values()))
    context.figure("falls", at(slip(loose), 1.4) - slip(loose)[0][1])
