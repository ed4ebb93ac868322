"""Performance profiles of study/league.py: a row a set of problems, a column a level of error."""
import plots
from markdown import power
from shared import MAX_RATIO, profile

# One colour a family, one dash a member of it.
STYLE = {"auto": (plots.INK, "solid"), "canal": (plots.BLUE, "solid"), "pgs": (plots.RED, "solid"), "subadmm": (plots.GREEN, "solid"),
         "sap": (plots.INK, "dash"), "nsn": (plots.PURPLE, "solid"), "incp": (plots.ORANGE, "solid"), "mncp-rlm": (plots.CYAN, "solid"),
         "mncp-plm": (plots.CYAN, "dash"), "mlcp-pfb-rlm": (plots.BROWN, "solid"), "mlcp-pfb-plm": (plots.BROWN, "dash"),
         "mlcp-pivot": (plots.PINK, "dashdot")}


def panel(name, league, level):
    lines = []
    for solver in league:
        color, dash = STYLE.get(solver["solver"], (None, "dot"))
        lines.append(plots.series(plots.staircase(profile(solver["profile"][level])), solver["solver"], color=color, dash=dash, style="line"))
    return plots.panel(lines, f"{name}: {league[0]['problems']} problems to E = {power(level)}", "times the fastest",
                       "share solved", "x", (1, MAX_RATIO), (0, 1.02))


def draw(leagues, levels, path):
    plots.draw(path, [panel(name, league, level) for name, league in leagues.items() for level in levels],
               width=400 * len(levels), columns=len(levels))
