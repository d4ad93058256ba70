"""Who has declared which credential first, and which claims of others the admin has accepted.

A record is a private file for each tool in the folder `credentials` of the state folder. A variable, or a key of the
credentials file, belongs to the installed distribution that declared it first. Another distribution that declares it,
too, claims it, and its tools are not given it before the admin accepts that. Tools of one distribution share.
"""

from __future__ import annotations

import os
import time

from ferrule.errors import PermissionDenied
from ferrule.permissions.environment import HOST_SECRETS
from ferrule.storage import private_files
from ferrule.storage.state import state_folder
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Protocol

    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject

    class Credential(Protocol):
        """What a tool declares; see `ferrule.Credential`."""

        name: str
        environment: str
        path: str


FOLDER = "credentials"
_MAX_BYTES = 1 << 18
_SUFFIX = ".json"


class Claim:
    """A credential that a tool declares, and another distribution has declared before.

    tool, distribution: who claims it. credential: its name. key: the variable, or the key of the file. owners: the
    distributions that had it before. is_accepted: whether the admin has accepted the claim.
    """

    __slots__ = ("credential", "distribution", "is_accepted", "key", "owners", "tool")

    def __init__(
        self, tool: str, distribution: str, credential: str, key: str, owners: Sequence[str], *, is_accepted: bool
    ) -> None:
        self.tool = tool
        self.distribution = distribution
        self.credential = credential
        self.key = key
        self.owners = list(owners)
        self.is_accepted = is_accepted

    def as_dict(self) -> JSONObject:
        """The claim as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def describe(self) -> str:
        """The claim as a sentence."""
        return (
            f"{self.tool} of {self.distribution} asks for {self.key}, which {' and '.join(self.owners)} declared first."
        )

    def refusal(self) -> PermissionDenied:
        """The error with which the credential is refused."""
        return PermissionDenied(
            f"{self.describe()} So it is not given to {self.tool}.",
            admin=f"If both shall have it, run: ferrule credentials accept {self.tool}",
            details={"claim": self.as_dict()},
        )


def given_variables(tool: InstalledTool) -> list[str]:
    """The variables of its credentials that this version of the tool was given by its last answer; `[]` before."""
    record = _read(tool.name)
    found = record.get("given") if record.get("source") == tool.source else None
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def variables_of_others(tool: InstalledTool) -> set[str]:
    """The names that other distributions have declared as credentials, without those that the tool was given, too."""
    declared = {key for one in _others(tool) for key in one["since"]}
    return declared.difference(given_variables(tool))


def given_secrets(tool: InstalledTool, environ: Mapping[str, str]) -> list[str]:
    """The values of these variables in the environment of a process that runs the tool."""
    return [value for name in given_variables(tool) if (value := environ.get(name, "").strip())]


def record(tool: InstalledTool, credentials: Sequence[Credential]) -> list[Claim]:
    """Keep who declares what since when, and return the tool's claims to what is another distribution's.

    A state folder that cannot be written to holds nothing up.
    """
    before = _own_record(tool)
    if not credentials and not before:
        return []
    since, claims = _assess(tool, credentials, before)
    refused = {claim.credential for claim in claims if not claim.is_accepted}
    after = {
        "tool": tool.name,
        "distribution": tool.distribution,
        "source": tool.source,
        "since": since,
        "given": [one.environment for one in credentials if one.name not in refused],
        "accepted": [key for key in before.get("accepted") or () if key in since],
    }
    if after != before:
        _write(tool.name, after)
    return claims


def find_claims(tool: InstalledTool, credentials: Sequence[Credential]) -> list[Claim]:
    """As `record`, where nothing is to be kept: the tool has not been called."""
    return _assess(tool, credentials, _own_record(tool))[1]


def _assess(
    tool: InstalledTool, credentials: Sequence[Credential], before: JSONObject
) -> tuple[dict[str, float], list[Claim]]:
    """Since when the tool declares each key, and its claims."""
    now, known = round(time.time(), 6), _times(before)
    keys = [(key, one) for one in credentials for key in _keys(one)]
    since = {key: known.get(key, now) for key, _ in keys}
    accepted = [key for key in before.get("accepted") or () if key in since]
    return since, list(_claims(tool, keys, since, accepted))


def _own_record(tool: InstalledTool) -> JSONObject:
    found = _read(tool.name)
    return found if found.get("distribution") == tool.distribution else {}


def refusals(claims: Sequence[Claim]) -> dict[str, PermissionDenied]:
    """Why credentials are not given, by their names: the claims to them that nobody has accepted."""
    return {claim.credential: claim.refusal() for claim in reversed(claims) if not claim.is_accepted}


def accept(tool: InstalledTool, credentials: Sequence[Credential]) -> list[Claim]:
    """Accept all claims of a tool, and return those that were not accepted before. Raises OSError."""
    waiting = [claim for claim in record(tool, credentials) if not claim.is_accepted and claim.key not in HOST_SECRETS]
    if waiting:
        kept = _read(tool.name)
        kept["accepted"] = sorted({*kept.get("accepted", ()), *(claim.key for claim in waiting)})
        _write(tool.name, kept, is_needed=True)
        record(tool, credentials)
    return waiting


def _keys(credential: Credential) -> tuple[str, ...]:
    """Variables and keys share one space of names: a variable's name is a key of the file, too."""
    return credential.environment, credential.path


