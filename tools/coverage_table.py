#!/usr/bin/env python3
"""Line coverage by room: coverage_table.py ROOT < output of `gcov --json-format --stdout`, one document a line.

A line counts as run if any object file's copy of it ran.
"""
import collections
import json
import os
import sys


def main():
    source = os.path.join(os.path.realpath(sys.argv[1]), "src") + os.sep
    ran = collections.defaultdict(dict)  # file: {line: bool}
    for text in sys.stdin:
        if not text.strip():
            continue
        document = json.loads(text)
        folder = document["current_working_directory"]
        for file in document["files"]:
            path = os.path.realpath(os.path.join(folder, file["file"]))
            if not path.startswith(source):
                continue
            lines = ran[path[len(source):]]
            for line in file["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, False) or line["count"] > 0
    if not ran:
        sys.exit("tools/coverage: no test ran any line of src")
    rooms = collections.defaultdict(lambda: [0, 0])
    for path, lines in ran.items():
        for room in (path.split(os.sep)[0], "all"):
            rooms[room][0] += sum(lines.values())
            rooms[room][1] += len(lines)
    for room in sorted(rooms, key=lambda room: (room == "all", room)):
        run, of = rooms[room]
        print(f"{room:<10} {100 * run / of:5.1f} %  {run:6d} of {of:6d} lines")


main()
