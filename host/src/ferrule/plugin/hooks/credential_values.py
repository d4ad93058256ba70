"""Where a Context has the values of credentials from: it looks them up, or was given them in an answer of the host.

A process that runs a plugin has neither the variables of other tools nor the credentials file, so it asks its parent.
Only code that has loaded a tool into its own process, such as a test, looks them up itself.
"""

from __future__ import annotations

import os

from ferrule.config.configuration import credentials_path
from ferrule.errors import AnswerMissing, CredentialsMalformed, ToolError
from ferrule.plugin.hooks.credentials import CredentialValue

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Protocol

    from ferrule.config.credentials_file import CredentialsFile
    from ferrule.errors import FerruleError
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONMapping, JSONObject

    class CredentialValues(Protocol):
        """The values of a tool's credentials."""

        @property
        def path(self) -> str:
            """The credentials file."""

        @property
        def problem(self) -> str | None:
            """Why that cannot be used, None where it can."""

        def find(self, credential: Credential) -> CredentialValue | None:
            """The value that counts, None if there is none.

            Raises CredentialsMalformed as `Credential.look_up`, and ToolError where the tool is not given it.
            """

        def secrets(self, credentials: Iterable[Credential]) -> list[str]:
            """Every value of those that are secret, wherever one is set."""

        def fingerprint(self, credential: Credential) -> str | None:
            """What tells its value from another, None if there is none."""

        def renew(self, tool: str, credential: Credential, refused: str) -> None:
            """Have a value renewed that a server has refused, where it is a token of OAuth.

            Raises AnswerMissing where nobody does so in time; where it cannot be renewed, `find` says why.
            """

        def withdraw(self) -> None:
            """The call has ended: the variables of its process are what they were before it."""


REFUSED = "refused"  # the key of a question under which a value stands that a server has refused


