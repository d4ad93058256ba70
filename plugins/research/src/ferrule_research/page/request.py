"""What a call asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from ferrule import JSONObject

MAX_LENGTH_BYTES = 5_000_000
PREVIEW_BYTES = 5_000
DEFAULT_LENGTH_BYTES = 50_000


class Request(NamedTuple):
    """The arguments. max_length: bytes of the whole answer, of raw content alone, as far as the mode allows.

    session: the id of one that records the page, "" for none. unrecorded: why it has not. citation, links, metadata:
    whether they are wanted. structured_data: the same; None for what is short of it.
    """

    url: str
    mode: str
    max_length: int
    session: str = ""
    unrecorded: str = ""
    citation: bool = True
    structured_data: bool | None = None
    links: bool = True
    metadata: bool = True

    @classmethod
    def of(cls, arguments: JSONObject) -> Self:
        """The call's, with the defaults filled in."""
        mode = arguments.get("mode", "full")
        length = min(arguments.get("max_length", DEFAULT_LENGTH_BYTES), MAX_LENGTH_BYTES)
        length = PREVIEW_BYTES if mode == "preview" else length
        return cls(
            arguments["url"],
            mode,
            length,
            arguments.get("sessionId", "").strip(),
            citation=arguments.get("include_citation", True),
            structured_data=arguments.get("include_structured_data"),
            links=arguments.get("include_links", True),
            metadata=arguments.get("include_metadata", True),
        )

    def ignored_parameters(self) -> JSONObject:
        """`{"ignoredParameters": [{"name", "why"}], "_meta": {"cacheable": false}}`; `{}` where each has its effect."""
        if not self.unrecorded:
            return {}
        ignored = [{"name": "sessionId", "why": self.unrecorded}]
        return {"ignoredParameters": ignored, "_meta": {"cacheable": False}}  # it may be recorded the next time
