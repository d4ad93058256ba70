"""Whose which credential is, and which claims of others the admin has accepted.

A variable, or a key of the credentials file, belongs to the distribution that was installed first of those that declare
it, whether its tools have been called or not; and to no tool where another program goes by it. Who declares it all the
same claims it, and its tools are not given it before the admin accepts that. Tools of one distribution share.

A record is a private file for each tool in the folder `credentials` of the state folder. It keeps since when a tool
declares what, so that a newer version is no newcomer. Where nothing can be recorded, what is installed is looked at in
each call.
"""

from __future__ import annotations

import os
import time

from ferrule.config.own_folders import state_folder
from ferrule.errors import PermissionDenied
from ferrule.storage import private_files
from ferrule.text import strict_json
from ferrule.trust.resolution.environment import NEVER_GIVEN

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
_SETTLED = "is_settled"


class Claim:
    """A credential that a tool declares, and that is another distribution's or another program's.

    Args:
        tool, distribution: who claims it.
        credential: its name.
        key: the variable, or the key of the file.
        owners: the distributions that had it before, or the programs that go by it, in words.
        is_accepted: whether the admin has accepted the claim.
        is_foreign: whether programs own it.
    """

    __slots__ = ("credential", "distribution", "is_accepted", "is_foreign", "key", "owners", "tool")

    def __init__(
        self,
        tool: str,
        distribution: str,
        credential: str,
        key: str,
        owners: Sequence[str],
        *,
        is_accepted: bool,
        is_foreign: bool = False,
    ) -> None:
        self.tool = tool
        self.distribution = distribution
        self.credential = credential
        self.key = key
        self.owners = list(owners)
        self.is_accepted = is_accepted
        self.is_foreign = is_foreign

    def as_dict(self) -> JSONObject:
        """The claim as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def describe(self) -> str:
        """The claim as a sentence."""
        if self.is_foreign:
            return f"{self.tool} of {self.distribution} asks for {self.key}, which {' and '.join(self.owners)} go by."
        return (
            f"{self.tool} of {self.distribution} asks for {self.key}, which {' and '.join(self.owners)} declared first."
        )

    def refusal(self) -> PermissionDenied:
        """The error with which the credential is refused."""
        whom = f"{self.tool} shall have it" if self.is_foreign else "both shall have it"
        return PermissionDenied(
            f"{self.describe()} So it is not given to {self.tool}.",
            admin=f"If {whom}, run: ferrule credentials accept {self.tool}",
            details={"claim": self.as_dict()},
        )


def given_variables(tool: InstalledTool) -> list[str]:
    """The variables of its credentials that this version of the tool was given by its last answer; `[]` before."""
    record = _read(tool.name)
    found = record.get("given") if record.get("source") == tool.source else None
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def declared_before(tool: InstalledTool, moment: float) -> list[str]:
    """The variables and keys that tools of its name and distribution had declared before a moment."""
    return sorted(key for key, since in _times(_own_record(tool)).items() if since < round(moment, 6))


def variables_of_others(tool: InstalledTool) -> set[str]:
    """The names that other distributions have declared as credentials, without those that the tool was given, too."""
    declared = {key for one in _others(tool) for key in one["since"]}
    return declared.difference(given_variables(tool))


def given_secrets(tool: InstalledTool, environ: Mapping[str, str], given: Iterable[str] | None = None) -> list[str]:
    """The values of these variables in the environment of a process that runs the tool. given: where they are known."""
    names = given_variables(tool) if given is None else given
    return [value for name in names if (value := environ.get(name, "").strip())]


def record(
    tool: InstalledTool,
    credentials: Sequence[Credential],
    of_others: Iterable[tuple[InstalledTool, Sequence[Credential]]] | None = None,
    withheld: Collection[str] = (),
) -> list[Claim]:
    """Keep who declares what since when, and return the tool's claims to what is another's.

    Args:
        of_others: what the hooks of others have answered that were not known; None where they were not asked.
        withheld: variables and keys that wait for the admin for another reason. A state folder that cannot be written
            to holds nothing up.
    """
    before = _own_record(tool)
    if not credentials and not before:
        return []
    others = list(_others(tool))
    is_known = is_settled(tool, credentials)
    if not is_known:
        others = _settle(tool, others, of_others or ())
    since, claims = _assess(tool, credentials, before, others)
    refused = {claim.credential for claim in claims if not claim.is_accepted}
    after = {
        "tool": tool.name,
        "distribution": tool.distribution,
        "source": tool.source,
        "since": since,
        "given": [
            one.environment
            for one in credentials
            if one.name not in refused and not any(key in withheld for key in _keys(one))
        ],
        "accepted": [key for key in before.get("accepted") or () if key in since],
        _SETTLED: is_known or of_others is not None,
    }
    if after != before:
        _write(tool.name, after)
    return claims


def find_claims(tool: InstalledTool, credentials: Sequence[Credential]) -> list[Claim]:
    """As `record`, where nothing is to be kept: by what is recorded of others."""
    return _assess(tool, credentials, _own_record(tool), list(_others(tool)))[1]


def is_settled(tool: InstalledTool, credentials: Sequence[Credential]) -> bool:
    """Whether all that was installed before has been asked what it declares, for each key of these."""
    before = _own_record(tool)
    known = _times(before)
    is_same = before.get(_SETTLED) is True and before.get("source") == tool.source
    return is_same and all(key in known for one in credentials for key in _keys(one))


def _settle(
    tool: InstalledTool, known: Sequence[JSONObject], of_others: Iterable[tuple[InstalledTool, Sequence[Credential]]]
) -> list[JSONObject]:
    """The records of others with all that they declare, also of what has never been called."""
    from ferrule import discovery
    from ferrule.trust.credentials.declared_keys import find_keys

    found = {(str(one["tool"]), str(one["distribution"])): one for one in known}
    asked = {(other.name, other.distribution): credentials for other, credentials in of_others}
    for other in (claims[0] for claims in discovery.scan().values() if len(claims) == 1):
        key = other.name, other.distribution
        answered = asked.get(key)
        keys = find_keys(other) if answered is None else [one for own in answered for one in _keys(own)]
        if other.distribution == tool.distribution or not keys:
            continue
        before = found.get(key, {})
        since = {**_times(before), **_since(other, keys, before)}
        after = {"source": other.source, "given": [], **before, "since": since}
        after.update(tool=other.name, distribution=other.distribution)
        if after != before:
            _write(other.name, after)
        found[key] = after
    return list(found.values())


def _assess(
    tool: InstalledTool, credentials: Sequence[Credential], before: JSONObject, others: Sequence[JSONObject]
) -> tuple[dict[str, float], list[Claim]]:
    """Since when the tool declares each key, and its claims."""
    from ferrule.trust.foreign_variables import owner_of

    keys = [(key, one) for one in credentials for key in _keys(one)]
    since = _since(tool, [key for key, _ in keys], before)
    accepted = {key for key in before.get("accepted") or () if key in since}
    if any(owner_of(key) for key in since):
        accepted.update(_granted_by_admin(tool))
    return since, list(_claims(tool, keys, since, accepted, others))


def _since(tool: InstalledTool, keys: Iterable[str], before: JSONObject) -> dict[str, float]:
    """Since its installation, but for what the same code names only now."""
    from ferrule.trust.credentials.installation_times import installed_at

    known = _times(before)
    is_same = before.get(_SETTLED) is True and before.get("source") == tool.source
    at = round(time.time() if is_same else installed_at(tool), 6)
    return {key: min(known.get(key, at), at) for key in keys}


def _granted_by_admin(tool: InstalledTool) -> list[str]:
    """The variables that config.toml gives a tool by their names."""
    from ferrule.config import configuration
    from ferrule.errors import ConfigurationMalformed
    from ferrule.trust.grants import admin_entries

    try:
        return list(admin_entries(tool.name, "environment", configuration.read()))
    except ConfigurationMalformed:
        return []


def _own_record(tool: InstalledTool) -> JSONObject:
    found = _read(tool.name)
    return found if found.get("distribution") == tool.distribution else {}


def refusals(claims: Sequence[Claim]) -> dict[str, PermissionDenied]:
    """Why credentials are not given, by their names: the claims to them that nobody has accepted."""
    return {claim.credential: claim.refusal() for claim in reversed(claims) if not claim.is_accepted}


def accept(tool: InstalledTool, credentials: Sequence[Credential], withheld: Collection[str] = ()) -> list[Claim]:
    """Accept all claims of a tool, and return those that were not accepted before. withheld: see `record`.

    Raises OSError.
    """
    claims = record(tool, credentials, withheld=withheld)
    waiting = [claim for claim in claims if not claim.is_accepted and claim.key not in NEVER_GIVEN]
    if waiting:
        kept = _read(tool.name)
        kept["accepted"] = sorted({*kept.get("accepted", ()), *(claim.key for claim in waiting)})
        _write(tool.name, kept, is_needed=True)
        record(tool, credentials, withheld=withheld)
    return waiting


def _keys(credential: Credential) -> tuple[str, ...]:
    """Variables and keys share one space of names: a variable's name is a key of the file, too."""
    return credential.environment, credential.path


