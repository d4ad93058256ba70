"""Where a credential comes from: the environment, then the credentials file, then an error that says how to set it."""

from __future__ import annotations

import os

from ferrule.config.configuration import credentials_path
from ferrule.errors import CredentialMissing, CredentialsMalformed
from ferrule.trust.entries import may_be_secret

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ferrule.config.credentials_file import CredentialsFile

_PLACEHOLDER_BEGINNINGS = ("your-", "my-api-key", "insert-", "enter-", "replace-", "paste-", "put-")
_PLACEHOLDER_ENDS = ("-here", "-goes-here")
_PLACEHOLDERS = ("changeme", "change-me", "api-key", "apikey", "todo")
_SECRETS_OF_TOKEN = ("access_token", "refresh_token", "client_secret")
_MIN_SECRET_CHARS = 8  # shorter ones would blot out words of the reason


class Credential:
    """One thing that a tool needs, and that must not be shown.

    Args:
        name: what the tool calls it, as in `context.credential("api_key")`.
        environment: the variable that is looked at first; the same name is a flat key of the credentials file.
        path: the nested key of the credentials file, dotted: `web_search.brave.api_key`.
        url: where the user gets one.
        description: what it is, in a few words.
        secret: False for what may be shown, such as an engine id; it is looked up in the same way.
        required: False for what the tool works without, such as a key that raises a limit.
    """

    __slots__ = ("description", "environment", "name", "path", "required", "secret", "url")

    def __init__(
        self,
        name: str,
        *,
        environment: str,
        path: str,
        url: str = "",
        description: str = "",
        secret: bool = True,
        required: bool = True,
    ) -> None:
        self.name = name
        self.environment = environment
        self.path = path
        self.url = url
        self.description = description
        self.secret = secret
        self.required = required

    def __repr__(self) -> str:
        return f"Credential({self.name!r}, environment={self.environment!r}, path={self.path!r})"

    def as_dict(self) -> dict[str, str | bool]:
        """The arguments from which another process makes it."""
        facts = {name: getattr(self, name) for name in Credential.__slots__}  # those of a subclass are its own
        return {name: value for name, value in facts.items() if name != "required" or not value}

    def is_one_of(self, others: Iterable[Credential]) -> bool:
        """Whether one of the others has its name and is looked for in the same places."""
        return any(_place(self) == _place(one) for one in others)

    def look_up(self, environ: Mapping[str, str], file: CredentialsFile | None = None) -> CredentialValue | None:
        """The value that counts: a variable that is not blank, else the nested key of the file, else the flat one.

        Blanks around it are dropped. Raises CredentialsMalformed where it cannot be sent in a header or is a
        placeholder, and where the file has no text for it and something else in its place.
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
        if found is not None and is_placeholder(found.value):
            raise CredentialsMalformed(
                f"The value of {self.name} ({found.source}) is a placeholder, and no key.",
                hint="Set it to the key that you were given.",
            )
        return found

    def values(self, environ: Mapping[str, str], file: CredentialsFile | None = None) -> Iterator[CredentialValue]:
        """Every value that it has, the one that counts first; also what cannot be sent."""
        if value := environ.get(self.environment, "").strip():
            yield CredentialValue(value, f"environment variable {self.environment}", is_variable=True)
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
        if part := file.blocked_at(self.path):
            key = self.path.removeprefix(f"{part}.")
            raise CredentialsMalformed(
                f"The value of {self.name} is not set: in {file.path}, an object with the key {key} is expected as "
                f"{part}, and something else stands there.",
                hint=f"Write it as an object, or run: ferrule credentials unset {part}",
            )
        for key in (self.path, self.environment):
            if file.has_no_text(key):
                raise CredentialsMalformed(
                    f"The value of {self.name} ({file.path}, key {key}) is no text, so it cannot be a key.",
                    hint="Write it in double quotes.",
                )


def _place(credential: Credential) -> tuple[str, str, str]:
    return credential.name, credential.environment, credential.path


def static_credentials(module_file: str) -> list[Credential]:
    """Read the credentials that the `tool.json` of a plugin lists; call it as `static_credentials(__file__)`.

    It is the file in the folder of the module. Raises FileNotFoundError if there is none, and ValueError where it is
    not strict JSON, or its `credentials` are no list of objects with the arguments of `Credential`.
    """
    from ferrule.schema import schema_file
    from ferrule.text import strict_json

    path = os.path.join(os.path.dirname(module_file), schema_file.DECLARATION)
    data = schema_file.read_file(path)
    try:
        return [Credential(**one) for one in strict_json.loads_object(data).get("credentials", [])]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


class CredentialValue:
    """A credential's value and where it was found, in words. Its repr does not show the value.

    is_variable: whether it was found in the environment.
    """

    __slots__ = ("is_variable", "source", "value")

    def __init__(self, value: str, source: str, *, is_variable: bool = False) -> None:
        self.value = value
        self.source = source
        self.is_variable = is_variable

    def __repr__(self) -> str:
        return f"CredentialValue(source={self.source!r})"


def is_placeholder(value: str) -> bool:
    """Whether a value is what an example has instead of a key, such as `your-api-key-here` or `<API_KEY>`."""
    plain = value.lower().replace("_", "-").strip("\"'")
    if plain.startswith(("<", "{", "[", "$")) and plain.endswith((">", "}", "]")):
        return True
    is_told = plain.startswith(_PLACEHOLDER_BEGINNINGS) or plain.endswith(_PLACEHOLDER_ENDS)
    return is_told or plain in _PLACEHOLDERS or not plain.strip("x.*-")


def secret_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """The values of all variables that `may_be_secret`, of a length at which nothing else is taken for one."""
    environ = os.environ if environ is None else environ
    found = (environ[name].strip() for name in environ if may_be_secret(name))
    return [value for value in found if len(value) >= _MIN_SECRET_CHARS]


def likely_secrets(environ: Mapping[str, str] | None = None) -> list[str]:
    """What must not be seen where no tool has said what is secret.

    It is all texts of the credentials file, and what `secret_variables` gives.
    """
    from ferrule.config.credentials_file import CredentialsFile

    environ = os.environ if environ is None else environ
    found: list[str] = []
    waiting: list[object] = [CredentialsFile(credentials_path(environ)).content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            waiting.extend(_members(one) if isinstance(one, dict) else one)
        elif isinstance(one, str):
            found.append(one.strip())
    return [*secret_variables(environ), *(value for value in found if len(value) >= _MIN_SECRET_CHARS)]


def _members(one: dict[str, object]) -> Iterable[object]:
    """What an object of the credentials file holds; of a token, what is secret of it, and not its addresses."""
    return [one.get(name) for name in _SECRETS_OF_TOKEN] if _SECRETS_OF_TOKEN[0] in one else one.values()


def missing(
    tool: str, credential: Credential, file: str, problem: str | None = None, *, name: str | None = None
) -> CredentialMissing:
    """The error for a credential that is set nowhere, with the `config_required` event that tells the user how.

    Args:
        tool: its own name, by which `ferrule` knows it.
        problem: why the file cannot be used; the message begins with it, and it is in `details` for a tool that has its
            own.
        name: what the client calls the tool, where that is another one.
    """
    get_one = f" Get one: {credential.url}." if credential.url else ""
    because = f"{problem} " if problem else ""
    name = name or tool
    text = (
        f"{because}{name} needs {credential.description or credential.name}.{get_one} Set {credential.environment}, "
        f"or add it to {file} as '{credential.path}'."
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
