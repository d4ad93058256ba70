"""What a server over HTTP is asked when it is added: the release that it speaks, what it is, and its tools."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule_mcp.interview import Interview
from ferrule_mcp.remote.session import RemoteSession

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule_mcp.remote.headers import Credentials

DEFAULT_SECONDS = 60.0
"""That an interview may take."""


def interview(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
    network: Sequence[str] | None = None,
    seconds: float = DEFAULT_SECONDS,
) -> Interview:
    """Ask a server what it is and which tools it has.

    Args:
        url: of the server.
        headers: with the names of credentials in braces.
        credentials: where the values come from.
        network: the permission of its tools; what names its own address where it is None.
        seconds: that all of this may take.

    Raises:
        ToolError: AUTH_MISSING where it wants a login, and what `RemoteSession` raises.
    """
    started = time.monotonic()
    options = {"headers": headers, "credentials": credentials, "network": network}
    with RemoteSession.start(url, deadline=started + seconds, **options) as session:  # type: ignore[arg-type] # each its own
        met = session.initialize()
        has_tools = "tools" in met["capabilities"]
        tools = session.list_tools() if has_tools else []
        findings = [f"The tool {name} is left out: its arguments cannot be headers." for name in session.left_out]
    if not has_tools:
        findings.append("It has no tools: it offers resources or prompts alone.")
    return Interview(**met, tools=tools, findings=findings, seconds=time.monotonic() - started)
