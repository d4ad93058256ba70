"""Which addresses lead to one page."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|dclid|msclkid|yclid|mc_[ce]id|igshid|_hs(enc|mi)|vero_id", re.I)
_PORTS = {"http": 80, "https": 443}


def canonical(url: str) -> str:
    """One text for all spellings of a URL: scheme, port, fragment, tracking, order of parameters and last slash apart.

    It is for leaving out what a search has found twice, never for changing what is shown.

    >>> canonical("http://Example.com:80/a/?utm_source=x&b=2&a=1#top") == canonical("https://example.com/a?a=1&b=2")
    True
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return url
    if parts.scheme not in _PORTS or not host:
        return url
    where = f"{host}:{port}" if port and port != _PORTS[parts.scheme] else host
    query = sorted(pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.fullmatch(pair[0]))
    page = parts.fragment if parts.fragment.startswith(("!", "/")) else ""  # which page of an application is shown
    return f"{where}{unquote(parts.path).rstrip('/')}?{urlencode(query)}#{page}"
