"""Parts that the experiments share with the studies beside this package."""
import importlib

from shared import digits, exponent, profile, standard_error, t_value  # pylint: disable=unused-import

SAP = "sap:relaxation=none"  # as Castro, Permenter and Han published it


def study(name):
    """A module of study/, as in study("solvers").words."""
    return importlib.import_module(name)
