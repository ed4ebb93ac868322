"""Robots fall to the floor: what is it worth to take the system apart?"""
import statistics

from .frame import shared
from .frame.context import Failure

NAME = "quadrupeds"
ORDER = 54
TITLE = "Quadrupeds: bodies by themselves"
PAPER = "lee2024"
SHOWN = "section VII-D, table III"
ABOUT = ("Eight and 27 four-legged robots of 18 degrees of freedom lie and fall over each other on a floor. SubADMM "
         "gives every body a problem of its "
         "own; the same 100 iterations are done robot by robot (No Body), and on the whole system at once (No Sub). How much does each cost, and how "
         "right are the answers? All three work one by one (scalar); bodies and contacts by themselves also eight at a time (vector).")
SECONDS = (11, 50)


ONE_BY_ONE = "subadmm:max_iterations=100:tolerance=0:split=bodies:lanes=scalar"  # a tree that is not split is one dense matrix either way


def joint_by_joint(context):
    """Time of the articulated body algorithm in every iteration over that of a factor along the branches, in one run."""
    told = context.compare("quadrupeds-8", "--repeat", 3, "--solver", f"{ONE_BY_ONE},{ONE_BY_ONE}:factorisation=aba", *(["--quick"] if context.quick else []))
    entries = [entry["answers"] for entry in told["entries"]]
    if all(a["E"] == b["E"] for a, b in zip(*entries)):
        raise Failure("both ways have the same bits: one was measured twice")
    factor, aba = (sum(answer["seconds"] for answer in answers) for answers in entries)
    context.figure("of_8_aba", aba / factor)


def digits_apart(of):
    """Of the best way and the worst: the mean difference of their heaps, less two standard errors of it where there are several heaps."""
    best, worst = (pick(of.values(), key=lambda one: one["digits"])["digits_of_heaps"] for pick in (max, min))
    apart = [a - b for a, b in zip(best, worst)]
    return statistics.mean(apart) - (2 * shared.standard_error(apart) if len(apart) > 1 else 0)


def run(context):
    solvers = shared.study("solvers")
    found = solvers.split_figures(context.compare(*solvers.split_words(context.quick)))
    for robots in solvers.SPLIT_ROBOTS:
        of = {split: found[robots, "vector", split] for split in solvers.WAYS}
        context.figure(f"of_{robots}_no_sub", found[robots, "scalar", "none"]["times"])
        context.figure(f"of_{robots}_no_sub_vector", of["none"]["times"])
        context.figure(f"of_{robots}_digits_apart", digits_apart(of))
        if robots == 8:
            context.figure("of_8_contacts", of["bodies"]["contacts"])
            context.figure("of_8_no_body", found[8, "scalar", "trees"]["times"])
            context.figure("of_8_no_body_vector", of["trees"]["times"])
            context.figure("of_8_digits", of["bodies"]["digits"])
            context.figure("of_8_ms", of["bodies"]["ms"])
    context.table("100 iterations, means of the problems", ["robots", "lanes", "", "time [ms]", "times SubADMM", "-log10 residual", "paper [ms]",
                                                            "paper -log10 residual"], [
        [robots, lanes, solvers.WAYS[split], one["ms"], one["times"], one["digits"], *(solvers.PAPER_SPLIT[split] if robots == 8 else (None, None))]
        for (robots, lanes, split), one in found.items()],
                  note="The residual is that of the paper: the error of the contact conditions over the number of contacts, N s.")
    joint_by_joint(context)
