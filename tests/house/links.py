#!/usr/bin/env python3
"""links.py [ROOT]: every relative link of a Markdown page names a file of the tree and, behind #, a heading or anchor of it."""
import functools
import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^()\s]+)\)")
LITERAL = re.compile(r"```.*?```|`[^`\n]*`", re.S)


@functools.lru_cache(maxsize=None)
def anchors(path):
    """The anchors that GitHub gives the headings of a page, and those that it names itself."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"```.*?```", "", file.read(), flags=re.S)
    found = set(re.findall(r'<a (?:name|id)="([^"]+)"', text))
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        heading = re.sub(r"<[^>]*>", "", heading)
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        count = 1
        while name in found and f"{name}-{count}" in found:
            count += 1
        found.add(name if name not in found else f"{name}-{count}")
    return found


def pages(root):
    """Markdown files that git has or would take; all of them where there is no git."""
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True)
        return [page for page in listed.stdout.split("\n") if page and os.path.exists(os.path.join(root, page))]
    except (OSError, subprocess.CalledProcessError):
        found = []
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name != "build"]
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names if name.endswith(".md")]
        return found


def wrong_links(root, page):
    with open(os.path.join(root, page), encoding="utf-8") as file:
        text = LITERAL.sub("", file.read())
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(root, os.path.dirname(page), target)) if target else os.path.join(root, page)
        if not os.path.exists(path):
            yield f"{page}: {link}: no such file"
        elif anchor and path.endswith(".md") and anchor not in anchors(path):
            yield f"{page}: {link}: no such heading"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    wrong = [line for page in sorted(pages(root)) for line in wrong_links(root, page)]
    print("1..1")
    for line in wrong:
        print(f"# {line}")
    print("not ok 1 - links" if wrong else "ok 1 - links")


if __name__ == "__main__":
    main()
