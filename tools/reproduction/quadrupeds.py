"""Robots fall to the floor: what is it worth to take the system apart?"""
import statistics

from .frame import shared

NAME = "quadrupeds"
ORDER = 54
TITLE = "Quadrupeds: bodies by themselves"
PAPER = "lee2024"
SHOWN = "section VII-D, table III"
ABOUT = ("Eight and 27 four-legged robots of 18 degrees of freedom lie and fall over each other on a floor. SubADMM gives every body a problem of its "
         "own; the same 100 iterations are done robot by robot (No Body), and on the whole system at once (No Sub). How much does each cost, and how "
         "right are the answers?")
SECONDS = (4, 15)

WAYS = {"bodies": "SubADMM", "trees": "No Body", "none": "No Sub"}
PAPER_MS, PAPER_DIGITS = {"bodies": 0.435, "trees": 0.638, "none": 1.21}, {"bodies": 4.8802, "trees": 4.8562, "none": 4.8817}


def run(context):
    cases = [f"quadrupeds-{robots}" for robots in (8, 27)]
    solvers = [f"subadmm:max_iterations=100:tolerance=0:split={split}" for split in WAYS]
    told = context.json(*shared.tool("solvers").asked(cases, solvers, "--json", *([] if context.quick else ["--repeat", "20"])))
    rows = []
    for case in cases:
        entries = dict(zip(WAYS, (entry for entry in told["entries"] if entry["case"] == case)))
        ms = {split: 1e3 * statistics.mean(a["seconds"] for a in entry["answers"]) for split, entry in entries.items()}
        digits = {split: statistics.mean(shared.digits(a["lee"]) for a in entry["answers"]) for split, entry in entries.items()}
        eight = case == cases[0]
        for split, name in WAYS.items():
            rows.append([case.split("-")[1], name, ms[split], ms[split] / ms["bodies"], digits[split],
                         PAPER_MS[split] if eight else None, PAPER_DIGITS[split] if eight else None])
        size = case.replace("quadrupeds-", "of_")
        context.figure(f"{size}_no_sub", ms["none"] / ms["bodies"])
        context.figure(f"{size}_digits_apart", max(digits.values()) - min(digits.values()))
        if eight:
            context.figure("of_8_contacts", entries["bodies"]["contacts"])
            context.figure("of_8_no_body", ms["trees"] / ms["bodies"])
            context.figure("of_8_digits", digits["bodies"])
            context.figure("of_8_ms", ms["bodies"])
    context.table("100 iterations, means of the problems", ["robots", "", "time [ms]", "times SubADMM", "-log10 residual", "paper [ms]",
                                                            "paper -log10 residual"], rows,
                  note="The residual is that of the paper: the error of the contact conditions over the number of contacts, N s.")
