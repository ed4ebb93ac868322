"""A nut on its bolt: from which friction on does the thread hold it?"""
import math

from .frame.context import Curve

NAME = "self_locking"
ORDER = 51
TITLE = "A thread locks itself"
PAPER = "own"
SHOWN = "thread of Lee et al., section VII-A"
ABOUT = ("A free M48 nut turns down a bolt by its weight, through contacts of two threads. A thread with friction mu, flanks of 30 degrees and a pitch p "
         "at the mean diameter d locks itself where mu / cos 30 > p / (pi d). Below that the nut speeds up by an acceleration that falls in proportion to mu. "
         "Where does the program put the threshold? Under the rigid law the flanks do not say where on them the load acts; a little compliance does.")
SECONDS = (9, 14)

PITCH, MEAN_DIAMETER = 0.005, 0.044752  # m
THRESHOLD = math.cos(math.radians(30)) * PITCH / (math.pi * MEAN_DIAMETER)
ENDS = (0, 0.6)
SHARES = {("auto", "near-rigid"): (0, 0.3, 0.6, 0.98, 1.02, 1.3), ("canal", "near-rigid"): ENDS, ("auto", "rigid"): ENDS, ("canal", "rigid"): ENDS,
          ("pgs", "rigid"): ENDS}  # solver and compliance: friction, of the threshold
DEFAULT = ("auto", "near-rigid")
SLOW = (("auto", "rigid"), ("pgs", "rigid"))  # left out in the quick mode


def motion(record):
    """Acceleration over the last three quarters of the run, by second differences, and the speed at its end."""
    t, z = record["time"], record["nut.pose.z"]
    a, b, c, last = len(t) // 4, len(t) // 2, len(t) - 1, len(t) - 5
    slope = [(z[j] - z[i]) / (t[j] - t[i]) for i, j in ((a, b), (b, c), (last, c))]
    return 2 * (slope[1] - slope[0]) / (t[c] - t[a]), slope[2]


def run(context):
    found, rows = {}, []
    for case, shares in SHARES.items():
        if context.quick and case in SLOW:
            continue
        solver, law = case
        for share in shares:
            record = context.run("solids/nut_turns", "--solver", solver, "--duration", 0.5, "--every", 1, "--set", f'world/compliance="{law}"',
                                 "--set", f"materials/0/friction={share * THRESHOLD}")
            found[case, share] = motion(record)
            rows.append([solver, law, share * THRESHOLD, *found[case, share], max(record["certificate.penetration"])])
        low, high = (found[case, share][0] for share in ENDS)
        context.figure(f"{solver}_{law.replace('-', '_')}_threshold", ENDS[1] * low / (low - high))
    context.figure("runs_below", found[DEFAULT, 0.98][0] / found[DEFAULT, 0][0])
    context.figure("slows_above", found[DEFAULT, 1.02][0] / found[DEFAULT, 0][0])
    context.figure("stands_above", abs(found[DEFAULT, 1.3][1]))
    context.table("Half a second", ["solver", "law", "friction", "acceleration [m/s^2]", "speed at the end [m/s]", "deepest overlap [m]"], rows)
    context.plot("Acceleration", [Curve([(share, found[case, share][0]) for share in shares], ", ".join(case), style="both")
                                  for case, shares in SHARES.items() if case in (DEFAULT, ("canal", "rigid"))],
                 x="friction / threshold", y="acceleration [m/s^2]")
