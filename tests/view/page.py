#!/usr/bin/env python3
"""Is the page built from what it says, and does it stand alone?  Prints TAP.

    page.py PAGE BUILD.PY ESBUILD THREE COPYRIGHT MESON SOURCE
"""
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402

PAGE, BUILD, ESBUILD, THREE, COPYRIGHT, MESON, SOURCE = sys.argv[1:]
PAGE = os.path.abspath(PAGE)


def build(three=THREE, copyright_file=COPYRIGHT, out="page.html"):
    done = subprocess.run([sys.executable, BUILD, ESBUILD, three, copyright_file, out, "deps"], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def path_without(program):
    """All programs that are found now but this one, in a folder."""
    os.mkdir("programs")
    for folder in os.environ["PATH"].split(os.pathsep):
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            if name != program and not os.path.lexists(f"programs/{name}"):
                os.symlink(os.path.join(folder, name), f"programs/{name}")
    return os.path.abspath("programs")


def the_same_sources_give_the_same_page():
    assert build() == (0, "")
    assert pathlib.Path("page.html").read_bytes() == pathlib.Path(PAGE).read_bytes()


def every_source_is_a_dependency():
    assert build() == (0, "")
    named = pathlib.Path("deps").read_text().split()
    for source in (pathlib.Path(SOURCE) / "viewer" / "src").iterdir():
        assert str(source) in named, source
    assert {THREE, COPYRIGHT, BUILD} <= set(named), named


def the_page_carries_the_licence_of_three_js():
    head = " ".join(re.search(r"/\*!(.*?)\*/", pathlib.Path(PAGE).read_text(), re.S)[1].split())
    assert re.match(r"three\.js Copyright © [0-9-]+ three.js authors Permission is hereby granted, free of charge,", head), head[:200]
    assert "The above copyright notice and this permission notice shall be included in all copies" in head
    assert head.endswith("OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."), head[-200:]


def the_page_asks_for_nothing_outside():
    text = pathlib.Path(PAGE).read_text()
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="(?!data:)', text)
    assert text.count("<!--sim-data-->") == 1


def another_revision_of_three_js_is_refused():
    text = pathlib.Path(THREE).read_text()
    pathlib.Path("three.module.js").write_text(text.replace("var REVISION = '111'", "var REVISION = '187'"))
    code, said = build(three="three.module.js", out="none.html")
    assert code != 0 and "revision 111" in said and "libjs-three" in said and not os.path.exists("none.html"), said


def a_page_without_a_licence_is_refused():
    pathlib.Path("copyright").write_text("Files: *\nCopyright: nobody\nLicense: Expat\n")
    code, said = build(copyright_file="copyright", out="none.html")
    assert code != 0 and "no licence" in said and not os.path.exists("none.html"), said


def configuring_names_the_packages_that_are_missing():
    done = subprocess.run([MESON, "setup", "configured", SOURCE, "-Dtests=disabled", "-Dthree=/nowhere/three.module.js"], check=False,
                          env={**os.environ, "PATH": path_without("esbuild")}, capture_output=True, text=True)
    errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
    assert done.returncode != 0 and len(errors) == 1, done.stdout[-2000:]
    assert "Debian package: esbuild" in errors[0] and "Debian package: libjs-three" in errors[0], errors


if __name__ == "__main__":
    sys.exit(tap.run(tap.cases_of(globals())))
