"""One page: a table of all experiments, then each with its verdicts, plots, tables and commands.  Nothing in it asks for a network."""
import html
import math
import pathlib

from . import draw

STYLE = pathlib.Path(__file__).with_name("page.css")
PAPERS = {
    "todorov2010": ("Todorov 2010", "E. Todorov, Implicit nonlinear complementarity: a new approach to contact dynamics, ICRA 2010"),
    "mylapilli2016": ("Mylapilli, Jain 2016", "H. Mylapilli, A. Jain, Complementarity techniques for minimal coordinate contact dynamics, "
                      "J. Comput. Nonlinear Dynam. 12(2), 2017 (online 2016)"),
    "macklin2019": ("Macklin et al. 2019", "M. Macklin, K. Erleben, M. Müller, N. Chentanez, S. Jeschke, V. Makoviychuk, Non-smooth Newton "
                    "methods for deformable multi-body dynamics, ACM Trans. Graph. 38(5), 2019"),
    "acary2018": ("Acary, Bremond, Huber 2018", "V. Acary, M. Bremond, O. Huber, On solving contact problems with Coulomb friction: "
                  "formulations and numerical comparisons, in: Advanced Topics in Nonsmooth Dynamics, 2018"),
    "castro2021": ("Castro, Permenter, Han 2021", "A. Castro, F. Permenter, X. Han, An unconstrained convex formulation of compliant "
                   "contact, 2021"),
    "lee2024": ("Lee et al. 2024", "J. Lee, M. Lee, S. Park, J. Yun, D. Lee, Variations of augmented Lagrangian for robotic "
                "multi-contact simulation, 2024"),
    "own": ("own tasks", "tasks of this project that no paper shows"),
}
WORD = {"pass": "pass", "observed": "observed", "miss": "miss", "known": "known miss", "info": "info", "failed": "failed"}
KINDS = tuple(WORD)


def number(x):
    """Four digits at most."""
    if x is None:
        return "–"
    if isinstance(x, bool) or isinstance(x, str):
        return {True: "yes", False: "no"}.get(x, x)
    if isinstance(x, int):
        return str(x)
    if not math.isfinite(x):
        return str(x)
    if x == 0 or 1e-3 <= abs(x) < 1e5:
        return f"{x:.4g}"
    mantissa, exponent = f"{x:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def cell(x):
    return html.escape(number(x))


def chip(kind, count=None):
    return f'<span class="chip {kind}">{"" if count is None else f"{count} "}{WORD[kind]}</span>'


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def table(head, rows, title="", note=""):
    """Columns with more numbers than words stand at the right."""
    right = {k for k in range(len(head)) if 2 * sum(row[k] is None or is_number(row[k]) for row in rows) > len(rows)}
    def cells(row):
        return "".join(f'<td{" class=number" if k in right else ""}>{cell(x)}</td>' for k, x in enumerate(row))
    lines = [f'<div class="wide"><table>{f"<caption>{html.escape(title)}</caption>" if title else ""}<thead><tr>'
             + "".join(f'<th{" class=number" if k in right else ""}>{html.escape(h)}</th>' for k, h in enumerate(head)) + "</tr></thead>"
             "<tbody>"]
    lines += [f"<tr>{cells(row)}</tr>" for row in rows]
    return "\n".join(lines) + "</tbody></table></div>" + (f'<p class="note">{html.escape(note)}</p>' if note else "")


def with_unit(x, unit):
    text = number(x)
    return html.escape(text + (f" {unit}" if unit and x is not None else ""))


def verdicts(rows):
    lines = []
    for row in rows:
        unit = row.get("unit", "")
        published = row.get("published")
        theirs = with_unit(published, unit if is_number(published) else "")
        if row.get("shown"):
            theirs += f'<span class="where">{html.escape(row["shown"])}</span>'
        why = html.escape(row["source"]) + (f'<br><b>Known:</b> {html.escape(row["known"])}' if "known" in row else "")
        lines.append(f'<tr class="{row["verdict"]}"><td>{html.escape(row["quantity"])}</td><td class="number">{with_unit(row["value"], unit)}</td>'
                     f'<td class="number theirs">{theirs}</td><td class="number">{with_unit(row["bound"], "" if row["bound"] == "–" else unit)}</td>'
                     f'<td>{chip(row["verdict"])}</td><td class="source">{why}</td></tr>')
    return ('<div class="wide"><table class="verdicts"><thead><tr><th>figure</th><th class="number">here</th><th class="number">published</th>'
            '<th class="number">bound</th><th>verdict</th><th>where the bound comes from</th></tr></thead><tbody>\n' + "\n".join(lines)
            + "\n</tbody></table></div>")


def blocks(entry):
    parts, plots = [], []

    def flush():
        if plots:
            parts.append('<div class="plots">' + "\n".join(plots) + "</div>")
            plots.clear()
    for kind, *what in entry["blocks"]:
        if kind == "plot":
            plots.append(what[0])
            continue
        flush()
        if kind == "text":
            parts.append(f"<p>{html.escape(what[0])}</p>")
        else:
            title, head, rows, note = what
            parts.append(table(head, rows, title, note))
    flush()
    return "\n".join(parts)


