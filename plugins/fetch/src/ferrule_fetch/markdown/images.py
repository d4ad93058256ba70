"""Where the picture of an image element is."""

from __future__ import annotations

_LAZY = ("data-src", "data-original", "data-lazy-src")  # put into src by a script, once the image comes into view


def source(attributes: dict[str, str]) -> str:
    """The address of an image; empty where there is none, or only a picture within the page itself."""
    src = next(filter(None, map(attributes.get, _LAZY)), "") or attributes.get("src", "").strip()
    if not src or _is_data(src):
        src = _first(attributes.get("srcset") or attributes.get("data-srcset") or "")
    return "" if _is_data(src) else src


def _is_data(src: str) -> bool:
    return src[:5].lower() == "data:"


def _first(srcset: str) -> str:
    candidates = srcset.split()
    return candidates[0].rstrip(",") if candidates else ""
