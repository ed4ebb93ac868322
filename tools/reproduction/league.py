"""All solvers on the same problems: who solves how many, how soon, and why not?"""
import json

from .frame.context import Curve

NAME = "league"
ORDER = 60
TITLE = "All solvers on the same problems"
PAPER = "acary2018"
SHOWN = "performance profiles"
ABOUT = ("Steps out of scenes with contact, and ten problems from files, are given to every contact solver there is. All answers are judged by one "
         "figure that no solver had a hand in: E, the error of rigid contact with Coulomb friction. Who gives up says why. A profile tells which "
         "share of the problems a solver answers within so many times the time of the fastest.")
SECONDS = (12, 240)
FEW = "stack,arch,cards,mass_ratio,gripper,wedge,pendulum"
LOOK = {"auto": (0, "solid"), "pgs": (1, "solid"), "canal": (2, "solid"), "subadmm": (3, "solid"), "nsn": (4, "solid"), "incp": (5, "solid"),
        "mncp-rlm": (6, "solid"), "mncp-plm": (6, "dash"), "mlcp-pfb-rlm": (7, "solid"), "mlcp-pfb-plm": (7, "dash"), "mlcp-pivot": (8, "dashdot")}
LEVELS = ("0.0001", "1e-06", "1e-08")


def run(context):
    words = ["--quick", "--only", FEW] if context.quick else []
    told = json.loads(context.tool("league", "tests/data/fclib", "--json", "--picture", f"{context.folder}/league.svg", *words))
    sets = told["leagues"]
    scenes, files = sets["scenes"], sets["fclib"]
    auto = next(figures for figures in files if figures["solver"] == "auto")
    sap = next(figures for figures in files if figures["solver"] == "sap")
    everybody = [figures for league in sets.values() for figures in league]
    context.figure("auto_solved_files", auto["solved"][LEVELS[2]])
    context.figure("sap_own_law_files", sap["own"][LEVELS[1]])
    context.figure("called_solved_and_wrong", sum(len(figures["wrong"]) for figures in everybody))
    context.figure("crashed", sum(figures["gave_up"].get("crash", 0) for figures in everybody))
    context.figure("best_share_scenes", max(figures["solved"][LEVELS[2]] for figures in scenes) / scenes[0]["problems"])
    for name, league in (("Scenes", scenes), ("Files", files)):
        rows = [[figures["solver"], *(figures["solved"][level] for level in LEVELS), *(figures["ratio_median"][level] for level in LEVELS[1:]),
                 ", ".join(f"{count} {reason}" for reason, count in figures["gave_up"].items())] for figures in league]
        context.table(f"{name}: {league[0]['problems']} problems", ["solver", "to 1e-4", "1e-6", "1e-8", "times the fastest, 1e-6", "1e-8", "gave up"], rows,
                      note="Counted are answers whose E is that small within the time limit. sap and the pyramids (mlcp) answer another law.")
        curves = [Curve(profile(figures["profile"][LEVELS[2]]), figures["solver"], "steps", *LOOK.get(figures["solver"], (None, "solid")))
                  for figures in league if figures["solved"][LEVELS[2]]]
        context.plot(f"{name}, to E = 1e-8", curves, x="times the fastest", y="share solved", log="x", x_range=(1, 1000))


def profile(ratios):
    """JSON writes what is never solved as Infinity."""
    within = [ratio for ratio in ratios if ratio <= 1000]
    points = [(max(ratio, 1), (k + 1) / len(ratios)) for k, ratio in enumerate(within)]
    return [(1, 0), *points, (1000, points[-1][1])]
