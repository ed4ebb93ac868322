"""An arm turns a nut onto its bolt: does the thread lead it, whichever solver finds the forces?"""
import math

from .frame.context import Curve

NAME = "panda_nut"
ORDER = 52
TITLE = "A Panda turns a nut"
PAPER = "lee2024"
SHOWN = "section VII-A2, figure 6"
ABOUT = ("A Panda with an M48 nut fastened to its hand comes down on a bolt and turns the nut by 3.75 turns, led by a joint impedance. Threads of 0.05 mm "
         "clearance each meet in up to 120 contacts. In the paper CANAL and SubADMM complete the task with 0.5 ms a step and PGS fails by penetration. "
         "The bolt's chamfer, the path, the gains and the counts of iterations in place of 0.5 ms are ours. How far is the nut off the path of the thread?")
SECONDS = (6, 60)

# to their tolerance, or by counts of iterations that take half a millisecond at most: a Newton step takes 20 us, a pass 6 us, a sweep 13 us
SOLVERS = {"auto": "auto", "canal": "canal", "canal_budget": "canal:max_iterations=24", "subadmm": "subadmm:max_iterations=40",
           "pgs": "pgs:acceleration=none,max_iterations=40"}
PITCH, MEAN_DIAMETER, CLEARANCE = 0.005, 0.044752, 0.00005  # m
PLAY = 2 * CLEARANCE * math.sqrt(1 + math.tan(math.radians(30)) ** 2 + (PITCH / (math.pi * MEAN_DIAMETER)) ** 2)  # along the axis, to either side
BOLT, TOP, HALF_NUT = 0.25, 0.3025, 0.012  # m: middle and end of the bolt, half the nut's height
MILLI = 1e3


def path_of(record):
    """(time, turns, height above the path of the thread [m], height of the nut [m]); the threads have a ridge at angle 0 in their middle."""
    rows, turns = [], 0
    for time, z, w, qx, qy, qz in zip(*(record[name] for name in ("time", "nut.pose.z", "nut.pose.qw", "nut.pose.qx", "nut.pose.qy", "nut.pose.qz"))):
        angle = math.atan2(2 * (w * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz)) / (2 * math.pi)
        turns += angle - turns - round(angle - turns)
        off = z - BOLT - PITCH * turns
        rows.append((time, turns, off - PITCH * round(off / PITCH), z))
    return rows


def run(context):
    rows, curves = [], []
    chosen = {name: solver for name, solver in SOLVERS.items() if name == "canal" or not context.quick}
    records = context.together(lambda solver: context.run("robots/panda_turns_nut", "--solver", solver, "--every", 1, *(["--duration", 1.5] if context.quick else [])),
                               chosen.values())
    for (name, solver), record in zip(chosen.items(), records):
        path = path_of(record)
        led = [(t, off) for t, _, off, z in path if z - HALF_NUT < TOP - PITCH / 2]
        overlap = max(record["certificate.penetration"])
        told = {"turns": -path[-1][1], "off": MILLI * max(abs(off) for _, off in led), "overlap": MILLI * overlap}
        for figure, value in told.items():
            context.figure(f"{name}_{figure}", value)
        faster, contacts = record.summary["real_time_factor"], record.summary["contacts"]
        rows.append([solver, *told.values(), contacts["mean"], contacts["iterations_mean"], contacts["E"]["worst"], contacts["unsolved_steps"], faster])
        if name == "auto":
            context.figure("faster", faster)
        curves.append(Curve([(t, MILLI * off) for t, off in led], solver))
    context.table("The whole task", ["solver", "turns", "most off the path [mm]", "deepest overlap [mm]", "contacts", "iterations a step", "worst E",
                                     "steps unsolved", "real-time factor"], rows)
    context.plot("Off the path of the thread", curves, x="time [s]", y="[mm]", y_range=(-MILLI * PLAY, MILLI * PLAY),
                 note="The range is the play, from where the faces overlap by half a pitch on.")
