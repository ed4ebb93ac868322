"""The code of docs/python.md runs, and `# -> VALUE` behind an expression is what it says."""
import ast
import pathlib
import re
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/python.md").read_text(), re.M | re.S)


def run(block, names):
    said = {number: line.split("# ->", 1)[1].strip() for number, line in enumerate(block.splitlines(), 1) if "# ->" in line}
    seen = 0
    for statement in ast.parse(block).body:
        code = ast.Module([statement], [])
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), "docs/python.md", "eval"), names)
            if statement.end_lineno in said:
                assert said[statement.end_lineno].strip("()[]") != "...", "a value that says nothing"
                pattern = re.escape(said[statement.end_lineno]).replace(r"\.\.\.", ".*")
                assert re.fullmatch(pattern, repr(value)), (said[statement.end_lineno], repr(value))
                seen += 1
        else:
            exec(compile(code, "docs/python.md", "exec"), names)
    assert seen == len(said)


def test_the_code_of_the_page_runs_and_gives_what_it_says(tmp_path, monkeypatch):
    assert len(BLOCKS) > 3
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    names = {"__name__": "__main__"}
    for block in BLOCKS:
        run(block, names)


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert blocks
    for block in blocks:
        run(block, {"__name__": "__main__"})
