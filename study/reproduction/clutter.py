"""Objects fall into a container and come to rest: what Newton's method of SAP takes, how right it is, how it grows."""
import itertools
import statistics

from .frame import shared
from .frame.context import Curve

NAME = "clutter"
ORDER = 32
TITLE = "Clutter"
PAPER = "castro2021"
SHOWN = "section VI-C, figures 9 to 13"
ABOUT = ("Balls and boxes are dropped in four columns into a container and come to rest, at a step of 10 ms and with contacts far stiffer "
         "than such a step resolves. How many Newton steps does SAP take, how do they converge, and how do contacts and time grow with the "
         "number of objects, within walls and without? The commercial solver of the paper and its interior point method are left out.")
SECONDS = (25, 60)

SCENE, GROWING = "papers/clutter", "bench/clutter"
PLACES = {"walls": "within walls", "open": "without walls"}
TOLERANCE, ROUNDING = "1e-14", 1e-16


def layers(quick):
    """Of two objects in each of four columns."""
    return (1, 3, 5) if quick else (1, 2, 3, 5, 7, 10, 14, 20)


def problem_of(context, step):
    """The contact problem of that step, from the frozen state before it: of the scene as it is, without the words of --also."""
    path = context.folder / f"step_{step}.h5"
    if not path.exists():
        state = shared.study("cases").frozen_states(f"clutter-{step}") + "_000.h5"
        context.sim(f"scenes/{SCENE}.json", "--resume", state, "--duration", STEP * step, "--dump-problem", step, path, "--quiet", "--out",
                    context.folder / "step.csv")
    return path


def problem_of_heap(context, seed):
    """The contact problem of step 60 in a heap of 40 objects of its own, within walls."""
    path = context.folder / f"heap_{seed}.h5"
    context.sim(f"scenes/{GROWING}.json", "--set", f"world/seed={seed}", "--integrator", "symplectic", "--solver", f"{shared.SAP}:tolerance=1e-5",
                "--duration", STEP * 60, "--dump-problem", 60, path, "--quiet", "--out", context.folder / f"heap_{seed}.csv")
    return path


def history(context, problem, search):
    """Cost and residual of every Newton step, from the velocities before the step."""
    told = problem.with_suffix(f".{search}.csv")
    context.sim("solve", problem, "--solver", shared.SAP, "--guess", "--set", f"line_search={search}", "--tolerance", TOLERANCE, "--history", told)
    return context.csv(told)


def to_rounding(context, step):
    """The certificate of that step's problem, solved as far as it goes."""
    return context.json("solve", problem_of(context, step), "--solver", shared.SAP, "--guess", "--tolerance", TOLERANCE, "--json")["problems"][0]


def steps_to(told, tolerance):
    return next(int(k) for k, residual in zip(told["iteration"], told["residual"]) if residual <= tolerance)


def excess(told, least):
    """(step, cost above the least over that of the start), until it is rounding."""
    falls = []
    for k, cost in zip(told["iteration"], told["cost"]):
        falls.append((k, max((cost - least) / (told["cost"][0] - least), ROUNDING)))
        if cost - least <= 1e-15 * abs(cost):
            break
    return falls


def last_steps(told):
    """From a momentum error of 1e-3 to one of 1e-9."""
    return steps_to(told, 1e-9) - steps_to(told, 1e-3)


def two_steps(context):
    for step in (60, 520):
        told = {search: history(context, problem_of(context, step), search) for search in ("exact", "armijo")}
        least = min(cost for one in told.values() for cost in one["cost"])
        falls = {search: excess(one, least) for search, one in told.items()}
        context.figure(f"step_{step}_newton", steps_to(told["exact"], 1e-5))
        context.figure(f"step_{step}_rises", sum(b > a * (1 + 1e-14) for a, b in zip(told["exact"]["cost"], told["exact"]["cost"][1:])))
        if step == 60:
            context.figure("step_60_slackness", to_rounding(context, step)["slackness"])
        context.plot(f"Step {step}: cost above the least", [
            Curve(falls["exact"], "exact line search", "both"), Curve(falls["armijo"], "Armijo", "both", dash="dash")],
            x="Newton steps", y="of the first", log="y", x_range=(0, None), y_range=(ROUNDING, 10))


def last_steps_of_heaps(context):
    """Their mean less two standard errors: it is beyond the bound where it is by more than chance."""
    heaps = range(1, 1 + (QUICK_RUNS if context.quick else RUNS))
    last = context.together(lambda seed: last_steps(history(context, problem_of_heap(context, seed), "exact")), heaps)
    context.figure("step_60_last", statistics.mean(last) - 2 * shared.standard_error(last))
    context.table("Step 60 of heaps of 40 objects: Newton steps from a momentum error of 1e-3 to 1e-9", ["seed", "steps"], list(zip(heaps, last)))


