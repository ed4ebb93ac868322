"""The scenes of beside.py: bodies that every engine knows, written once for each program of bench/beside and for sim."""
import dataclasses
import json
import math
import random

GRAVITY = (0, 0, -9.81)  # m/s^2
FACING_UP = (1, 0, 0, 0)


@dataclasses.dataclass
class Body:
    shape: str  # ball, box, half_space: solid below z = 0 of its frame
    size: tuple  # m: (radius,), or edges
    mass: float  # kg; 0: fixed
    position: tuple = (0, 0, 0)
    quaternion: tuple = FACING_UP
    velocity: tuple = (0, 0, 0)
    spin: tuple = (0, 0, 0)  # world axes

    def inertia(self):
        """Principal moments of a uniform solid, kg m^2."""
        if self.shape == "ball":
            return (0.4 * self.mass * self.size[0] ** 2,) * 3
        squares = [edge * edge for edge in self.size] or [0] * 3
        return tuple(self.mass / 12 * (sum(squares) - square) for square in squares)


@dataclasses.dataclass
class Scene:
    name: str
    right: str  # the right answer
    step: float  # s
    duration: float  # s
    friction: float
    bodies: list  # those that move first
    moved: float = math.inf  # m: a body that ends farther from its start has not stood
    gravity: tuple = GRAVITY
    impact: float = math.inf  # s: until then every record is searched for overlaps
    rest: float = 0.8  # share of the duration after which bodies should rest
    moves: bool = False  # the right answer moves on: it has no drift
    figures: tuple = ()  # own figures: names of functions of beside_judge

    @property
    def steps(self):
        return round(self.duration / self.step)

    @property
    def moving(self):
        return [body for body in self.bodies if body.mass > 0]

    def shortened(self, steps):
        return dataclasses.replace(self, duration=min(self.duration, steps * self.step))


def about(axis, angle):
    """The quaternion of a turn about a unit axis."""
    return (math.cos(angle / 2), *(math.sin(angle / 2) * x for x in axis))


def turned(quaternion, vector):
    """In world axes what is in body axes."""
    w, x, y, z = quaternion
    a, b, c = vector
    t = (2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a))
    return (a + w * t[0] + y * t[2] - z * t[1], b + w * t[1] + z * t[0] - x * t[2], c + w * t[2] + x * t[1] - y * t[0])


def ground():
    return Body("half_space", (), 0)


def stack():
    boxes = [Body("box", (0.2, 0.2, 0.2), 1, (0, 0, 0.1 + 0.2 * k)) for k in range(8)]
    top = Body("box", (0.2, 0.2, 0.2), 1000, (0, 0, 1.7))
    return Scene("8 boxes of 1 kg under 1000 kg", "stands, nothing moves", 1 / 240, 5, 0.5, [*boxes, top, ground()], 0.1,
                 figures=("top_moves",))


def drop():
    """Five balls of 5 cm, a metre apart, from 0.2 to 1 m above the ground."""
    mass = 1000 * 4 / 3 * math.pi * 0.05**3
    balls = [Body("ball", (0.05,), mass, (k, 0, 0.05 + 0.2 * (k + 1))) for k in range(5)]
    return Scene("five balls dropped", "no overlap", 1 / 240, 3, 0.5, [*balls, ground()])


def roll():
    """Slides until it rolls with 5/7 of its speed, after 2 v / (7 mu g) = 0.12 s."""
    ball = Body("ball", (0.1,), 1, (0, 0, 0.1), velocity=(2, 0, 0))
    return Scene("ball slides, then rolls", "v = 5/7 v0 at 0.6 s", 1 / 240, 0.6, 0.5, [ball, ground()], moves=True,
                 figures=("speed_error",))


def incline(part):
    """A box on a slope whose tangent is so many times the friction."""
    angle = math.atan(0.5 * part)
    slope = about((0, 1, 0), angle)
    box = Body("box", (0.4, 0.4, 0.2), 1, turned(slope, (0, 0, 0.1)), slope)
    plane = Body("half_space", (), 0, quaternion=slope)
    if part < 1:
        return Scene(f"box on {part:g} of the friction angle", "stands", 1 / 240, 4, 0.5, [box, plane], 1e-3)
    return Scene(f"box on {part:g} of the friction angle", "a = g (sin - mu cos)", 1 / 240, 2, 0.5, [box, plane],
                 moves=True, figures=("acceleration_error",))


