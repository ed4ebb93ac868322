#!/usr/bin/env python3
"""embed.py PAGE OUT.c: the page as two arrays of C, before and after the place where the data go."""
import sys

MARK = b"<!--sim-data-->"

page = open(sys.argv[1], "rb").read()
head, mark, tail = page.partition(MARK)
if not mark or MARK in tail:
    sys.exit(f"{sys.argv[1]}: {MARK.decode()} must stand in it once")
with open(sys.argv[2], "w") as out:
    out.write('#include "view/page/page.h"\n')
    for name, text in (("head", head), ("tail", tail)):
        out.write(f"const size_t view_page_{name}_size = {len(text)};\nconst unsigned char view_page_{name}[] = {{\n")
        for k in range(0, len(text), 32):
            out.write(",".join(map(str, text[k:k + 32])) + ",\n")
        out.write("};\n")
