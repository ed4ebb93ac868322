#!/usr/bin/env python3
"""Holds the house rules over the sources: who may include whom, sizes, leftovers.  Prints TAP.

The rooms and their edges are read from the table in src/README.md.  Every rule is also tried on a small tree with a
planted fault, so that a rule that catches nothing is itself a failure.

    layers.py [ROOT]
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

ENTRIES = set(""".ci .clang-format .clang-tidy .editorconfig .gitignore CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE README.md
    SECURITY.md bench docs examples include meson.build meson_options.txt pyproject.toml python scenes src study tests tools
    viewer""".split())  # of the top level
MAX_FILE, MAX_FUNCTION, MAX_STAGE, MAX_HEAD = 600, 60, 20, 25
MAX_SOURCES = 12  # .c files of one folder, without those of its folders
CROWDED = {}  # folder: the reason why it holds more
# A file that must be longer says so in its first comment: "Long: one table, read top to bottom."
EXCUSE = re.compile(r"\bLong: \w+")

STANDARD = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time uchar wchar wctype""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
# 1.5e-8 here and 1e-15 there: the name of a constant says of what it is the greatest or the least
BARE = re.compile(r"\b(?:MOST|LEAST|FEW|MANY|NONE|TINY|SMALL|LARGE|BIG|PATIENCE|WORTH|ROUNDING)\b(?= = [^=])", re.M)
LEFTOVER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(home|root|work|Users|mnt)/\w")


class Room:
    def __init__(self, names, outside, public):
        self.names, self.outside, self.public = names, outside, public


def cells(text):
    return [x.strip(" `") for x in text.split(",") if x.strip(" `")]


def read_rooms(table):
    """Rooms by name, with all they may include, from the Markdown table."""
    rooms = {}
    for line in table.splitlines():
        parts = [c.strip() for c in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if len(parts) == 5 and parts[0] != "room" and not set(parts[0]) <= set("-: "):
            may = [] if parts[2] == "nothing" else cells(parts[2])
            rooms[parts[0]] = Room(may, set(cells(parts[3])), set(cells(parts[4])))
    for name, room in rooms.items():
        below, todo = set(), list(room.names)
        while todo:
            n = todo.pop()
            if n not in rooms:
                raise ValueError(f"room {name} may include {n}, which is no room")
            if n == name:
                raise ValueError(f"room {name} is below itself")
            if n not in below:
                below.add(n)
                todo += rooms[n].names
        room.may = below | {name}
    return rooms


def room_of(rooms, path):
    """The longest row that holds a path below src/, as in "solver/core/call.h"; None if there is none."""
    folders = path.split("/")[:-1]
    names = ("/".join(folders[:n]) for n in range(len(folders), 0, -1))
    return next((name for name in names if name in rooms), None)


def owner_of_public(rooms, header):
    return next((n for n, r in rooms.items() if header in r.public), None)


def edges(files, rooms):
    """Wrong includes: a room above, an outside header of another room, an unknown room."""
    for path, text in files.items():
        parts = path.split("/")
        if not path.endswith((".c", ".h")) or parts[0] not in ("src", "include"):
            continue
        room = room_of(rooms, path[4:]) if parts[0] == "src" else owner_of_public(rooms, parts[-1])
        if room not in rooms:
            yield f"{path}: no room of src/README.md holds it"
            continue
        for match in INCLUDE.finditer(text):
            quote, name = match.groups()
            line = text.count("\n", 0, match.start(2)) + 1
            where = f"{path}:{line}: {room} includes {name}"
            top, _, rest = name.partition("/")
            if top == "sim" and quote == "<":
                target = owner_of_public(rooms, rest)
                if target is None:
                    yield f"{where}, a public header of no room"
                elif target not in rooms[room].may:
                    yield f"{where}, of the room {target} that it may not see"
            elif quote == '"':
                if parts[0] == "include":
                    yield f"{where}: a public header includes public headers only, as <sim/...>"
                elif room_of(rooms, name) is None:
                    yield f'{where}: write "room/header.h"'
                elif room_of(rooms, name) not in rooms[room].may:
                    yield f"{where}, of the room {room_of(rooms, name)} that it may not see"
            elif name[:-2] not in STANDARD and name not in rooms[room].outside:
                yield f"{where}, a header from outside that src/README.md does not give it"


def functions(text):
    """(name, first line, length) of each function: layout as clang-format leaves it."""
    lines, start = text.split("\n"), None
    for i, line in enumerate(lines):
        if line[:1].isalpha() or line[:1] == "_":
            start = i
        elif line == "}" and start is not None:
            # the brace may close a struct or a table: those have no "(" before their "{"
            head = " ".join(lines[start:i]).partition("{")[0]
            call = re.search(r"(\w+)\s*\((?:\w+, (\w+))?", head)  # Test(suite, name) is known by its name
            if call and "=" not in head:
                yield call.group(2) or call.group(1), start + 1, i - start + 1
            start = None


def sizes(files, rooms):
    for path, text in files.items():
        if not path.endswith((".c", ".h")):
            continue
        count = text.count("\n")
        excused = EXCUSE.search(text[:text.find("*/")]) if text.startswith("/*") else None
        if excused:
            continue
        if count > MAX_FILE:
            yield f"{path}: {count} lines, over {MAX_FILE}, and its head does not say why (\"Long: ...\")"
        for name, line, length in functions(text):
            if length > MAX_FUNCTION:
                yield f"{path}:{line}: {name} has {length} lines, over {MAX_FUNCTION}, and the head does not say why"


def heads(files, rooms):
    """Heads that go beyond the method: measurements and history belong in docs."""
    for path, text in files.items():
        if path.startswith("src/") and path.endswith((".c", ".h")):
            count = text[:text.find("*/")].count("\n") + 1 if text.startswith("/*") else 0
            if count > MAX_HEAD:
                yield f"{path}: a head of {count} lines, over {MAX_HEAD}"


def staged(files, rooms):
    """Functions of the sources without a comment, inside or directly above, that are longer than one stage."""
    for path, text in files.items():
        if path.startswith("src/") and path.endswith((".c", ".h")):
            lines = text.split("\n")
            for name, line, length in functions(text):
                head = line > 1 and lines[line - 2].endswith("*/")
                if length > MAX_STAGE and not head and "/*" not in "\n".join(lines[line - 1:line - 1 + length]):
                    yield f"{path}:{line}: {name} has {length} lines and no comment that names its stages"


def matches(files, pattern, what):
    for path, text in files.items():
        for match in pattern.finditer(text):
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {what}: {match.group(0)}"


def leftovers(files, rooms):
    yield from matches({p: t for p, t in files.items() if p.startswith(("src", "include", "tests", "tools", "bench", "study"))},
                       LEFTOVER, "a leftover")


def bare(files, rooms):
    yield from matches({p: t for p, t in files.items() if p.startswith(("src/", "include/", "bench/")) and p.endswith((".c", ".h"))},
                       BARE, "a constant without a quantity")


def machine_paths(files, rooms):
    yield from matches(files, MACHINE_PATH, "a path of one machine")


def built(files, rooms):
    """Sources that no meson.build names."""
    for path in files:
        folder, name = "/".join(path.split("/")[:2]), "/".join(path.split("/")[2:])
        if path.startswith("src/") and name.endswith(".c") and f"'{name}'" not in files.get(folder + "/meson.build", ""):
            yield f"{path}: not named in {folder}/meson.build"


def installed(files, rooms):
    """Public headers that are not installed."""
    listed = files.get("include/sim/meson.build", "")
    for path in files:
        if path.startswith("include/sim/") and path.endswith(".h") and f"'{path.split('/')[-1]}'" not in listed:
            yield f"{path}: not installed by include/sim/meson.build"


def stray(files, rooms):
    """Entries of the top level that do not belong there."""
    for entry in sorted({path.split("/")[0] for path in files} - ENTRIES):
        yield f"{entry}: not among the entries of the top level, which tests/house/layers.py names"


def crowded(files, rooms):
    """Folders of more sources than a reader takes in; a header goes with its source.  Exceptions that nothing needs."""
    sources = collections.Counter(path.rpartition("/")[0] for path in files if path.startswith("src/") and path.endswith(".c"))
    for folder, count in sorted(sources.items()):
        if count > MAX_SOURCES and folder not in CROWDED:
            yield f"{folder}: {count} sources, over {MAX_SOURCES}: part it into rooms within it"
        if count <= MAX_SOURCES and folder in CROWDED:
            yield f"{folder}: {count} sources, and an exception that it does not need"


def judged(files, rooms):
    """Code shared by who answers the contact problem and who judges the answer, whatever the table allows."""
    shared, accused = {"judge", "base", "math"}, {"solver", "linalg"}
    for path, text in files.items():
        parts = path.split("/")
        room = parts[1] if parts[0] == "src" else parts[-1][:-2] if path.startswith("include/sim/") else None
        for quote, name in INCLUDE.findall(text):
            top, _, rest = name.partition("/")
            target = rest[:-2] if top == "sim" else top if quote == '"' else None
            if room == "judge" and target and target not in shared | ({"problem"} if top == "sim" else set()):
                yield f"{path}: the judge includes {name}"
            if room in accused and target == "judge":
                yield f"{path}: {room} includes its judge, {name}"


def prefixed(files, rooms):
    """Names with the public prefix that no public header declares."""
    public = set(re.findall(r"\bsim_\w+", " ".join(t for p, t in files.items() if p.startswith("include/sim/"))))
    for path, text in files.items():
        if path.startswith("src/") and path.endswith((".c", ".h")):
            code = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', "", text, flags=re.S)
            for name in sorted(set(re.findall(r"\bsim_\w+", code)) - public):
                yield f"{path}: {name} has the public prefix, but no public header declares it"


def described(files, rooms):
    """Sources that no row, or more than one, of the tables of their room's README names; rows about files that are not."""
    for room in sorted({name.split("/")[0] for name in rooms}):
        folder = f"src/{room}/"
        rows = [line.split("|")[1] for line in files.get(folder + "README.md", "").splitlines() if line.startswith("|")]
        named = re.findall(r"\b[\w/]+\.c\b", "\n".join(rows))
        there = [p[len(folder):] for p in files if p.startswith(folder) and p.endswith(".c")]
        for name in sorted({*named, *there}):
            if name not in there:
                yield f"{folder}README.md: {name}, which does not exist"
            elif named.count(name) != 1:
                yield f"{folder}README.md: {named.count(name)} rows for {name}"


