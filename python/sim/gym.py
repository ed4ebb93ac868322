"""Environments with the interface of Gymnasium: a base class, and three tasks.

    import sim.gym
    env = sim.gym.PandaReach()
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Where Gymnasium is installed the classes derive from gymnasium.Env and have its spaces; gymnasium.make knows them as
"sim/CartPole-v0", "sim/QuadrupedStand-v0" and "sim/PandaReach-v0". Elsewhere they stand alone, with the same methods.
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._load import load
from ._sim import InputError, Scene, World

try:
    import gymnasium
    from gymnasium.spaces import Box
    _Base = gymnasium.Env
except ImportError:
    gymnasium = None
    _Base = object

    class Box:
        """Arrays between two bounds: the part of gymnasium.spaces.Box that these environments use."""

        def __init__(self, low, high, dtype=np.float32):
            self.low, self.high = np.asarray(low, dtype=dtype), np.asarray(high, dtype=dtype)
            self.shape, self.dtype = self.low.shape, np.dtype(dtype)
            self._random = np.random.default_rng()

        def __repr__(self):
            return f"Box{self.shape}"

        def seed(self, seed=None):
            """Begin the random numbers of `sample` anew."""
            self._random = np.random.default_rng(seed)

        def sample(self):
            """An array at random: uniform, normal where it has no bounds."""
            bounded = np.isfinite(self.low) & np.isfinite(self.high)
            low, high = np.where(bounded, self.low, 0), np.where(bounded, self.high, 1)
            uniform = self._random.uniform(low, high)
            return np.where(bounded, uniform, self._random.normal(size=self.shape)).astype(self.dtype)

        def contains(self, x):
            """Is x an array of this shape within the bounds?"""
            x = np.asarray(x)
            return x.shape == self.shape and bool((x >= self.low).all() and (x <= self.high).all())

        __contains__ = contains


class Env(_Base):
    """A world as an environment: actions in, observations and rewards out.

    A task derives from it and has four methods: `begin` sets the state at the start of an episode, `act` gives an action
    to the world, `observe` returns the observation, and `judge` the reward and whether the episode has ended.

    scene      a Scene, or what sim.load takes
    low, high  bounds of actions
    size       numbers of an observation
    skip       steps of the world for each action
    steps      actions after which an episode is cut off
    options    of the world, as sim.World has them
    """

    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self, scene: Any, low, high, size: int, *, skip: int = 10, steps: int = 500, **options: Any):
        self.world = World(scene if isinstance(scene, Scene) else load(scene), **options)
        self.skip, self.steps, self.count = skip, steps, 0
        self.action_space = Box(np.asarray(low, dtype=np.float32), np.asarray(high, dtype=np.float32), dtype=np.float32)
        bound = np.full(size, np.inf, dtype=np.float32)
        self.observation_space = Box(-bound, bound, dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begin an episode: returns the observation and a dict. The same seed gives the same episode."""
        if gymnasium:
            super().reset(seed=seed)
        elif seed is not None or not hasattr(self, "np_random"):
            self.np_random = np.random.default_rng(seed)
        self.count = 0
        self.world.reset()
        self.begin()
        return self._observation(), {}

    def step(self, action):
        """Act for `skip` steps: returns observation, reward, terminated, truncated and a dict."""
        action = np.asarray(action, dtype=float)
        if action.shape != self.action_space.shape or not np.isfinite(action).all():
            raise InputError(f"an action has the shape {self.action_space.shape} and finite numbers, not {action}")
        action = np.clip(action, self.action_space.low, self.action_space.high)
        self.act(action)
        self.world.step(self.skip)
        self.count += 1
        reward, ended = self.judge()
        return self._observation(), float(reward), bool(ended), self.count >= self.steps, {"time": self.world.time}

    def render(self):
        """Nothing: world.record("run.html") shows episodes."""

    def close(self):
        """Nothing to do."""

    def _observation(self):
        return np.asarray(self.observe(), dtype=np.float32)

    def begin(self) -> None:
        """Set the state at the start of an episode, by numbers of self.np_random; the world has been reset."""

    def act(self, action) -> None:
        """Give an action to the world."""
        raise NotImplementedError

    def observe(self):
        """The observation."""
        raise NotImplementedError

    def judge(self) -> tuple[float, bool]:
        """Reward of the action, and whether the episode has ended."""
        raise NotImplementedError


def _packaged(name):
    return os.path.join(os.path.dirname(__file__), "scenes", name)


