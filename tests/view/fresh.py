#!/usr/bin/env python3
"""Was the page built from the sources beside it, and does it stand alone?  Prints TAP.

    fresh.py VIEWER
"""
import hashlib
import json
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402

viewer = pathlib.Path(sys.argv[1])
page = (viewer / "page.html").read_text()


def the_page_was_built_from_these_sources():
    names = ["LICENSE.three", "build.mjs", "package-lock.json"] + [f"src/{p.name}" for p in (viewer / "src").iterdir()]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name}\n".encode() + (viewer / name).read_bytes())
    assert f'content="{digest.hexdigest()}"' in page, "viewer/page.html is older than its sources: npm ci && npm run build"


def the_page_carries_its_licence_and_asks_for_nothing_outside():
    assert (viewer / "LICENSE.three").read_text().strip() in page
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="(?!data:)', page)
    assert page.count("<!--sim-data-->") == 1


def packages_have_exact_versions_and_no_addresses():
    lock = json.loads((viewer / "package-lock.json").read_text())
    wanted = json.loads((viewer / "package.json").read_text())["devDependencies"]
    assert all(re.fullmatch(r"[0-9.]+", version) for version in wanted.values()), wanted
    assert not any("resolved" in package for package in lock["packages"].values())
    assert all("integrity" in package for name, package in lock["packages"].items() if name)

if __name__ == "__main__":
    sys.exit(tap.run(tap.cases_of(globals()), folders=False))
