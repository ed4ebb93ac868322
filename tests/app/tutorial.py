"""Pages that show commands, run: every block in order, and what it prints against what the page shows.

    tutorial.py SIM [WORD]     runs the sections whose names hold WORD, and those of their page before them

A page's blocks are read as follows.  `json`, `python` and `xml`: a file, named by the last "Save this as `NAME`" before it.  `sh`: run by
`bash -e` in the folder of the page, `sim` and `python3` being in the path.  `text`: what the last `sh` printed, a line `...`
standing for any lines, and `...` in a line for any words.  `xml` must be well-formed, too.

Words are compared as they are.  Numbers may differ by 1e-3 of themselves or by one in the last digit shown, or may both be
below 1e-5 and have exponents: what is rounding and a solver's tolerance differs from processor to processor.  In a table, under
`iterations`, they may differ by a factor of two, and under `time [s]` by anything.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import tap  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
WORD = sys.argv[2] if len(sys.argv) > 2 else ""
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![\w])", re.I)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def sections(text):
    """Headings and their blocks: (kind, name of the file if any, content)."""
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        blocks = []
        for found in FENCE.finditer(part):
            before = re.findall(r"Save this as `([^`\n]+)`", part[:found.start()])
            blocks.append((found.group(1), before[-1] if before else None, found.group(2)))
        yield part.split("\n", 1)[0], blocks


def last_digit(shown):
    digits, _, power = shown.lower().partition("e")
    return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def alike(shown, said, heading):
    """Does a number that was said stand for the one shown?  `heading` is the table's word above it."""
    a, b = float(shown), float(said)
    if heading == "time [s]":
        return True
    if heading == "iterations":
        return a / 2 <= b <= 2 * a
    both_small = abs(a) < 1e-5 and abs(b) < 1e-5 and "e" in (shown + said).lower()
    return both_small or abs(a - b) <= max(1e-3 * abs(a), 1.01 * last_digit(shown))


def line_alike(shown, said, headings):
    if "..." in shown:
        first, last = (part.split() for part in shown.split("..."))
        words = said.split()
        said = " ".join(words[:len(first)] + words[len(words) - len(last):])
        return len(words) >= len(first) + len(last) and line_alike(" ".join(first + last), said, {})
    if re.sub(r"\s+", " ", NUMBER.sub("#", shown)).strip() != re.sub(r"\s+", " ", NUMBER.sub("#", said)).strip():
        return False
    return all(alike(a.group(), b.group(), headings.get(b.end())) for a, b in zip(NUMBER.finditer(shown), NUMBER.finditer(said)))


def headings_of(line):
    """Where the words of a table's heading end, which is where the numbers under them do."""
    return {line.index(word) + len(word): word for word in ("iterations", "time [s]") if word in line and "contacts" in line}


def compare(shown, said):
    """None, or what is not alike."""
    wanted, lines, at, headings, skipping = shown.splitlines(), said.splitlines(), 0, {}, False
    for want in wanted:
        if want == "...":
            skipping = True
            continue
        while at < len(lines) and skipping and not line_alike(want, lines[at], headings):
            at += 1
        if at == len(lines) or not line_alike(want, lines[at], headings):
            return f"the page shows\n{want}\nand the program said\n{lines[at] if at < len(lines) else 'nothing more'}\nin\n{said}"
        headings, at, skipping = headings_of(lines[at]) or headings, at + 1, False
    return None if skipping or at == len(lines) else f"the page does not show\n{lines[at]}\nof\n{said}"