def pit(count):
    """Balls and boxes in turn, in four columns, fall into a bin of 80 cm (Castro, Permenter, Han 2021, section VI-C)."""
    chance, bodies = random.Random(1), []
    for layer in range(count // 4):
        for column in range(4):
            x, y = 0.4 * (column % 2) - 0.2, 0.4 * (column // 2) - 0.2
            place = (x + chance.uniform(-5e-3, 5e-3), y + chance.uniform(-5e-3, 5e-3), 0.06 + 0.14 * layer)
            if layer % 2 == 0:
                bodies.append(Body("ball", (0.05,), 1000 * 4 / 3 * math.pi * 0.05**3, place))
            else:
                axis = [chance.gauss(0, 1) for _ in range(4)]
                bodies.append(Body("box", (0.1, 0.1, 0.1), 1, place, tuple(x / math.hypot(*axis) for x in axis)))
    height = 0.14 * count / 4 + 2
    walls = [Body("box", (1, 2.8, 2 * height), 0, (side * 0.9, 0, 0)) for side in (-1, 1)]
    walls += [Body("box", (2.8, 1, 2 * height), 0, (0, side * 0.9, 0)) for side in (-1, 1)]
    return Scene(f"bin of {count} balls and boxes", "no overlap, all inside", 0.01, 10, 1, [*bodies, ground(), *walls],
                 impact=2, figures=("escaped",))


def spin():
    """A free box about its middle axis, which is unstable."""
    box = Body("box", (0.1, 0.2, 0.4), 8, (0, 0, 0), FACING_UP, spin=(0.1, 5, 0.1))
    return Scene("free box turns over", "keeps energy and momentum", 0.001, 10, 0.5, [box], gravity=(0, 0, 0), moves=True,
                 figures=("energy_error", "momentum_error"))


def cards():
    """Two boards of 88 cm lean against each other at 20 degrees under a third one."""
    thick, width, long, lean = 0.02, 0.63, 0.88, math.radians(20)
    across, up = (long * math.sin(lean) + thick * math.cos(lean)) / 2, (long * math.cos(lean) + thick * math.sin(lean)) / 2
    mass = 900 * thick * width * long
    boards = [Body("box", (thick, width, long), mass, (-side * across, 0, up), about((0, 1, 0), side * lean)) for side in (1, -1)]
    lid = Body("box", (0.68, width, thick), 900 * 0.68 * width * thick, (0, 0, 2 * up + thick / 2))
    return Scene("house of three cards", "stands, nothing moves", 1 / 240, 10, 0.6, [*boards, lid, ground()], 0.02)


def scenes():
    return [stack(), drop(), roll(), incline(0.95), incline(1.05), pit(40), pit(80), pit(160), spin(), cards()]


def write_plain(path, scene, every, limit):
    """For bench/beside."""
    lines = [f"step {scene.step!r}", f"steps {scene.steps}", f"every {every}", f"limit {limit}", f"friction {scene.friction!r}",
             "gravity " + " ".join(map(repr, scene.gravity))]
    for body in scene.bodies:
        numbers = [*(*body.size, 0, 0, 0)[:3], body.mass, *body.inertia(), *body.position, *body.quaternion, *body.velocity, *body.spin]
        lines.append(" ".join([body.shape, *map(repr, numbers)]))
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def of_sim(scene):
    """The same bodies as a scene of sim: defaults, but for friction and step."""
    bodies = []
    for number, body in enumerate(scene.bodies):
        shape = {"type": {"ball": "sphere"}.get(body.shape, body.shape), "material": "all"}
        shape |= {"radius": body.size[0]} if body.shape == "ball" else {"size": body.size} if body.shape == "box" else {}
        item = {"name": f"body{number}", "pose": {"position": body.position, "quaternion": body.quaternion}, "shapes": [shape]}
        if body.mass > 0:
            shape["mass"] = body.mass
            w, x, y, z = body.quaternion
            item |= {"joint": "free", "v": [*body.velocity, *turned((w, -x, -y, -z), body.spin)]}
        bodies.append(item)
    return {"sim": 1, "name": scene.name, "world": {"step": scene.step, "duration": scene.duration, "gravity": scene.gravity},
            "materials": [{"name": "all", "friction": scene.friction}], "bodies": bodies}


def write(path, scene, every, limit):
    """PATH for the programs of bench/beside, PATH.json for sim."""
    write_plain(path, scene, every, limit)
    with open(path + ".json", "w", encoding="ascii") as file:
        json.dump(of_sim(scene), file, indent=1)
