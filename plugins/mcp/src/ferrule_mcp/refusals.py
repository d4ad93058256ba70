"""What a server was refused by the kernel, found in its own words: it alone saw the refusal."""

from __future__ import annotations

import re
from errno import EACCES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn

    from ferrule import ToolError

_PATH = re.compile(
    r"(?:EACCES|EPERM|EROFS|[Pp]ermission denied|[Oo]peration not permitted)"
    r"[^'\"\n/]{0,80}['\"]?(?P<path>/[^'\"\n]{1,1000}?)(?:['\"]|$)"
)
_NO_NETWORK = re.compile(
    r"EAI_AGAIN|ENOTFOUND|ENETUNREACH|fetch failed|connect E(?:ACCES|PERM)|ConnectError|getaddrinfo|"
    r"name resolution|[Nn]ame or service not known|All connection attempts failed|Max retries exceeded with url|"
    r"(?:Failed to establish a new|Cannot connect|network is unreachable)",
    re.IGNORECASE,
)  # fmt: skip


def raise_with_refusal(error: ToolError) -> NoReturn:
    """Raise the error of a call, from the refusal that its words tell of, by which the host knows what was denied."""
    raise error from _find_refusal(error.message)


def _find_refusal(text: str) -> OSError | None:
    found = _PATH.search(text)
    if found:
        return PermissionError(EACCES, "Permission denied", found["path"])
    if _NO_NETWORK.search(text):
        from socket import EAI_AGAIN, gaierror

        return gaierror(EAI_AGAIN, "Temporary failure in name resolution")
    return None
