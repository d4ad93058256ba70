"""What is written down of an environment: which packages it has, what starts the server, and digests of all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError
from ferrule_mcp.launch.plan import Secret

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


class InstallFailed(FerruleError):
    """The environment of a server could not be made; what was there before is still there."""

    code = "INSTALL_FAILED"


class Package(NamedTuple):
    """One package as it lies there.

    digest: of its installed files, as `sha256=HEX`; the same for each installer, and checked without a network.
    archive: of the archive that it came in, as the registry names it, `sha512-BASE64` or `sha256=HEX`; empty where the
    installer does not tell. wants_script: whether it has an install script that was left out.
    """

    ecosystem: str
    name: str
    version: str
    digest: str
    archive: str = ""
    wants_script: bool = False

    def to_json(self) -> JSONObject:
        """Without what is empty."""
        return {name: value for name, value in self._asdict().items() if value}


class Environment(NamedTuple):
    """An environment that was installed.

    ecosystem: `pypi`, `npm` or `none`. folder: absolute; empty where nothing is installed. command: what starts the
    server, with absolute paths and `{NAME}` for credentials; variables have such marks, too. version: of the package
    that was asked for. files: the digest of the list of all files, which lies in the folder. watched: digests of files
    outside, by their paths, that the command names. notes: sentences for the admin. secrets: without their values.
    start_folder: where the server starts, empty where nothing says so.
    """

    ecosystem: str
    folder: str
    command: tuple[str, ...]
    variables: Mapping[str, str]
    version: str
    packages: tuple[Package, ...]
    files: str
    watched: Mapping[str, str]
    notes: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    start_folder: str = ""

    @property
    def left_out_scripts(self) -> list[str]:
        """The packages whose install scripts were not run."""
        return [one.name for one in self.packages if one.wants_script]

    def to_json(self) -> JSONObject:
        """A JSON object that `from_json` reads."""
        return {
            **self._asdict(),
            "command": list(self.command),
            "variables": dict(self.variables),
            "watched": dict(self.watched),
            "packages": [one.to_json() for one in self.packages],
            "notes": list(self.notes),
            "secrets": [{"name": one.name, "variable": one.variable} for one in self.secrets],
        }

    @classmethod
    def from_json(cls, content: JSONObject) -> Environment:
        """The environment of a record. Raises InstallFailed where it is none."""
        try:
            return cls(
                ecosystem=str(content["ecosystem"]),
                folder=str(content["folder"]),
                command=tuple(map(str, content["command"])),
                variables=_read_texts(content["variables"]),
                version=str(content["version"]),
                packages=tuple(Package(**one) for one in content["packages"]),
                files=str(content["files"]),
                watched=_read_texts(content["watched"]),
                notes=tuple(map(str, content["notes"])),
                secrets=tuple(Secret(str(one["name"]), "", str(one["variable"])) for one in content["secrets"]),
                start_folder=str(content["start_folder"]),
            )
        except (KeyError, TypeError, AttributeError):
            raise InstallFailed(
                "The record of the server's environment cannot be read.", hint="Add the server again."
            ) from None


def _read_texts(value: Mapping[str, object]) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()}