def python_with(module):
    """An interpreter that has a module and True, or this one and False."""
    for path in (sys.executable, "/usr/bin/python3"):
        if not path or not os.path.exists(path):
            continue
        if subprocess.run([path, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return path, True
    return sys.executable, False


def run(command, folder, tools):
    path = os.pathsep.join([tools, os.environ["PATH"]])
    done = subprocess.run(["bash", "-e", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, check=False, env={**os.environ, "PATH": path, "XDG_CACHE_HOME": folder, "LC_ALL": "C.UTF-8"})
    assert done.returncode == 0, f"status {done.returncode}: {command}{done.stdout}"
    return done.stdout


def case_of(page, heading, blocks, folder, tools, has_h5py):
    def case():
        said, skipped = None, None
        for kind, name, content in blocks:
            if kind in ("json", "python", "xml") and name:
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
            elif kind == "sh":
                needs = [n for n in re.findall(r"[\w.]+\.py", content) if "import h5py" in read_in(folder, n)]
                if needs and not has_h5py:
                    content = content.replace(f"python3 {needs[0]}", "true")
                    skipped = f"no h5py (package python3-h5py): {needs[0]} did not run"
                said = run(content, folder, tools)
            elif kind == "text" and not skipped:
                assert said is not None, "shows what nothing printed"
                wrong = compare(content, said)
                assert not wrong, wrong
            if kind == "xml":
                xml.etree.ElementTree.fromstring(content)
        return skipped
    case.__name__ = f"{os.path.basename(page)}:_{re.sub(r'[^a-z0-9]+', '_', heading.lower()).strip('_')}"
    return case


def read_in(folder, name):
    path = os.path.join(folder, name)
    return open(path, encoding="utf-8").read() if os.path.exists(path) else ""


def figures_of_the_text_stand_in_a_block():
    """Decimals in a sentence of the tutorial are those of a scene, of a program or of what was printed."""
    text = read("docs/tutorial.md")
    blocks = [float(n) for found in FENCE.finditer(text) for n in NUMBER.findall(found.group(2))]
    formulas = [5.482, 4.905, 5.774]  # m (g + a) / (2 mu), m g / (2 mu), largest acceleration of a quintic: 10 / sqrt 3
    assert abs(10 / 3**0.5 - 5.774) < 5e-4 and abs((9.81 + 0.2 * 10 / 3**0.5) / 2 - 5.482) < 5e-4 and abs(9.81 / 2 - 4.905) < 1e-9
    for shown in NUMBER.findall(FENCE.sub("", text)):
        if "." in shown:
            assert any(abs(float(shown) - known) <= last_digit(shown) / 2 for known in blocks + formulas), f"{shown} stands in no block"


def a_wrong_figure_or_word_is_seen():
    table = "file   contacts  iterations   time [s]        E\na.h5          4          21   6.95e-05  8.5e-01\n"
    assert compare(table, table.replace("6.95e-05", "6.95e+01").replace("21", "30")) is None
    assert compare("...\nx 1.0e-08\n", "a\nb\nx 3.3e-11\n") is None
    assert compare("at ... s, by a\n", "at 1.49 s, by a\n") is None and compare("at ... s, by a\n", "at 1.49 s, by b\n")
    for shown, said in ((table, table.replace("21", "50")), (table, table.replace("8.5e-01", "9.5e-01")), ("x 0.7100 m\n", "x 0.7113 m\n"),
                        ("x 1.0e-08\n", "x 1.0e-05\n"), ("solved\n", "not solved\n"), ("a\n", "a\nb\n"), ("a\n...\nb\n", "a\nc\n"),
                        ("a\nb\n", "a\n")):
        assert compare(shown, said), f"{said!r} passes for {shown!r}"


def the_first_screen_of_the_readme_has_a_picture_and_two_commands():
    screen = read("README.md").split("\n## ")[0]
    assert screen.count("\n") <= 40, f"it has {screen.count(chr(10))} lines"
    assert re.search(r"!\[[^\]]+\]\(docs/images/[\w.]+\)", screen)
    commands = [line for found in FENCE.finditer(screen) if found.group(1) == "sh" for line in found.group(2).splitlines()]
    assert len(commands) == 2 and all(line.startswith("tools/") for line in commands), commands
    for scene in re.findall(r"scenes/[\w/]+\.json", screen):
        json.loads(read(scene))


def main():
    if not HDF5:
        print("TAP version 13\n1..0 # SKIP no HDF5: the pages record and solve files of it")
        return 0
    with tempfile.TemporaryDirectory() as home:
        tools = os.path.join(home, "tools")
        os.mkdir(tools)
        python, has_h5py = python_with("h5py")
        os.symlink(SIM, os.path.join(tools, "sim"))
        with open(os.path.join(tools, "python3"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec "{python}" "$@"\n')
        os.chmod(file.name, 0o755)
        cases = []
        for page in ("docs/tutorial.md", "docs/coming-from.md"):
            folder = os.path.join(home, os.path.basename(page))
            os.mkdir(folder)
            found = [case_of(page, *section, folder, tools, has_h5py) for section in sections(read(page)) if section[1]]
            last = max((k for k, case in enumerate(found) if WORD in case.__name__), default=-1)
            cases += found[:last + 1]
        return tap.run(cases + tap.cases_of(globals(), WORD), folders=False)


sys.exit(main())
