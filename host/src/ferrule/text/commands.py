"""Commands of ferrule that let a tool have more, in texts of tools: nobody is to take them for the host's advice."""

from __future__ import annotations

_LEFT_OUT = "(a command, which the tool named and the host did not)"
_WIDENING = r"`?ferrule\s+(?:permissions|credentials\s+accept|lock|install\s+--trust)\b[^`.\n]*`?"


def without_commands(text: str) -> str:
    """The text with a note instead of such commands."""
    if "ferrule" not in text:
        return text
    import re

    return re.sub(_WIDENING, _LEFT_OUT, text)
