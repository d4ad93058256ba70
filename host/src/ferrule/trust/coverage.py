"""What one set of permissions asks for beyond another one, by the words of both: nothing is resolved."""

from __future__ import annotations

from ferrule.trust import entries
from ferrule.trust.declaration import LISTS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule.text.json_types import JSONObject
    from ferrule.trust.declaration import Permissions


def excess(asked: Permissions, allowed: Permissions) -> JSONObject:
    """The entries of each list that the other one does not cover, and `processes` where there are more; `{}` for none.

    What may be written may be read. A folder covers what is below it, `public` the names of hosts.
    """
    found: JSONObject = {}
    for key in LISTS:
        by = (*allowed.read, *allowed.write) if key == "read" else getattr(allowed, key)
        more = [one for one in getattr(asked, key) if not covers(key, by, one)]
        if more:
            found[key] = more
    if asked.processes > allowed.processes:
        found["processes"] = asked.processes
    return found


def covers(key: str, allowed: Iterable[str], entry: str) -> bool:
    """Whether the entries of one list allow another entry of that list."""
    covers_one = _COVERS.get(key)
    return any(one == entry or (covers_one is not None and covers_one(one, entry)) for one in allowed)


def _network(allowed: str, entry: str) -> bool:
    host = entries.split_host(entry)
    if host is None:
        return False
    name, port = host
    if allowed == "public":
        return _is_public_name(name)
    by = entries.split_host(allowed)
    if by is None:
        return False
    is_below = by[0].startswith("*.") and name.removeprefix("*").endswith(by[0][1:])
    return by[1] in (port, "*") and (by[0] == name or is_below)


def _is_public_name(name: str) -> bool:
    """Whether a host is one by a name of the public DNS; a literal address or a name of this network is not."""
    last = name.rstrip(".").rpartition(".")[2]
    return "." in name and ":" not in name and not last.isdigit() and last not in ("internal", "local", "localhost")


def _path(allowed: str, entry: str) -> bool:
    if entries.is_indirect(allowed) or entries.is_indirect(entry):
        return False
    if allowed == entries.SHOWN:
        return entry.startswith("~/") and not entry.startswith("~/.")
    folder = allowed.rstrip("/")
    return entry.startswith(f"{folder}/")


def _variable(allowed: str, entry: str) -> bool:
    return allowed.endswith("*") and entry.startswith(allowed[:-1])


_COVERS = {"network": _network, "read": _path, "write": _path, "environment": _variable, "tools": _variable}
