"""What other tools of tools/ know already: their modules by name, as in tool("solvers").exponent."""
import importlib.machinery
import importlib.util
import math

from .context import ROOT


def tool(name):
    loader = importlib.machinery.SourceFileLoader(f"tool_{name}", str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def digits(x):
    """-log10, of rounding 17."""
    return -math.log10(max(x, 1e-17))
