"""What a call asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_LENGTH = 5_000_000
PREVIEW = 5_000
DEFAULT_LENGTH = 50_000


class Request(NamedTuple):
    """The arguments. max_length: bytes, as far as the mode allows. ignored: parameters that change nothing."""

    url: str
    mode: str
    max_length: int
    ignored: tuple[str, ...]

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """The call's, with the defaults filled in."""
        mode = arguments.get("mode", "full")
        length = min(arguments.get("max_length", DEFAULT_LENGTH), MOST_LENGTH)
        ignored = tuple(name for name in ("sessionId",) if arguments.get(name))
        return cls(arguments["url"], mode, PREVIEW if mode == "preview" else length, ignored)

    def remarks(self) -> dict[str, Any]:
        """`ignoredParameters`, where there are any: `[{"name", "why"}]`."""
        if not self.ignored:
            return {}
        why = "there are no sessions here; each call stands for itself"
        return {"ignoredParameters": [{"name": name, "why": why} for name in self.ignored]}
