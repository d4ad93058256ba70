"""What a command line means: what has to be installed, what is started then, and which secrets it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

PYPI, NPM, NONE = "pypi", "npm", "none"
"""Where the packages of a server come from; NONE installs nothing."""

SCRIPT, MODULE, FILE, PROGRAM = "script", "module", "file", "program"
"""What is started: a command that a package brings, a Python module, a file for an interpreter, a program."""


class LaunchRefused(FerruleError):
    """A command line that cannot become a server of its own environment; the hint says what to write instead."""

    code = "LAUNCH_REFUSED"


class Secret(NamedTuple):
    """A value that belongs into the credentials.

    name: of the credential. value: empty where only a placeholder stood there. variable: the variable whose whole value
    it is; empty where `{name}` stands for it, in an argument, a header or a variable with more text.
    """

    name: str
    value: str
    variable: str = ""

    def __repr__(self) -> str:
        """Without the value, so that no log and no traceback has it."""
        return f"Secret(name={self.name!r}, variable={self.variable!r})"


class Remote(NamedTuple):
    """A server that is reached at an address. transport: `http` or `sse`. headers: with `{name}` for secrets."""

    transport: str
    url: str
    headers: Mapping[str, str] = {}
    secrets: tuple[Secret, ...] = ()
    notes: tuple[str, ...] = ()


class Launch(NamedTuple):
    """How one server is installed and started. A new value is made for each change.

    ecosystem: PYPI, NPM or NONE. kind: SCRIPT, MODULE, FILE or PROGRAM. executable: the script's name (empty for the
    one of the package), the module, or an absolute path. requirements: as the installer takes them. interpreter: what
    runs a file or module where nothing is installed. flags: of the interpreter. python: the version that was asked for.
    options: of the installer, such as `--index-url X`. variables: without secrets. folder: where the server starts,
    empty where nothing says so. notes: sentences on what was read in another way than it was written.
    """

    ecosystem: str
    kind: str
    executable: str
    requirements: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    interpreter: str = ""
    flags: tuple[str, ...] = ()
    python: str = ""
    options: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}
    secrets: tuple[Secret, ...] = ()
    folder: str = ""
    notes: tuple[str, ...] = ()

    def add_notes(self, *sentences: str) -> Launch:
        """The same with more notes."""
        return self._replace(notes=(*self.notes, *sentences))

    def to_json(self) -> JSONObject:
        """What a record keeps, to install the same again: all but the values of secrets."""
        needed = ("ecosystem", "kind", "executable")
        fields = {name: value for name, value in self._asdict().items() if name in needed or value}
        fields.pop("secrets", None)
        fields = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
        secrets = [{"name": one.name, "variable": one.variable} for one in self.secrets]
        return {**fields, "variables": dict(self.variables), "secrets": secrets}

    @classmethod
    def from_json(cls, content: JSONObject) -> Launch:
        """The launch that `to_json` has written; its secrets have no values. Raises LaunchRefused."""
        try:
            fields: JSONObject = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in content.items()
                if name in cls._fields and name != "secrets"
            }
            secrets = tuple(Secret(str(one["name"]), "", str(one["variable"])) for one in content.get("secrets", ()))
            return cls(**fields, secrets=secrets)
        except (KeyError, TypeError, AttributeError):
            raise LaunchRefused(
                "The record of the server does not say how it is started.",
                hint="Remove the server and add it again.",
            ) from None


def fill_secrets(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The words with the values of credentials where `{name}` stands for them; other braces stay as they are."""
    return [_fill(word, values) for word in words]


def _fill(word: str, values: Mapping[str, str]) -> str:
    """One pass from left to right: what a value itself has in braces is not replaced."""
    head, brace, tail = word.partition("{")
    if not brace:
        return head
    name, end, rest = tail.partition("}")
    if end and name in values:
        return head + values[name] + _fill(rest, values)
    return head + brace + _fill(tail, values)
