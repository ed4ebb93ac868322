"""The stub beside the extension: the same names, the same parameters; and everything has its docstring."""
import ast
import inspect
import pathlib

import pytest

import sim

STUB = ast.parse((pathlib.Path(sim.__file__).parent / "__init__.pyi").read_text())
HIDDEN = {"__hash__", "__reduce__", "__bytes__"}


def stub_of(name):
    return next(n for n in STUB.body if getattr(n, "name", None) == name)


def stub_names():
    names = {n.name for n in STUB.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    return names


def public_classes():
    return [n for n in sim.__all__ if inspect.isclass(getattr(sim, n))]


def test_the_stub_has_the_names_of_the_package():
    assert stub_names() == set(sim.__all__)


@pytest.mark.parametrize("name", [n for n in public_classes() if not issubclass(getattr(sim, n), Exception)])
def test_the_stub_has_the_members_of(name):
    members = set()
    for item in stub_of(name).body:
        if isinstance(item, ast.FunctionDef):
            members.add(item.name)
        elif isinstance(item, ast.AnnAssign):
            members.add(item.target.id)
    kind = getattr(sim, name)
    base = set(dir(tuple)) if issubclass(kind, tuple) else set()
    there = {n for n in dir(kind) if not n.startswith("_") and n not in base | {"n_fields", "n_sequence_fields", "n_unnamed_fields"}}
    assert {m for m in members if not m.startswith("_")} == there


@pytest.mark.parametrize("name", ["World", "State", "Scene"])
def test_attributes_can_be_set_where_the_stub_says_so(name):
    setters = {i.name for i in stub_of(name).body if isinstance(i, ast.FunctionDef)
               for d in i.decorator_list if isinstance(d, ast.Attribute) and d.attr == "setter"}
    world = sim.World("scenes/articulated/sensors.json")
    target = {"World": world, "State": world.state, "Scene": world.scene}[name]
    for member in dir(target):
        if member.startswith("_") or callable(getattr(target, member)):
            continue
        if member in setters:
            setattr(target, member, getattr(target, member))
        else:
            with pytest.raises((AttributeError, TypeError)):
                setattr(target, member, 1)


def parameters_of_stub(function, method):
    arguments = function.args
    plain = [a.arg for a in arguments.posonlyargs + arguments.args if not (method and a.arg in ("self", "cls"))]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + [ast.literal_eval(d) for d in arguments.defaults]
    given = [False] * (len(plain) - len(arguments.defaults)) + [True] * len(arguments.defaults)
    found = [(n, d) if g else (n,) for n, d, g in zip(plain, defaults, given)]
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append((argument.arg, ast.literal_eval(default)) if default is not None else (argument.arg,))
    return found + [(a.arg,) for a in [arguments.kwarg] if a]


def parameters_of(callable_):
    return [(p.name,) if p.default is p.empty else (p.name, p.default)
            for p in inspect.signature(callable_).parameters.values() if p.name != "self"]


@pytest.mark.parametrize("name", sorted(n for n in sim.__all__ if not inspect.isclass(getattr(sim, n))))
def test_functions_have_the_parameters_of_the_stub(name):
    assert parameters_of(getattr(sim, name)) == parameters_of_stub(stub_of(name), False)


@pytest.mark.parametrize("name", ["World", "State"])
def test_methods_have_the_parameters_of_the_stub(name):
    kind = getattr(sim, name)
    for item in stub_of(name).body:
        if isinstance(item, ast.FunctionDef) and not item.decorator_list and item.name not in HIDDEN:
            there = kind if item.name == "__new__" else getattr(kind, item.name)
            assert parameters_of(there) == parameters_of_stub(item, True), item.name


def test_everything_has_a_docstring():
    for name in sim.__all__:
        thing = getattr(sim, name)
        assert thing.__doc__ and len(thing.__doc__) > 15, name
        if inspect.isclass(thing):
            for member in dir(thing):
                if not member.startswith(("_", "n_")) and member != "args":
                    assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"