class CartPole(Env):
    """Balance a pole on a cart by pushing the cart along a rail.

    Action: the force over 10 N, -1 to 1. Observation: position, angle, and their rates. Reward: 1 for each action until
    the pole leans by more than 0.2 rad, or the cart leaves 2.4 m.
    """

    SCENE = {
        "sim": 1, "name": "Cart and pole", "world": {"step": 0.002, "duration": 10},
        "bodies": [
            {"name": "cart", "joint": {"type": "slider", "axis": [1, 0, 0]}, "pose": {"position": [0, 0, 0.5]},
             "shapes": [{"type": "box", "size": [0.3, 0.2, 0.1], "mass": 1}]},
            {"name": "pole", "parent": "cart", "joint": {"type": "hinge", "axis": [0, 1, 0]},
             "shapes": [{"type": "capsule", "radius": 0.02, "length": 1, "mass": 0.1, "pose": {"position": [0, 0, 0.5]}}]}],
        "actuators": [{"name": "push", "joint": "cart", "gear": 10, "ctrl_range": [-1, 1]}]}

    def __init__(self, **options: Any):
        super().__init__(self.SCENE, [-1], [1], 4, contacts=False, **options)

    def begin(self):
        self.world.q = self.np_random.uniform(-0.05, 0.05, 2)
        self.world.v = self.np_random.uniform(-0.05, 0.05, 2)

    def act(self, action):
        self.world.ctrl = action

    def observe(self):
        return np.concatenate([self.world.q, self.world.v])

    def judge(self):
        x, angle = self.world.q
        return 1.0, abs(angle) > 0.2 or abs(x) > 2.4


class QuadrupedStand(Env):
    """Keep an A1 on its feet on level ground.

    Action [12]: targets of the joints, in 0.5 rad about those of the pose at home. Observation [46]: height of the trunk, the
    vertical in its axes, its velocity, angles of the joints about home, their rates, and the last action. Reward: 1 for
    the trunk upright and at its height, less for what the targets ask for. An episode ends when the trunk falls.
    """

    def __init__(self, **options: Any):
        scene = {"sim": 1, "name": "A1 stands", "world": {"step": 0.002, "duration": 10},
                 "bodies": [{"name": "floor", "shapes": [{"type": "half_space"}]}],
                 "instances": [{"file": _packaged("a1.json"), "prefix": ""}]}
        super().__init__(scene, -np.ones(12), np.ones(12), 46, **options)
        self.world.reset("home")
        self.home, self.joints = self.world.q.copy(), [self.world.coordinates.index(n) for n in self.world.actuators]
        self.rates = [self.world.dofs.index(n) for n in self.world.actuators]
        self.trunk = self.world.bodies.index("trunk")
        self.last = np.zeros(12)

    def begin(self):
        self.world.reset("home")
        self.world.q[self.joints] = self.home[self.joints] + self.np_random.uniform(-0.05, 0.05, 12)
        self.last = np.zeros(12)

    def act(self, action):
        self.last = action
        self.world.targets = self.home[self.joints] + 0.5 * action

    def observe(self):
        pose = self.world.body_pose(self.trunk)
        angles = self.world.q[self.joints] - self.home[self.joints]
        return np.concatenate([[pose[2, 3]], pose[2, :3], self.world.velocity(self.trunk), angles,
                               self.world.v[self.rates], self.last])

    def judge(self):
        pose = self.world.body_pose(self.trunk)
        sag = abs(pose[2, 3] - self.home[2])
        return pose[2, 2] - 5 * sag - 0.01 * float(self.last @ self.last), pose[2, 2] < 0.7 or sag > 0.12


class PandaReach(Env):
    """Bring the tool of a Panda to a point.

    Action [7]: change of the joints' targets, in 0.05 rad. Observation [20]: angles and rates of the seven joints, the
    place of the tool, and the goal. Reward: minus the distance, m, and 1 more within 20 mm of it.
    """

    LOW, HIGH = np.array([0.3, -0.4, 0.15]), np.array([0.6, 0.4, 0.6])  # m: where goals lie

    def __init__(self, **options: Any):
        super().__init__(_packaged("panda.json"), -np.ones(7), np.ones(7), 20, steps=200, **options)
        self.world.reset("home")
        self.home, self.goal = self.world.q.copy(), np.zeros(3)

    def begin(self):
        self.world.reset("home")
        self.goal = self.np_random.uniform(self.LOW, self.HIGH)
        self.world.targets = self.home

    def act(self, action):
        self.world.targets[:7] += 0.05 * action

    def tool(self):
        """Place of the tool in the world, m."""
        return self.world.site_pose("tool")[:3, 3]

    def observe(self):
        return np.concatenate([self.world.q[:7], self.world.v[:7], self.tool(), self.goal])

    def judge(self):
        distance = float(np.linalg.norm(self.tool() - self.goal))
        return -distance + (distance < 0.02), False


if gymnasium:
    for _task in (CartPole, QuadrupedStand, PandaReach):
        gymnasium.register(f"sim/{_task.__name__}-v0", entry_point=_task)
