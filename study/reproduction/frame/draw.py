"""Curves as SVG that takes its colours from the page around it: gnuplot draws, colours become variables of the style sheet."""
import html
import math
import re
import subprocess

COLOURS = 8
WIDTH, HEIGHT = 460, 310
MOST_POINTS = 2000
POINT = {"circle": 7, "ring": 6, "square": 5, "diamond": 13, "triangle": 9, "cross": 2}
DASH = {"solid": 1, "dash": 2, "dot": 3, "dashdot": 4}


class Curve:
    """`points` are (x, y), of a band (x, low, high).  style: line, points, both, band, steps, bars.  colour: 1 to 8, or 0 for ink."""

    def __init__(self, points, label=None, style="line", colour=None, dash="solid", mark="circle", width=2):
        self.points = [p for p in points if all(isinstance(v, (int, float)) and math.isfinite(v) for v in p)]
        self.label, self.style, self.colour, self.dash, self.mark, self.width = label, style, colour, dash, mark, width


def thinned(points):
    """Of those that fall into one of 500 stretches the first, least, most and last."""
    if len(points) <= MOST_POINTS:
        return points
    kept = []
    for part in range(500):
        piece = range(part * len(points) // 500, (part + 1) * len(points) // 500)
        if piece:
            kept += sorted({piece[0], min(piece, key=lambda k: points[k][1]), max(piece, key=lambda k: points[k][1]), piece[-1]})
    return [points[k] for k in kept]


def told(text):
    return text.replace("\\", "").replace('"', "'")


def range_text(limits):
    low, high = limits or (None, None)
    return f"[{'*' if low is None else repr(float(low))}:{'*' if high is None else repr(float(high))}]"


def script(curves, x, y, log, x_range, y_range, x_ticks):
    lines = [f"set terminal svg size {WIDTH},{HEIGHT} font 'sans,14' noenhanced", "set border 3; set tics nomirror out; unset key",
             "set grid lc rgb '#090909' lt 1 lw 1", f'set xlabel "{told(x)}"; set ylabel "{told(y)}"', "set encoding utf8",
             "set boxwidth 0.6 relative", "set style fill solid 0.6"]
    for axis in log:
        lines += [f"set logscale {axis}", f"set format {axis} '%.0e'", f"unset m{axis}tics"]
    if x_ticks:
        lines.append("set xtics (" + ", ".join(f'"{told(text)}" {place!r}' for place, text in x_ticks) + ")")
    plots = []
    for number, curve in enumerate(curves):
        points = thinned([p for p in curve.points if not ("x" in log and p[0] <= 0 or "y" in log and min(p[1:]) <= 0)])
        if not points:
            continue
        lines += [f"$d{number} << EOD", *(" ".join(repr(float(v)) for v in p) for p in points), "EOD"]
        colour = f"lc rgb '#0{curve.colour}0{curve.colour}0{curve.colour}'"
        pen = f"lw {curve.width} dt {DASH[curve.dash]} {colour}"
        with_ = {"line": f"lines {pen}", "points": f"points pt {POINT[curve.mark]} ps 0.5 {colour}",
                 "both": f"linespoints pt {POINT[curve.mark]} ps 0.5 {pen}", "steps": f"steps {pen}", "bars": f"boxes {colour}",
                 "band": f"filledcurves {colour} fs transparent solid 0.2 noborder"}[curve.style]
        plots.append(f"$d{number} using {'1:2:3' if curve.style == 'band' else '1:2'} with {with_}")
    if not plots:
        raise ValueError("nothing to draw")
    lines.append(f"plot {range_text(x_range)} {range_text(y_range)} " + ", ".join(plots))
    return "\n".join(lines)


def powers(svg):
    """1e-05 at an axis as a power of ten."""
    def power(match):
        mantissa, exponent = match.group(1), int(match.group(2))
        lead = "" if mantissa == "1" else f"{mantissa}·"
        return f'>{lead}10<tspan dy="-0.4em" font-size="75%">{exponent}</tspan>'
    return re.sub(r">\s*(\d)e([-+]\d+)(?:</tspan>)?(?=</t)", power, svg)


def themed(svg, title):
    """Without prolog, definitions that the page has once, and colours of its own."""
    svg = svg[svg.index("<g id=\"gnuplot_canvas\""):svg.rindex("</svg>")]
    svg = re.sub(r"<defs>.*?</defs>", "", svg, flags=re.S)
    svg = re.sub(r'\s+id=["\']gnuplot_\w+["\']', "", svg)
    svg = re.sub(r"<title>.*?</title>", "", svg)
    for number in range(10):
        name = {0: "ink", 9: "rule"}.get(number, f"c{number}")
        svg = re.sub(rf"rgb\(\s*{number},\s*{number},\s*{number}\)", f"var(--{name})", svg)
    svg = re.sub(r'(stroke|fill|color)=(["\'])(black|gray)\2', r"\1=\2var(--ink)\2", svg)
    svg = re.sub(r'<g fill="none"[^>]*>\s*</g>\s*', "", svg)
    svg = re.sub(r'\s*font-family="sans"', "", svg)
    svg = re.sub(r"\n\s*\n+", "\n", powers(svg))
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title, quote=True)}">\n'
            f"{svg.strip()}\n</svg>")


def marks():
    """The definitions of gnuplot's points, for a page that shows many plots."""
    said = subprocess.run(["gnuplot"], input="set terminal svg; plot 1", capture_output=True, text=True, check=True).stdout
    found = re.search(r"<defs>(.*?)</defs>", said, re.S).group(1)
    found = re.sub(r"<filter.*?</filter>", "", found, flags=re.S)
    return f'<svg width="0" height="0" class="marks" aria-hidden="true"><defs>{found}</defs></svg>'


def swatch(curve):
    colour = f"var(--{'c' + str(curve.colour) if curve.colour else 'ink'})"
    if curve.style in ("band", "bars"):
        shape = f'<rect x="1" y="3" width="24" height="8" fill="{colour}" opacity="{0.25 if curve.style == "band" else 0.6}"/>'
    else:
        dashes = {"dash": "5,3", "dot": "2,3", "dashdot": "6,2,2,2"}.get(curve.dash)
        line = f'<path d="M1 7H25" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>"
        dot = f'<use xlink:href="#gpPt{POINT[curve.mark] - 1}" transform="translate(13,7) scale(3)" color="{colour}"/>'
        shape = (line if curve.style != "points" else "") + (dot if curve.style in ("points", "both") else "")
    return f'<svg viewBox="0 0 26 14" width="26" height="14" aria-hidden="true">{shape}</svg>'


def plot(title, curves, x="", y="", log="", x_range=None, y_range=None, x_ticks=None, note=""):
    """A figure of the page: HTML."""
    free = 0
    for curve in curves:
        if curve.colour is None:
            free += 1
            curve.colour = (free - 1) % COLOURS + 1
    drawn = subprocess.run(["gnuplot"], input=script(curves, x, y, log, x_range, y_range, x_ticks), capture_output=True, text=True,
                           check=False)
    if drawn.returncode or "<svg" not in drawn.stdout:
        raise ValueError(f"gnuplot: {drawn.stderr.strip()[-300:]}")
    legend = "".join(f"<li>{swatch(c)}{html.escape(c.label)}</li>" for c in curves if c.label)
    return (f"<figure><figcaption>{html.escape(title)}</figcaption>\n{themed(drawn.stdout, title)}\n"
            + (f'<ul class="legend">{legend}</ul>\n' if legend else "")
            + (f'<p class="note">{html.escape(note)}</p>\n' if note else "") + "</figure>")
