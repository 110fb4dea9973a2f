"""dsofs: the few features of a wide data set that really separate its classes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsofs.design.linalg import lrp_norm as lrp_norm
    from dsofs.methods import METHODS as METHODS
    from dsofs.methods.dso.classifier import DSOClassifier as DSOClassifier
    from dsofs.methods.dso.cross_validation import DSOSelectorCV as DSOSelectorCV
    from dsofs.methods.dso.selector import DSOSelector as DSOSelector
    from dsofs.methods.lasso.selector import LassoSelector as LassoSelector
    from dsofs.methods.mrmr import MRMRSelector as MRMRSelector
    from dsofs.methods.relieff.selector import ReliefFSelector as ReliefFSelector
    from dsofs.methods.rfs import RFSSelector as RFSSelector
    from dsofs.workflows.apply import apply_selection as apply_selection
    from dsofs.workflows.compare import compare_table as compare_table
    from dsofs.workflows.select import select_table as select_table

__version__ = "0.1.0"

# Where each public name lives; it is imported when it is first asked for.
_HOME = {
    "DSOSelector": "dsofs.methods.dso.selector",
    "DSOClassifier": "dsofs.methods.dso.classifier",
    "DSOSelectorCV": "dsofs.methods.dso.cross_validation",
    "RFSSelector": "dsofs.methods.rfs",
    "LassoSelector": "dsofs.methods.lasso.selector",
    "ReliefFSelector": "dsofs.methods.relieff.selector",
    "MRMRSelector": "dsofs.methods.mrmr",
    "METHODS": "dsofs.methods",
    "lrp_norm": "dsofs.design.linalg",
    "select_table": "dsofs.workflows.select",
    "compare_table": "dsofs.workflows.compare",
    "apply_selection": "dsofs.workflows.apply",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dsofs' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
