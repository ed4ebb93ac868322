"""Loading of scenes, robots and models, with the caller's values in place of those of the file."""
import copy
import json
import os

from . import _sim

_BASES = ("fixed", "free", "planar")
_MESHES = ("convex", "exact", "decomposed")


def _plain(value):
    """NumPy numbers and arrays as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in a scene: {value!r}")


def _texts(value, name):
    if isinstance(value, str):
        raise TypeError(f"{name} is a list of texts, not a text")
    return list(value)


def _choice(value, names, name):
    if value not in names:
        raise _sim.InputError(f"{name} is one of {', '.join(names)}, not {value!r}")
    return names.index(value)


def _load(path, text, file, set=None, seed=None, start=None, base="fixed", mesh="convex", repair_inertia=False,
          strict=False, allow=(), package=(), cache=None):
    set, allow, package = copy.deepcopy(dict(set or {})), _texts(allow, "allow"), _texts(package, "package")
    recipe = (path, text, file, dict(set=set, seed=seed, start=start, base=base, mesh=mesh, strict=strict, allow=allow,
                                     repair_inertia=repair_inertia, package=package, cache=cache))
    values = [f"{key}={json.dumps(value, default=_plain)}" for key, value in set.items()]
    return _sim._load(path, text, file, set=values, seed=seed, start=start,
                      cache=None if cache is None else os.fspath(cache), base=_choice(base, _BASES, "base"),
                      repair_inertia=repair_inertia, strict=strict, allow=allow, package=package,
                      mesh=_choice(mesh, _MESHES, "mesh"), recipe=recipe)


def _load_again(recipe, expected):
    """A scene that was pickled."""
    path, text, file, options = recipe
    scene = _load(path, text, file, **options)
    if scene.hash != expected:
        raise _sim.InputError(f"{path} has changed since the scene was pickled")
    return scene


def _reduce_world(world):
    return _world_again, (world.scene, world.options, world.state)


def _world_again(scene, options, state):
    world = _sim.World(scene, **options)
    world.state = state
    return world


def load(source, *, set=None, seed=None, start=None, base="fixed", mesh="convex", repair_inertia=False, strict=False,
         allow=(), package=(), cache=None):
    """Load a scene (JSON), a robot (URDF) or a model (MJCF, SDFormat) from a file, or a scene from a dict.

    set             dict of values that replace those of the file: {"world/step": 0.002, "bodies/0/q": 1}
    seed            seed of what is random in the scene
    start           name of the keyframe at which worlds start
    base            root link of a robot: "fixed", "free" or "planar"
    mesh            meshes of a robot in contacts: their "convex" hulls, "exact", or "decomposed" into convex parts
    repair_inertia  inertias that no body has become the nearest that one can have
    strict          notices of what is ignored in a robot are errors
    allow           elements of a robot that are left out where they would be refused
    package         folders of packages: "NAME=DIR"
    cache           folder of cached distance fields

    Files that a dict names are relative to the current folder. Raises SceneError, with all errors and their
    places, and OSError where the file cannot be read.
    """
    options = dict(set=set, seed=seed, start=start, base=base, mesh=mesh, repair_inertia=repair_inertia,
                   strict=strict, allow=allow, package=package, cache=cache)
    if isinstance(source, dict):
        return _load("dict", json.dumps(source, indent=1, default=_plain), None, **options)
    path = os.fspath(source)
    path = path.decode() if isinstance(path, bytes) else path
    return _load(path, None, path, **options)


def loads(text, name="text", *, set=None, seed=None, start=None, base="fixed", mesh="convex", repair_inertia=False,
          strict=False, allow=(), package=(), cache=None):
    """Load a scene, robot or model from its text. `name` stands in messages, and files that the text names are
    relative to its folder. Options are those of sim.load."""
    return _load(os.fspath(name), text, None, set=set, seed=seed, start=start, base=base, mesh=mesh,
                 repair_inertia=repair_inertia, strict=strict, allow=allow, package=package, cache=cache)
