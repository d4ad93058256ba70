"""Bundles of a server, `.mcpb` and `.dxt`: a zip with a manifest. Read without trust, unpacked into bounds."""

from __future__ import annotations

import json
import re
import stat
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from ferrule_mcp.launch.command_line import parse_command
from ferrule_mcp.launch.json_values import read_map, read_object, read_texts, write_value
from ferrule_mcp.launch.plan import NONE, PYPI, Launch, LaunchRefused, Secret
from ferrule_mcp.launch.python_runners import PYTHONS
from ferrule_mcp.launch.settings import Answers, Filled, Setting, fill_settings

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

ENDINGS = (".mcpb", ".dxt")
FOLDER = "bundle"
"""The folder of a bundle's files, in the environment of its server."""

_MANIFEST = "manifest.json"
_MAX_MANIFEST_BYTES = 4 << 20
_MAX_BYTES = 2 << 30  # unpacked
_MAX_MEMBERS = 200_000
_MAX_RATIO = 200  # of unpacked to packed: code and pictures stay below a tenth of that
_UNSUSPICIOUS_BYTES = 64 << 20
_PIECE_BYTES = 1 << 20
_VARIABLE = re.compile(r"\$\{(?P<name>[^}]+)\}")
_SKIPPED = "__MACOSX"
_HOME_FOLDERS = {"HOME": "", "DESKTOP": "Desktop", "DOCUMENTS": "Documents", "DOWNLOADS": "Downloads"}
_KINDS = ("string", "number", "boolean", "file", "directory")


class Bundle(NamedTuple):
    """A bundle that was read and not unpacked. kind: `node`, `python`, `binary` or `uv`."""

    path: Path
    name: str
    version: str
    kind: str
    settings: tuple[Setting, ...]
    manifest: JSONObject

    def fill(self, answers: Answers) -> FilledBundle:
        """The bundle with its settings answered, as `install` takes it. Raises LaunchRefused."""
        return FilledBundle(self, fill_settings(self.settings, answers))


class FilledBundle(NamedTuple):
    """A bundle that can be installed."""

    bundle: Bundle
    filled: Filled

    @property
    def name(self) -> str:
        """The name of what would be built, by which that is allowed."""
        return self.bundle.name

    def unpack(self, folder: Path) -> Launch:
        """Unpack into a folder of its own below, and return how the server is started. Raises LaunchRefused."""
        inside = folder / FOLDER
        unpack_bundle(self.bundle.path, inside)
        command = _read_command(self.bundle, inside)
        secrets: dict[str, Secret] = {}
        words = [
            part for word in command.words if not self._is_omitted(word) for part in self._write(word, inside, secrets)
        ]
        variables = {}
        for name, text in command.variables.items():
            written = "".join(self._write(text, inside, secrets))
            if written:
                variables[name] = written
        return _plan(words, variables, inside, tuple(secrets.values()))

    def _is_omitted(self, word: str) -> bool:
        """Whether an argument is nothing but a setting that has no value."""
        whole = _VARIABLE.fullmatch(word)
        return whole is not None and whole["name"].removeprefix("user_config.") in self.filled.omitted

    def _write(self, text: str, inside: Path, secrets: dict[str, Secret]) -> list[str]:
        """A text of the manifest with values for its variables; several where a setting alone has several."""
        whole = _VARIABLE.fullmatch(text)
        if whole:
            return list(self._look_up(whole["name"], inside, secrets))
        return [_VARIABLE.sub(lambda found: ",".join(self._look_up(found["name"], inside, secrets)), text)]

    def _look_up(self, name: str, inside: Path, secrets: dict[str, Secret]) -> tuple[str, ...]:
        if name == "__dirname":
            return (str(inside),)
        if name in _HOME_FOLDERS:
            return (str(Path.home() / _HOME_FOLDERS[name]),)
        if name in ("/", "pathSeparator"):
            return ("/",)
        setting = name.removeprefix("user_config.")
        if setting == name or setting not in self.filled.values:
            raise LaunchRefused(f"The bundle's manifest names ${{{name}}}, which is nothing.", hint="Tell its author.")
        if setting in self.filled.secrets:
            secrets[setting] = self.filled.secrets[setting]
        return self.filled.values[setting]


class _Command(NamedTuple):
    words: tuple[str, ...]
    variables: Mapping[str, str]


