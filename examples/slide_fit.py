"""Friction and mass of a sliding box, found from a noisy trajectory by Gauss-Newton through the contacts.

The sensitivities S = d (q, v) / d (mass, friction) follow the steps: S <- A S + B, with A and B of world.step_derivatives.
A known force pushes the box, which slides on after it and comes to rest.  Prints the estimates of all iterations, and at the end
the standard deviations that the noise gives them.  Writes slide_fit.json, a figure: `sim plot slide_fit.json --out slide_fit.svg`.
"""
import json

import numpy as np

import sim

STEP, STEPS, EVERY = 0.004, 250, 5  # s
NOISE = 0.002  # m, of each reading
TRUTH, GUESS = np.array([1.7, 0.34]), np.array([1.0, 0.6])  # kg, 1
PARAMETERS = [("mass", "box"), ("friction", "wood")]


def scene(parameters):
    """A box of some mass on ground with some friction; the law of sap keeps no impulses from step to step, so S is exact."""
    mass, friction = parameters
    return {"sim": 1, "name": "Sliding box", "world": {"step": STEP, "integrator": "symplectic", "solver": "sap"},
            "materials": [{"name": "wood", "friction": float(friction)}],
            "bodies": [{"name": "ground", "shapes": [{"type": "half_space", "material": "wood"}]},
                       {"name": "box", "joint": "free", "pose": {"position": [0, 0, 0.1]},
                        "shapes": [{"type": "box", "size": [0.3, 0.2, 0.2], "mass": float(mass), "material": "wood"}]}]}


def push(time):
    """The force along x, N."""
    return 14.0 if time < 0.3 else -5.0 if 0.5 < time < 0.6 else 0.0


def slide(parameters, derivatives=True):
    """Places along x at every fifth step, and their sensitivities."""
    world = sim.World(scene(parameters), tolerance=1e-12, solver_options={"tolerance": 1e-12})
    sensitivity, places, slopes = np.zeros((12, 2)), [], []
    for k in range(STEPS):
        world.applied = [push(world.time), 0, 0, 0, 0, 0]
        world.step()
        if derivatives:
            by = world.step_derivatives(PARAMETERS)
            sensitivity = by["state"] @ sensitivity + by["parameters"]
        if (k + 1) % EVERY == 0:
            places.append(world.q[0])
            slopes.append(sensitivity[0])
    return np.array(places), np.array(slopes)


def main(seed=1):
    measured = slide(TRUTH, derivatives=False)[0]
    measured = measured + np.random.default_rng(seed).normal(0, NOISE, measured.shape)
    estimate, first = GUESS.copy(), slide(GUESS, derivatives=False)[0]
    for iteration in range(12):
        places, slopes = slide(estimate)
        error = measured - places
        print(f"{iteration:2}  mass {estimate[0]:.4f} kg  friction {estimate[1]:.4f}  error {1e3 * error.std():.2f} mm")
        change = np.linalg.lstsq(slopes, error, rcond=None)[0]
        estimate = estimate + np.clip(change, -0.3 * estimate, 0.3 * estimate)
        if np.all(np.abs(change) < 1e-6 * estimate):
            break
    deviation = NOISE * np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
    print(f"mass {estimate[0]:.4f} +- {deviation[0]:.4f} kg, friction {estimate[1]:.4f} +- {deviation[1]:.4f}")
    times = STEP * EVERY * np.arange(1, len(measured) + 1)
    with open("slide_fit.json", "w") as file:
        json.dump(figure(times, measured, first, places), file)
    return estimate, deviation


def figure(times, measured, first, fitted):
    """The three trajectories."""
    def series(label, places, style="line"):
        return {"label": label, "x": list(times), "y": list(places), "style": style}
    return {"figure": 1, "width": 600, "panels": [{
        "x": {"label": "time", "unit": "s"}, "y": {"label": "place of the box", "unit": "m"},
        "series": [series("measured", measured, "points"), series("first guess", first), series("fit", fitted)]}]}


if __name__ == "__main__":
    main()
