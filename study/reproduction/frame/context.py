"""Context of an experiment: ways to run the program, and to report results."""
import concurrent.futures
import contextlib
import csv
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

from shared import bench_program

from . import draw

ROOT = pathlib.Path(__file__).resolve().parents[3]
Curve = draw.Curve


class Failure(Exception):
    """A run went wrong, or did not say what it should: the rows of the experiment turn red."""


def number(text):
    try:
        return float(text or "nan")
    except ValueError:
        return text


class Record:
    """A table in CSV: columns by name, with or without the unit; of a run the summary, too."""

    def __init__(self, path, summary=None):
        with open(path, encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        self.columns = {name: [number(row[k]) for row in rows] for k, name in enumerate(head)}
        self.plain = {re.sub(r" \[.*\]$", "", name): name for name in head}
        self.summary = summary

    def __getitem__(self, name):
        try:
            return self.columns[self.plain.get(name, name)]
        except KeyError:
            raise Failure(f"the record has no column {name}") from None

    def pairs(self, x, y):
        return list(zip(self[x], self[y]))


class Room:
    """For so many commands at once, of all processes that are forked from this one: a byte in a pipe is a free place."""

    def __init__(self, jobs):
        self.jobs, self.places, self.turn = jobs, os.pipe(), os.pipe()
        os.write(self.places[1], bytes(jobs))
        os.write(self.turn[1], bytes(1))

    @contextlib.contextmanager
    def taken(self, count):
        os.read(self.turn[0], 1)  # one at a time collects its places, so no two wait for each other's
        for _ in range(count):
            os.read(self.places[0], 1)
        os.write(self.turn[1], bytes(1))
        try:
            yield
        finally:
            os.write(self.places[1], bytes(count))


class Context:
    """`room`: for what commands run side by side; None: one after another."""

    def __init__(self, program, folder, quick, also=(), report=lambda part: None, room=None):
        self.program, self.folder, self.quick, self.also, self.report = program, pathlib.Path(folder), quick, list(also), report
        self.room, self.jobs = room, room.jobs if room else 1
        self.figures, self.blocks, self.commands = {}, [], []

    # ---- running ----

    def sim(self, *words, statuses=(0,)):
        """Standard output of the program, which must end with one of the statuses."""
        return self.command(self.program, "sim", words, statuses)

    def json(self, *words, statuses=(0,)):
        return json.loads(self.sim(*words, statuses=statuses))

    def run(self, scene, *words):
        """A scene of scenes/, simulated: its Record."""
        with tempfile.TemporaryDirectory(prefix="run", dir=self.folder) as folder:
            out, summary = pathlib.Path(folder, "run.csv"), pathlib.Path(folder, "run.json")
            self.sim(f"scenes/{scene}.json", *words, *self.also, "--quiet", "--out", out, "--summary", summary)
            return Record(out, json.loads(summary.read_text(encoding="utf-8")))

    def together(self, work, items):
        """[work(item) for item in items], for runs that do not wait for each other: side by side where there is room."""
        items = list(items)
        if self.jobs == 1 or not items:
            return [work(item) for item in items]
        with concurrent.futures.ThreadPoolExecutor(len(items)) as pool:
            return list(pool.map(work, items))

    def csv(self, path):
        """A table that some command wrote into a file."""
        return Record(path)

    def helper(self, name, *words):
        """Standard output of a program of bench/, built beside the program."""
        try:
            return self.command(bench_program(name, self.program), name, words)
        except FileNotFoundError as why:
            raise Failure(str(why)) from None

    def study(self, name, *words, jobs=1):
        """Standard output of a command of study/, which runs the same program, with so many runs at once."""
        return self.command(str(ROOT / "study" / f"{name}.py"), f"study/{name}.py", words, places=jobs)

    def compare(self, *words):
        """Figures that study/compare.py measures."""
        return json.loads(self.study("compare", *words, "--json"))

    def command(self, program, shown, words, statuses=(0,), places=1):
        words, folder = [str(word) for word in words], re.compile(re.escape(f"{self.folder}{os.sep}") + rf"(run\w+{os.sep})?")
        line = shlex.join([shown] + [folder.sub("", word) for word in words])
        self.commands.append(line)
        self.report(line)
        limit = 170 if self.quick else 3000
        try:
            with self.room.taken(min(places, self.jobs)) if self.room else contextlib.nullcontext():
                done = subprocess.run([program, *words], capture_output=True, text=True, check=False, cwd=ROOT, timeout=limit,
                                      env={**os.environ, "SIM_PROGRAM": str(self.program)})
        except subprocess.TimeoutExpired:
            raise Failure(f"not done after {limit} s: {line}") from None
        if done.returncode not in statuses:
            raise Failure(f"status {done.returncode} from: {line}\n{done.stderr.strip()[-1500:]}")
        return done.stdout

    # ---- saying what came out ----

    def figure(self, name, value):
        """One that verdicts.toml has a row for, under this experiment."""
        if name in self.figures:
            raise Failure(f"{name} is told twice")
        self.figures[name] = value

    def text(self, text):
        """A paragraph."""
        self.blocks.append(("text", text))

    def table(self, title, head, rows, note=""):
        """Cells are text or numbers; numbers get three or four digits."""
        self.blocks.append(("table", title, head, [list(row) for row in rows], note))

    def plot(self, title, curves, **options):
        """Options: x, y (labels with units), log ("x", "y", "xy"), x_range, y_range, note."""
        self.report(f"drawing {title}")
        self.blocks.append(("plot", draw.plot(self.program, title, curves, **options)))
