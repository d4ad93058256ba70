"""The nodes of turbohtml's tree, without the rest of that package.

The package imports all its extractors and options when any of it is imported, which costs four times as much as the
extension module that holds the parser, the tree and the writer. So only the extension is loaded, where nobody has
imported the package before.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from turbohtml import Comment, Document, Element, Node, Text, parse, parse_fragment

__all__ = ["Comment", "Document", "Element", "Node", "Text", "parse", "parse_fragment"]

_PACKAGE, _EXTENSION = "turbohtml", "turbohtml._html"


def _extension() -> ModuleType:
    """The extension module. Raises ImportError where turbohtml is not installed."""
    if loaded := sys.modules.get(_EXTENSION):
        return loaded
    package = PathFinder.find_spec(_PACKAGE)
    spec = package and PathFinder.find_spec(_EXTENSION, package.submodule_search_locations)
    if not spec or not spec.loader:
        raise ImportError(f"{_EXTENSION} is not installed", name=_EXTENSION)
    module = module_from_spec(spec)
    sys.modules[_EXTENSION] = module  # where the package finds it, if somebody imports that later
    spec.loader.exec_module(module)
    return module


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_extension(), name)
    return value
