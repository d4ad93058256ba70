"""What a call asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from ferrule import JSONObject

MAX_LENGTH_BYTES = 5_000_000
PREVIEW_BYTES = 5_000
DEFAULT_LENGTH_BYTES = 50_000


class Request(NamedTuple):
    """The arguments. max_length: bytes of content, as far as the mode allows."""

    url: str
    mode: str
    max_length: int
    has_session: bool

    @classmethod
    def of(cls, arguments: JSONObject) -> Self:
        """The call's, with the defaults filled in."""
        mode = arguments.get("mode", "full")
        length = min(arguments.get("max_length", DEFAULT_LENGTH_BYTES), MAX_LENGTH_BYTES)
        length = PREVIEW_BYTES if mode == "preview" else length
        return cls(arguments["url"], mode, length, bool(arguments.get("sessionId")))

    def ignored_parameters(self) -> JSONObject:
        """`{"ignoredParameters": [{"name", "why"}]}`; `{}` where each parameter has its effect."""
        if not self.has_session:
            return {}
        why = "there are no sessions here; each call stands for itself"
        return {"ignoredParameters": [{"name": "sessionId", "why": why}]}
