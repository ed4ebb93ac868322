#!/usr/bin/env python3
"""Finds circles of calls between source files, from the symbols of the object files.  Prints TAP.

An edge A -> B says that A.c uses a function or constant that B.c defines.  A circle of edges means that no file of it can
be read, tested or moved without the others.

    circles.py BUILD_ROOT
"""
import collections
import pathlib
import re
import subprocess
import sys

ALLOWED = {}  # frozenset of files: the reason why they need each other


def symbols(root):
    """Lines "file, kind, symbol" of all object files of the library, the live server and the program."""
    archives = [root / "src/libsim.a", root / "src/live/liblive.a"]
    objects = sorted((root / "src/app").glob("sim.p/*.o"))
    found = subprocess.run(["nm", "-A", *archives, *objects], capture_output=True, text=True, check=True).stdout
    for line in found.splitlines():
        match = re.match(r"(?:.*[:/])?([\w.]+)\.c\.o:\s*[0-9a-f]*\s+(\w) (\S+)$", line)
        if match:
            yield match.groups()


def graph(lines):
    """Files by the files whose symbols they use."""
    home, uses = {}, collections.defaultdict(set)
    for file, kind, symbol in lines:
        if kind == "U":
            uses[symbol].add(file)
        elif kind.isupper():
            home[symbol] = file
    edges = collections.defaultdict(set)
    for symbol, users in uses.items():
        for user in users - {home.get(symbol)}:
            if symbol in home:
                edges[user].add(home[symbol])
    return edges


def circles(edges):
    """Strongly connected groups of more than one file (R. Tarjan 1972), without recursion."""
    order, low, stack, found = {}, {}, [], []
    for start in sorted(edges):
        work = [(start, iter(sorted(edges[start])))] if start not in order else []
        while work:
            node, rest = work[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                stack.append(node)
            for other in rest:
                if other not in order:
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in stack:
                    low[node] = min(low[node], order[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    group = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    if len(group) > 1:
                        found.append(frozenset(group))
    return found


PLANTED = [("a", "T", "fa"), ("a", "U", "fb"), ("b", "T", "fb"), ("b", "U", "fc"), ("c", "T", "fc"), ("c", "U", "fa"),
           ("d", "U", "fa"), ("d", "T", "fd"), ("e", "U", "fd"), ("e", "U", "malloc")]


def main():
    edges = graph(symbols(pathlib.Path(sys.argv[1])))
    found = circles(edges)
    cases = [("the program has more than 300 sources", len(edges) > 300, [f"# found {len(edges)}"]),
             ("a planted circle is found, and nothing beside it", circles(graph(PLANTED)) == [frozenset("abc")], []),
             ("no circle of calls between files", all(group in ALLOWED for group in found),
              [f"# {sorted(group)}: " + ", ".join(f"{a} -> {b}" for a in sorted(group) for b in sorted(edges[a] & group))
               for group in found if group not in ALLOWED]),
             ("every circle that is allowed exists", all(group in found for group in ALLOWED), [])]
    print(f"TAP version 13\n1..{len(cases)}")
    for number, (sentence, good, notes) in enumerate(cases, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {sentence}")
        if not good:
            print("\n".join(notes))
    return 0 if all(good for _, good, _ in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
