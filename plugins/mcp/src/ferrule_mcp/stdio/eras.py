"""The releases of the protocol that are spoken to a server, and what a request of each carries."""

from __future__ import annotations

from ferrule import __version__

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

NEWEST_HANDSHAKE = "2025-11-25"
HANDSHAKES = ("2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", NEWEST_HANDSHAKE)
"""Releases in which `initialize` comes first and counts for all that follows."""
ENVELOPE = "2026-07-28"
"""The release in which each request carries in its envelope who asks, and nothing comes first."""
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_FIRST_WITH_ELICITATION = "2025-06-18"
_KEYS = "io.modelcontextprotocol/"
_LEVEL = "info"  # of log messages, from which on they are wanted; servers of the handshake choose it themselves


def is_envelope(era: str) -> bool:
    """Whether requests of a release carry an envelope."""
    return era >= ENVELOPE


def has_elicitation(era: str) -> bool:
    """Whether a server of a release can ask a person something, which can be declined."""
    return era >= _FIRST_WITH_ELICITATION


def identify_client() -> JSONObject:
    """Who asks."""
    return {"name": "ferrule", "version": __version__}


def make_envelope(offered: JSONObject) -> JSONObject:
    """What `_meta` of a request has since 2026-07-28. offered: the capabilities that the server is offered."""
    return {
        f"{_KEYS}protocolVersion": ENVELOPE,
        f"{_KEYS}clientInfo": identify_client(),
        f"{_KEYS}clientCapabilities": offered,
        f"{_KEYS}logLevel": _LEVEL,
    }
