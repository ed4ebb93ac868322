"""Contact problems on which solvers are compared: scenes, the states taken of them, and wrenches on what floats.

    nut          an M48 nut on its bolt, up to 120 contacts for 6 degrees of freedom: ten places on the thread, ten wrenches
                 on each (Lee et al. 2024, section VII-A)
    dishes       bowl, bowl and plate, 0.1 kg each, under a pot of 5 kg, a hundred wrenches on them (section VII-B)
    pour         balls poured into a cup, at rest (section VII-C, figure 11)
    grasp        balls in a cup that two arms of seven joints squeeze and hold up (likewise)
    cube         balls thrown about in a cube, every step of ten runs (Todorov 2010, section IV, table 1)
    quadrupeds   limp robots that lie on the ground and on each other (section VII-D2, table III)
    arch, pile, gripper, hand, can
                 the rigid examples of Macklin et al. (2019, table 1), or close to them: an arch of twenty stones, a pile of
                 54 tables, a gripper that holds a cube, a hand of stiff fingers round a heavy block, a can on 32 points;
                 and three boxes
    clutter      two steps of objects that fall into a container (Castro et al. 2021, figure 13): in flight, at rest
    ratio        four boxes that wrenches push: heavy on light, the same without friction (smooth), light on heavy, masses
                 that grow upwards (up) or downwards (down); and alike, but heavier or lighter (scale)

The papers do not print masses and wrenches; here a wrench is so many weights of the body it acts on.
"""
import dataclasses
import difflib
import functools
import os
import tarfile
import tempfile

FROZEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frozen")


@functools.lru_cache(maxsize=None)
def unpacked():
    """A folder for frozen states, gone with the process."""
    return tempfile.TemporaryDirectory()


def frozen_states(name):
    """The path of the case's states without _000.h5, unpacked from study/frozen."""
    folder = unpacked().name
    with tarfile.open(os.path.join(FROZEN, name + ".tar.xz")) as archive:
        for member in archive:
            with open(os.path.join(folder, os.path.basename(member.name)), "wb") as file:
                file.write(archive.extractfile(member).read())
    return os.path.join(folder, name)


@dataclasses.dataclass(frozen=True)
class Case:
    """A scene below scenes/, values that differ, and the arguments of bench/step_problems."""
    name: str
    family: str  # cases of a family differ in size alone
    scene: str
    usual: bool = False  # taken if no case is named
    settle: int = 0      # steps before the first state
    states: int = 1
    between: int = 0     # steps from a state to the next
    runs: int = 0        # repeats of the states from a random start; problems without contacts are left out
    wrenches: int = 0    # of each state; 0: gravity alone acts
    force: float = 0     # each component within +- so many weights of the body, ...
    arm: float = 0       # ... and that times so many metres
    warm: bool = False   # solvers start from the step before
    place: str = ""      # random states: nut or balls; else time goes on
    frozen: bool = False  # chaotic: states come from files that study/freeze.py made once
    set: tuple = ()

    def count(self):
        return self.states * max(1, self.wrenches) * max(1, self.runs)

    def arguments(self, quick, run_anew=False):
        """Words of step_problems; `quick` takes one run, the first and the last state, and two wrenches.  A frozen case takes its states
        from files, unless it is to run anew."""
        runs = min(self.runs, 1) if quick else self.runs
        states = min(self.states, 2) if quick and not self.runs else self.states
        stored = self.frozen and not run_anew
        each = 1 if stored else self.between
        between = each * (self.states - 1) // (states - 1) if 1 < states < self.states else each
        wrenches = min(self.wrenches, 2) if quick else self.wrenches
        numbers = {"settle": 0 if stored else self.settle, "states": states, "between": between, "runs": runs, "wrenches": wrenches,
                   "force": self.force, "arm": self.arm}
        words = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
        words += ["--place", self.place] if self.place else []
        words += ["--from", frozen_states(self.name)] if stored else []
        return words + [word for setting in self.set for word in ("--set", setting)]


PUSHES = (0.02, 0.1, 0.3)  # weights; 0.02 of the pot's is 1 N, the weight of a dish
STEP = "world/step=0.004166666666666667"
BY_PGS = ("world/solver=pgs", 'world/solver_options={"max_iterations": 200}')  # moves bodies to the states of the problems


def pour(balls, counts, radius):
    """Layers of balls over a cup that grows with them, so that heaps have one shape."""
    return Case(f"pour-{balls}", "pour", "bench/pour.json", settle=72, states=5, between=24, warm=True, set=(
        *BY_PGS, f"instances/0/repeat/counts={counts}", f"bodies/cup/shapes/0/field/points=[[0,0],[{radius},0],[{radius},0.4]]"))


def cube(balls, layers, friction):
    """Layers of five balls; `auto` moves them, so that every solver gets the same problems."""
    return Case(f"cube-{balls}-mu{friction}", f"cube-{balls}", "papers/cube.json", runs=10, states=200, between=1, warm=True, place="balls",
                set=(f"instances/0/repeat/count={layers}", f"materials/skin/friction={friction}", "world/solver=auto", "world/compliance=rigid"))


def grasp(balls, counts):
    """The same balls in a cup that two arms hold.  Not frozen: masses of its sampled solids differ by rounding from build to build, and a
    checkpoint is of one model."""
    return Case(f"grasp-{balls}", "grasp", "bench/grasp.json", settle=48, states=5, between=12, warm=True,
                set=(*BY_PGS, f"instances/2/repeat/counts={counts}"))


