"""Figures of the studies: JSON that `sim plot` draws (docs/plots.md)."""
import json
import math
import os
import subprocess
import sys
import tempfile

import shared

IMAGES = os.path.join(shared.ROOT, "docs", "images")
BLUE, RED, GREEN, ORANGE, PURPLE, CYAN, PINK, BROWN = range(1, 9)
INK = 0


def series(points, label="", **look):
    """Of points (x, y), or (x, low, y, high) with a band; look: style, dash, color."""
    points = [point for point in points if all(isinstance(v, (int, float)) and math.isfinite(v) for v in point)]
    names = ("x", "low", "y", "high") if points and len(points[0]) == 4 else ("x", "y")
    columns = dict(zip(names, map(list, zip(*points))))
    return {"label": label, **columns, **{key: value for key, value in look.items() if value is not None}}


def staircase(points):
    """Each number holds until the next x."""
    return [point for a, b in zip(points, points[1:]) for point in (a, (b[0], a[1]))] + points[-1:]


def axis(text, log, ends):
    """Of a text such as "time [s]"."""
    label, _, unit = text.partition(" [")
    bounds = {key: end for key, end in zip(("from", "to"), ends or ()) if end is not None}
    return {"label": label, "unit": unit.removesuffix("]"), "log": log, **bounds}


def panel(content, title=None, x="", y="", log="", x_range=None, y_range=None, equal=False):
    """Of series; those without points are left out."""
    told = {"x": axis(x, "x" in log, x_range), "y": axis(y, "y" in log, y_range), "equal": equal, "series": [s for s in content if s.get("x")]}
    return {"title": title, **told} if title else told


def svg(panels, program=None, **page):
    """The picture as text; page: title, width, height, columns."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "figure.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"figure": 1, **page, "panels": panels}, file)
        done = subprocess.run([program or shared.program(), "plot", path, "--out", "-"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout


def draw(path, panels, **page):
    """Into a file; a failure ends this process."""
    try:
        picture = svg(panels, **page)
    except ValueError as why:
        sys.exit(str(why))
    with open(path, "w", encoding="utf-8") as file:
        file.write(picture)
