"""Environments: the interface of Gymnasium, repeatable episodes, and controllers that solve the tasks."""
import numpy as np
import pytest

import sim.gym

TASKS = [sim.gym.CartPole, sim.gym.QuadrupedStand, sim.gym.PandaReach]


@pytest.mark.parametrize("task", TASKS)
def test_spaces_hold_what_steps_return(task):
    env = task()
    observation, info = env.reset(seed=3)
    assert info == {} and observation.dtype == np.float32 and env.observation_space.contains(observation)
    env.action_space.seed(1)
    for _ in range(30):
        action = env.action_space.sample()
        assert env.action_space.contains(action) and action.dtype == np.float32
        result = env.step(action)
        observation, reward, terminated, truncated, info = result
        assert env.observation_space.contains(observation) and np.isfinite(observation).all()
        assert type(reward) is float and type(terminated) is bool and type(truncated) is bool and np.isfinite(reward)
        if terminated:
            break
    env.render()
    env.close()


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_episode(task):
    def episode(env, seed):
        path = [env.reset(seed=seed)[0]]
        for k in range(15):
            path.append(env.step(np.sin(k + np.arange(env.action_space.shape[0])))[0])
        return np.array(path)

    one, two = task(), task()
    first = episode(one, 5)
    assert np.array_equal(first, episode(two, 5)) and not np.array_equal(first, episode(two, 6))
    one.reset()
    assert np.array_equal(first, episode(one, 5))


@pytest.mark.parametrize("task", TASKS)
def test_actions_that_are_none_are_refused(task):
    env = task()
    env.reset(seed=1)
    before = env.world.state
    good = np.zeros(env.action_space.shape)
    for wrong in (good * np.nan, np.zeros(good.size + 1), 0.5, good[:, None], np.full_like(good, np.inf)):
        with pytest.raises(sim.InputError, match="an action has the shape"):
            env.step(wrong)
    assert env.world.state == before and env.count == 0


def test_episodes_are_cut_off():
    env = sim.gym.PandaReach()
    env.reset(seed=1)
    ends = [env.step(np.zeros(7))[3] for _ in range(env.steps)]
    assert ends == [False] * (env.steps - 1) + [True]


def test_a_pole_falls_alone_and_stands_under_feedback():
    env = sim.gym.CartPole()
    for gain, least, most in ((0, 5, 100), (1, 500, 500)):
        observation, _ = env.reset(seed=2)
        count, over = 0, False
        while not over:
            x, angle, speed, spin = observation
            observation, reward, ended, cut, _ = env.step([gain * (30 * angle + 5 * spin + x + 2 * speed) / 10])
            count, over = count + 1, ended or cut
            assert reward == 1
        assert least <= count <= most


def test_a_quadruped_stands_with_its_targets_at_home_and_sinks_when_its_calves_fold():
    env = sim.gym.QuadrupedStand()
    for action, ends in ((np.zeros(12), False), (np.repeat([0, 0, -1], 4), True)):
        env.reset(seed=2)
        results = [env.step(action) for _ in range(150)]
        assert any(r[2] for r in results) == ends
    env.reset(seed=2)
    rewards = [env.step(np.zeros(12))[1] for _ in range(100)]
    assert min(rewards[50:]) > 0.9


def test_a_panda_reaches_its_goal_by_its_jacobian():
    env = sim.gym.PandaReach()
    for seed in range(3):
        env.reset(seed=seed)
        for _ in range(120):
            J, error = env.world.jacobian(site="tool")[3:, :7], env.goal - env.tool()
            reward = env.step(4 * J.T @ np.linalg.solve(J @ J.T + 1e-3 * np.eye(3), error))[1]
        assert np.linalg.norm(error) < 0.005 and reward > 0.99


def test_a_task_of_your_own_has_four_methods():
    class Swing(sim.gym.Env):
        def __init__(self):
            super().__init__("scenes/basic/pendulum.json", [-2], [2], 2, skip=5, steps=3)

        def begin(self):
            self.world.q = self.np_random.uniform(-1, 1)

        def act(self, action):
            self.world.applied = action

        def observe(self):
            return [self.world.q[0], self.world.v[0]]

        def judge(self):
            return self.world.energy.potential, False

    env = Swing()
    observation, _ = env.reset(seed=1)
    assert [env.step([100.0])[3] for _ in range(3)] == [False, False, True]
    assert env.world.applied[0] == 2 and env.world.steps == 15 and observation.shape == (2,)
