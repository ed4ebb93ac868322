#!/bin/sh
# install.sh BUILD CC [PYTHON]: `meson install` into an empty place, then a program compiled with pkg-config against what lies
# there, with the shared and with the static library.  Prints TAP.
build=$1 cc=$2 python=$3
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT INT TERM
. "$here/tap.sh"

# The package as its user's pkg-config will see it, once what lies below $place lies below /.
package() { PKG_CONFIG_PATH=$place pkg-config "$@"; }

compiled_shared() {
    $cc -std=c17 -Wall -Werror "$here/consumer.c" $(package --cflags --libs sim) -lm -o "$place/shared" &&
        LD_LIBRARY_PATH=$libraries "$place/shared" && LD_LIBRARY_PATH=$libraries ldd "$place/shared" | grep libsim
}

# libsim from its archive, all else as the system has it.
compiled_static() {
    $cc -std=c17 -Wall -Werror "$here/consumer.c" -o "$place/static" \
        $(package --static --cflags --libs sim | sed 's#-lsim#-Wl,-Bstatic -lsim -Wl,-Bdynamic#') &&
        "$place/static" && ! ldd "$place/static" | grep libsim
}

# The program in the README says what it should say there.
compiled_readme() {
    sed -n '/^```c$/,/^```$/p' "$here/../../README.md" | sed '/^```/d' > "$place/readme.c"
    $cc -std=c17 -Wall -Werror "$place/readme.c" $(package --cflags --libs sim) -o "$place/readme" &&
        (cd "$here/../.." && LD_LIBRARY_PATH=$libraries "$place/readme") > "$place/said" && cat "$place/said" &&
        grep -q -F "$(tail -n 1 "$place/said")" "$here/../../README.md"
}

# So does the solver of one's own in the documentation.
compiled_solver() {
    page=$here/../../docs/adding-a-solver.md
    for part in 1 2; do
        python3 "$here/../support/code_of.py" "$page" $part "$place/part$part.c" || return 1
    done
    $cc -std=c17 -Wall -Wextra -Werror "$place/part1.c" "$place/part2.c" $(package --cflags --libs sim) -lm -o "$place/solver" &&
        (cd "$here/../.." && LD_LIBRARY_PATH=$libraries "$place/solver") > "$place/said" && cat "$place/said" &&
        grep -q -x -F "$(tail -n 1 "$place/said")" "$page"
}

# The programs of examples/ print, line by line, what docs/control.md says.
examples_say_what_the_page_says() {
    root=$here/../..
    for source in "$root"/examples/*.c; do
        $cc -std=c17 -Wall -Wextra -Werror "$source" $(package --cflags --libs sim) -lm -pthread -o "$place/example" || return 1
        (cd "$root" && LD_LIBRARY_PATH=$libraries "$place/example") > "$place/said" || return 1
        cat "$place/said"
        while IFS= read -r line; do
            grep -q -x -F -e "$line" "$root/docs/control.md" || { echo "not in docs/control.md: $line"; return 1; }
        done < "$place/said"
    done
}

program_runs() { env -i "$(dirname "$(dirname "$headers")")/bin/sim" --version; }

# Those beside it, not those of the source: one that is broken is noticed.
program_finds_its_scenes() {
    sim=$(dirname "$(dirname "$headers")")/bin/sim
    scene=$(find "$place" -path '*/sim/scenes/bench/clutter.json')
    env -i "$sim" bench contact clutter-8 --quick && echo broken > "$scene" &&
        ! env -i "$sim" bench contact clutter-8 --quick
}

headers_are_there() {
    for header in "$here"/../../include/sim/*.h; do
        cmp "$header" "$headers/$(basename "$header")" || return 1
    done
}

# Where the build has it: the package, with the scenes of its tasks.
python_module_runs() {
    package=$(find "$place" -path '*-packages/sim/__init__.py')
    [ -n "$package" ] || return 1
    (cd "$here/../.." && env -i PYTHONPATH="$(dirname "$(dirname "$package")")" "$python" -c '
import sim, sim.gym
world = sim.World("scenes/basic/pendulum.json")
world.step(10)
sim.gym.PandaReach().reset(seed=1)
print(sim.__file__, world)')
}

echo "TAP version 13"
case_of "meson install puts everything below DESTDIR" \
    meson install -C "$build" --destdir "$place" --no-rebuild --quiet
pc=$(find "$place" -name sim.pc)
libraries=$(dirname "$(dirname "$pc")")
sed "s#^prefix=#prefix=$place#" "$pc" > "$place/sim.pc"
headers=$(find "$place" -type d -path '*/include/sim')
case_of "the public headers are installed as they are" headers_are_there
case_of "pkg-config knows the version" test "$(package --modversion sim)" = "$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$here/../../meson.build")"
case_of "a program runs with the shared library" compiled_shared
case_of "a program runs with the static library" compiled_static
case_of "the program in the README compiles, runs and prints what the README says" compiled_readme
case_of "the solver of one's own in the documentation compiles, runs and prints what the page says" compiled_solver
case_of "the programs of examples/ compile, run and print what docs/control.md says" examples_say_what_the_page_says
case_of "the installed program runs" program_runs
case_of "the installed program finds the scenes that were installed with it" program_finds_its_scenes
[ -z "$python" ] || case_of "the installed Python module steps a world" python_module_runs
echo "1..$number"
