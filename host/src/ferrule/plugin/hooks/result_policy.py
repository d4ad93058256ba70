"""What a tool says of its own results: whether they may be cached and linked, and how more of them is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.plugin.hooks.context import Context
    from ferrule.text.json_types import JSONMapping, JSONObject

_USUAL = (
    "offset", "limit", "page", "page_size", "per_page", "cursor", "count", "start", "num", "num_results",
    "max_results", "max_length", "max_lines", "max_bytes",
)  # fmt: skip


class ResultPolicy:
    """What may be done with the results of a tool, as its hook `result_policy` returns it.

    What decides a result beside the arguments is part of what makes two calls equal. The host knows the tool's
    settings, its credentials and all variables FERRULE_*.

    Args:
        cache_seconds: how long a result may be given again to an equal call, 0 for never.
        linkable: whether a large one may be stored, and a handle be given for it.
        paging: the arguments by which a model asks for less, or for more.
        environment: further variables that the tool reads.
        identity: a function that is given the Context and returns what else there is, as JSON without secrets.
        normalise: a function that is given the arguments, and returns them as the tool reads them, such as texts
            without blanks around them: two calls for which it returns the same are equal.
        locale: False where the caller's language and time zone (LANG, LC_*, TZ) decide nothing of a result.
        fleeting: a function that is given a result, and says whether it may soon be another one, such as a search
            that has found nothing: that one is kept for a minute at most.
        wrappers: names of wrappers that surround the tool's calls unless the admin decides otherwise, such as `cache`.

    Raises:
        ValueError for seconds that are negative or no number, and for names that are no texts.
    """

    __slots__ = (
        *("cache_seconds", "environment", "fleeting", "identity", "linkable", "locale", "normalise", "paging"),
        "wrappers",
    )

    def __init__(
        self,
        *,
        cache_seconds: float = 0,
        linkable: bool = False,
        paging: Sequence[str] = (),
        environment: Sequence[str] = (),
        identity: Callable[[Context], object] | None = None,
        normalise: Callable[[JSONObject], JSONObject] | None = None,
        locale: bool = True,
        fleeting: Callable[[JSONObject], bool] | None = None,
        wrappers: Sequence[str] = (),
    ) -> None:
        is_number = isinstance(cache_seconds, int | float) and not isinstance(cache_seconds, bool)
        if not is_number or not 0 <= cache_seconds < float("inf"):
            raise ValueError(f"cache_seconds is {cache_seconds!r}, a number of seconds was expected")
        self.cache_seconds = cache_seconds
        self.linkable = bool(linkable)
        self.paging = _names("paging", paging)
        self.environment = _names("environment", environment)
        self.identity = identity
        self.normalise = normalise
        self.locale = bool(locale)
        self.fleeting = fleeting
        self.wrappers = _names("wrappers", wrappers)

    def __repr__(self) -> str:
        return f"ResultPolicy(cache_seconds={self.cache_seconds!r}, linkable={self.linkable!r}, paging={self.paging!r})"

    def as_dict(self) -> JSONObject:
        """What it says, as JSON."""
        return {
            "cache_seconds": self.cache_seconds,
            "linkable": self.linkable,
            "paging": list(self.paging),
            "environment": list(self.environment),
            "wrappers": list(self.wrappers),
        }


def wanted_wrappers(results: ResultPolicy, tables: Mapping[str, JSONMapping] | None) -> dict[str, JSONMapping]:
    """The wrappers that a tool wants, by name, with their tables: those about which the admin has not decided.

    tables: all of the admin's, None where the environment decides.
    """
    if tables is None:
        return {}
    return {name: tables.get(name, {}) for name in results.wrappers if "enabled" not in tables.get(name, {})}


def paging_arguments(results: ResultPolicy, parameters: JSONMapping) -> list[str]:
    """The arguments by which less can be asked for: those that the tool names, else those with a usual name."""
    properties = parameters.get("properties")
    known = properties if isinstance(properties, dict) else {}
    return [name for name in results.paging or _USUAL if name in known]


def _names(what: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} is {names!r}, several names were expected")
    return tuple(names)
