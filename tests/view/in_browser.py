#!/usr/bin/env python3
"""Programs that test pages in headless Chromium, one after the other in a single one: its start takes as long as two or three
pages.  Prints TAP.

    in_browser.py SIM NAME...      browser, camera, film, sliders, live_browser, steering; each runs alone, too
"""
import importlib
import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")]
from chromium import show  # noqa: E402

names = sys.argv[2:]
sys.argv[1:] = [os.path.abspath(sys.argv[1])]
sys.exit(show(*[importlib.import_module(name).cases for name in names]))
