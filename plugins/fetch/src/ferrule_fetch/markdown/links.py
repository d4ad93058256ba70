"""Where links and images lead."""

import re
from urllib.parse import urljoin, urlsplit

_SCHEMES = frozenset({"http", "https", "mailto"})
_UNSAFE = {ord(letter): f"%{ord(letter):02X}" for letter in ' "<>`{}|\\^'}


class Links:
    """Resolves addresses against the page's own and its `<base>`."""

    def __init__(self, url: str, base: str = "") -> None:
        self._base = _joined(url, base) or url

    def resolve(self, href: str) -> str | None:
        """The whole address, fit for a markdown link; None where it leads to nothing that can be opened."""
        target = _joined(self._base, href)
        if target is None or urlsplit(target).scheme not in _SCHEMES:
            return None
        target = target.translate(_UNSAFE)
        return target if _balanced(target) else target.replace("(", "%28").replace(")", "%29")


def _joined(base: str, href: str) -> str | None:
    try:
        return urljoin(base, re.sub(r"[\t\n\r]", "", href).strip("\0 \f"))
    except ValueError:
        return None


def _balanced(target: str) -> bool:
    depth = 0
    for letter in re.findall(r"[()]", target):
        depth += 1 if letter == "(" else -1
        if depth < 0:
            return False
    return depth == 0
