"""Whether the Python modules that tools declare as extras are installed, found without importing any of them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.machinery import PathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from ferrule.plugin.declaration import Extra, read_if_well
from ferrule.plugin.remedies.installation import install_command

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject

FOUND, MISSING = "found", "missing"


class ExtraStatus(NamedTuple):
    """A module that tools need for a part of their work.

    module: as it is imported. state: `found` or `missing`. purpose: what tools cannot do without it. install: the line
    for a shell that brings it into this environment. tools, sources: who needs it.
    """

    module: str
    state: str
    purpose: str
    install: str
    tools: tuple[str, ...]
    sources: tuple[str, ...]

    def as_dict(self) -> JSONObject:
        """The status as JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._asdict().items()}

    def describe(self) -> str:
        """What it is for, and how to get it where it is missing."""
        return "; ".join(filter(None, (self.purpose, self.install if self.state == MISSING else "")))


def statuses(tools: Iterable[InstalledTool]) -> list[ExtraStatus]:
    """The extras that tools declare, each once, in the order of the tools."""
    needed: dict[Extra, list[InstalledTool]] = {}
    for tool in tools:
        for extra in read_if_well(tool).extras:
            needed.setdefault(extra, []).append(tool)
    return [_examine(extra, users) for extra, users in needed.items()]


def _examine(extra: Extra, users: list[InstalledTool]) -> ExtraStatus:
    state = FOUND if _is_installed(extra.module) else MISSING
    tools = tuple(tool.name for tool in users)
    sources = tuple(dict.fromkeys(tool.source for tool in users))
    return ExtraStatus(extra.module, state, extra.purpose, install_command(extra.install), tools, sources)


def _is_installed(module: str) -> bool:
    """Whether the import system finds it; the packages around it are not imported, as they would be for a look."""
    head, *rest = module.split(".")
    try:
        spec = find_spec(head)
        name = head
        for part in rest:
            name = f"{name}.{part}"
            places = spec.submodule_search_locations if spec else None
            spec = PathFinder.find_spec(name, places) if places else None
    except (ImportError, ValueError):
        return False
    return spec is not None