def _claims(
    tool: InstalledTool,
    keys: Sequence[tuple[str, Credential]],
    since: dict[str, float],
    accepted: Collection[str],
    records: Sequence[JSONObject],
) -> Iterator[Claim]:
    """The claims to what others declared before. keys: each with its credential; if two have one, both claim it."""
    from ferrule.trust.foreign_variables import owner_of

    others = [one for one in records if any(key in one["since"] for key, _ in keys)]
    installed = _installed() if others else set()
    for key, credential in keys:
        # Of two that came in the same moment, as in an image that is built to be the same each time, neither was first.
        earlier = {
            str(one["distribution"])
            for one in others
            if (one["tool"], one["distribution"]) in installed
            and key in one["since"]
            and one["since"][key] <= since[key]
        }
        if key in NEVER_GIVEN:
            earlier = {"ferrule"}
        owner = owner_of(key)
        if owner or earlier:
            is_accepted = key in accepted and key not in NEVER_GIVEN
            owners = [owner] if owner else sorted(earlier)
            yield Claim(
                tool.name,
                tool.distribution,
                credential.name,
                key,
                owners,
                is_accepted=is_accepted,
                is_foreign=owner is not None,
            )


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
    own = os.path.basename(path_of(tool.name))
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


def path_of(tool: str) -> str:
    """Where the record of a tool is."""
    is_plain = tool.isascii() and tool.replace("_", "").replace("-", "").isalnum()
    if not is_plain:
        from ferrule.text.sha256 import sha256_hex

        tool = sha256_hex(tool.encode(errors="surrogatepass"))
    return os.path.join(state_folder(), FOLDER, tool + _SUFFIX)


def _read(tool: str) -> JSONObject:
    return _read_file(path_of(tool))


def _read_file(path: str) -> JSONObject:
    try:
        data = private_files.read_file(path, _MAX_BYTES)
        return strict_json.loads_object(data) if data else {}
    except (OSError, ValueError):
        return {}


def _write(tool: str, content: JSONObject, *, is_needed: bool = False) -> None:
    try:
        private_files.make_folder(os.path.dirname(path_of(tool)))
        private_files.replace_file(path_of(tool), strict_json.dumps(content) + b"\n")
    except OSError:
        if is_needed:
            raise
