"""A ball is thrown over a wall into a bin: gradient descent on its velocity, through 1.2 s of flight in air.

The loss is the squared distance from a point above the bin at the end of the flight.  The square of what the ball lacks
in height over the wall is added.  Its gradient by the velocity at the start comes from sim.gradient.  Writes throw.h5, the last throw
with the fall into the bin: `sim render throw.h5 --out throw.gif` draws it.
"""
import numpy as np

import sim

WALL, BIN, FLIGHT = 2.0, np.array([4.0, 0.5, 0.62]), 1.2  # m; m, above the bin; s
BALL = 0.1  # m, radius


def side(x, y, size):
    """A wall of the bin."""
    return {"type": "box", "size": size, "pose": {"position": [x, y, 0.2]}, "color": [0.3, 0.45, 0.3]}


SCENE = {
    "sim": 1, "name": "Throw", "world": {"step": 0.005, "duration": 2.4},
    "bodies": [
        {"name": "yard", "shapes": [
            {"type": "half_space", "color": [0.8, 0.78, 0.72]},
            {"type": "box", "size": [0.1, 3, 1.6], "pose": {"position": [WALL, 0, 0.8]}, "color": [0.65, 0.4, 0.3]},
            side(4, 0.05, [0.9, 0.04, 0.4]), side(4, 0.95, [0.9, 0.04, 0.4]),
            side(3.55, 0.5, [0.04, 0.9, 0.4]), side(4.45, 0.5, [0.04, 0.9, 0.4])]},
        {"name": "ball", "joint": {"type": "free", "damping": [0.1, 0.1, 0.1, 0, 0, 0]},
         "pose": {"position": [0, 0, 1]},
         "shapes": [{"type": "sphere", "radius": BALL, "mass": 0.4, "color": [0.85, 0.5, 0.15]}]}],
    "record": {"every": 8, "signals": ["coordinates", "poses"]},
    "cameras": [{"name": "side", "position": [1.2, -4.6, 4.4], "target": [2.1, 0.3, 0.75]}],
}


def end(world):
    """The distance from the point above the bin."""
    away = world.q[:3] - BIN
    return away @ away, np.concatenate([2 * away, np.zeros(3)]), None


def low(world, k):
    """How far the ball is below a clear height near the wall."""
    x, z = world.q[0], world.q[2]
    near = np.exp(-((x - WALL) / 0.3) ** 2)
    depth = max(0.0, 1.6 + 2 * BALL - z)
    by_q = np.zeros(6)
    by_q[0], by_q[2] = -2 * (x - WALL) / 0.09 * near * depth**2, -2 * near * depth
    return near * depth**2, by_q, None, None


def main():
    scene = sim.load(SCENE)
    world = sim.World(scene, contacts=False)
    velocity, steps = np.array([2.0, 0, 2, 0, 0, 0]), round(FLIGHT / scene.dt)
    hands_off = np.zeros((steps, 6))
    for iteration in range(60):
        world.reset()
        world.v = velocity
        found = sim.gradient(world, hands_off, end, low, input="applied")
        if iteration % 10 == 0:
            print(f"{iteration:3}  loss {found.value:.6f}  velocity {velocity[:3].round(3)}")
        velocity[:3] -= 0.3 * found.v[:3]
    throw = sim.World(scene)
    throw.v = velocity
    with throw.record("throw.h5"):
        while throw.time < scene.duration - 1e-9:
            throw.step()
    print("the ball lies at", throw.q[:3].round(2))
    return np.abs(throw.q[:2] - BIN[:2]).max(), throw.q[2]


if __name__ == "__main__":
    main()