def quadrupeds(robots, across, heap="", height=0.6, frozen=True):
    """`height`: m, from which the lowest robots fall: another one gives another heap.  Frozen are those of the experiments, but for heaps
    that only ten together stand for."""
    return Case(f"quadrupeds-{robots}{heap}", "quadrupeds", "bench/quadrupeds.json", settle=156, states=10, between=6, warm=True, frozen=frozen and robots in (8, 27), set=(
        f"instances/0/repeat/counts=[{across},{across},{across}]", f"instances/0/pose/position=[0,0,{height}]", STEP, "world/integrator=symplectic", *BY_PGS))


def macklin(name, scene, settle, between, *settings):
    return Case(name, "macklin", scene, settle=settle, states=5, between=between, set=settings)


def ratio(name, *masses, friction=0.5, sets=1):
    """Masses of four boxes from the floor up; `auto` lets them settle.  `sets` of five wrenches, the same for all masses but for the weights."""
    family = "ratio-sets" if sets > 1 else "ratio"
    return Case(f"{family}-{name}", family, "papers/mass_ladder.json", settle=10, wrenches=5 * sets, force=0.3, arm=0.05, set=(
        f"materials/wood/friction={friction}", "world/compliance=rigid",
        *(f"bodies/{body}/shapes/0/mass={mass}" for body, mass in zip("abcd", masses))))


CASES = [
    Case("nut", "nut", "bench/nut.json", usual=True, states=10, wrenches=10, force=4, arm=0.05, place="nut"),
    Case("dishes", "dishes", "solids/dishes.json", usual=True, wrenches=100, force=1, arm=0.05, set=(STEP,)),
    *(Case(f"dishes-{force}", "dishes-pushed", "solids/dishes.json", wrenches=100, force=force, arm=0.05, set=(STEP,)) for force in PUSHES),
    *(pour(*size) for size in (
        (9, "[3,3,1]", "0.0245"), (18, "[3,3,2]", "0.0245"), (27, "[3,3,3]", "0.0245"), (36, "[3,3,4]", "0.0245"),
        (45, "[3,3,5]", "0.0245"), (100, "[5,5,4]", "0.039"), (200, "[5,5,8]", "0.039"), (490, "[7,7,10]", "0.0535"),
        (1000, "[10,10,10]", "0.0757"), (2000, "[10,10,20]", "0.0757"))),
    *(cube(5 * layers, layers, friction) for layers in (1, 2, 3) for friction in ("0.1", "0.5", "1.0", "2.0")),
    *(grasp(9 * layers, f"[3,3,{layers}]") for layers in range(1, 6)),
    *(quadrupeds(across ** 3, across) for across in range(1, 5)),
    *(quadrupeds(8, 2, f"-heap-{k}", height) for k, height in enumerate((0.58, 0.62, 0.65, 0.7), 2)),
    *(quadrupeds(8, 2, f"-heap-{k}", height, frozen=False) for k, height in enumerate((0.59, 0.61, 0.635, 0.66, 0.68), 6)),
    macklin("arch", "contact/arch.json", 20, 10, "world/solver=canal"),
    macklin("pile", "papers/table_pile.json", 200, 40, "world/solver=pgs", 'world/solver_options={"max_iterations": 200}'),
    macklin("gripper", "contact/gripper.json", 500, 20, "world/solver=canal"),
    macklin("hand", "papers/hand.json", 366, 6, "world/solver=canal"),  # in the jerk
    macklin("can", "papers/can.json", 10, 5),
    macklin("stack-3", "contact/stack.json", 20, 10, "world/solver=canal", "instances/0/repeat/count=3"),
    ratio("1", 1, 1, 1, 1),
    *(ratio(f"heavy-1e{n}", 1, 1, 1, f"1e{n}") for n in range(1, 6)),
    *(ratio(f"smooth-1e{n}", 1, 1, 1, f"1e{n}", friction=0) for n in (0, 1, 3, 5)),
    *(ratio(f"light-1e{n}", f"1e{n}", 1, 1, 1) for n in (1, 3, 5)),
    ratio("up-1e1", 1, 2.154435, 4.641589, "1e1"),
    ratio("up-1e3", 1, "1e1", "1e2", "1e3"),
    ratio("up-1e5", 1, 46.41589, 2154.435, "1e5"),
    ratio("down-1e1", "1e1", 4.641589, 2.154435, 1),
    ratio("down-1e3", "1e3", "1e2", "1e1", 1),
    ratio("down-1e5", "1e5", 2154.435, 46.41589, 1),
    ratio("scale-1e-3", "1e-3", "1e-3", "1e-3", "1e-3"),
    ratio("scale-1e3", "1e3", "1e3", "1e3", "1e3"),
    *(ratio(name, *masses, sets=10) for name, masses in {
        "1": (1, 1, 1, 1), "heavy-1e3": (1, 1, 1, "1e3"), "light-1e5": ("1e5", 1, 1, 1), "down-1e5": ("1e5", 2154.435, 46.41589, 1),
        "scale-1e-3": ("1e-3",) * 4, "scale-1e3": ("1e3",) * 4}.items()),
    *(Case(f"clutter-{step}", "clutter", "papers/clutter.json", settle=step - 1, warm=True, frozen=True) for step in (60, 520)),
]


class Unknown(ValueError):
    """A word that names no case."""


def fitting(word):
    """Cases of that name or family; if there is none, those of families that begin with the word and a hyphen."""
    named = [case for case in CASES if word in (case.name, case.family)]
    return named or [case for case in CASES if word and case.family.startswith(word + "-")]


def chosen(words):
    """The cases of all words, in the order of the table; without a word the usual ones."""
    for word in words:
        if not fitting(word):
            near = difflib.get_close_matches(word, [case.name for case in CASES], 1)
            raise Unknown(f"there is no case '{word}'" + (f" (did you mean '{near[0]}'?)" if near else "") + "; see study/compare.py --list")
    wanted = [case for word in words for case in fitting(word)]
    return [case for case in CASES if (case in wanted if words else case.usual)]