def shown(files, rooms):
    """Scenes that the gallery does not show, or describes in other words than they do themselves."""
    gallery = files.get("docs/gallery.md", "")
    for path, text in files.items():
        if path.startswith("scenes/") and path.endswith(".json") and not path.endswith(".schema.json"):
            told = gallery.partition(f"](../{path})<br>")[2].partition(" |")[0].rstrip(".")
            if not told or not json.loads(text).get("description", "").startswith(told):
                yield f"{path}: its cell in docs/gallery.md is missing or old: tools/gallery {path[7:-5]}"
            elif f"docs/images/scenes/{path[7:-5].replace('/', '-')}.png" not in files:
                yield f"{path}: has no picture: tools/gallery {path[7:-5]}"


RULES = [
    (edges, "every include stays within its rooms"),
    (judged, "the judge shares nothing with the solvers but base, math and the problem's public header"),
    (sizes, f"files have at most {MAX_FILE} lines and functions {MAX_FUNCTION}, or say why"),
    (heads, f"heads have at most {MAX_HEAD} lines"),
    (staged, f"functions over {MAX_STAGE} lines have a comment for each stage, or one above"),
    (leftovers, "nothing is left to be done in a comment"),
    (bare, "constants say a quantity"),
    (machine_paths, "no path of one machine"),
    (built, "every source is built"),
    (stray, "the top level holds the entries that belong there, and no others"),
    (crowded, f"folders of src have at most {MAX_SOURCES} sources"),
    (installed, "every public header is installed"),
    (prefixed, "only names that public headers declare begin with sim_"),
    (described, "the page of every room has one row for each source"),
    (shown, "the gallery shows every scene in its own words"),
]

