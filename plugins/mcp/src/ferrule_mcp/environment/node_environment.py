"""The packages of a server on Node, by npm: a lockfile first, then what it names, without install scripts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from ferrule.errors import PackageRefused
from ferrule_mcp.environment.files import digest_file, digest_lines, walk_files
from ferrule_mcp.environment.programs import OnLine, ProgramFailed, run_program
from ferrule_mcp.environment.record import InstallFailed, Package
from ferrule_mcp.launch.node_runners import is_repository, split_spec
from ferrule_mcp.launch.plan import NPM, Launch

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule.text.json_types import JSONObject

LOCK = "package-lock.json"
_QUIET = ("--no-audit", "--no-fund", "--install-links")
_MODULES = "node_modules"
_NOT_IN_STEP = "EUSAGE"
_MAX_HEAD_BYTES = 512
_SECONDS = 30.0
_SHEBANG = re.compile(rb"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(?P<program>\S+)(?P<flags>[^\n]*)")
_GIT_REFUSED = re.compile(r"EALLOWGIT|no-git-here")
_WITHOUT_GIT = ("--allow-git=none", "--git=/no-git-here")  # the second is for an npm that does not know the first
_NODE_ENDINGS = (".js", ".mjs", ".cjs", "")


# Long by its docstring and by the words of its two errors.
def install_node(launch: Launch, folder: Path, allowed: Collection[str], on_line: OnLine) -> None:
    """Resolve the packages into a lockfile and install what it names, in an empty folder.

    Args:
        launch: whose requirements are installed.
        folder: is empty, and gets `node_modules`.
        allowed: the packages whose install scripts are run.
        on_line: gets what npm says.

    Raises:
        InstallFailed: there is no npm, or the packages cannot be had.
        PackageRefused: one of them is a repository, and was not allowed to be built.
    """
    refuse_repositories(launch.requirements, allowed)
    npm = shutil.which("npm")
    if npm is None:
        raise InstallFailed("npm is not on PATH.", hint="Install Node with npm, and try again.")
    project = {"name": "environment", "version": "1.0.0", "private": True}
    approved = {"allowScripts": dict.fromkeys(sorted(allowed), True)} if allowed else {}
    (folder / "package.json").write_text(json.dumps({**project, **approved}))
    shared = [*_QUIET, *launch.options]
    if not any(map(is_repository, launch.requirements)):
        shared += _WITHOUT_GIT
    resolve = [npm, "install", "--package-lock-only", "--ignore-scripts", "--save-exact", *shared, *launch.requirements]
    try:
        on_line("Resolving the packages.")
        run_program(resolve, folder, on_line)
        on_line("Installing the packages.")
        _install_locked(npm, shared, folder, on_line)
        _run_scripts(npm, folder, allowed, on_line)
    except ProgramFailed as error:
        what = " and ".join(launch.requirements)
        if any(_GIT_REFUSED.search(line) for line in error.lines):
            raise PackageRefused(
                f"{what} needs a package from a repository, which npm builds with all rights of the user: "
                f"{error.summary}",
                hint="Ask its author for a version whose parts all come from the registry.",
            ) from None
        raise InstallFailed(
            f"{what} cannot be installed: {error.summary}",
            hint="Check the name and the version. `npm config get registry` says which registry is asked.",
        ) from None


def refuse_repositories(requirements: Iterable[str], allowed: Collection[str]) -> None:
    """Raise PackageRefused for a repository that may not be built.

    npm prepares what it has cloned by an install in the clone. That obeys the `.npmrc` of the clone, which names the
    program that is run as git, and an address with any variable of the user in it.
    """
    for text in filter(is_repository, requirements):
        name = re.split(r"[/:]", text.partition("#")[0])[-1].removesuffix(".git")
        if not {text, name} & set(allowed):
            raise PackageRefused(
                f"{text} is a repository, whose files say what npm runs with all rights of the user.",
                hint=f"Where you trust it with them, add --allow-scripts {name}. A package of the registry needs none.",
            )


def _install_locked(npm: str, shared: Collection[str], folder: Path, on_line: OnLine) -> None:
    """Install what the lockfile names. Where npm refuses the one that it has just written, install by it all the same.

    It writes packages for other systems without their version at times, and `npm ci` takes no such lockfile.
    """
    rest = ["--ignore-scripts", "--omit=dev", *shared]
    try:
        run_program([npm, "ci", *rest], folder, on_line)
    except ProgramFailed as error:
        if not any(_NOT_IN_STEP in line for line in error.lines):
            raise
        on_line("npm does not take its own lockfile; the packages are installed without `npm ci`.")
        run_program([npm, "install", *rest], folder, on_line)


def read_node_packages(folder: Path, allowed: Collection[str]) -> list[Package]:
    """Every package of `node_modules`, as the lockfile lists them. allowed: those whose install scripts were run.

    Raises InstallFailed where the lockfile cannot be read.
    """
    found = [
        Package(
            NPM,
            name,
            str(entry.get("version", "")),
            _digest_package(folder / path),
            str(entry.get("integrity", "")),
            wants_script=bool(entry.get("hasInstallScript")) and name not in allowed,
        )
        for path, name, entry in _read_lock(folder)
    ]
    return sorted(found)


def find_start(launch: Launch, folder: Path) -> tuple[list[str], str]:
    """What starts the server, and the version of its package: the absolute path of Node, and the script's file.

    Raises InstallFailed where the package has no such command.
    """
    first = launch.requirements[0]
    main = split_spec(first)[0] or _first_dependency(folder)
    package, file = _find_bin(launch, folder, main)
    version = str(_read_json(folder / _MODULES / main / "package.json").get("version", ""))
    path = folder / _MODULES / package / file
    if not path.is_file():
        raise InstallFailed(f"{package} names the command {file}, and does not have it.", hint="Try another version.")
    return [*_find_interpreter(path, launch.flags), str(path)], version


def find_node() -> str:
    """The absolute path of Node itself, also where a version manager has put a program of its own before it.

    Raises InstallFailed if there is none.
    """
    node = shutil.which("node")
    if node is None:
        raise InstallFailed("node is not on PATH.", hint="Install Node, and try again.")
    try:
        asked = subprocess.run(
            [node, "-p", "process.execPath"], capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        raise InstallFailed(f"{node} does not start.", hint="Install Node again.") from None
    return asked.stdout.strip()


def _run_scripts(npm: str, folder: Path, allowed: Collection[str], on_line: OnLine) -> None:
    """Run the install scripts of the packages that may, and of no others."""
    names = sorted({name for _, name, entry in _read_lock(folder) if entry.get("hasInstallScript")} & set(allowed))
    if names:
        on_line(f"Running the install scripts of {', '.join(names)}.")
        run_program([npm, "rebuild", "--foreground-scripts", "--ignore-scripts=false", *names], folder, on_line)


def _read_lock(folder: Path) -> Iterator[tuple[str, str, JSONObject]]:
    """The packages that are there: the path of each, its name, its entry. One for another system is left out."""
    packages: dict[str, JSONObject] = _read_json(folder / LOCK).get("packages", {})
    for path, entry in packages.items():
        if path.startswith(_MODULES) and (folder / path / "package.json").is_file():
            yield path, str(entry.get("name") or path.rpartition(f"{_MODULES}/")[2]), entry


def _digest_package(folder: Path) -> str:
    """The digest of a package's own files, without the packages that lie in it."""
    names = sorted(name for name in walk_files(folder) if not name.startswith(f"{_MODULES}/"))
    return digest_lines([f"{name} {_digest(folder / name)}" for name in names])