def read_bundle(path: Path) -> Bundle:
    """The manifest of a bundle, checked. Raises LaunchRefused where it is none that can be started here."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(_read_bounded(archive, _MANIFEST, _MAX_MANIFEST_BYTES))
    except OSError as error:
        raise LaunchRefused(f"{path} cannot be read: {error.strerror}.", hint="Correct the path.") from None
    except (KeyError, ValueError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        raise LaunchRefused(
            f"{path} is no bundle: it is no zip with a {_MANIFEST} at its top.", hint="Fetch it again."
        ) from None
    kind = read_object(read_object(manifest).get("server")).get("type")
    if kind not in ("node", "python", "binary", "uv"):
        raise LaunchRefused(
            f"The bundle has a server of the type {kind!r}.", hint="Types are node, python, binary, uv."
        )
    _refuse_platform(manifest)
    settings = [_read_setting(name, read_object(one)) for name, one in read_object(manifest.get("user_config")).items()]
    name = str(manifest.get("name") or path.stem)
    return Bundle(path, name, str(manifest.get("version", "")), str(kind), tuple(settings), manifest)


def unpack_bundle(path: Path, folder: Path) -> None:
    """Unpack a bundle into a new folder. Links, devices and paths that lead out are refused, and so is too much.

    Raises LaunchRefused, with what was unpacked so far left to the caller; OSError where the disk does not take it.
    """
    folder.mkdir(parents=True)
    left = _MAX_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > _MAX_MEMBERS:
                raise LaunchRefused(f"The bundle has {len(members)} files.", hint=f"At most {_MAX_MEMBERS} are taken.")
            _refuse_bomb(members, path.stat().st_size)
            for member in members:
                left = _unpack_member(archive, member, folder, left)
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        raise LaunchRefused(f"The bundle cannot be unpacked: {error}.", hint="Fetch it again.") from None


def _refuse_bomb(members: Sequence[zipfile.ZipInfo], packed: int) -> None:
    """Refuse what is too large by its own words, before anything of it is written. packed: the bytes of the bundle."""
    total = sum(member.file_size for member in members)
    if total > _MAX_BYTES:
        raise _too_large()
    if total > _UNSUSPICIOUS_BYTES and total > packed * _MAX_RATIO:
        raise LaunchRefused(
            f"The bundle unpacks to {total >> 20:,} MiB, which is more than {_MAX_RATIO} times its own size.",
            hint="Do not use it.",
        )


def _too_large() -> LaunchRefused:
    return LaunchRefused(f"The bundle unpacks to more than {_MAX_BYTES >> 30} GiB.", hint="Do not use it.")


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, left: int) -> int:
    """Unpack one file, and return how many bytes may still come."""
    parts = PurePosixPath(member.filename).parts
    mode = member.external_attr >> 16
    is_link = stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)
    if member.filename.startswith("/") or ".." in parts or "\\" in member.filename or is_link:
        raise LaunchRefused(
            f"The bundle has {member.filename!r}, which leads out of it or is a link.", hint="Do not use this bundle."
        )
    if not parts or parts[0] == _SKIPPED:
        return left
    target = folder.joinpath(*parts)
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return left
    if target.exists():
        raise LaunchRefused(f"The bundle has {member.filename!r} twice.", hint="Do not use this bundle.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, target.open("xb") as file:
        while piece := source.read(_PIECE_BYTES):
            left -= len(piece)
            if left < 0:
                raise _too_large()
            file.write(piece)
    target.chmod(0o755 if mode & 0o111 else 0o644)
    return left


def _read_bounded(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    with archive.open(name) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{name} is larger than {limit} bytes")
    return content


def _refuse_platform(manifest: JSONObject) -> None:
    listed = read_texts(read_object(manifest.get("compatibility")).get("platforms"))
    if listed and sys.platform not in listed:
        raise LaunchRefused(
            f"The bundle is for {', '.join(listed)}, and this is {sys.platform}.",
            hint="Ask its author for one of this system.",
        )


def _read_setting(name: str, content: JSONObject) -> Setting:
    default = content.get("default")
    values = default if isinstance(default, list) else [] if default in (None, "") else [default]
    kind = str(content.get("type", "string"))
    return Setting(
        name,
        str(content.get("description") or content.get("title") or ""),
        kind=kind if kind in _KINDS else "string",
        is_secret=content.get("sensitive") is True,
        is_required=content.get("required") is True,
        takes_several=content.get("multiple") is True,
        default=tuple(_write_default(value) for value in values),
    )


def _write_default(value: object) -> str:
    """A default value; it may name folders of the home."""
    return _VARIABLE.sub(lambda found: str(Path.home() / _HOME_FOLDERS.get(found["name"], "")), write_value(value))


def _read_command(bundle: Bundle, inside: Path) -> _Command:
    """The command of the manifest for this system, or the usual one for its type."""
    server: JSONObject = bundle.manifest["server"]
    config = read_object(server.get("mcp_config"))
    overrides = read_object(read_object(config.get("platform_overrides")).get(sys.platform))
    merged = {**config, **overrides}
    entry = str(server.get("entry_point", ""))
    command, arguments = merged.get("command"), read_texts(merged.get("args"))
    if not command:
        command, arguments = _usual_command(bundle.kind, entry)
    if bundle.kind == "binary":
        _make_executable(inside, str(command), entry)
    return _Command((str(command), *arguments), {**read_map(config.get("env")), **read_map(overrides.get("env"))})


def _usual_command(kind: str, entry: str) -> tuple[str, list[str]]:
    own = "${__dirname}/" + entry
    if kind == "uv":
        return "uv", ["run", "--directory", "${__dirname}", entry]
    return (own, []) if kind == "binary" else (kind, [own])


def _make_executable(inside: Path, command: str, entry: str) -> None:
    """Some archivers keep no modes; the program itself has to be one."""
    for text in (command.removeprefix("${__dirname}/"), entry):
        path = (inside / text).resolve()
        if path.is_relative_to(inside.resolve()) and path.is_file():
            path.chmod(0o755)


def _plan(words: list[str], variables: dict[str, str], inside: Path, secrets: tuple[Secret, ...]) -> Launch:
    """The plan; a server in Python gets an environment, in which nothing of the system's Python is."""
    whole = {name: one for name, text in variables.items() for one in secrets if text == "{" + one.name + "}"}
    placed = [one._replace(variable=name) for name, one in whole.items()]
    rest = {name: text for name, text in variables.items() if name not in whole}
    written = f"{words}{rest}"
    others = [one for one in secrets if "{" + one.name + "}" in written]
    command = words if not _is_file(words, inside) else [str(inside / words[0]), *words[1:]]
    launch = parse_command(command, inside, rest, [*placed, *others])
    if launch.ecosystem == NONE and PYTHONS.fullmatch(Path(launch.interpreter).name):
        launch = launch._replace(ecosystem=PYPI, interpreter="", notes=())
    return launch


def _is_file(words: list[str], inside: Path) -> bool:
    """Whether the command is a path in the bundle that begins with no variable."""
    return bool(words) and "/" in words[0] and not words[0].startswith("/") and (inside / words[0]).is_file()
