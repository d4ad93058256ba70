"""What a linked executable tells the interpreter that it starts."""

from __future__ import annotations

import os

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from ferrule.schema.providers.translation import Translation

    class LinkOrders(TypedDict):
        """The first argument, as JSON.

        tool: by its own name. names: other names of tools, by their own. provider: in whose words the schema is, as
        `ferrule link --for` has it; empty for the tool's own. translation: of arguments that fit those. config: the
        path of config.toml. marks: what the paths of the marks begin with, see `availability.Availability`. form: of
        the link, `FORM`; links that earlier versions wrote have none. keeper: the number of the installation, by which
        its keeper is found, see `keeper_address`.
        """

        tool: str
        names: dict[str, str]
        provider: str
        translation: Translation
        config: str
        marks: str
        form: NotRequired[int]
        keeper: NotRequired[str]


FORM = 2
"""The form of links that this version writes. Their schemas hide nothing, and they know the mark of ferrule.lock."""

_MARKS = "marks"


def take(arguments: list[str]) -> tuple[LinkOrders, list[str]]:
    """The orders, and what the link itself was given. arguments: `ORDERS DOUBT [ARGUMENT…]`.

    The doubt is why the link does not answer `--schema` itself: `marks` where what these say is not known, which is
    fixed here; else the link's own path, where it is out of date, which is told on stderr; empty for a call. The marks
    of a link of an earlier form are never fixed, so that it asks each time, and shows what this version may show.
    """
    if not arguments[0].startswith("{"):
        return _take_older(arguments)
    orders: LinkOrders = strict_json.loads(arguments[0])  # type: ignore[assignment] # `ferrule link` has written it
    if arguments[1] == _MARKS and orders.get("form") == FORM:
        _renew_marks(orders)
    elif arguments[1] == _MARKS:
        _tell_stale("", orders["tool"])
    elif arguments[1]:
        _tell_stale(arguments[1], orders["tool"])
    return orders, arguments[2:]


def _take_older(arguments: list[str]) -> tuple[LinkOrders, list[str]]:
    """`TOOL NAMES STALE [ARGUMENT…]`, which links say that an earlier ferrule has written."""
    tool, names, stale, *rest = arguments
    if stale:
        _tell_stale(stale, tool)
    known: dict[str, str] = strict_json.loads(names) if names else {}  # type: ignore[assignment] # as above
    orders: LinkOrders = {"tool": tool, "names": known, "provider": "", "translation": {}, "config": "", "marks": ""}
    return orders, rest


def _renew_marks(orders: LinkOrders) -> None:
    from ferrule.errors import ConfigurationMalformed
    from ferrule.links.availability import Availability

    try:
        Availability(orders["config"], orders["marks"]).renew()
    except ConfigurationMalformed:
        return  # which the answer says, too


def _tell_stale(link: str, tool: str) -> None:
    place = f"{link}: this" if link else "This"
    text = f"{place} link is out of date; run `ferrule link {tool}`.\n"
    try:
        os.write(2, text.encode(errors="replace"))
    except OSError:
        return  # nobody reads it