SMALL_TABLE = """
| room | question | may include | headers from outside | public headers |
|---|---|---|---|---|
| base | memory | nothing | pthread.h | base.h |
| math | vectors | base | | |
| problem | what to answer | math | | problem.h |
| judge | how right | problem | | judge.h |
| linalg | matrices | base | cholmod.h | |
| model | what is | base | | model.h |
| solver/core | what all share | linalg | | |
| solver/newton | one family | solver/core | | |
| solver/pivot | another | solver/core | | |
| solver | how much | solver/newton, solver/pivot | | |
| world | what next | model, solver | | world.h |
| scene | the file | world | cjson/cJSON.h | scene.h |
"""

STAGES = "static int f(int a) {\n" + "    a++;\n" * 19 + "}\n"
LONG_FUNCTION = "static int f(int a,\n             int b) {\n" + "    a++;\n" * 70 + "}\n"

# (rule, what is planted, the file, its text): each alone must give exactly one complaint.
PLANTED = [
    (edges, "a room above", "src/base/a.c", '#include "world/world.h"\n'),
    (edges, "a room beside", "src/solver/a.c", '#include "model/model.h"\n'),
    (edges, "a public header of a room above", "src/model/a.c", "#include <sim/world.h>\n"),
    (edges, "a public header that looks up", "include/sim/model.h", "#include <sim/world.h>\n"),
    (edges, "a private header in a public one", "include/sim/world.h", '#include "model/model.h"\n'),
    (edges, "an outside header in the wrong room", "src/world/a.c", "#include <cjson/cJSON.h>\n"),
    (edges, "an outside header of a room below", "src/solver/a.c", "  #  include <cholmod.h>\n"),
    (edges, "an unknown room", "src/attic/a.c", "int a;\n"),
    (edges, "an unknown public header", "include/sim/attic.h", "int a;\n"),
    (edges, "a family of solvers beside", "src/solver/pivot/a.c", '#include "solver/newton/a.h"\n'),
    (edges, "a part that looks at the whole", "src/solver/core/a.c", '#include "solver/table.h"\n'),
    (edges, "an include without its room", "src/model/a.c", '#include "model.h"\n'),
    (judged, "a judge that looks into the solvers", "src/judge/a.c", '#include "solver/core/products.h"\n'),
    (judged, "a judge that reads a solver's public header", "src/judge/a.h", "#include <sim/solver.h>\n"),
    (judged, "a judge that looks behind the problem", "src/judge/a.c", '#include "problem/laws.h"\n'),
    (judged, "a public judge that knows solvers", "include/sim/judge.h", "#include <sim/solver.h>\n"),
    (judged, "a solver that asks its judge", "src/solver/a.c", "#include <sim/judge.h>\n"),
    (judged, "linear algebra that uses the judge's", "src/linalg/a.c", '#include "judge/motion.h"\n'),
    (judged, "a public solver that knows its judge", "include/sim/solver.h", "#include <sim/judge.h>\n"),
    (sizes, "a long file", "src/model/a.c", "int a;\n" * 601),
    (sizes, "a long function", "src/model/a.c", LONG_FUNCTION),
    (heads, "a head of 26 lines", "src/model/a.c", "/* A." + "\n * B." * 25 + " */\nint a;\n"),
    (staged, "a function of 21 lines without a comment", "src/model/a.c", STAGES),
    (staged, "one whose comment above is not its own", "src/model/a.c", "/* Of a. */\nint a;\n\n" + STAGES),
    (leftovers, "a leftover", "src/model/a.c", "/* TO" + "DO: mend */\n"),
    (bare, "a constant that says no quantity", "src/model/a.c", "enum { MO" + "ST = 4 };\n"),
    (machine_paths, "a path of one machine", "docs/a.md", "see /" + "home/me/notes\n"),
    (built, "a source that is not built", "src/model/b.c", "int a;\n"),
    (built, "a source of a part that is not built", "src/solver/core/b.c", "int a;\n"),
    (stray, "a file at the top level", "ball.json", "{}\n"),
    (stray, "a folder at the top level", "attic/a.c", "int a;\n"),
    (crowded, "a folder of 13 sources", "src/model/b.c", "int a;\n"),
    (installed, "a header that is not installed", "include/sim/model.h", "int a;\n"),
    (prefixed, "a private name with the public prefix", "src/model/a.c", "int sim_hidden;\n"),
    (described, "a source without a row", "src/model/a.c", "int a;\n"),
    (described, "a source of a part without a row", "src/solver/core/a.c", "int a;\n"),
    (described, "a row without a source", "src/model/README.md", "| `a.c` | what is |\n"),
    (shown, "a scene that the gallery does not show", "scenes/basic/a.json", '{"description": "A ball."}'),
    (described, "a source in two rows", "src/model/README.md", "| a.c | what is |\n| b.c, a.c | what is |\n"),
]