def _digest(path: Path) -> str:
    return f"link:{os.readlink(path)}" if path.is_symlink() else digest_file(path)


def _first_dependency(folder: Path) -> str:
    """The name of a package that was asked for by a path or an address, as npm has written it down."""
    dependencies = _read_json(folder / "package.json").get("dependencies", {})
    return next(iter(dependencies), "")


def _find_bin(launch: Launch, folder: Path, main: str) -> tuple[str, str]:
    """The package and the file of the command: of any package that was asked for, where the command has a name."""
    asked = list(_read_json(folder / "package.json").get("dependencies", {}))
    listed = {name: _read_bins(folder, name) for name in dict.fromkeys([main, *asked])}
    if launch.executable:
        found = next(
            ((name, bins[launch.executable]) for name, bins in listed.items() if launch.executable in bins), None
        )
        if found:
            return found
        return _refuse_bin(launch.executable, main, [one for bins in listed.values() for one in bins])
    bins = listed[main]
    own = main.rpartition("/")[2]
    if len(set(bins.values())) == 1:
        return main, next(iter(bins.values()))
    if own in bins:
        return main, bins[own]
    return _refuse_bin("", main, list(bins))


def _refuse_bin(wanted: str, package: str, bins: list[str]) -> tuple[str, str]:
    if not bins:
        raise InstallFailed(f"{package} brings no command, so it is no server.", hint="Check the package's name.")
    what = f"no command {wanted}" if wanted else "several commands, and none of its own name"
    raise InstallFailed(
        f"{package} has {what}; there are {', '.join(sorted(bins))}.",
        hint=f"Name one of them: npx -y --package={package} {sorted(bins)[0]}",
    )


def _read_bins(folder: Path, name: str) -> dict[str, str]:
    """The commands of a package, each with its file."""
    bins = _read_json(folder / _MODULES / name / "package.json").get("bin")
    if isinstance(bins, str):
        return {name.rpartition("/")[2]: bins}
    return {str(one): str(file) for one, file in bins.items()} if isinstance(bins, dict) else {}


def _find_interpreter(path: Path, flags: tuple[str, ...]) -> list[str]:
    """What runs the file of a command, by its first line; nothing for a program."""
    with path.open("rb") as file:
        head = file.read(_MAX_HEAD_BYTES)
    found = _SHEBANG.match(head)
    program = os.fsdecode(found["program"]).rpartition("/")[2] if found else ""
    if (found is None and path.suffix in _NODE_ENDINGS and b"\x00" not in head) or program in ("node", "nodejs"):
        own = os.fsdecode(found["flags"]).split() if found else []
        return [find_node(), *own, *flags]
    if found is None:
        return []
    where = shutil.which(program)
    if where is None:
        raise InstallFailed(f"The server is written for {program}, which is not on PATH.", hint=f"Install {program}.")
    return [where, *os.fsdecode(found["flags"]).split()]


def _read_json(file: Path) -> JSONObject:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError):
        raise InstallFailed(f"npm has left no readable {file.name}.", hint="Try again.") from None
    return content if isinstance(content, dict) else {}
