"""Imports wrappers. This runs plugin code, so only in a child."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pluggy

from ferrule import discovery
from ferrule.errors import WrapperUnusable
from ferrule.plugin.hooks.hookspecs import PROJECT, WrapperSpec
from ferrule.plugin.loader import resolve, unknown_hooks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ahead: dict[str, LoadedWrapper] = {}


class LoadedWrapper:
    """An imported wrapper.

    Args:
        hooks: its `execute` functions, as pluggy has them.
        order: smaller is further out.
        unknown_hooks: the names of hooks that this host does not know, which are never called.
    """

    def __init__(self, name: str, order: int, hooks: list[pluggy.HookImpl], unknown_hooks: Sequence[str] = ()) -> None:
        self.name = name
        self.order = order
        self.hooks = hooks
        self.unknown_hooks = list(unknown_hooks)


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
    hooks = manager.hook.execute.get_hookimpls()
    unknown = unknown_hooks(manager)
    order = manager.hook.order() or 0
    if not hooks or any(hook.hookwrapper for hook in hooks) or not isinstance(order, int):
        unused = f" Ferrule does not know its hook {', '.join(unknown)}." if unknown else ""
        raise WrapperUnusable(
            f"The wrapper {name} of {source} has no `execute` with @hookimpl or @hookimpl(wrapper=True), one with "
            f"hookwrapper=True, or an `order` that is no integer.{unused}"
        )
    return LoadedWrapper(name, order, hooks, unknown)


def load_ahead() -> None:
    """Load those whose modules have been imported already, for calls that forks of this process make later on.

    What cannot be loaded is left to the call, which says so.
    """
    claims = discovery.wrappers()
    for name, ((value, _), *_others) in claims.items():
        if value.partition(":")[0] in sys.modules:
            with suppress(BaseException):
                _ahead[name] = load(name, claims)


def loaded_ahead(names: Iterable[str]) -> list[LoadedWrapper]:
    """Those that have been loaded ahead, in the order of the names; none where one of them has not been."""
    names = list(names)
    return [_ahead[name] for name in names] if all(name in _ahead for name in names) else []


def claims_for(names: Mapping[str, object]) -> Mapping[str, list[tuple[str, str]]]:
    """What `load` needs to load these: nothing where all have been loaded ahead, since a scan takes its time."""
    return discovery.wrappers() if names.keys() - _ahead.keys() else {}
