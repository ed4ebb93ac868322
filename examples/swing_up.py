"""A pole swings up and stands, by sampling (MPPI): at every control the cart tries 64 plans of 0.8 s in sim.rollout, and
takes their mean, weighted by cost.  Writes swing_up.h5: `sim render swing_up.h5 --out swing_up.gif` draws it.

Reference: Williams, Aldrich, Theodorou (2017), "Model predictive path integral control", Journal of Guidance 40.
"""
import numpy as np

import sim

SCENE = {
    "sim": 1, "name": "Swing-up", "world": {"step": 0.002, "duration": 6},
    "bodies": [
        {"name": "rail", "shapes": [{"type": "box", "size": [5, 0.04, 0.04], "pose": {"position": [0, 0, -0.1]},
                                     "color": [0.6, 0.6, 0.6], "use": "picture"}]},
        {"name": "cart", "joint": {"type": "slider", "axis": [1, 0, 0]},
         "shapes": [{"type": "box", "size": [0.3, 0.2, 0.12], "mass": 1, "color": [0.2, 0.35, 0.6]}]},
        {"name": "pole", "parent": "cart", "joint": {"type": "hinge", "axis": [0, 1, 0]}, "q_deg": 180,
         "shapes": [{"type": "capsule", "radius": 0.025, "length": 1, "mass": 0.1, "color": [0.85, 0.5, 0.15],
                     "pose": {"position": [0, 0, 0.5]}}]}],
    "actuators": [{"name": "push", "joint": "cart", "gear": 10, "ctrl_range": [-1, 1]}],
    "record": {"every": 10, "signals": ["coordinates", "poses"]},
    "cameras": [{"name": "front", "position": [0, -3.6, 0.5], "target": [0, 0, 0.1]}],
}
HOLD, HORIZON, PLANS = 10, 40, 64  # steps of a control; controls of a plan; plans


def cost(runs):
    """Of each plan: the pole away from the vertical, the cart away from the middle, and speed."""
    x, angle = np.moveaxis(runs.q, -1, 0)
    running = 2 * (1 - np.cos(angle)) + 0.3 * x**2 + 0.02 * (runs.v**2).sum(axis=-1)
    return running.sum(axis=1) + 5 * (1 - np.cos(angle[:, -1]))


def main():
    scene = sim.load(SCENE)
    world, random, plan = sim.World(scene), np.random.default_rng(0), np.zeros((HORIZON, 1))
    with world.record("swing_up.h5"):
        while world.time < scene.duration - 1e-9:
            plans = np.clip(plan + random.normal(scale=0.5, size=(PLANS, HORIZON, 1)), -1, 1)
            costs = cost(sim.rollout(scene, [world.state] * PLANS, plans, hold=HOLD, every=HOLD, threads=2))
            weights = np.exp(costs.min() - costs)
            plan = np.tensordot(weights / weights.sum(), plans, 1)
            world.ctrl = plan[0]
            world.step(HOLD)
            plan = np.roll(plan, -1, axis=0)
    lean = np.degrees(abs((world.q[1] + np.pi) % (2 * np.pi) - np.pi))
    print(f"after {world.time:.3g} s the pole leans by {lean:.1f} degrees, {abs(world.q[0]):.2f} m from the middle")
    return lean


if __name__ == "__main__":
    main()
