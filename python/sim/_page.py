"""Runs as pages for a browser, and objects as a notebook shows them."""
import html
import os

from . import _sim


class Page:
    """A run as one HTML file, with bodies, contacts, forces and plots. A notebook shows it in place."""

    __slots__ = {"path": "The file.", "height": "Height in a notebook, pixels."}

    def __init__(self, path, height=480):
        self.path, self.height = os.fsdecode(path), height

    def __repr__(self):
        return f"<sim.Page {self.path!r}>"

    def _repr_html_(self):
        with open(self.path, encoding="utf-8") as file:
            text = html.escape(file.read(), quote=True)
        return f'<iframe srcdoc="{text}" style="width: 100%; height: {self.height}px; border: 0"></iframe>'


def page(world, path, duration=None, *, every=None, height=480):
    """Run a world for `duration` seconds (None: that of its scene) and write the run as one HTML file.

    `world` may be a scene, or what sim.load takes. `every` is the number of steps from frame to frame; None: sixty
    frames a second. Returns a Page, which a notebook shows `height` pixels high.
    """
    world = world if isinstance(world, _sim.World) else _sim.World(world)
    if not os.fsdecode(path).endswith(".html"):
        raise _sim.InputError(f"a page is a file .html, not {os.fsdecode(path)!r}")
    duration = world.scene.duration if duration is None else duration
    if not 0 <= duration < float("inf"):
        raise _sim.InputError(f"a page lasts 0 s or more, not {duration}")
    with world.record(path, every=every):
        world.step(round(duration / world.dt))
    return Page(path, height)


def _table(title, rows):
    cells = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


def _describe_world(world):
    energy, info = world.energy, world.info
    return _table(world.scene.name or "world", [
        ("time", f"{world.time:.9g} s, step {world.steps} of {world.dt:.6g} s"),
        ("model", f"{world.nbody - 1} bodies, {world.nv} degrees of freedom, {world.nactuator} actuators"),
        ("energy", f"{energy.kinetic:.6g} J kinetic, {energy.potential:.6g} J potential"),
        ("contacts", f"{info.contacts} in {info.islands} islands, E {world.certificate.E:.2g}"),
        ("solver", f"{world.options['solver']}, {world.options['integrator']}")])


def _describe_scene(scene):
    return _table(scene.name or "scene", [
        ("file", scene.file or "-"), ("model", f"{scene.nbody - 1} bodies, {scene.nv} degrees of freedom, {scene.mass:.6g} kg"),
        ("actuators", ", ".join(scene.actuators) or "-"), ("sensors", ", ".join(scene.sensors) or "-"),
        ("run", f"{scene.duration:.6g} s in steps of {scene.dt:.6g} s")])
