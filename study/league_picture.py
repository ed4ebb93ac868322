"""Performance profiles of study/league.py, drawn with gnuplot: a row a set of problems, a column a level of error."""
import math
import os
import subprocess
import tempfile

from markdown import power
from shared import MAX_RATIO, profile

# One colour a family, one dash a member of it.
STYLE = {"auto": ("#000000", 1, 3), "canal": ("#2f6fab", 1, 2), "pgs": ("#c0504d", 1, 2), "subadmm": ("#3f9f5f", 1, 2),
         "sap": ("#8a8a90", 1, 2), "nsn": ("#7a4fa3", 1, 2), "incp": ("#e07b1f", 1, 2), "mncp-rlm": ("#17a2b8", 1, 2),
         "mncp-plm": ("#17a2b8", 2, 2), "mlcp-pfb-rlm": ("#b58900", 1, 2), "mlcp-pfb-plm": ("#b58900", 2, 2),
         "mlcp-pivot": ("#d63384", 4, 2)}
PANEL = (400, 300)


def style(solver, number):
    colour, dash, width = STYLE.get(solver, ("#444444", 2 + number % 4, 2))
    return f"lc '{colour}' dt {dash} lw {width}"


def panel(figures, level, folder, key):
    parts = []
    for number, solver in enumerate(figures):
        path = os.path.join(folder, f"{key}_{number}")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"{x:g} {y:g}\n" for x, y in profile(solver["profile"][level]))
        parts.append(f"'{path}' using 1:2 with steps {style(solver['solver'], number)} notitle")
    return f"plot [1:{MAX_RATIO}][0:1.02] " + ", ".join(parts) + "\n"


def legend(names):
    keys = [f"NaN with lines {style(name, number)} title '{name}'" for number, name in enumerate(names)]
    return "plot [0:1][0:1] " + ", ".join(keys) + "\n"


def draw(leagues, levels, path):
    rows, (wide, high) = len(leagues), PANEL
    bottom = 76
    height = rows * high + bottom
    script = (f"set terminal svg size {wide * len(levels)},{height} font 'sans,13' background '#ffffff'\nset output '{path}'\n"
              "set multiplot\nset border 3; set tics nomirror; set grid lc '#dddddd'; unset mxtics\n"
              "set logscale x; set format x '%g'; set xlabel 'times the fastest' offset 0,0.4\n")
    with tempfile.TemporaryDirectory() as folder:
        for row, (name, figures) in enumerate(leagues.items()):
            for column, level in enumerate(levels):
                script += (f"set origin {column / len(levels)},{(bottom + (rows - 1 - row) * high) / height}\n"
                           f"set size {1 / len(levels)},{high / height}\n"
                           f"set title '{name}: {figures[0]['problems']} problems to E = {power(level)}'\n"
                           f"set ylabel '{'share solved' if column == 0 else ''}' offset 1\n")
                script += panel(figures, level, folder, f"{row}_{column}")
        script += (f"set origin 0,0; set size 1,{bottom / height}\nunset logscale; unset border; unset tics; unset grid\n"
                   "set title ''; set xlabel ''; set ylabel ''; set lmargin 0; set rmargin 0; set tmargin 0; set bmargin 0\n"
                   f"set key noenhanced center center horizontal maxcols {math.ceil(len(next(iter(leagues.values()))) / 2)} samplen 3 width 2\n")
        script += legend([figures["solver"] for figures in next(iter(leagues.values()))])
        subprocess.run(["gnuplot"], input=script, check=True, text=True)
