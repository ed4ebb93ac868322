"""Plots of the page: pictures that `sim plot` draws, each as an image of its own."""
import base64
import html

import plots

WIDTH, HEIGHT = 460, 330


class Curve:
    """`points` are (x, y), or (x, low, y, high) with a band.  style: line, points, both, steps.  colour: 1 to 8, or 0 for ink."""

    def __init__(self, points, label=None, style="line", colour=None, dash="solid"):
        self.points, self.label, self.style, self.colour, self.dash = points, label, style, colour, dash


def series_of(curve):
    steps = curve.style == "steps"
    return plots.series(plots.staircase(curve.points) if steps else curve.points, curve.label or "", style="line" if steps else curve.style,
                        dash=curve.dash, color=curve.colour)


def plot(program, title, curves, note="", **axes):
    """A figure of the page: HTML.  Axes: x, y, log, x_range, y_range."""
    panel = plots.panel([series_of(curve) for curve in curves], **axes)
    if not panel["series"]:
        raise ValueError("nothing to draw")
    picture = plots.svg([panel], program, width=WIDTH, height=HEIGHT)
    image = base64.b64encode(picture.encode()).decode()
    return (f'<figure><figcaption>{html.escape(title)}</figcaption>\n'
            f'<img width="{WIDTH}" height="{HEIGHT}" alt="{html.escape(title, quote=True)}" src="data:image/svg+xml;base64,{image}">\n'
            + (f'<p class="note">{html.escape(note)}</p>\n' if note else "") + "</figure>")
