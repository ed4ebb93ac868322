#!/usr/bin/env python3
"""build.py ESBUILD THREE COPYRIGHT PAGE DEPFILE: the page that the program writes around a run's data.

One file, with style, script and three.js in it: it asks a network for nothing, neither here nor in a browser.  ESBUILD bundles;
THREE is the module of three.js and COPYRIGHT says under which licence, in Debian's format (version 1.0).  The same sources and the
same packages give the same bytes.  DEPFILE tells make and ninja what was read.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REVISION = "111"  # of three.js: what src/ is written for
MINIFIED = ["--minify", "--charset=utf8", "--legal-comments=none", "--target=es2022", "--log-level=warning"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def bundle(esbuild, folder, source, *options):
    """The text of one bundle, and the files that it was made of."""
    made, said = (os.path.join(folder, name) for name in ("made", "said"))
    command = [esbuild, source, "--bundle", *MINIFIED, *options, f"--outfile={made}", f"--metafile={said}"]
    if subprocess.run(command, cwd=HERE, check=False).returncode != 0:
        sys.exit(f"{source}: {esbuild} could not bundle it")
    return read(made).strip(), [os.path.join(HERE, name) for name in json.loads(read(said))["inputs"]]


def licence(path):
    """Of all files but those named apart: who wrote them, and the text of the licence."""
    stanzas = [dict(re.findall(r"^([A-Z][A-Za-z-]*):[ \n]?(.*(?:\n .*)*)", stanza, re.M)) for stanza in read(path).split("\n\n")]
    whole = next((s for s in stanzas if s.get("Files", "").strip() == "*"), {})
    text = next((s["License"] for s in stanzas if "Files" not in s and s.get("License", "").split("\n")[0] == whole.get("License")), "")
    if not text or "*/" in text:
        sys.exit(f"{path}: no licence of three.js found")
    lines = ["" if line.strip() == "." else line.strip() for line in text.split("\n")[1:]]
    return "\n".join([f"Copyright {whole['Copyright'].strip()}", "", *lines])


def main(esbuild, three, copyright_file, page, depfile):
    if not re.search(rf"REVISION = '{REVISION}'", read(three)):
        sys.exit(f"{three}: this is not revision {REVISION} of three.js, for which viewer/src is written (Debian: libjs-three)")
    with tempfile.TemporaryDirectory() as folder:
        script, scripts = bundle(esbuild, folder, "src/main.js", "--format=iife", f"--alias:three={three}")
        style, styles = bundle(esbuild, folder, "src/style.css")
    frame = os.path.join(HERE, "src", "page.html")
    parts = {"style": style, "licence": f"three.js\n{licence(copyright_file)}\n", "script": script.replace("</script", "<\\/script")}
    text = re.sub(r"/\*(style|licence|script)\*/", lambda mark: parts[mark[1]], read(frame))
    with open(page, "w", encoding="utf-8") as out:
        out.write(text)
    with open(depfile, "w", encoding="utf-8") as out:
        inputs = [os.path.normpath(name) for name in (*scripts, *styles, frame, copyright_file, os.path.abspath(__file__))]
        out.write(f"{page}: " + " ".join(name.replace(" ", "\\ ") for name in inputs) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
