"""Where the picture of an image element is."""

_LAZY = ("data-src", "data-original", "data-lazy-src")  # put into src by a script, once the image comes into view


def source(attributes: dict[str, str]) -> str:
    """The address of an image; empty where there is none, or only a picture within the page itself."""
    src = attributes.get("src", "").strip()
    if src and src[:5].lower() != "data:":
        return src
    lazy = next(filter(None, map(attributes.get, _LAZY)), "") or _first(attributes.get("srcset", ""))
    return "" if lazy[:5].lower() == "data:" else lazy


def _first(srcset: str) -> str:
    candidates = srcset.split()
    return candidates[0].rstrip(",") if candidates else ""
