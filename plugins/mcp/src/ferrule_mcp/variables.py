"""The environment of a server: what it needs to run, what the admin has set, and its credentials."""

from __future__ import annotations

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferrule_mcp.record import ServerRecord

_PATH = "/usr/local/bin:/usr/bin:/bin"
_PASSED = (
    "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
_FOLDERS = {
    "HOME": "",
    "XDG_CONFIG_HOME": "/.config",
    "XDG_DATA_HOME": "/.local/share",
    "XDG_STATE_HOME": "/.local/state",
    "XDG_CACHE_HOME": "/.cache",
}


def make_variables(record: ServerRecord, credential: Callable[[str], str]) -> dict[str, str]:
    """The whole environment of a server's process.

    Its home is a folder of its own. Of this process it has the locale, the proxies that the host gave it, and the
    folder for temporary files. credential: gives the value of one by its name.
    """
    found = {name: os.environ[name] for name in _PASSED if name in os.environ}
    found |= {name: record["home"] + inner for name, inner in _FOLDERS.items()}
    found["PATH"] = ":".join([*_programs(record), _PATH])
    texts = _fill(list(record["variables"].values()), record, credential)
    return {**found, **dict(zip(record["variables"], texts, strict=True))}


def fill_command(record: ServerRecord, credential: Callable[[str], str]) -> list[str]:
    """The program and its arguments, with the credentials that were given as arguments in place of their names."""
    return _fill(record["command"], record, credential)


def _fill(texts: list[str], record: ServerRecord, credential: Callable[[str], str]) -> list[str]:
    """Texts with the values of the credentials that they name."""
    named = [name for name in record["credentials"] if any(f"{{{name}}}" in text for text in texts)]
    if not named:
        return texts
    from ferrule_mcp.launch.plan import fill_secrets

    return fill_secrets(texts, {name: credential(name) for name in named})


def _programs(record: ServerRecord) -> Iterator[str]:
    """Where the server finds its own interpreter under its usual name."""
    program = record["command"][0] if record["command"] else ""
    if os.path.isabs(program):
        yield os.path.dirname(program)
