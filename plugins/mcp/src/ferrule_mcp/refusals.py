"""What a server was refused by the kernel, found in its own words: it alone saw the refusal."""

from __future__ import annotations

import os
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
_DENIED = re.compile("permission denied|operation not permitted", re.IGNORECASE)
_FILE_URL = "file://"
_MAX_TEXTS = 50  # of the arguments
_NO_NETWORK = re.compile(
    r"EAI_AGAIN|ENOTFOUND|ENETUNREACH|fetch failed|connect E(?:ACCES|PERM)|ConnectError|getaddrinfo|"
    r"name resolution|[Nn]ame or service not known|All connection attempts failed|Max retries exceeded with url|"
    r"(?:Failed to establish a new|Cannot connect|network is unreachable)",
    re.IGNORECASE,
)  # fmt: skip


def raise_with_refusal(error: ToolError, arguments: object = None) -> NoReturn:
    """Raise the error of a call, from the refusal that its words tell of, by which the host knows what was denied.

    arguments: of the call, where a path is looked for that the words leave out.
    """
    raise error from _find_refusal(error.message, arguments)


def _find_refusal(text: str, arguments: object) -> OSError | None:
    found = _PATH.search(text)
    path = found["path"] if found else _find_refused_path(text, arguments)
    if path:
        return PermissionError(EACCES, "Permission denied", path)
    if _NO_NETWORK.search(text):
        from socket import EAI_AGAIN, gaierror

        return gaierror(EAI_AGAIN, "Temporary failure in name resolution")
    return None


def _find_refused_path(text: str, arguments: object) -> str:
    """The path in the arguments that may not be read here; empty where the words say nothing of a refusal.

    Some servers say no more than that the permission was denied, and some no more than the path.
    """
    is_denied = bool(_DENIED.search(text))
    for path in _find_paths(arguments)[:_MAX_TEXTS]:
        if (is_denied or text.rstrip(" .'\"").endswith(path)) and _is_refused(path):
            return path
    return ""


def _find_paths(value: object) -> list[str]:
    """The absolute paths and the URLs of files in arguments, as paths."""
    if isinstance(value, str):
        path = value.removeprefix(_FILE_URL)
        return [path] if path.startswith("/") and "\0" not in path else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [path for one in inner for path in _find_paths(one)]


def _is_refused(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except PermissionError:
        return True
    except OSError:
        return False
    return False