# Right as they are: no rule may complain.
SOUND = {
    "src/base/a.c": "#include <pthread.h>\n#include <stdio.h>\n#include <sim/base.h>\n",
    "src/scene/a.c": '#include <cjson/cJSON.h>\n#include "base/pool.h"\n#include <sim/scene.h>\n',
    "src/world/a.c": '#include "linalg/block.h"\n#include <sim/model.h>\n/* Counts. */\n'
    + LONG_FUNCTION.replace("    a++;\n" * 12, "") + STAGES.replace("    a++;\n", "    /* count */\n    a++;\n", 1)
    + STAGES.replace("    a++;\n", "", 1),
    "src/solver/a.c": "/* A table. Long: read from top to bottom. */\n" + "int a;\n" * 700
    + LONG_FUNCTION.replace("    a++;\n", "    a++; /* up */\n", 1),
    "src/solver/pivot/c.c": '#include "solver/core/b.h"\n#include "linalg/c.h"\n',
    "src/solver/b.c": '#include "solver/pivot/b.h"\n#include "solver/b.h"\n',
    "src/judge/a.c": '#include "base/arena.h"\n#include "judge/b.h"\n#include "math/v3.h"\n#include <sim/problem.h>\n',
    "include/sim/world.h": "#include <stdint.h>\n#include <sim/model.h>\n",
}
SOUND_MESON = {
    **{f"src/{r}/README.md": "see a.c\n| file | |\n|---|---|\n| `a.c` | what a.c does |\n"
       for r in ("base", "judge", "scene", "world")},
    "src/solver/README.md": "| a.c, b.c, pivot/c.c | what they do |\n",
    "include/sim/meson.build": "install_headers('world.h')",
    **{f"src/{r}/meson.build": "sources += files('a.c')" for r in ("base", "judge", "scene", "world")},
    "src/solver/meson.build": "sources += files('a.c', 'b.c', 'pivot/c.c')",
}


