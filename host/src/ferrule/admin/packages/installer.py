"""The installer of the environment that ferrule lives in: pip, uv, pipx or `uv tool`, and the commands it takes.

pipx and `uv tool` keep a list of what they put into an environment, and make it anew from that list. What pip puts
there beside them is lost then. So each environment is changed by the program that made it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ferrule.errors import FerruleError
from ferrule.text.names import same_distribution

PIP, UV, PIPX, UV_TOOL = "pip", "uv", "pipx", "uv tool"

_RECEIPTS = {PIPX: "pipx_metadata.json", UV_TOOL: "uv-receipt.toml"}
_UNREADABLE = (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError)


class Changes(NamedTuple):
    """What is asked for.

    names: requirements, folders or wheels. editables: folders of projects. is_upgrade: take newer versions of what is
    there. options: handed to the installer as they are.
    """

    names: Sequence[str] = ()
    editables: Sequence[str] = ()
    is_upgrade: bool = False
    options: Sequence[str] = ()


class Installer(NamedTuple):
    """kind: `pip`, `uv`, `pipx` or `uv tool`. program: the command line it begins with. prefix: its environment."""

    kind: str
    program: tuple[str, ...]
    prefix: str

    def install(self, changes: Changes) -> list[str]:
        """The command that installs. Raises FerruleError where the environment cannot be told what to hold."""
        editables = [part for path in changes.editables for part in ("--editable", path)]
        if self.kind == UV_TOOL:
            return self._make_tool(changes, removed=())
        if self.kind == PIPX:
            return self._inject(changes)
        upgrade = ["--upgrade"] if changes.is_upgrade else []
        return [*self.program, "install", *self._where(), *upgrade, *changes.options, *editables, *changes.names]

    def _inject(self, changes: Changes) -> list[str]:
        if changes.names and changes.editables:  # pipx has one --editable for all that it is given
            raise FerruleError("pipx takes editable folders and other packages one after the other.")
        force = ["--force"] if changes.is_upgrade else []
        upgrade = ["--upgrade"] if changes.is_upgrade else []
        editable = ["--editable"] if changes.editables else []
        arguments = _pip_arguments([*upgrade, *changes.options])
        what = [*changes.names, *changes.editables]
        return [*self.program, "inject", *force, *arguments, *editable, self._name, *what]

    def uninstall(self, names: Sequence[str], options: Sequence[str] = ()) -> list[str]:
        """The command that uninstalls. Raises FerruleError where the environment cannot be told what to hold."""
        if self.kind == UV_TOOL:
            return self._make_tool(Changes(options=options), removed=names)
        if self.kind == PIPX:
            return [*self.program, "uninject", *options, self._name, *names]
        yes = ["--yes"] if self.kind == PIP else []
        return [*self.program, "uninstall", *self._where(), *yes, *options, *names]

    @property
    def _name(self) -> str:
        return os.path.basename(self.prefix)

    def _where(self) -> list[str]:
        return ["--python", sys.executable] if self.kind == UV else []

    def environ(self) -> dict[str, str]:
        """The variables of the command: where pipx and uv find this environment among theirs."""
        folder = os.path.dirname(self.prefix)
        own = {PIPX: {"PIPX_HOME": os.path.dirname(folder)}, UV_TOOL: {"UV_TOOL_DIR": folder}}
        return {**os.environ, **own.get(self.kind, {})}

    def reader(self) -> tuple[str, ...]:
        """The command line of pip, or of `uv pip`, that reads what this installer would install.

        Raises FerruleError if there is none.
        """
        if self.kind == UV_TOOL:
            return (*self.program, "pip")
        if self.kind != PIPX:
            return self.program
        if importlib.util.find_spec("pip"):
            return (sys.executable, "-m", "pip")
        beside = os.path.dirname(os.path.realpath(self.program[0]))
        uv = _program("uv", {"PATH": os.pathsep.join((os.environ.get("PATH", os.defpath), beside))})
        if uv is None:
            raise FerruleError("pipx has made this environment with uv, which is not on PATH.", hint="Add it to PATH.")
        return (uv, "pip")

    def index_options(self) -> list[str]:
        """Where packages come from, as options, which `uv tool` keeps. Raises FerruleError as `install` does."""
        if self.kind != UV_TOOL:
            return []
        return _options(_read_receipt(os.path.join(self.prefix, _RECEIPTS[UV_TOOL])).get("options", {}))

    def _make_tool(self, changes: Changes, removed: Sequence[str]) -> list[str]:
        """The command that makes the environment of `uv tool` anew, with all that its receipt names, or less."""
        receipt = _read_receipt(os.path.join(self.prefix, _RECEIPTS[UV_TOOL]))
        left = {same_distribution(name) for name in removed}
        main: list[str] = []
        others: list[str] = []
        for entry in receipt.get("requirements", []):
            if same_distribution(entry["name"]) == same_distribution(self._name):
                main = _written(entry, is_main=True)
            elif same_distribution(entry["name"]) not in left:
                others += _written(entry, is_main=False)
        new = [part for name in changes.names for part in ("--with", name)]
        new += [part for path in changes.editables for part in ("--with-editable", path)]
        python = ["--python", receipt["python"]] if isinstance(receipt.get("python"), str) else []
        options = [*_options(receipt.get("options", {})), *changes.options]
        upgrade = ["--upgrade"] if changes.is_upgrade else []
        return [*self.program, "tool", "install", "--force", *python, *upgrade, *options, *main, *others, *new]


def find_installer(prefix: str = sys.prefix, environ: Mapping[str, str] = os.environ) -> Installer:
    """The installer of this environment. Raises FerruleError where none can be found."""
    for kind, receipt in _RECEIPTS.items():
        if os.path.isfile(os.path.join(prefix, receipt)):
            program = _program(kind.partition(" ")[0], environ)
            if program is None:
                raise FerruleError(
                    f"ferrule lives in an environment of {kind}, and {kind.partition(' ')[0]} is not on PATH.",
                    hint=f"Add it to PATH, or use {kind} yourself.",
                )
            return Installer(kind, (program,), prefix)
    if importlib.util.find_spec("pip"):
        return Installer(PIP, (sys.executable, "-m", "pip"), prefix)
    if program := _program("uv", environ):
        return Installer(UV, (program, "pip"), prefix)
    raise FerruleError(
        f"The environment {prefix} has no pip, and uv is not on PATH.",
        hint=f"Run `{sys.executable} -m ensurepip`, or install uv.",
    )


def run(installer: Installer, command: Sequence[str], *, output: int | None = None) -> int:
    """Run the command of an installer at the terminal, and return its exit code. output: a descriptor for its stdout.

    Raises FerruleError where it cannot be started.
    """
    try:
        return subprocess.run(command, env=installer.environ(), stdout=output, check=False).returncode
    except OSError as error:
        raise FerruleError(f"{command[0]} cannot be started: {error.strerror}.") from None


def _program(name: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=environ.get("PATH"))


def _pip_arguments(arguments: Sequence[str]) -> list[str]:
    import shlex

    return [f"--pip-args={shlex.join(arguments)}"] if arguments else []


def _read_receipt(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            receipt: dict[str, Any] = tomllib.load(file)["tool"]
    except (*_UNREADABLE, KeyError) as error:
        raise FerruleError(f"{path} cannot be read: {error}.", hint="Use `uv tool install --with` yourself.") from None
    return receipt


def _options(given: dict[str, Any]) -> list[str]:
    """The options that the receipt names: where packages come from, which versions will do."""
    arguments: list[str] = []
    for name, values in given.items():
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict):  # an index, of which the address is enough
                arguments += ["--default-index" if value.get("default") else "--index", str(value.get("url"))]
            elif value is True:
                arguments.append(f"--{name}")
            elif isinstance(value, str):
                arguments += [f"--{name}", value]
    return arguments


def _written(entry: dict[str, Any], *, is_main: bool) -> list[str]:
    """An entry of the receipt as the arguments that made it. Raises FerruleError for one of an unknown kind."""
    extras = f"[{','.join(entry['extras'])}]" if entry.get("extras") else ""
    name = f"{entry['name']}{extras}"
    marker = f" ; {entry['marker']}" if entry.get("marker") else ""
    option = [] if is_main else ["--with"]
    if entry.get("editable"):
        return ["--editable" if is_main else "--with-editable", f"{entry['editable']}{extras}"]
    place = entry.get("directory") or entry.get("path")
    if place:
        return [*option, f"{name} @ file://{os.path.abspath(place)}{marker}"]
    if entry.get("url") or entry.get("git"):
        address = entry.get("url") or f"git+{entry['git']}"
        return [*option, f"{name} @ {address}{marker}"]
    if set(entry) <= {"name", "extras", "specifier", "marker"}:
        return [*option, f"{name}{entry.get('specifier', '')}{marker}"]
    raise FerruleError(
        f"ferrule does not know how {entry['name']} was put into its environment.",
        hint="Use `uv tool install --with` yourself.",
    )
