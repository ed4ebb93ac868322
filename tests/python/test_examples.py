"""The programs of examples/ in Python do what they say."""
import importlib.util
import pathlib

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def test_the_pole_swings_up_and_stands(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("swing_up", EXAMPLES / "swing_up.py")
    swing_up = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(swing_up)
    monkeypatch.chdir(tmp_path)
    assert swing_up.main() < 10
    assert (tmp_path / "swing_up.h5").stat().st_size > 10000
