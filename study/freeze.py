#!/usr/bin/env python3
"""study/freeze.py [CASE...]: states of chaotic runs, frozen as files

A run of a heap differs from processor to processor: a difference by rounding at first is another heap in the end.  So
problems of such a case (`frozen` in study/cases.py) come from states in study/frozen, which were made once.  Every processor
takes the problem of the same state.

This command makes the states anew, of all cases or of those named.  It builds the program for any processor
(-Dnative=false, build/portable).  The C library and the BLAS choose no instructions by processor.  It runs the cases and writes
checkpoints CASE_000.h5 and so on to study/frozen/CASE.tar.xz.  The SHA-256 of each stands in SHA256SUMS.

    --check     write nothing; compare what would be written with SHA256SUMS, and fail where it differs

The same sources, compiler and libraries give the same files.  Others, or a change of a scene, give other heaps: then all figures
that rest on them have to be recorded anew (study/reproduce.py --record).
"""
import hashlib
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile

import cases
from shared import ROOT, Options

SUMS = os.path.join(cases.FROZEN, "SHA256SUMS")
# of glibc, which picks versions of sin, exp and others by processor, and of OpenBLAS, which does so for all of its parts
SAME_EVERYWHERE = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4", "OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}


def portable_program():
    """bench/step_problems of a build that any processor runs."""
    build = os.path.join(ROOT, "build", "portable")
    script = (f"self=study root={shlex.quote(ROOT)}; . \"$root/tools/common.sh\"; configure {shlex.quote(build)} -Dnative=false -Dtests=disabled "
              f"-Dbenchmarks=true && ninja --quiet -C {shlex.quote(build)} bench/step_problems >&2")
    if subprocess.run(["sh", "-c", script], stdout=subprocess.DEVNULL, check=False).returncode:
        sys.exit("study/freeze.py: the program could not be built")
    return os.path.join(build, "bench", "step_problems")


def sum_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def archive_of(case):
    return os.path.join(cases.FROZEN, case.name + ".tar.xz")


def stored_sums(case):
    """Of the states in the archive."""
    with tarfile.open(archive_of(case)) as archive:
        return {member.name: hashlib.sha256(archive.extractfile(member).read()).hexdigest() for member in archive}


def store(case, folder, names):
    """The archive of the states, without times and owners."""
    with tarfile.open(archive_of(case), "w:xz", preset=9) as archive:
        for name in names:
            told = tarfile.TarInfo(name)
            told.size = os.path.getsize(os.path.join(folder, name))
            with open(os.path.join(folder, name), "rb") as file:
                archive.addfile(told, file)


def written_sums():
    """File -> SHA-256, as SHA256SUMS has them."""
    if not os.path.exists(SUMS):
        return {}
    with open(SUMS, encoding="ascii") as file:
        return {name: told for told, name in (line.split() for line in file)}


def freeze(program, case, folder):
    """States of the case, in the folder; their files."""
    with tempfile.TemporaryDirectory() as problems:
        command = [program, os.path.join(ROOT, "scenes", case.scene), os.path.join(problems, case.name), *case.arguments(False, run_anew=True),
                   "--keep", os.path.join(folder, case.name)]
        if subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env={**os.environ, **SAME_EVERYWHERE}).returncode:
            sys.exit(f"study/freeze.py: {case.name} failed")
    return [f"{case.name}_{k:03d}.h5" for k in range(case.states)]


def main():
    parser = Options(__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--check", action="store_true")
    request = parser.parse_args()
    known = [case for case in cases.CASES if case.frozen]
    if unknown := set(request.cases) - {case.name for case in known}:
        parser.error(f"{sorted(unknown)[0]} is no frozen case; they are {', '.join(case.name for case in known)}")
    program, sums, wrong = portable_program(), written_sums(), 0
    os.makedirs(cases.FROZEN, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in known:
            if request.cases and case.name not in request.cases:
                continue
            made = {name: sum_of(os.path.join(folder, name)) for name in freeze(program, case, folder)}
            differ = [name for name in made if sums.get(name) != made[name]]
            wrong += len(differ)
            print(f"{case.name}: {len(made)} states, {len(differ)} of them not as they were", flush=True)
            sums |= made
            if not request.check:
                store(case, folder, list(made))
    if not request.check:
        with open(SUMS, "w", encoding="ascii") as file:
            file.writelines(f"{sums[name]}  {name}\n" for name in sorted(sums))
    return 1 if request.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
