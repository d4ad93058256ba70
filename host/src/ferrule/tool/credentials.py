"""Where a credential comes from: the environment, then the credentials file, then an error that says how to set it."""

from __future__ import annotations

import os

from ferrule.config.configuration import credentials_path
from ferrule.errors import CredentialMissing, CredentialsMalformed

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ferrule.config.credentials_file import CredentialsFile

_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH")
_MIN_SECRET_CHARS = 8  # shorter ones would blot out words of the reason


class Credential:
    """One thing that a tool needs, and that must not be shown.

    name: what the tool calls it, as in `context.credential("api_key")`.
    environment: the variable that is looked at first; the same name is a flat key of the credentials file.
    path: the nested key of the credentials file, dotted: `web_search.brave.api_key`.
    url: where the user gets one. description: what it is, in a few words.
    secret: False for what may be shown, such as an engine id; it is looked up in the same way.
    """

    __slots__ = ("description", "environment", "name", "path", "secret", "url")

    def __init__(
        self, name: str, *, environment: str, path: str, url: str = "", description: str = "", secret: bool = True
    ) -> None:
        self.name = name
        self.environment = environment
        self.path = path
        self.url = url
        self.description = description
        self.secret = secret

    def __repr__(self) -> str:
        return f"Credential({self.name!r}, environment={self.environment!r}, path={self.path!r})"

    def look_up(self, environ: Mapping[str, str], file: CredentialsFile | None = None) -> CredentialValue | None:
        """The value that counts: a variable that is not blank, else the nested key of the file, else the flat one.

        Blanks around it are dropped. Raises CredentialsMalformed where it cannot be sent in a header, and where the
        file has no text for it and something else in its place.
        """
        found = next(self.values(environ, file), None)
        if found is None and file is not None:
            self._refuse_what_is_no_text(file)
        if found is not None and not self.is_sendable(found.value):
            raise CredentialsMalformed(
                f"The value of {self.name} ({found.source}) holds a blank, a line break or a character that is not "
                "ASCII, so it cannot be a key.",
                hint="Set it again, with the key alone.",
            )
        return found

    def values(self, environ: Mapping[str, str], file: CredentialsFile | None = None) -> Iterator[CredentialValue]:
        """Every value that it has, the one that counts first; also what cannot be sent."""
        if value := environ.get(self.environment, "").strip():
            yield CredentialValue(value, f"environment variable {self.environment}")
        if file is None:
            return
        for key in (self.path, self.environment):
            if value := file.value(key).strip():
                yield CredentialValue(value, f"{file.path}, key {key}")

    @staticmethod
    def is_sendable(value: str) -> bool:
        """Whether a value can be a key: printable ASCII without blanks, which is what a header can carry."""
        return bool(value) and value.isascii() and value.isprintable() and " " not in value

    def _refuse_what_is_no_text(self, file: CredentialsFile) -> None:
        for key in (self.path, self.environment):
            if file.has_no_text(key):
                raise CredentialsMalformed(
                    f"The value of {self.name} ({file.path}, key {key}) is no text, so it cannot be a key.",
                    hint="Write it in double quotes.",
                )


class CredentialValue:
    """A credential's value and where it was found, in words. Its repr does not show the value."""

    __slots__ = ("source", "value")

    def __init__(self, value: str, source: str) -> None:
        self.value = value
        self.source = source

    def __repr__(self) -> str:
        return f"CredentialValue(source={self.source!r})"


def may_be_secret(variable: str) -> bool:
    """Whether a variable's name says that its value is secret."""
    return any(word in variable.upper() for word in _WORDS)


def likely_secrets(environ: Mapping[str, str] | None = None) -> list[str]:
    """What must not be seen where no tool has said what is secret.

    It is all texts of the credentials file, and the values of all variables that `may_be_secret`.
    """
    from ferrule.config.credentials_file import CredentialsFile

    environ = os.environ if environ is None else environ
    found = [value for name, value in environ.items() if may_be_secret(name)]
    waiting: list[object] = [CredentialsFile(credentials_path(environ)).content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            waiting.extend(one.values() if isinstance(one, dict) else one)
        elif isinstance(one, str):
            found.append(one)
    return [value.strip() for value in found if len(value.strip()) >= _MIN_SECRET_CHARS]


def missing(
    tool: str, credential: Credential, file: str, problem: str | None = None, *, name: str | None = None
) -> CredentialMissing:
    """The error for a credential that is set nowhere, with the `config_required` event that tells the user how.

    tool: its own name, by which `ferrule` knows it. problem: why the file cannot be used; it is in the message, and in
    `details` for a tool that has its own. name: what the client calls the tool, where that is another one.
    """
    get_one = f" Get one: {credential.url}." if credential.url else ""
    because = f" {problem}" if problem else ""
    name = name or tool
    text = (
        f"{name} needs {credential.description or credential.name}.{get_one} Set {credential.environment}, or add it "
        f"to {file} as '{credential.path}'.{because}"
    )
    hint = f"Run: ferrule credentials set {tool} {credential.name}"
    facts = {"tool": name, "credential": credential.name, "signup_url": credential.url}
    data = ", ".join(f"{_quoted(key)}: {_quoted(value)}" for key, value in facts.items())
    event = {"kind": "config_required", "content": f"⚠ Configuration Required\n\n{text}", "data_json": f"{{{data}}}"}
    details = {"problem": problem} if problem else None
    return CredentialMissing("AUTH_MISSING", text, hint=hint, details=details, event=event)


def named(credentials: Iterable[Credential], name: str) -> Credential:
    """The credential of that name; KeyError with the names there are where a tool asks for one it did not declare."""
    known = {credential.name: credential for credential in credentials}
    if name not in known:
        raise KeyError(f"credential {name!r} is not declared by the tool; its credentials hook lists {sorted(known)}")
    return known[name]


def _quoted(text: str) -> str:
    from ferrule.text import strict_json

    return strict_json.dumps(text).decode()
