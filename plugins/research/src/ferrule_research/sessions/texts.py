"""Texts of sessions, within bounds."""

from __future__ import annotations

from ferrule.text.invisible import without_invisible


def make_line(text: object, max_chars: int) -> str:
    """One line of visible text; "" for what is no text."""
    return " ".join(without_invisible(text).split())[:max_chars] if isinstance(text, str) else ""


def make_text(text: object, max_chars: int) -> str:
    """Visible text, whose lines are kept; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    return without_invisible(text.replace("\r\n", "\n").replace("\r", "\n")).strip()[:max_chars]


def cut_bytes(text: str, max_bytes: int) -> str:
    """A text of `max_bytes` in UTF-8 at most, with an ellipsis where it was cut, never within a character."""
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    return data[: max(0, max_bytes - len("…".encode()))].decode(errors="ignore").rstrip() + "…"
