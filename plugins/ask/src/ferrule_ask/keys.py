"""Keys, in the three ways in which the user sets one: for this session, in the environment, in a file. Shows none.

The session is a function of Python or SQL. The files are the credentials file and, after it, `~/.stps/NAME` with the
key on its first line, NAME being the variable's in small letters: `~/.stps/brave_api_key`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

from ferrule import Credential, CredentialValue
from ferrule.config import CredentialsFile, credentials_path, home
from ferrule.errors import CredentialsMalformed


class _ModelKey(Credential):
    """The model's key as `ferrule credentials` sees it: it may stand in a file of its own, too.

    files: those on whose first line it may stand, from the home of the user; `ferrule credentials` looks there itself.
    """

    __slots__ = ()

    @property
    def files(self) -> tuple[str, ...]:
        return (f"{_FOLDER}/{self.environment.lower()}",)

    def look_up(self, environ: Mapping[str, str], file: CredentialsFile | None = None) -> CredentialValue | None:
        """As `Keys.find` does."""
        return Keys(environ).find(self.environment, self.path)


ANTHROPIC = _ModelKey(
    "api_key",
    environment="ANTHROPIC_API_KEY",
    path="llm.anthropic.api_key",
    url="https://platform.claude.com/settings/keys",
    description="an API key of Anthropic",
)
SESSION = "set for this session"
_FOLDER = ".stps"
_PATHS: dict[str, str] = {}
_TOKENS = ("ANTHROPIC_AUTH_TOKEN",)


def model_key(provider: str, variable: str, url: str = "") -> Credential:
    """The key of a provider of models, which is kept from tools from now on.

    Args:
        variable: of the environment.
        url: where the user gets one.
    """
    path, words = f"llm.{provider}.api_key", f"an API key of {provider}"
    return register_key(_ModelKey("api_key", environment=variable, path=path, url=url, description=words))


def register_key(key: Credential) -> Credential:
    """A key of a provider of models, which is kept from tools from now on."""
    _PATHS[key.environment] = key.path
    return key


def model_variables() -> tuple[str, ...]:
    """The variables of all keys of models that are known here."""
    return (*_PATHS, *_TOKENS)


register_key(ANTHROPIC)
OWNERS = {
    "ANTHROPIC_API_KEY": "ask",
    "OPENAI_API_KEY": "openai",
    "GEMINI_API_KEY": "gemini",
    "OPENROUTER_API_KEY": "openrouter",
}
"""Whose keys these are in `ferrule credentials set OWNER`."""
OPENAI = model_key("openai", "OPENAI_API_KEY", "https://platform.openai.com/api-keys")
GEMINI = model_key("gemini", "GEMINI_API_KEY", "https://aistudio.google.com/apikey")
OPENROUTER = model_key("openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/settings/keys")


class Keys:
    """What has been set for this session, and where else a key is looked for.

    environ: the environment, `os.environ` by default, as it is when a key is looked for. Its repr shows no value.
    """

    __slots__ = ("_environ", "_lock", "_session", "_warnings")

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._session: dict[str, str] = {}
        self._warnings: dict[str, None] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Keys(session={sorted(self._session)})"

    def set(self, variable: str, value: str | None) -> None:
        """Set a key for this session, under the variable's name; it wins over all else. None or blank unsets it.

        Blanks around it are dropped. Raises CredentialsMalformed for what no header can carry and for what an example
        has instead of a key, and sets nothing then.
        """
        value = (value or "").strip()
        if value and not Credential.is_sendable(value):
            raise CredentialsMalformed(
                f"The value for {variable} holds a blank, a line break or a character that is not ASCII, so it cannot "
                "be a key.",
                hint="Set it again, with the key alone.",
            )
        if value and _is_placeholder(value):
            raise CredentialsMalformed(
                f"The value for {variable} is a placeholder, and no key.", hint="Set it to the key that you were given."
            )
        with self._lock:
            self._session = {name: one for name, one in self._session.items() if name != variable}
            if value:
                self._session[variable] = value

    def find(self, variable: str, path: str = "") -> CredentialValue | None:
        """The key that counts: of the session, the environment, the credentials file, or `~/.stps`; None without one.

        path: the nested key of the credentials file, where it has one; the variable's own name is looked for next. What
        is blank counts as not set. Raises CredentialsMalformed where the first value found cannot be a key, and where
        there is none but a file that could have it cannot be read or trusted.
        """
        if variable in self._session:
            return CredentialValue(self._session[variable], SESSION)
        credential = Credential(variable, environment=variable, path=path or _PATHS.get(variable, variable))
        environ = self._environ
        problems: list[str | None] = []
        for file in (CredentialsFile(credentials_path(environ)), *self._own_file(variable)):
            found = credential.look_up(environ, file)
            if found is not None:
                self._warn(found, file, problems)
                return found
            problems.append(file.problem)
        for problem in filter(None, problems):
            raise CredentialsMalformed(problem)
        return None

    def find_optional(self, variable: str, path: str = "") -> CredentialValue | None:
        """The same for what can be done without: what cannot be a key counts as not set, with a warning."""
        try:
            return self.find(variable, path)
        except CredentialsMalformed as error:
            self._warnings[f"{error.message} It is done without."] = None
            return None

    def session(self) -> dict[str, str]:
        """The values that are set for this session, by variable. They are secret."""
        return dict(self._session)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the owner of the files in which a key was found, or passed over, should fix, as sentences."""
        return tuple(self._warnings)

    def _own_file(self, variable: str) -> list[CredentialsFile]:
        # A variable is named by a plugin, and must not lead out of the folder.
        if not (variable.isascii() and variable.isidentifier()):
            return []
        path = os.path.join(home(self._environ), _FOLDER, variable.lower())
        return [CredentialsFile(path, lambda path, data: {variable: _first_line(path, data)})]

    def _warn(self, found: CredentialValue, file: CredentialsFile, problems: list[str | None]) -> None:
        is_of_the_file = found.source.startswith(f"{file.path}, ")
        for text in (*problems, file.warning if is_of_the_file else None):
            if text:
                self._warnings[text] = None


def how_to_set(credential: Credential) -> str:
    """The ways to set a key outside of a program, and where the user gets one, as one or two sentences."""
    get_one = f" Get one: {credential.url}." if credential.url else ""
    variable = credential.environment
    return (
        f"Set {variable}, or add it to {credentials_path()} as '{credential.path}', or write it on the first line of "
        f"~/{_FOLDER}/{variable.lower()}.{get_one}"
    )


def credentials() -> list[Credential]:
    """What `ferrule credentials` shows and sets for `ferrule ask`."""
    return [ANTHROPIC]


def openai_credentials() -> list[Credential]:
    """The same for `openai`."""
    return [OPENAI]


def gemini_credentials() -> list[Credential]:
    """The same for `gemini`."""
    return [GEMINI]


def openrouter_credentials() -> list[Credential]:
    """The same for `openrouter`."""
    return [OPENROUTER]


def _is_placeholder(value: str) -> bool:
    try:
        Credential("key", environment="KEY", path="key").look_up({"KEY": value})
    except CredentialsMalformed:
        return True
    return False


def _first_line(path: str, data: bytes) -> str:
    try:
        return next(iter(data.decode("utf-8-sig").splitlines()), "")
    except UnicodeDecodeError:
        raise CredentialsMalformed(f"{path} is not text in UTF-8.") from None
