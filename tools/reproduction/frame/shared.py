"""What other tools of tools/ know already: their modules by name, as in tool("solvers").asked, and what they share."""
import importlib.machinery
import importlib.util

from shared import digits, exponent, profile  # pylint: disable=unused-import

from .context import ROOT


def tool(name):
    loader = importlib.machinery.SourceFileLoader(f"tool_{name}", str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
