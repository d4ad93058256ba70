"""Whether the credentials that tools and distributions declare are set, and where from. Never shows a value.

A distribution that needs credentials for something else than a tool, such as a command, declares them by an entry point
of the group `ferrule.credentials`: `NAME = "module:function"`. The function takes nothing and returns a list of
`Credential`; NAME stands for the tool's name then. A tool of that name comes first. The function runs in a supervised
child, which sees no file of the user's and no key. What it returns is data, by which the host looks here.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, cast

from ferrule import discovery
from ferrule.admin.entry_point import EntryPoint, entry_points
from ferrule.config.configuration import credentials_path, home
from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import CredentialsMalformed
from ferrule.plugin import declared_credentials
from ferrule.plugin.hooks.credentials import Credential
from ferrule.supervision.exception_text import name_and_text
from ferrule.trust import records
from ferrule.trust.credentials import claims as credential_claims

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.discovery import InstalledTool
    from ferrule.installed.inventory import Entry
    from ferrule.plugin.hooks.credentials import CredentialValue
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONObject
    from ferrule.trust.credentials.claims import Claim

SET, MISSING, UNUSABLE, CLAIMED = "set", "missing", "unusable", "claimed"


class CredentialStatus:
    """One credential of one tool, or of what else needs it.

    state: `set`, `missing`, `unusable` or `claimed`. source: where its value was found, None where it was not. problem:
    why it cannot be used, None where it can.

    Args:
        claim: another distribution declared it first, and the admin has not accepted that this one has it, too.
    """

    def __init__(self, tool: str, credential: Credential, file: CredentialsFile, claim: Claim | None = None) -> None:
        self.tool = tool
        self.credential = credential
        self.name = credential.name
        self.url = credential.url
        self.file = file.path
        self.claim = claim
        self.source: str | None = None
        self.problem: str | None = None
        try:
            found = credential.look_up(os.environ, file)
        except CredentialsMalformed as error:
            self.problem = error.message
        else:
            self.source = found.source if found else None
            self.problem = None if found else file.problem

    @property
    def state(self) -> str:
        """`set`, `missing`, `unusable` or `claimed`."""
        if self.claim:
            return CLAIMED
        if self.source:
            return SET
        return UNUSABLE if self.problem else MISSING

    def where(self) -> str:
        """Where it was found, else where it is looked for, in that order."""
        sought = f"${self.credential.environment}, or {self.credential.path} in the credentials file"
        return self.problem or self.source or sought

    def as_dict(self) -> JSONObject:
        """The status as JSON; `keys` are those of the credentials file, in the order of looking."""
        return {
            "tool": self.tool,
            "name": self.name,
            "description": self.credential.description,
            "environment": self.credential.environment,
            "file": self.file,
            "keys": [self.credential.path, self.credential.environment],
            "url": self.url,
            "state": self.state,
            "source": self.source,
            "problem": self.problem,
            "claim": self.claim.as_dict() if self.claim else None,
        }


def statuses(entry: Entry, file: CredentialsFile | None = None) -> list[CredentialStatus]:
    """The status of each credential that a loaded tool declares, in the tool's order."""
    if not entry.credentials:
        return []
    file = CredentialsFile(credentials_path()) if file is None else file
    declared = [Credential(**facts) for facts in entry.credentials]
    claims = {claim.credential: claim for claim in waiting_claims(entry.tool, declared)}
    return [CredentialStatus(entry.name, one, file, claims.get(one.name)) for one in declared]


def waiting_claims(tool: InstalledTool, declared: Sequence[Credential]) -> list[Claim]:
    """The claims of a tool that the admin has not accepted."""
    found = credential_claims.record(tool, declared, withheld=records.find_withheld(tool))
    return [claim for claim in found if not claim.is_accepted]


def record_installed(tool: InstalledTool) -> None:
    """Find out and keep what a tool declares that was installed just now, so that it is the owner of that from now on.

    Its hook is asked where no file says it: in a process of its own, that is held, without keys. What fails is told by
    the commands that look at the tool.
    """
    declared_credentials.ask_new_version(tool)
    known = declared_credentials.find_declared(tool)
    if known:
        declared_credentials.record_ownership(tool, known)


def owners() -> dict[str, EntryPoint]:
    """The distributions that declare credentials which are no tool's, by the name of the entry point."""
    return entry_points(discovery.CREDENTIALS, discovery.scan())[0]


def declared(owner: EntryPoint) -> list[Credential]:
    """The credentials that a distribution declares. Raises FerruleError that names it where it cannot say."""
    from ferrule.installed.supervised_work import run_supervised
    from ferrule.trust.load_policy import policy_for_code

    answer = run_supervised(partial(_declare_in_child, owner), policy_for_code(owner.name))
    found = cast("dict[str, list[JSONObject]]", answer)["credentials"]
    return [_InFiles(files, **facts) if (files := facts.pop("files")) else Credential(**facts) for facts in found]


class _InFiles(Credential):
    """One that may stand on the first line of a file of its own, too, below the home; files: their paths."""

    __slots__ = ("_files",)

    def __init__(self, files: Sequence[str], **facts: str) -> None:
        super().__init__(**facts)  # type: ignore[arg-type] # `secret` is the one that is no text
        self._files = [os.path.join(home(), os.path.normpath(f"/{path}")[1:]) for path in files]

    def look_up(self, environ: Mapping[str, str], file: CredentialsFile | None = None) -> CredentialValue | None:
        """As `Credential.look_up`, and then in its own files."""
        found = super().look_up(environ, file)
        for path in () if found else self._files:
            own = CredentialsFile(path, lambda path, data: {self.environment: _first_line(path, data)})
            found = super().look_up({}, own)
            if found is None and own.problem:
                raise CredentialsMalformed(own.problem)
            if found is not None:
                break
        return found


def _first_line(path: str, data: bytes) -> str:
    try:
        return next(iter(data.decode("utf-8-sig").splitlines()), "")
    except UnicodeDecodeError:
        raise CredentialsMalformed(f"{path} is not text in UTF-8.") from None


def _declare_in_child(owner: EntryPoint, channel: Channel) -> None:
    title = "credential list"
    declare = owner.load(title)
    try:
        found = declare() if callable(declare) else None
    except BaseException as error:
        raise owner.unusable(title, f"fails ({name_and_text(error)})") from error
    if not isinstance(found, list) or not all(isinstance(one, Credential) for one in found):
        raise owner.unusable(title, "returns no list of ferrule.Credential")
    facts = [{**one.as_dict(), "files": list(getattr(one, "files", ()))} for one in found]
    for one in facts:
        texts = [value for key, value in one.items() if key not in ("secret", "required", "files")]
        if not all(isinstance(text, str) for text in (*texts, *one["files"])) or not isinstance(one["secret"], bool):
            raise owner.unusable(title, "returns a ferrule.Credential with a field that is no text")
    channel.result({"credentials": facts})
