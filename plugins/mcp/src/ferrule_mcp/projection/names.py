"""Names that every provider takes, for the names that servers give to tools and parameters."""

from __future__ import annotations

from collections.abc import Container, Iterable

from ferrule.schema.providers import LONGEST_NAME, find_refusals, snake_case
from ferrule.text.names import is_tool_name

_ROOM_FOR_NUMBER = 5  # characters


def name_tools(server: str, names: Iterable[str]) -> dict[str, str]:
    """The names of a server's tools in ferrule, by those that the server has for them.

    They are in snake_case, begin with the server's, and have at most 64 characters; where two would be one, the later
    one gets a number. A name that begins with the server's is not given it twice.

    >>> name_tools("notion", ["API-get-user", "getUser", "notion_search"])
    {'API-get-user': 'notion_api_get_user', 'getUser': 'notion_get_user', 'notion_search': 'notion_search'}
    """
    named: dict[str, str] = {}
    prefix = _write_snake_case(server)
    for name in names:
        stem = _write_snake_case(name) or "tool"
        full = stem if stem == prefix or stem.startswith(f"{prefix}_") else f"{prefix}_{stem}"
        named[name] = make_unique(_begin_with_letter(full), set(named.values()))
    return named


def name_parameters(names: Iterable[str]) -> dict[str, str]:
    """The names that are shown, by those of the server, where a provider refuses these; the others stay."""
    names = list(names)
    taken = {name for name in names if is_shown(name)}
    shown: dict[str, str] = {}
    for name in names:
        if not is_shown(name):
            shown[name] = make_unique(_begin_with_letter(_write_snake_case(name)), taken)
            taken.add(shown[name])
    return shown


def is_shown(name: str) -> bool:
    """Whether every provider takes the name of a parameter."""
    return is_tool_name(name) and not find_refusals(name)


def make_unique(name: str, taken: Container[str]) -> str:
    """The name, or the first with a number behind it, that is not taken; with at most 64 characters."""
    name, number = name[:LONGEST_NAME].rstrip("_") or "p", 2
    unique = name
    while unique in taken:
        unique = f"{name[: LONGEST_NAME - _ROOM_FOR_NUMBER]}_{number}"
        number += 1
    return unique


def _begin_with_letter(name: str) -> str:
    return name if name[:1].isalpha() else f"p_{name}".rstrip("_")


def _write_snake_case(name: str) -> str:
    return snake_case(name[: 2 * LONGEST_NAME])
