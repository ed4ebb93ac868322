"""The judge of beside.py: overlaps, drifts and errors of a trajectory, from poses and velocities alone.

Overlap of two boxes: the least over the axes by which they could be separated (15: normals of faces, and products of edges).
A record is {"step", "spent", "unsolved", "state": [13 numbers a moving body: position, quaternion, velocity, spin]}.
"""
import math

from beside_scenes import turned

NO_AXIS = 1e-9  # sine below which two edges are parallel
OUTSIDE = 0.5  # m, from the middle of the bin, whose walls stand at 0.4
SEARCHED_AT_REST = 20  # records


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


class Placed:
    """A body at a pose."""

    def __init__(self, body, position, quaternion):
        self.body, self.shape, self.p = body, body.shape, position
        if self.shape != "ball":
            self.axes = [turned(quaternion, axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
        self.half = [edge / 2 for edge in body.size] if self.shape == "box" else None
        self.reach = body.size[0] if self.shape == "ball" else math.hypot(*self.half) if self.half else math.inf


def over_plane(plane, other):
    """How deep a body reaches into a half-space."""
    normal = plane.axes[2]
    reach = other.reach if other.shape == "ball" else sum(h * abs(dot(normal, axis)) for h, axis in zip(other.half, other.axes))
    return reach - dot(normal, minus(other.p, plane.p))


def over_balls(a, b):
    return a.reach + b.reach - math.dist(a.p, b.p)


def over_ball_and_box(ball, box):
    at = [dot(axis, minus(ball.p, box.p)) for axis in box.axes]
    outside = [max(abs(x) - h, 0) for x, h in zip(at, box.half)]
    if any(outside):
        return ball.reach - math.hypot(*outside)
    return ball.reach + min(h - abs(x) for x, h in zip(at, box.half))


def over_boxes(a, b):
    between, least = minus(b.p, a.p), math.inf
    faces = a.axes + b.axes
    for axis in faces + [cross(u, v) for u in a.axes for v in b.axes]:
        length = math.hypot(*axis)
        if length < NO_AXIS:
            continue
        reach = sum(h * abs(dot(axis, u)) for box in (a, b) for h, u in zip(box.half, box.axes))
        least = min(least, (reach - abs(dot(axis, between))) / length)
        if least <= 0:
            return least
    return least


def overlap(a, b):
    """How deep two bodies overlap, m; at most 0 where they do not."""
    if "half_space" in (a.shape, b.shape):
        return over_plane(a, b) if a.shape == "half_space" else over_plane(b, a)
    if math.dist(a.p, b.p) >= a.reach + b.reach:
        return 0
    if a.shape == b.shape == "ball":
        return over_balls(a, b)
    if a.shape == b.shape:
        return over_boxes(a, b)
    return over_ball_and_box(a, b) if a.shape == "ball" else over_ball_and_box(b, a)


def deepest(scene, state):
    """The greatest overlap of two bodies in a state, 0 if there is none."""
    fixed = [Placed(body, body.position, body.quaternion) for body in scene.bodies if body.mass == 0]
    moving = sorted((Placed(body, x[:3], x[3:7]) for body, x in zip(scene.moving, state)), key=lambda placed: placed.p[0])
    most, widest = 0, max(placed.reach for placed in moving)
    for k, a in enumerate(moving):
        for b in fixed:
            most = max(most, overlap(a, b))
        for b in moving[k + 1:]:
            if b.p[0] - a.p[0] >= a.reach + widest:
                break
            most = max(most, overlap(a, b))
    return most


def finite(record):
    return all(math.isfinite(x) and abs(x) < 1e6 for state in record["state"] for x in state)


def farthest(a, b):
    return max(math.dist(x[:3], y[:3]) for x, y in zip(a["state"], b["state"]))


# ---- own figures of a scene: their unit, and a function of the scene and the records ----

def top_moves(scene, records):
    """mm, upwards; of the heaviest body."""
    heavy = max(range(len(scene.moving)), key=lambda k: scene.moving[k].mass)
    return 1e3 * (records[-1]["state"][heavy][2] - records[0]["state"][heavy][2])


def speed_error(scene, records):
    """%"""
    start = scene.moving[0].velocity[0]
    return 100 * (records[-1]["state"][0][7] / (5 / 7 * start) - 1)


def acceleration_error(scene, records):
    """%, from the speeds at half time and at the end"""
    plane = Placed(scene.bodies[-1], (0, 0, 0), scene.bodies[-1].quaternion)
    half, last = records[len(records) // 2], records[-1]
    down = [dot(plane.axes[0], record["state"][0][7:10]) for record in (half, last)]
    pull = dot(plane.axes[0], scene.gravity) + scene.friction * dot(plane.axes[2], scene.gravity)
    return 100 * ((down[1] - down[0]) / ((last["step"] - half["step"]) * scene.step) / pull - 1)


def escaped(_, records):
    """bodies outside the bin at the end"""
    return sum(max(abs(x[0]), abs(x[1])) > OUTSIDE or x[2] < 0 for x in records[-1]["state"])


def momentum_and_energy(scene, state):
    """Angular momentum in world axes, kinetic energy of the turn."""
    w, x, y, z = state[3:7]
    spin = turned((w, -x, -y, -z), state[10:13])
    momentum = [i * s for i, s in zip(scene.moving[0].inertia(), spin)]
    return turned((w, x, y, z), momentum), dot(momentum, spin) / 2


def energy_error(scene, records):
    """%, the greatest"""
    first = momentum_and_energy(scene, records[0]["state"][0])[1]
    return max((100 * (momentum_and_energy(scene, record["state"][0])[1] / first - 1) for record in records), key=abs)


def momentum_error(scene, records):
    """%, the greatest, as a vector"""
    first = momentum_and_energy(scene, records[0]["state"][0])[0]
    return max(100 * math.dist(momentum_and_energy(scene, record["state"][0])[0], first) / math.hypot(*first) for record in records)


OWN = {
    "top_moves": ("top moves", "mm", top_moves),
    "speed_error": ("v", "%", speed_error),
    "acceleration_error": ("a", "%", acceleration_error),
    "escaped": ("outside", "", escaped),
    "energy_error": ("energy", "%", energy_error),
    "momentum_error": ("momentum", "%", momentum_error),
}


def judge(scene, records):
    """The figures of a run: overlaps and moved in m, drift in m/s (None: not known)."""
    whole = records[-1]["step"] == scene.steps
    if not all(map(finite, records)):
        return {"finite": False, "whole": whole, "overlap": None, "overlap_at_rest": None, "moved": None, "drift": None,
                "stands": False, "own": {}}
    resting = [record for record in records if record["step"] >= scene.rest * scene.steps]
    at_rest = resting[::max(1, len(resting) // SEARCHED_AT_REST)]
    early = [record for record in records if record["step"] * scene.step <= scene.impact]
    rest = max((deepest(scene, record["state"]) for record in at_rest), default=None)
    moved = max(farthest(record, records[0]) for record in records)
    drift = None
    if whole and not scene.moves:
        drift = farthest(resting[0], records[-1]) / ((records[-1]["step"] - resting[0]["step"]) * scene.step)
    gone = "escaped" in scene.figures and escaped(scene, records)
    return {"finite": True, "whole": whole, "overlap": max(rest or 0, *(deepest(scene, record["state"]) for record in early)),
            "overlap_at_rest": rest, "moved": moved, "drift": drift,
            "stands": moved <= scene.moved and not gone,
            "own": {name: OWN[name][2](scene, records) for name in scene.figures if whole}}
