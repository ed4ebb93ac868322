"""All solvers on the same problems: who solves how many, how soon, and why not?"""
import json
import os

from .frame import shared
from .frame.context import Curve

NAME = "league"
ORDER = 60
TITLE = "All solvers on the same problems"
PAPER = "acary2018"
SHOWN = "performance profiles"
ABOUT = ("Steps out of scenes with contact, and ten problems from files, are given to every contact solver there is. All answers are judged by one "
         "figure that no solver had a hand in: E, the error of rigid contact with Coulomb friction. Who gives up says why. A profile tells which "
         "share of the problems a solver answers within so many times the time of the fastest. What is judged is solved once more with all the time it wants.")
SECONDS = (12, 240)
FILES = "tests/data/fclib"
FEW = "stack,arch,cards,mass_ratio,gripper,wedge,pendulum"
LOOK = {"auto": (0, "solid"), "pgs": (1, "solid"), "canal": (2, "solid"), "subadmm": (3, "solid"), "nsn": (4, "solid"), "incp": (5, "solid"),
        "mncp-rlm": (6, "solid"), "mncp-plm": (6, "dash"), "mlcp-pfb-rlm": (7, "solid"), "mlcp-pfb-plm": (7, "dash"), "mlcp-pivot": (8, "dashdot")}
AMPLE = 30  # processor seconds a problem, tens of times what is needed: no verdict rests on seconds
LEVELS = ("0.0001", "1e-06", "1e-08")


def within(context, folder, solver, error, level):
    """Names of the problems that it answers so well."""
    told = context.json("solve", folder, "--solver", solver, "--tolerance", "1e-8", "--time-limit", AMPLE, "--json", statuses=(0, 1))
    return {os.path.splitext(os.path.basename(problem["file"]))[0] for problem in told["problems"]
            if problem.get(error) is not None and problem[error] <= level}


def run(context):
    words = ["--quick", "--only", FEW] if context.quick else []
    steps = context.folder / "steps"
    told = json.loads(context.tool("league", FILES, "--json", "--keep", steps, "--picture", f"{context.folder}/league.svg", *words))
    sets = told["leagues"]
    scenes, files = sets["scenes"], sets["fclib"]
    everybody = [figures for league in sets.values() for figures in league]
    names = [problem["name"] for problem in told["problems"] if problem["set"] == "scenes"]
    context.figure("auto_solved_files", len(within(context, FILES, "auto", "E", 1e-8)))
    context.figure("sap_own_law_files", len(within(context, FILES, "sap", "own", 1e-6)))
    context.figure("best_share_scenes", max(len(within(context, steps, solver, "E", 1e-8) & set(names)) for solver in ("canal", "auto")) / len(names))
    context.figure("called_solved_and_wrong", sum(len(figures["wrong"]) for figures in everybody))
    context.figure("crashed", sum(figures["gave_up"].get("crash", 0) for figures in everybody))
    for name, league in (("Scenes", scenes), ("Files", files)):
        rows = [[figures["solver"], *(figures["solved"][level] for level in LEVELS), *(figures["ratio_median"][level] for level in LEVELS[1:]),
                 ", ".join(f"{count} {reason}" for reason, count in figures["gave_up"].items())] for figures in league]
        context.table(f"{name}: {league[0]['problems']} problems", ["solver", "to 1e-4", "1e-6", "1e-8", "times the fastest, 1e-6", "1e-8", "gave up"], rows,
                      note="Counted are answers whose E is that small within the time limit. sap and the pyramids (mlcp) answer another law.")
        curves = [Curve(shared.profile(figures["profile"][LEVELS[2]]), figures["solver"], "steps", *LOOK.get(figures["solver"], (None, "solid")))
                  for figures in league if figures["solved"][LEVELS[2]]]
        context.plot(f"{name}, to E = 1e-8", curves, x="times the fastest", y="share solved", log="x", x_range=(1, 1000))
