"""Imports wrappers. This runs plugin code, so only in a child."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pluggy

from ferrule import discovery
from ferrule.errors import WrapperUnusable
from ferrule.tool.hookspecs import PROJECT, WrapperSpec
from ferrule.tool.loader import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

_ahead: dict[str, LoadedWrapper] = {}


class LoadedWrapper:
    """An imported wrapper. hooks: its `execute` functions, as pluggy has them. order: smaller is further out."""

    def __init__(self, name: str, order: int, hooks: list[pluggy.HookImpl]) -> None:
        self.name = name
        self.order = order
        self.hooks = hooks


def load(name: str, claims: Mapping[str, list[tuple[str, str]]]) -> LoadedWrapper:
    """Import one wrapper. claims: all that are installed. Raises WrapperUnusable, and what its module raises."""
    if name in _ahead:
        return _ahead[name]
    (value, source), *others = claims.get(name) or [("", "")]
    if not value:
        raise WrapperUnusable(f"No installed distribution offers a wrapper named {name!r}.")
    if others:
        sources = " and by ".join(sorted([source, *(other for _, other in others)]))
        raise WrapperUnusable(f"The wrapper {name!r} is claimed by {sources}, so none of them gets it.")
    module = resolve(value)
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(WrapperSpec)
    manager.register(module, name=name)
    manager.check_pending()
    hooks = manager.hook.execute.get_hookimpls()
    order = manager.hook.order() or 0
    if not hooks or any(hook.hookwrapper for hook in hooks) or not isinstance(order, int):
        raise WrapperUnusable(
            f"The wrapper {name} of {source} has no `execute` with @hookimpl or @hookimpl(wrapper=True), one with "
            "hookwrapper=True, or an `order` that is no integer."
        )
    return LoadedWrapper(name, order, hooks)


def load_ahead() -> None:
    """Load those whose modules have been imported already, for calls that forks of this process make later on.

    What cannot be loaded is left to the call, which says so.
    """
    claims = discovery.wrappers()
    for name, ((value, _), *_others) in claims.items():
        if value.partition(":")[0] in sys.modules:
            with suppress(BaseException):
                _ahead[name] = load(name, claims)


def claims_for(names: Mapping[str, object]) -> Mapping[str, list[tuple[str, str]]]:
    """What `load` needs to load these: nothing where all have been loaded ahead, since a scan takes its time."""
    return discovery.wrappers() if names.keys() - _ahead.keys() else {}
