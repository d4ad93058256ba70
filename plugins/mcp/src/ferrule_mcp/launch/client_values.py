"""The variables in the texts of a client's configuration, such as `${API_KEY}`: put in, or kept as credentials."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule_mcp.launch.json_values import read_objects, read_texts
from ferrule_mcp.launch.plan import Secret
from ferrule_mcp.launch.secret_values import credential_name, is_placeholder, may_hold_secret

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_REFERENCE = re.compile(r"\$\{(?P<kind>env:|input:)?(?P<name>[^}:]+)(?::-(?P<default>[^}]*))?\}")
_SHELL = re.compile(r"\$(?P<name>[A-Za-z_]\w*)")


class Expansion:
    """Puts values into the texts of one server, and collects the secrets among them.

    Args:
        project: the folder that the configuration belongs to.
        inputs: what the client would ask its user for, by the names.
        environ: the variables of this process.
        knows_shell: whether `$NAME` without braces is a variable, too.
    """

    def __init__(
        self, project: Path, inputs: Sequence[JSONObject], environ: Mapping[str, str], *, knows_shell: bool
    ) -> None:
        self._project = project
        self._inputs = {str(one.get("id")): one for one in inputs}
        self._environ = environ
        self._knows_shell = knows_shell
        self.secrets: list[Secret] = []
        self.missing: list[str] = []

    def expand(self, text: str) -> str:
        """The text with values, and with `{name}` where a secret belongs."""
        text = _REFERENCE.sub(
            lambda found: self._replace(found[0], found["kind"], found["name"], found["default"]), text
        )
        if self._knows_shell:
            text = _SHELL.sub(lambda found: self._replace(found[0], "env:", found["name"], None), text)
        return text

    def expand_map(self, content: Mapping[str, str]) -> dict[str, str]:
        """Variables, or headers. One whose whole value is a secret by its name is one."""
        found: dict[str, str] = {}
        for name, text in content.items():
            before = len(self.secrets)
            value = self.expand(text)
            if len(self.secrets) == before and not re.search(r"\{\w+\}", value) and may_hold_secret(name, value):
                value = self.add_secret(credential_name(name), "" if is_placeholder(value) else value)
            found[name] = value
        return found

    def add_variable(self, variable: str) -> str:
        """A credential for a variable that holds a secret, and how it stands in a text."""
        return self.add_secret(credential_name(variable), self._environ.get(variable, ""))

    def add_secret(self, name: str, value: str) -> str:
        """A credential of this name, and how it stands in a text. One with another value gets another name."""
        known = next((one for one in self.secrets if one.name == name), None)
        if known is not None and known.value != value:
            return self.add_secret(f"{name}_{len(self.secrets) + 1}", value)
        if known is None:
            self.secrets.append(Secret(name, value))
        return "{" + name + "}"

    def _replace(self, whole: str, kind: str | None, name: str, default: str | None) -> str:
        """What stands for a reference, which is `whole`; itself where nothing is known for it."""
        if kind == "input:":
            return self._ask(name)
        places = {
            "workspaceFolder": str(self._project), "workspaceRoot": str(self._project), "cwd": str(self._project),
            "workspaceFolderBasename": self._project.name, "userHome": str(Path.home()), "pathSeparator": os.sep,
            "/": os.sep,
        }  # fmt: skip
        if kind is None and name in places:
            return places[name]
        value = self._environ.get(name)
        if may_hold_secret(name, value or ""):
            return self.add_secret(credential_name(name), value or default or "")
        if value is None and default is None:
            self.missing.append(name)
            return whole
        return default or "" if value is None else value

    def _ask(self, name: str) -> str:
        """An input of the client's: a password becomes a credential, anything else has its default or one, too."""
        asked = self._inputs.get(name, {})
        default = asked.get("default") or next(iter(read_texts(asked.get("options"))), "")
        if default and asked.get("password") is not True:
            return str(default)
        return self.add_secret(credential_name(name), "")


def read_inputs(content: JSONObject) -> list[JSONObject]:
    """What VS Code asks its user for, wherever it stands in the file."""
    inner = content.get("mcp")
    nested = inner.get("inputs") if isinstance(inner, dict) else None
    return [*read_objects(content.get("inputs")), *read_objects(nested)]
