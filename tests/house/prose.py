#!/usr/bin/env python3
"""Measures the language of comments, texts of the program, and pages.  Prints TAP.

A clause, the words between two of . ? ! ; :, has at most 25 of them, and no sentence that states a fact begins with what or
who.  Code blocks, tables, headings, markup, and lines of a comment that are indented by three or have columns (equations,
tables) are no prose; a piece of code in a line counts as one word.

    prose.py [ROOT]
"""
import ast
import bisect
import io
import os
import re
import subprocess
import sys
import tokenize

MAX_WORDS = 25
STOP = re.compile(r"(?<=[.?!;:])[\"')\]*_]*(?:\s+|$)|\n\s*\n|\u2029")
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]+")
RIDDLE = re.compile(r"[\"'(\[*_]*(What|Who|Whoever|Whatever|Whose)\b")
C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'", re.S)
COLUMNS = re.compile(r"[^\s.?!;:] {2,}\S")
MARKUP = re.compile(r"<\w+[ />]|\w=\w+[,)]")  # XML, signatures
END = "\u2029"  # where a heading, a list item or a table ends a sentence without a stop


def of_page(text):
    """The prose of a Markdown page, line by line as it stands."""
    text = re.sub(r"```.*?```", lambda m: END + "\n" * m.group().count("\n"), text, flags=re.S)
    for number, line in enumerate(text.split("\n"), 1):
        apart = re.match(r"\||    |#|!\[|\s*<", line)
        item = re.match(r"\s*(?:[*+-]|\d+\.)\s+(.*)", line)
        yield number, END if apart else END + item.group(1) if item else line


def of_lines(first, lines, marks):
    """A comment without its marks; lines that are indented, or have columns, are equations and tables."""
    for number, line in enumerate(lines, first):
        line = re.sub(marks, "", line)
        apart = number > first and re.match(r"\s{3,}\S", line) or COLUMNS.search(line.strip())
        item = re.match(r"\s*(?:[*+-]|\d+\.)\s+(.*)", line)
        yield number, END if apart else END + item.group(1) if item else line


def of_c(text):
    """Comments, and texts of the program of several words: strings that follow each other are one."""
    line, at, before = 1, 0, None
    for token in C_TOKEN.finditer(text):
        line += text.count("\n", at, token.start())
        gap, at, found = text[at:token.start()], token.start(), token.group()
        if found[0] == "/":
            yield line, END
            yield from of_lines(line, re.sub(r"^/[*/]+|\*/$", "", found).split("\n"), r"^\s*\*(?: |$)")
            before = None
        elif found[0] == '"':
            if before != "text" or gap[gap.find('"', 1) + 1:].strip() not in ("", '"'):
                yield line, END
            yield line, END if MARKUP.search(found) else re.sub(r"%[-+ #0]*[\d.*]*(?:ll|z|l)?[a-zA-Z]", "x", found[1:-1]).replace(r"\n", "\n").replace(r"\"", '"')
            before = "text"
        else:
            before = None


def of_python(text):
    """Comments and docstrings."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = token.line.lstrip().startswith("#")
            yield token.start[0], ("" if alone else END) + token.string.lstrip("#! ")
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            yield token.start[0], END
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node, False):
            value = node.body[0].value
            yield value.lineno, END
            yield from of_lines(value.lineno, value.value.split("\n"), r"^$")


READERS = {".md": of_page, ".c": of_c, ".h": of_c, ".py": of_python}


def clauses(parts):
    """Clauses, with the line that each begins in and whether it begins a sentence."""
    text, starts = "", []
    for line, part in parts:
        starts.append((len(text), line))
        text += part + "\n"
    text = masked(r"`[^`]*`", masked(r"\]\([^)]*\)", text, "]"), "x")
    at = 0
    for stop in [*STOP.finditer(text), None]:
        end = stop.start() if stop else len(text)
        clause = " ".join(text[at:end].split())
        if clause:
            begin = end - len(text[at:end].lstrip())
            yield starts[bisect.bisect(starts, (begin, sys.maxsize)) - 1][1], clause, text[:at].rstrip()[-1:] not in (";", ":")
        at = stop.end() if stop else at


def masked(pattern, text, by):
    """Matches replaced by a letter and spaces, so that places and lines stay."""
    return re.sub(pattern, lambda m: by + re.sub(r"[^\n]", " ", m.group()[1:]), text)


def complaints(path, text):
    for line, clause, sentence in clauses(READERS[os.path.splitext(path)[1]](text)):
        count = len(WORD.findall(clause))
        if count > MAX_WORDS:
            yield "long", f"{path}:{line}: {count} words, over {MAX_WORDS}: {clause[:200]}"
        if sentence and RIDDLE.match(clause) and not clause.rstrip("\"')").endswith("?"):
            yield "riddle", f"{path}:{line}: its subject is not named: {clause[:200]}"


def files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\n")
            if os.path.splitext(path)[1] in READERS and os.path.exists(os.path.join(root, path))]


def planted():
    """Every rule finds its fault, in every kind of file, and nothing else."""
    long = "one two three four five six seven eight nine ten eleven twelve " * 2 + "last words"
    half = " ".join(long.split()[:24])
    faulty = {"a.md": f"{long}.\n", "a.c": f"/* {long}. */", "b.c": f'f("{half} "\n  "and more.");', "a.py": f'"""{long}."""\n'}
    riddles = {"a.md": "What is left is small.\n", "a.c": "/* One.  Who calls this. */", "b.c": 'f("What is wrong.");', "a.py": "# Who knows\n"}
    good = {"a.md": f"| {long} |\n\n```\n{long}\n```\n{half}: {half}.\nWhat is it?\n- {half}\n- {half}\n", "a.c": f"/* {half}; what is\n *     {long}\n */",
            "b.c": f'f("{half}", "{half}");', "a.py": f"x = 1  # {half}\ny = 2  # {half}\n"}
    for files_, kinds in ((faulty, ["long"]), (riddles, ["riddle"]), (good, [])):
        for path, text in files_.items():
            found = [kind for kind, _ in complaints(path, text)]
            if found != kinds:
                yield f"{path}, {kinds or 'no fault'}: found {found}"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found = []
    for path in files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            found += complaints(path, file.read())
    done = [("clauses have at most 25 words", [text for kind, text in found if kind == "long"]),
            ("sentences name their subject", [text for kind, text in found if kind == "riddle"]),
            ("planted faults are found", list(planted()))]
    print(f"TAP version 13\n1..{len(done)}")
    for number, (sentence, wrong) in enumerate(done, 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - {sentence}")
        for text in wrong:
            print(f"# {text}")
    return 1 if any(wrong for _, wrong in done) else 0


if __name__ == "__main__":
    sys.exit(main())
