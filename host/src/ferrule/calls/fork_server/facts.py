"""What a server is told of its calls, and of what is loaded for them."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from ferrule.text import strict_json

_MAX_CODE_CHARS = 64


class Client(TypedDict):
    """Who asks for a call, as it names itself, for the journal."""

    name: str
    version: str


class CallAnswer(NamedTuple):
    """What came of a call.

    document: one JSON object, the result or the failure in the tool's own shape. is_error: which of the two. text:
    what the tool printed, at most 8 KiB. seconds: how long the call took, without the time for which it was queued.
    stderr, exit_code: of an executable that answers a `Caller`. is_unbegun: there was no process or descriptor left for
    a call of a `Caller`, which nothing is known of and can be made without the server.
    """

    document: bytes
    is_error: bool
    text: str
    seconds: float
    stderr: bytes = b""
    exit_code: int = 0
    is_unbegun: bool = False

    @property
    def code(self) -> str:
        """The code of a failure in the usual shape; a tool may render its failures in another one, which gives ""."""
        document = strict_json.loads(self.document) if self.is_error else None
        code = document.get("error_code") if isinstance(document, dict) else None
        return code[:_MAX_CODE_CHARS] if isinstance(code, str) else ""


class LoadedToolFacts(TypedDict):
    """One tool that is loaded. process: that has loaded it. copies: of that, which wait or run. calls: it has taken."""

    tool: str
    process: int
    calls: int
    copies: list[int]
    running: int


class ServerFacts(TypedDict):
    """What is loaded now. is_idle: whether nothing is called, loaded, started or ended just now."""

    plugins: list[LoadedToolFacts]
    is_idle: bool
