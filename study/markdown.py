"""Tables in Markdown, read and written, for the programs beside this file."""
import math


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read(path, columns):
    """Rows of the first table that has these columns, as dictionaries."""
    rows, head = [], None
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = cells(line) if line.startswith("|") else None
            if row and set(columns) <= set(row):
                head = row
            elif row is None and rows:
                break
            elif row and head and len(row) == len(head) and not set(row[0]) <= set("-: "):
                rows.append(dict(zip(head, row)))
    return rows


def reference_times(path):
    """Seconds by problem; infinite where nobody solved it."""
    return {row["problem"]: math.inf if row["s"] == "-" else float(row["s"]) for row in read(path, ("problem", "s"))}


def figure(x):
    return "-" if x is None or math.isinf(x) else f"{x:.2g}"


def power(x):
    """1e-4, of a number or its text."""
    return f"{float(x):.0e}".replace("e-0", "e-")


def line(row):
    return "| " + " | ".join(str(cell) for cell in row) + " |"


def table(head, rows):
    return "\n".join([line(head), "|" + "---|" * len(head), *(line(row) for row in rows)])