def again(entry, facts):
    words = ["study/reproduce.py", entry["name"]] + (["--quick"] if facts["quick"] else [])
    return " ".join(words) + (f" --also '{facts['also']}'" if facts["also"] else "")


def section(entry, facts):
    module = entry["module"]
    name, cited = PAPERS[module.PAPER]
    lines = [f'<section id="{entry["name"]}" class="{"bad" if entry["bad"] else "good"}">',
             f'<h2>{html.escape(module.TITLE)}</h2>',
             f'<p class="paper">{html.escape(name)}, {html.escape(module.SHOWN)}</p>', f"<p>{html.escape(module.ABOUT)}</p>",
             f'<p class="again"><code>{html.escape(again(entry, facts))}</code> <span>{entry["seconds"]:.1f} s</span></p>']
    if entry["failure"]:
        lines.append(f'<div class="failure"><b>Failed.</b><pre>{html.escape(entry["failure"])}</pre></div>')
    lines.append(verdicts(entry["rows"]) if entry["rows"] else "")
    lines.append(blocks(entry))
    if entry["commands"]:
        lines.append(f'<details><summary>What was run: {len(entry["commands"])} command{"s" if len(entry["commands"]) > 1 else ""}</summary><pre>'
                     + html.escape("\n".join(entry["commands"])) + "</pre></details>")
    lines.append('<p class="up"><a href="#top">to the table</a></p></section>')
    return "\n".join(lines)


def summary(done):
    lines = ['<div class="wide"><table class="summary"><thead><tr><th>experiment</th><th>paper</th><th>verdicts</th><th class="number">time</th></tr>'
             "</thead><tbody>"]
    for entry in done:
        module = entry["module"]
        chips = " ".join(chip(kind, entry["counts"][kind]) for kind in KINDS if entry["counts"][kind])
        if entry["failure"] and not entry["counts"]["failed"]:
            chips += " " + chip("failed")
        lines.append(f'<tr class="{"bad" if entry["bad"] else ""}"><td><a href="#{entry["name"]}">{html.escape(module.TITLE)}</a></td>'
                     f'<td>{html.escape(PAPERS[module.PAPER][0])}, {html.escape(module.SHOWN)}</td><td>{chips}</td>'
                     f'<td class="number">{entry["seconds"]:.1f} s</td></tr>')
    return "\n".join(lines) + "</tbody></table></div>"


def missed(done):
    """Rows that missed their bounds, for readers in a hurry."""
    lines = []
    for entry in done:
        for row in entry["rows"]:
            if row["verdict"] in ("miss", "known"):
                lines.append(f'<li>{chip(row["verdict"])} <a href="#{entry["name"]}">{html.escape(entry["module"].TITLE)}</a>: '
                             f'{html.escape(row["quantity"])}: {with_unit(row["value"], row.get("unit"))}, asked '
                             f'{with_unit(row["bound"], row.get("unit"))}</li>')
    return f'<ul class="missed">{"".join(lines)}</ul>' if lines else ""


def papers(done):
    used = {entry["module"].PAPER for entry in done}
    return "<h2>Papers</h2><ul>" + "".join(f"<li><b>{html.escape(short)}</b>: {html.escape(cited)}</li>"
                                           for key, (short, cited) in PAPERS.items() if key in used) + "</ul>"


def page(done, facts):
    total = {kind: sum(entry["counts"][kind] for entry in done) for kind in KINDS}
    tiles = "".join(f'<div class="tile {kind if total[kind] else "info"}"><b>{total[kind]}</b>{WORD[kind]}</div>' for kind in KINDS
                    if total[kind] or kind in ("pass", "miss"))
    how = "Quick: fewer and shorter runs; what depends on the machine's speed is told and not judged." if facts["quick"] else "In full."
    also = (f'<p class="also">Every run of a scene had these words besides: <code>{html.escape(facts["also"])}</code>. The verdicts are '
            "of a program that was changed on purpose.</p>") if facts["also"] else ""
    rules = f" ({html.escape(facts['rules'])})" if facts["rules"] else ""
    return "\n".join([
        '<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8"><title>sim: the papers\' experiments, run again</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">',
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style></head><body id=\"top\"><main>",
        "<header><h1>The papers' experiments, run again</h1>",
        f'<p>{html.escape(facts["versions"][0])}, {facts["date"]}, {facts["seconds"]:.0f} s. {how} Verdicts are computed from the data of this '
        f"run and from bounds in <code>study/reproduction/verdicts.toml</code>{rules}.</p>{also}</header>",
        f'<div class="tiles">{tiles}</div>', summary(done), missed(done), *(section(entry, facts) for entry in done), papers(done),
        "<footer><p>A <b>miss</b> is a figure out of its bound. A <b>known miss</b> is one for which the file with the bounds says why. "
        "<b>observed</b> keeps a bound that was set after a look, and proves nothing. "
        "<b>info</b> is told and not judged. <b>failed</b> was not measured.</p><pre>" + html.escape("\n".join(facts["versions"])) + "</pre></footer>",
        "</main></body></html>", ""])
