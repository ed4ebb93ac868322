"""The programs of examples/ in Python do what they say."""
import importlib.util
import pathlib

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def program(name, folder, monkeypatch):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(folder)
    return module


def test_the_pole_swings_up_and_stands(tmp_path, monkeypatch):
    assert program("swing_up", tmp_path, monkeypatch).main() < 10
    assert (tmp_path / "swing_up.h5").stat().st_size > 10000


def test_the_ball_flies_over_the_wall_into_the_bin(tmp_path, monkeypatch):
    away, height = program("throw", tmp_path, monkeypatch).main()
    assert away < 0.45 - 0.1 + 0.02 and height < 0.2  # inside the bin, whose walls are 0.45 m from its middle
    assert (tmp_path / "throw.h5").stat().st_size > 1000


def test_the_arm_reaches_its_goal_and_rests(tmp_path, monkeypatch):
    miss, speed = program("reach_by_ilqr", tmp_path, monkeypatch).main()
    assert miss < 0.01 and speed < 0.2
    assert (tmp_path / "reach_by_ilqr.h5").stat().st_size > 1000


def test_mass_and_friction_of_the_sliding_box_are_found(tmp_path, monkeypatch):
    module = program("slide_fit", tmp_path, monkeypatch)
    estimate, deviation = module.main()
    assert (abs(estimate - module.TRUTH) < 4 * deviation).all()  # once in 10,000 draws of the noise it is not
    assert (deviation < 0.02 * module.TRUTH).all()
    assert (tmp_path / "slide_fit.json").stat().st_size > 1000


def test_the_fit_follows_its_parameters(tmp_path, monkeypatch):
    module, h = program("slide_fit", tmp_path, monkeypatch), 1e-5
    slopes = module.slide(module.TRUTH)[1]
    for k in range(2):
        change = h * module.TRUTH * (1, 0) if k == 0 else h * module.TRUTH * (0, 1)
        ends = [module.slide(module.TRUTH + sign * change, derivatives=False)[0] for sign in (1, -1)]
        due = (ends[0] - ends[1]) / (2 * change[k])
        assert abs(slopes[:, k] - due).max() < 1e-5 * abs(due).max()
