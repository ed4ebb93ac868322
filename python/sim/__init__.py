"""Rigid and articulated bodies in contact.

    import sim
    world = sim.World("arm.json")
    world.step(1000)
    print(world.time, world.q)

SI units, radians, quaternions (w, x, y, z), spatial vectors (angular, linear).
"""
from ._gradient import Gradient, gradient
from ._load import load, loads
from ._page import Page, page
from ._rollout import Rollout, rollout
from ._sweep import load_sweep, sweep
from ._sim import (Certificate, Energy, Error, InputError, Joint, Problem, Reach, Recorder, Scene, SceneError, Solution, State,
                   StepError, StepInfo, Sweep, World, __version__, build_info, load_problem, solve, solvers)

__all__ = ["Certificate", "Energy", "Error", "Gradient", "InputError", "Joint", "Page", "Problem", "Reach", "Recorder", "Rollout", "Scene",
           "SceneError", "Solution", "State", "StepError", "StepInfo", "Sweep", "World", "build_info", "gradient", "load", "load_problem",
           "load_sweep", "loads", "page", "rollout", "solve", "solvers", "sweep"]
