"""An arm of seven joints swings its flange to a point beside it in a second, by iLQR on the torques of its joints.

Each pass goes back through the run with the derivatives of every step (world.step_derivatives).  It finds feedback
gains, and takes the run again with them.  Writes reach_by_ilqr.h5: `sim render reach_by_ilqr.h5 --out reach_by_ilqr.gif` draws it.

Reference: Li, Todorov (2004), "Iterative linear quadratic regulator design for nonlinear biological movement systems".
"""
import json
import pathlib

import numpy as np

import sim

ARM = pathlib.Path(__file__).resolve().parents[1] / "scenes" / "articulated" / "arm.json"
GOAL, STEPS, DT = np.array([-0.1, 0.6, 0.8]), 200, 0.005  # m; steps, s
TORQUE, REACH, REST = 1e-4, 500, 5  # weights: of torques squared, of the distance, of speed at the end
FLANGE = [0, 0, 0.045]


def make_scene():
    """The arm of the gallery without its drives."""
    scene = json.loads(ARM.read_text())
    scene.pop("$schema")
    scene.pop("actuators")
    scene["world"].update(step=DT, duration=STEPS * DT)
    scene["record"] = {"every": 4, "signals": ["coordinates", "poses"]}
    return sim.load(scene)


def flange(world):
    pose = world.body_pose("link7")
    return pose[:3, :3] @ FLANGE + pose[:3, 3]


def cost_of(world, torques):
    miss = flange(world) - GOAL
    return DT * TORQUE * np.sum(torques**2) + REACH * miss @ miss + REST * world.v @ world.v


def run(world, torques, path=None, open_loop=None, gains=None, part=1):
    """A run, with feedback to a path; without one the arm is held.  Its states, torques, matrices and cost."""
    world.reset()
    states, used, matrices = [], [], []
    for k in range(STEPS):
        if path is None:
            u = world.bias()
        else:
            away = np.concatenate([world.difference(path[k][0], world.q), world.v - path[k][1]])
            u = torques[k] + part * open_loop[k] + gains[k] @ away
        states.append((world.q.copy(), world.v.copy()))
        used.append(u)
        world.applied = u
        try:
            world.step()
            matrices.append(world.step_derivatives())
        except (sim.InputError, sim.StepError):  # the arm is thrown about so fast that there is no step
            return states, np.array(used), matrices, np.inf
    return states, np.array(used), matrices, cost_of(world, np.array(used))


def backward(world, torques, matrices, damping):
    """Feed-forward changes of the torques, and gains."""
    n = world.nv
    J, miss = world.jacobian("link7", FLANGE)[3:], flange(world) - GOAL
    slope = np.concatenate([2 * REACH * J.T @ miss, 2 * REST * world.v])
    curve = np.zeros((2 * n, 2 * n))
    curve[:n, :n], curve[n:, n:] = 2 * REACH * J.T @ J, 2 * REST * np.eye(n)
    changes, gains = [], []
    for u, step in zip(torques[::-1], matrices[::-1]):
        A, B = step["state"], step["applied"]
        by_u, by_uu = 2 * DT * TORQUE * u + B.T @ slope, 2 * DT * TORQUE * np.eye(n) + B.T @ curve @ B
        by_ux = B.T @ curve @ A
        solved = np.linalg.solve(by_uu + damping * np.eye(n), np.column_stack([by_u, by_ux]))
        change, gain = -solved[:, 0], -solved[:, 1:]
        slope = A.T @ slope + gain.T @ (by_uu @ change + by_u) + by_ux.T @ change
        curve = A.T @ curve @ A + gain.T @ by_uu @ gain + gain.T @ by_ux + by_ux.T @ gain
        curve = 0.5 * (curve + curve.T)
        changes.append(change)
        gains.append(gain)
    return changes[::-1], gains[::-1]


def main():
    world = sim.World(make_scene(), contacts=False)
    path, torques, matrices, cost = run(world, None)
    damping = 1e-3
    for iteration in range(40):
        changes, gains = backward(world, torques, matrices, damping)
        for part in (1, 0.5, 0.25, 0.1):
            tried = run(world, torques, path, changes, gains, part)
            if tried[3] < cost:
                break
        gained = cost - tried[3]
        if gained > 0:
            path, torques, matrices, cost = tried
            print(f"{iteration:3}  cost {cost:.6f}")
        damping = max(1e-8, damping / 5) if gained > 0 else damping * 10
        run(world, torques, path, np.zeros_like(torques), gains)  # to the end that the next pass goes back from
        if 0 < gained < 1e-4 * cost:
            break
    world.reset()
    with world.record("reach_by_ilqr.h5"):
        for u in torques:
            world.applied = u
            world.step()
    miss = np.linalg.norm(flange(world) - GOAL)
    print(f"the flange is {1000 * miss:.1f} mm from its goal, at {np.abs(world.v).max():.3f} rad/s")
    return miss, np.abs(world.v).max()


if __name__ == "__main__":
    main()
