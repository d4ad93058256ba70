"""Public: names of a package that are loaded when they are first used, so that importing the package costs one file."""

from __future__ import annotations

import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def attach(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package (PEP 562) that imports each name from its module and keeps it.

    modules: the full name of the module by the public name. Any other name raises AttributeError.
    """

    def load_name(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return load(package, modules[name], name)

    return load_name


def load(package: str, module: str, name: str) -> object:
    """Import a name from its module, and keep it as a name of the package."""
    value: object = getattr(__import__(module, fromlist=[name]), name)
    setattr(sys.modules[package], name, value)
    return value
