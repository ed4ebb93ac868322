#!/usr/bin/env python3
"""study/reproduce.py [NAME...] [--quick]: run the papers' experiments and write one page (HTML) with our figures beside theirs.

    study/reproduce.py                          all of them, in full                         build/reproduction.html
    study/reproduce.py --quick                  all, smaller: under three minutes            build/reproduction-quick.html
    study/reproduce.py slide_roll clutter       these alone

Options:
    --list            the experiments, what they show and how long they take
    --quick           fewer and shorter runs; figures that depend on how fast the machine is are told and not judged
    --out FILE        where the page goes
    --record          write the figures, their verdicts, date, commit and processor to docs/results/reproduction.json, in place of those
                      of the same experiments; tools/results prints the page and the first lines of docs/reproduction.md from it
    --recount         run nothing; judge the recorded figures by the bounds that stand, and count anew
    --json FILE       write the figures and their verdicts to FILE, too, anew after each experiment
    --keep FILE       run nothing; --record what --json wrote to FILE on another machine, with its date, commit and processor
    --jobs N          so many runs at once, of one experiment or several; default half of the processors, as ratios of times are judged
    --also WORDS      give WORDS to every run of a scene, to see what the verdicts say of it, as in
                      --also '--set materials/0/friction=0.3'
    --quiet           no progress

Verdicts are computed from what these runs wrote and from the bounds in study/reproduction/verdicts.toml.  SIM_PROGRAM=PATH uses
that program instead of building one.  Exit status: 0 nothing missed its bound that should keep it, 1 something did or failed,
2 bad command line, 3 something needed is not there.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

from reproduction.frame import command  # noqa: E402

if __name__ == "__main__":
    sys.exit(command.main(sys.argv[1:], __doc__))
