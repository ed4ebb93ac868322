"""Nonsmooth Newton: what the complementarity preconditioner and the linear solver are worth."""
import statistics

from .frame.context import Curve

NAME = "nonsmooth_newton"
ORDER = 40
TITLE = "Nonsmooth Newton: how it converges"
PAPER = "macklin2019"
SHOWN = "figures 9 and 11"
ABOUT = ("Contact is written as equations with corners, the complementarity functions, and Newton's method is run on them. Ten problems of our scenes (an "
         "arch, stacks, wedges, a gripper): how many Newton steps with and without scaling impulses by the inverse mass that they move (the paper's "
         "preconditioner; without our adaptation of r, as in the paper), and how far does it come when linear systems are answered by 20 iterations of several methods, 50 Newton steps in all?")
SECONDS = (3, 3)

FOLDER = "tests/data/fclib"
SHOWN_PROBLEMS = {"gen-arch-global-72": "Arch, 72 contacts", "gen-massratio7-global-28": "7 kg under a heavy box, 28 contacts"}
FUNCTIONS = {"fischer-burmeister": "Fischer-Burmeister", "minimum": "minimum map"}
LINEAR = {"pcr": "conjugate residuals (PCR)", "pcg": "conjugate gradients", "gauss-seidel": "Gauss-Seidel", "jacobi": "Jacobi"}
FEW = 20
STEPS = 50  # nsn begins anew, with twice the linear iterations, after 50 at the earliest


def name_of(problem):
    return problem["file"].rsplit("/", 1)[-1].rsplit(".", 1)[0]


def answers(context, *options, steps=100, history=None):
    words = [word for option in ("friction=fixed-point", *options) for word in ("--set", option)] + (["--history", history] if history else [])
    told = context.json("solve", FOLDER, "--solver", "nsn", "--set", f"max_iterations={steps}", *words, "--json", statuses=(0, 1))
    return {name_of(problem): problem for problem in told["problems"]}


def ratio(a, b):
    """Of the Newton steps of problems that both solve."""
    both = [name for name in a if a[name]["E"] <= 1e-8 and b[name]["E"] <= 1e-8]
    return statistics.geometric_mean(a[name]["iterations"] / b[name]["iterations"] for name in both)


def run(context):
    found, histories = {}, {}
    for function in FUNCTIONS:
        for scaled in ("on", "off"):
            path = context.folder / "history.csv"
            found[function, scaled] = answers(context, f"function={function}", f"preconditioned={scaled}", "r=fixed", history=path)
            histories[function, scaled] = context.csv(path)
    for name, title in SHOWN_PROBLEMS.items():
        curves = []
        for (function, scaled), told in histories.items():
            points = [(k, r) for file, k, r in zip(told["file"], told["iteration"], told["residual"]) if name in file]
            curves.append(Curve(points, FUNCTIONS[function] + ("" if scaled == "on" else ", not scaled"), dash="solid" if scaled == "on" else "dash",
                                colour=1 + list(FUNCTIONS).index(function)))
        context.plot(title, curves, x="Newton steps", y="residual", log="y")
    few = {linear: answers(context, f"linear={linear}", f"linear_iterations={FEW}", "linear_tolerance=0", "r=fixed", steps=STEPS) for linear in LINEAR}
    names = list(few["pcr"])
    context.plot(f"Error after {STEPS} Newton steps with {FEW} linear iterations each", [
        Curve([(k, few[linear][name]["E"]) for k, name in enumerate(names, 1)], title, "points", mark=mark)
        for (linear, title), mark in zip(LINEAR.items(), ("circle", "ring", "square", "triangle"))], x="problem", y="E", log="y", x_range=(0, len(names) + 1))
    context.table("Newton steps to E = 1e-8 (at most 100)", ["problem"] + [FUNCTIONS[f] + ("" if s == "on" else ", not scaled") for f, s in found], [
        [name] + [one[name]["iterations"] if one[name]["E"] <= 1e-8 else "not solved" for one in found.values()] for name in names])
    context.table(f"E after {STEPS} Newton steps with {FEW} linear iterations each", ["problem", *LINEAR.values()], [
        [name] + [few[linear][name]["E"] for linear in LINEAR] for name in names])
    usual = found["fischer-burmeister", "on"]
    context.figure("solved", sum(one["E"] <= 1e-8 for one in usual.values()))
    context.figure("scaled_solved", sum(one["E"] <= 1e-8 for f in FUNCTIONS for one in found[f, "on"].values())
                   - sum(one["E"] <= 1e-8 for f in FUNCTIONS for one in found[f, "off"].values()))
    context.figure("scaled_steps", ratio(usual, found["fischer-burmeister", "off"]))
    context.figure("arch_steps", next(one["iterations"] for name, one in usual.items() if "arch" in name))
    for linear in ("jacobi", "gauss-seidel"):
        context.figure(f"{linear}_over_pcr".replace("-", "_"), statistics.geometric_mean(
            max(few[linear][name]["E"], 1e-8) / max(few["pcr"][name]["E"], 1e-8) for name in names))
