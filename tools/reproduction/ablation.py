"""What is the cascade of CANAL worth?"""
import statistics

from .frame import shared

NAME = "ablation"
ORDER = 52
TITLE = "CANAL: a convex problem a round"
PAPER = "lee2024"
SHOWN = "section VII-D, table II"
ABOUT = ("Each round of CANAL solves a convex problem whose normals are shifted by the slip of the round before. Instead the strict law may be put into every "
         "round, and a root be sought by trust-region dogleg or by a damped semismooth Newton method. Ten rounds of each on the dishes: how many Newton "
         "steps, how many rounds fail, how right is the answer?")
SECONDS = (2, 40)

PENALTY = 1e4


def run(context):
    ablation = shared.tool("ablation")
    ways = [inner for inner in ablation.INNER if inner in ablation.PAPER]
    told = context.json("bench", "solvers", "dishes", "--scenes", "scenes", "--json", "--solver",
                        ",".join(ablation.solver(inner, PENALTY) for inner in ways), *(["--quick"] if context.quick else []))
    found, rows = {}, []
    for inner, entry in zip(ways, told["entries"]):
        answers = entry["answers"]
        found[inner] = {"steps": statistics.mean(a["iterations"] for a in answers),
                        "failed": 100 * sum(a["failures"] for a in answers) / sum(a["rounds"] for a in answers),
                        "digits": statistics.mean(shared.digits(a["lee"]) for a in answers)}
        rows.append([inner, *found[inner].values(), 1e3 * statistics.mean(a["seconds"] for a in answers), *ablation.PAPER[inner]])
    context.table("Ten rounds, means", ["inner problem", "Newton steps", "failed rounds [%]", "-log10 residual", "time [ms]", "paper: steps",
                                        "failed [%]", "-log10 residual"], rows)
    context.figure("cascaded_failed", found["cascaded"]["failed"])
    context.figure("dogleg_steps", found["dogleg"]["steps"] / found["cascaded"]["steps"])
    context.figure("semismooth_steps", found["semismooth"]["steps"] / found["cascaded"]["steps"])
    for inner in ways:
        context.figure(f"{inner}_digits", found[inner]["digits"])
    for inner in ways[1:]:
        context.figure(f"{inner}_failed", found[inner]["failed"])
