"""The NUMBERth block of C code of a page of the documentation, as a file.

    code_of.py PAGE NUMBER FILE
"""
import re
import sys

page, number, file = sys.argv[1:]
with open(page, encoding="utf-8") as text:
    blocks = re.findall(r"^```c\n(.*?)^```$", text.read(), re.M | re.S)
with open(file, "w", encoding="utf-8") as out:
    out.write(blocks[int(number) - 1])