def _claims(
    tool: InstalledTool, keys: Sequence[tuple[str, Credential]], since: dict[str, float], accepted: Sequence[str]
) -> Iterator[Claim]:
    """keys: each with the credential that has it. Two credentials may have the same, and both claim it then."""
    others = [one for one in _others(tool) if any(key in one["since"] for key, _ in keys)]
    installed = _installed() if others else {}
    for key, credential in keys:
        earlier = {
            str(one["distribution"])
            for one in others
            if (one["tool"], one["distribution"]) in installed
            and key in one["since"]
            and (one["since"][key], one["distribution"]) < (since[key], tool.distribution)
        }
        if key in HOST_SECRETS:
            earlier = {"ferrule"}
        if earlier:
            is_accepted = key in accepted and key not in HOST_SECRETS
            owners = sorted(earlier)
            yield Claim(tool.name, tool.distribution, credential.name, key, owners, is_accepted=is_accepted)


def _installed() -> set[tuple[str, str]]:
    from ferrule import discovery

    return {(name, claim.distribution) for name, claims in discovery.scan().items() for claim in claims}


def _others(tool: InstalledTool) -> Iterator[JSONObject]:
    """The sound records of other distributions' tools."""
    folder = os.path.join(state_folder(), FOLDER)
    try:
        names = os.listdir(folder)
    except OSError:
        return
    own = os.path.basename(_path(tool.name))
    for name in names:
        found = _read_file(os.path.join(folder, name)) if name.endswith(_SUFFIX) and name[0] != "." else {}
        found["since"] = _times(found)
        is_of_other = name != own and found.get("distribution") != tool.distribution
        if is_of_other and isinstance(found.get("distribution"), str) and isinstance(found.get("tool"), str):
            yield found


def _times(record: JSONObject) -> dict[str, float]:
    times = record.get("since")
    known = times.items() if isinstance(times, dict) else ()
    return {key: since for key, since in known if isinstance(since, int | float)}


def _path(tool: str) -> str:
    is_plain = tool.isascii() and tool.replace("_", "").replace("-", "").isalnum()
    if not is_plain:
        from ferrule.text.sha256 import sha256_hex

        tool = sha256_hex(tool.encode(errors="surrogatepass"))
    return os.path.join(state_folder(), FOLDER, tool + _SUFFIX)


def _read(tool: str) -> JSONObject:
    return _read_file(_path(tool))


def _read_file(path: str) -> JSONObject:
    try:
        data = private_files.read_file(path, _MAX_BYTES)
        return strict_json.loads_object(data) if data else {}
    except (OSError, ValueError):
        return {}


def _write(tool: str, content: JSONObject, *, is_needed: bool = False) -> None:
    try:
        private_files.make_folder(os.path.dirname(_path(tool)))
        private_files.replace_file(_path(tool), strict_json.dumps(content) + b"\n")
    except OSError:
        if is_needed:
            raise