class LocalValues:
    """The values that this process finds in its own environment and in the credentials file."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._file: CredentialsFile | None = None

    @property
    def file(self) -> CredentialsFile:
        """The credentials file, read once."""
        if self._file is None:
            from ferrule.config.credentials_file import CredentialsFile

            self._file = CredentialsFile(credentials_path(self._environ))
        return self._file

    @property
    def path(self) -> str:
        """See `CredentialValues`."""
        return self.file.path

    @property
    def problem(self) -> str | None:
        """See `CredentialValues`."""
        return self.file.problem

    def find(self, credential: Credential) -> CredentialValue | None:
        """See `CredentialValues`."""
        return credential.look_up(self._environ, self.file)

    def secrets(self, credentials: Iterable[Credential]) -> list[str]:
        """See `CredentialValues`."""
        from ferrule.text.json_diagnosis import is_surrogate

        return [
            found.value
            for credential in credentials
            if credential.secret
            for found in credential.values(self._environ, self.file)
            if not is_surrogate(found.value)  # which no output can hold
        ]

    def fingerprint(self, credential: Credential) -> str | None:
        """See `CredentialValues`."""
        from ferrule.plugin.cache_identity import fingerprint

        found = next(credential.values(self._environ, self.file), None)
        return fingerprint(found.value) if found else None

    def renew(self, tool: str, credential: Credential, refused: str) -> None:
        """See `CredentialValues`. Raises ToolError where it cannot be renewed."""
        from ferrule.trust.credentials.renewal import renew_value

        renew_value(credential, self._environ, self.file, refused)
        self._file = None

    def withdraw(self) -> None:
        """See `CredentialValues`. None was set."""


class GivenValues:
    """The values that the host has answered with, as `describe` wrote them."""

    def __init__(self, answer: JSONMapping) -> None:
        self.path = str(answer.get("path", ""))
        self.problem: str | None = answer.get("problem")
        self._known: JSONObject = answer.get("credentials") or {}
        self._before: dict[str, str | None] = {}

    def find(self, credential: Credential) -> CredentialValue | None:
        """See `CredentialValues`."""
        known = self._of(credential)
        if denied := known.get("denied"):
            raise ToolError.from_facts(denied)
        if malformed := known.get("malformed"):
            raise CredentialsMalformed(str(malformed["message"]), hint=malformed.get("hint"))
        return CredentialValue(known["value"], known["source"]) if known.get("value") else None

    def secrets(self, credentials: Iterable[Credential]) -> list[str]:
        """See `CredentialValues`."""
        return [value for one in credentials if one.secret for value in self._of(one).get("secrets", ())]

    def fingerprint(self, credential: Credential) -> str | None:
        """See `CredentialValues`."""
        found: str | None = self._of(credential).get("fingerprint")
        return found

    def publish(self, credentials: Iterable[Credential]) -> None:
        """Set the variables whose values the host has taken from its environment, for code that looks there."""
        for credential in credentials:
            known = self._of(credential)
            if known.get("is_variable") and not known.get("denied") and known.get("value"):
                self._before.setdefault(credential.environment, os.environ.get(credential.environment))
                os.environ[credential.environment] = known["value"]

    def renew(self, tool: str, credential: Credential, refused: str) -> None:
        """See `CredentialValues`."""
        from ferrule.supervision.channel.channel import current_channel

        channel = current_channel()
        answer = (
            channel.ask({"tool": tool, "credentials": [credential.as_dict()], REFUSED: refused}) if channel else None
        )
        known = (answer or {}).get("credentials")
        if answer is None or answer.get("tool") != tool or not isinstance(known, dict):
            raise AnswerMissing()
        self._known = {**self._known, **known}

    def withdraw(self) -> None:
        """See `CredentialValues`."""
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def _of(self, credential: Credential) -> JSONObject:
        """What was answered about this one. Raises AnswerMissing where nothing was: it may be set all the same."""
        known = self._known.get(credential.name)
        if not isinstance(known, dict) or known.get("place") != _place(credential):
            raise AnswerMissing()
        return known


def describe(
    credentials: Sequence[Credential],
    values: LocalValues,
    denied: Mapping[str, FerruleError],
) -> JSONObject:
    """What a host answers about credentials: `GivenValues` reads it. `secrets` are all values in it.

    denied: why one is not given, by its name.
    """
    answered = {one.name: _describe(one, values, denied.get(one.name)) for one in credentials}
    secrets = [value for one in answered.values() for value in one.get("secrets", ())]
    return {"path": values.path, "problem": values.problem, "credentials": answered, "secrets": secrets}


def _describe(credential: Credential, values: LocalValues, denied: FerruleError | None) -> JSONObject:
    if denied is not None:
        return {"denied": denied.facts(), "place": _place(credential)}
    try:
        found = values.find(credential)
    except CredentialsMalformed as error:
        malformed = {"message": error.message, "hint": error.hint}
        return {"malformed": malformed, "fingerprint": values.fingerprint(credential), "place": _place(credential)}
    if found is None:
        return {"place": _place(credential)}
    return {
        "value": found.value,
        "source": found.source,
        "is_variable": found.is_variable,
        "fingerprint": values.fingerprint(credential),
        "secrets": values.secrets([credential]),
        "place": _place(credential),
    }


def _place(credential: Credential) -> list[str]:
    """Where it is looked for: what tells it from another tool's of the same name."""
    return [credential.environment, credential.path]


def ask_for_values(channel: Channel, tool: str, credentials: Sequence[Credential]) -> CredentialValues:
    """The values of a tool's credentials in a process that runs it, asked of its parent where that answers.

    Raises AnswerMissing where that does not answer in time.
    """
    answer = channel.ask({"tool": tool, "credentials": [one.as_dict() for one in credentials]})
    if answer is None:
        found = LocalValues()
        channel.secrets(found.secrets(credentials))
        return found
    if answer.get("tool") != tool:
        raise AnswerMissing()
    given = GivenValues(answer)
    given.publish(credentials)
    return given