RUNS, QUICK_RUNS = 10, 3
STEP, APART = 0.01, 2e-4  # a heap is chaotic: runs whose steps [s] differ by that part come to rest as other heaps


def newton_at_rest(record):
    """Newton steps a step in the second half of the run."""
    return statistics.mean(record["solver_iterations"][len(record["time"]) // 2:])


def settling(context):
    records = context.together(lambda k: context.run(SCENE, "--step", STEP * (1 + k * APART)), range(QUICK_RUNS if context.quick else RUNS))
    record, at_rest = records[0], [newton_at_rest(one) for one in records]
    context.figure("newton_at_rest", statistics.mean(at_rest))
    context.figure("newton_at_rest_most", max(at_rest))
    context.figure("worst_momentum", max(record["certificate.momentum"]))
    context.figure("unsolved", int(sum(record["unsolved"])))
    context.plot("Newton steps a step, 40 objects within walls", [Curve(record.pairs("time", "solver_iterations"))],
                 x="time [s]", y="of the hardest island")
    context.plot("Contacts and islands", [Curve(record.pairs("time", "contacts"), "contacts"), Curve(record.pairs("time", "islands"), "islands")],
                 x="time [s]")
    context.plot("Momentum error of every step", [Curve([(t, e) for t, e in record.pairs("time", "certificate.momentum")]),
                                                 Curve([(0, 1e-5), (10, 1e-5)], "tolerance", dash="dash", colour=8)],
                 x="time [s]", log="y", y_range=(1e-12, 1e-4))


def grown(context, place, count):
    words = [f"instances/{k}/repeat/counts/2={count}" for k in (0, 1)] + (["bodies/walls/shapes=[]"] if place == "open" else [])
    record = context.run(GROWING, "--duration", 10, "--every", 1, "--integrator", "symplectic", "--solver", shared.SAP, "--set", "world/solver_options/tolerance=1e-5",
                         *(word for change in words for word in ("--set", change)))
    steps = len(record["time"]) - 1
    return {"objects": 8 * count, "contacts": record["contacts"][-1], "momentum": statistics.mean(record["certificate.momentum"][1:]),
            "newton": statistics.mean(record["solver_iterations"][1:]), "ms": 1e3 * record.summary["wall_time"] / steps}


def growth(context):
    counts = layers(context.quick)
    flat = context.together(lambda one: grown(context, *one), itertools.product(PLACES, counts))
    told = {place: flat[k * len(counts):(k + 1) * len(counts)] for k, place in enumerate(PLACES)}
    def curves(figure):
        return [Curve([(one["objects"], one[figure]) for one in told[place]], PLACES[place], "both") for place in PLACES]
    context.plot("Contacts at the end", curves("contacts"), x="objects")
    context.plot("Time a step, mean of 10 s", curves("ms"), x="objects", y="[ms]", log="xy",
                 note="Wall-clock time of this machine, whatever else it did.")
    context.plot("Momentum error, mean of all steps", curves("momentum"), x="objects", log="y")
    head = ["objects"] + [f"{what}, {PLACES[place]}" for what in ("contacts", "Newton steps", "ms a step") for place in PLACES]
    context.table("10 s of clutter", head, [
        [a["objects"]] + [one[figure] for figure in ("contacts", "newton", "ms") for one in (a, b)] for a, b in zip(*told.values())])
    context.figure("mean_momentum", max(one["momentum"] for place in PLACES for one in told[place]))
    for place in PLACES:
        context.figure(f"time_exponent_{place}", shared.exponent([(one["objects"], one["ms"]) for one in told[place]]))


def contacts_open(context, figure, balls, boxes):
    """So many layers of four balls and of four boxes: contacts at the end of heaps without walls over those with them."""
    ends = {}
    for place in PLACES:
        words = [f"instances/0/repeat/counts/2={balls}", f"instances/1/repeat/counts/2={boxes}"] + (["bodies/walls/shapes=[]"] if place == "open" else [])
        settings = [word for change in words for word in ("--set", change)]
        runs = context.together(lambda k, own=settings: context.run(GROWING, "--duration", 10, "--step", STEP * (1 + k * APART), "--integrator", "symplectic",
                                                                    "--solver", f"{shared.SAP}:tolerance=1e-5", *own), range(2 if context.quick else RUNS))
        ends[place] = [record["contacts"][-1] for record in runs]
    context.figure(figure, statistics.mean(ends["open"]) / statistics.mean(ends["walls"]))


def run(context):
    contacts_open(context, "contacts_open", 5, 5)
    contacts_open(context, "contacts_open_few_balls", 2, 8)
    settling(context)
    two_steps(context)
    last_steps_of_heaps(context)
    growth(context)