def read_tree(root):
    files = {}
    for top in ("src", "include", "tests", "tools", "bench", "study", "docs", "scenes", "README.md", "CHANGELOG.md", "meson.build"):
        for path in [root / top] if (root / top).is_file() else sorted((root / top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.stat().st_size < 4 << 20:
                try:
                    files[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    files[path.relative_to(root).as_posix()] = ""  # pictures, and inputs that are meant to be broken
    read = {path.split("/")[0] for path in files}
    return files | dict.fromkeys(tracked_entries(root) - read, "")


def tracked_entries(root):
    """Entries of the top level in git's index; none where this is no checkout."""
    try:
        done = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    except FileNotFoundError:
        return set()
    return {path.split("/")[0] for path in done.stdout.splitlines()} if (root / ".git").exists() else set()


def cases(root):
    """(sentence, complaints) of every case."""
    files = read_tree(root)
    rooms = read_rooms(files["src/README.md"])
    for rule, sentence in RULES:
        yield sentence, list(rule(files, rooms))
    small = read_rooms(SMALL_TABLE)
    for rule, what, path, text in PLANTED:
        names = "ab" if "b.c" in text else "acdefghijklmn"[:MAX_SOURCES] if rule is crowded else ""
        beside = {f"src/model/{n}.c": "int n;\n" for n in names}
        found = list(rule({path: text, **beside}, small))
        yield f"{rule.__name__} catches {what}", [] if len(found) == 1 else [f"complaints: {found}"]
    sound = {**SOUND, **SOUND_MESON}
    yield "a sound tree passes", [c for rule, _ in RULES for c in rule(sound, small)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    done = list(cases(root))
    print(f"TAP version 13\n1..{len(done)}")
    for number, (sentence, complaints) in enumerate(done, 1):
        print(f"{'not ok' if complaints else 'ok'} {number} - {sentence}")
        for complaint in complaints:
            print(f"# {complaint}")
    return 1 if any(c for _, c in done) else 0


if __name__ == "__main__":
    sys.exit(main())
