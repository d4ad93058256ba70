"""Which tools of a server become tools of ferrule, and under which names."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import InputError
from ferrule.text.names import is_tool_name
from ferrule_mcp.projection.names import name_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ferrule.text.json_types import JSONObject


class Selection(NamedTuple):
    """prefix: before each name, None for the server's. only, excluded: patterns of names, the server's or ferrule's.
    renamed: names in ferrule by those of the server.
    """

    prefix: str | None = None
    only: Sequence[str] = ()
    excluded: Sequence[str] = ()
    renamed: Mapping[str, str] = {}

    def to_json(self) -> JSONObject:
        """What a record keeps of it."""
        lists = {"only": list(self.only), "excluded": list(self.excluded), "renamed": dict(self.renamed)}
        return {"prefix": self.prefix, **lists}


def choose_names(server: str, names: Sequence[str], selection: Selection) -> dict[str, str]:
    """The chosen tools: their names in ferrule, by the server's own.

    Raises InputError for a pattern or a name that fits no tool, and for a new name that is none.
    """
    named = name_tools(server if selection.prefix is None else selection.prefix, names)
    for own, new in selection.renamed.items():
        known = next((one for one, shown in named.items() if own in (one, shown)), None)
        if known is None:
            raise _find_unknown(server, own, names)
        if not is_tool_name(new) or new != new.lower():
            raise InputError(
                f"{new!r} is no name of a tool.", hint="It has lower case letters, digits and underscores."
            )
        named[known] = new
    for pattern in (*selection.only, *selection.excluded):
        if not any(_fits(pattern, one, shown) for one, shown in named.items()):
            raise _find_unknown(server, pattern, names)
    return {
        own: shown
        for own, shown in named.items()
        if (not selection.only or _fits_any(selection.only, own, shown))
        and not _fits_any(selection.excluded, own, shown)
    }


def _fits_any(patterns: Iterable[str], own: str, shown: str) -> bool:
    return any(_fits(one, own, shown) for one in patterns)


def _fits(pattern: str, own: str, shown: str) -> bool:
    return fnmatchcase(own, pattern) or fnmatchcase(shown, pattern.replace("-", "_"))


def _find_unknown(server: str, name: str, names: Iterable[str]) -> InputError:
    return InputError(f"{server} has no tool {name!r}.", hint=f"It has {', '.join(sorted(names)) or 'none'}.")
