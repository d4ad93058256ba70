"""Makes the environment of a server, as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ferrule.errors import PackageRefused
from ferrule.text.names import same_distribution
from ferrule_mcp.environment import node_environment, python_environment, python_packages
from ferrule_mcp.environment.files import digest_file, write_list
from ferrule_mcp.environment.folders import put_in_place, remove_folder, stage
from ferrule_mcp.environment.programs import leave_on_signals
from ferrule_mcp.environment.record import Environment, InstallFailed, Package
from ferrule_mcp.launch.plan import FILE, MODULE, NPM, PYPI, SCRIPT, Launch, Secret

if TYPE_CHECKING:
    from ferrule_mcp.environment.programs import OnLine

_MAX_WATCHED_BYTES = 256 << 20


class Source(Protocol):
    """What brings files of its own along, as a bundle does."""

    @property
    def name(self) -> str:
        """By which it is allowed to be built."""

    def unpack(self, folder: Path) -> Launch:
        """Put the files into an empty folder, and return how the server in it is started."""


def install(
    launch: Launch | Source, folder: Path, allowed: Collection[str] = (), on_line: OnLine = lambda _line: None
) -> Environment:
    """Resolve and install what a server needs, so that a start resolves nothing. An environment there is replaced.

    Args:
        launch: the plan of a command line, or what brings files along.
        folder: the environment's own, absolute; where nothing is installed, it is not made.
        allowed: the names of packages whose install scripts may run, or that may be built.
        on_line: gets lines on what goes on.

    Returns:
        What is written down of it, with the command that starts the server.

    Raises:
        InstallFailed: it cannot be made; what was there before is still there.
        PackageRefused: a package would have run code of its own, and was not allowed to.
    """
    if isinstance(launch, Launch) and launch.ecosystem not in (PYPI, NPM):
        return _plan_bare(launch)
    with leave_on_signals(), stage(folder) as building:
        environment = _build(launch, building, allowed, on_line)
        environment = environment._replace(files=write_list(building))
        return _move(environment, str(building), str(folder))


def move_environment(environment: Environment, folder: Path) -> Environment:
    """The environment put where another one was, as when a newer one was accepted. Raises InstallFailed."""
    if environment.folder:
        put_in_place(Path(environment.folder), folder)
        return _move(environment, environment.folder, str(folder))
    return environment


def _build(source: Launch | Source, building: Path, allowed: Collection[str], on_line: OnLine) -> Environment:
    launch = source if isinstance(source, Launch) else _unpack(source, building, allowed)
    if launch.ecosystem == PYPI:
        return _build_python(launch, building, allowed, on_line)
    if launch.ecosystem == NPM:
        return _build_node(launch, building, allowed, on_line)
    return _plan_bare(launch)._replace(folder=str(building), watched={})


def _unpack(source: Source, building: Path, allowed: Collection[str]) -> Launch:
    """The plan for what lies unpacked; a project in it is built only where that was allowed."""
    launch = source.unpack(building)
    if any(text.startswith(f"{building}/") for text in launch.requirements) and source.name not in allowed:
        raise PackageRefused(
            f"{source.name} would be built, which runs its code with all rights of the user.",
            hint=f"Where you trust it with them, add --allow-scripts {source.name}.",
        )
    return launch


def _build_python(launch: Launch, building: Path, allowed: Collection[str], on_line: OnLine) -> Environment:
    archives = python_environment.install_python(launch, building, allowed, on_line)
    packages = python_packages.read_packages(building, archives)
    python = str(building / "bin" / "python")
    if launch.kind == SCRIPT:
        start = [python, *launch.flags, str(building / "bin" / _find_script(launch, building))]
    elif launch.kind == MODULE:
        start = [python, *launch.flags, "-m", launch.executable]
    else:
        start = [python, *launch.flags, launch.executable]
    return _describe(launch, building, start, _version_of(launch, building, packages), packages)


def _build_node(launch: Launch, building: Path, allowed: Collection[str], on_line: OnLine) -> Environment:
    node_environment.install_node(launch, building, allowed, on_line)
    packages = node_environment.read_node_packages(building, allowed)
    start, version = node_environment.find_start(launch, building)
    return _describe(launch, building, start, version, packages)


def _describe(
    launch: Launch, building: Path, start: Sequence[str], version: str, packages: Sequence[Package]
) -> Environment:
    """What is written down.

    Args:
        launch: the plan that was followed.
        building: the folder of the environment.
        start: what starts the server, without its arguments.
        version: of the package that was asked for.
        packages: all that were installed.
    """
    left = [one.name for one in packages if one.wants_script]
    notes = [f"Install scripts were not run: {', '.join(left)}. --allow-scripts NAME runs one where a part is missing."]
    return Environment(
        ecosystem=launch.ecosystem,
        folder=str(building),
        command=(*start, *launch.arguments),
        variables=_write_variables(launch),
        version=version,
        packages=tuple(packages),
        files="",
        watched=_watch([launch.executable] if launch.kind == FILE else [], building),
        notes=(*launch.notes, *(notes if left else ())),
        secrets=_hide_values(launch),
        start_folder=launch.folder,
    )


def _write_variables(launch: Launch) -> dict[str, str]:
    """Its variables, with `{NAME}` for those that are credentials."""
    return {**launch.variables, **{one.variable: "{" + one.name + "}" for one in launch.secrets if one.variable}}


def _plan_bare(launch: Launch) -> Environment:
    """Nothing is installed: the files that the command names are written down with their digests."""
    if launch.kind == MODULE:
        start, watched = [launch.interpreter, *launch.flags, "-m", launch.executable], []
    elif launch.kind == FILE:
        start, watched = [launch.interpreter, *launch.flags, launch.executable], [launch.executable]
    else:
        start, watched = [launch.executable], [launch.executable]
    if launch.interpreter and Path(launch.interpreter).name in ("node", "nodejs"):
        start[0] = node_environment.find_node()
    return Environment(
        ecosystem=launch.ecosystem,
        folder="",
        command=(*start, *launch.arguments),
        variables=_write_variables(launch),
        version="",
        packages=(),
        files="",
        watched=_watch(watched, None),
        notes=launch.notes,
        secrets=_hide_values(launch),
        start_folder=launch.folder,
    )


def _hide_values(launch: Launch) -> tuple[Secret, ...]:
    return tuple(one._replace(value="") for one in launch.secrets)


def _watch(paths: Sequence[str], building: Path | None) -> Mapping[str, str]:
    """The digests of files outside of the environment. Raises InstallFailed for one that cannot be read."""
    found = {}
    for path in map(Path, paths):
        if building and path.is_relative_to(building):
            continue
        try:
            if path.stat().st_size <= _MAX_WATCHED_BYTES:
                found[str(path)] = digest_file(path)
        except OSError as error:
            raise InstallFailed(f"{path} cannot be read: {error.strerror}.", hint="Correct the path.") from None
    return found


def _find_script(launch: Launch, building: Path) -> str:
    """The name of the script that starts the server, in the environment's `bin`. Raises InstallFailed."""
    wanted = launch.executable
    if wanted and (building / "bin" / wanted).is_file():
        return wanted
    main = _find_main(launch, building)
    scripts = python_packages.read_scripts(building, main) if main else []
    same = [name for name in scripts if same_distribution(name) == same_distribution(wanted or main)]
    if len(same) == 1 or len(scripts) == 1:
        return (same or scripts)[0]
    if not scripts:
        raise InstallFailed(
            f"{main or launch.requirements[0]} brings no command.",
            hint=f"Where it is started as a module: uv run --with {main or 'NAME'} -m MODULE",
        )
    raise InstallFailed(
        f"{main} has no command {wanted}; there are {', '.join(sorted(scripts))}.",
        hint=f"Name one of them: uvx --from {main} {sorted(scripts)[0]}",
    )


def _find_main(launch: Launch, building: Path) -> str:
    """The name of the package that was asked for first; empty where none was."""
    return python_packages.find_named(building, launch.requirements[0]) if launch.requirements else ""


def _version_of(launch: Launch, building: Path, packages: Sequence[Package]) -> str:
    main = _find_main(launch, building)
    return next((one.version for one in packages if one.name == main), "")


def _move(environment: Environment, old: str, new: str) -> Environment:
    """The same with the paths of another folder."""

    def place(text: str) -> str:
        return new if text == old else text.replace(old + os.sep, new + os.sep)

    return environment._replace(
        folder=new,
        command=tuple(map(place, environment.command)),
        variables={name: place(value) for name, value in environment.variables.items()},
        notes=tuple(map(place, environment.notes)),
    )


def remove_environment(environment: Environment) -> None:
    """Remove what was installed. Raises InstallFailed."""
    if environment.folder:
        remove_folder(Path(environment.folder))


def measure_bytes(environment: Environment) -> int:
    """How much room the environment takes on the disk; 0 where nothing is installed."""
    if not environment.folder:
        return 0
    used = 0
    for parent, _, names in os.walk(environment.folder):
        used += sum((Path(parent) / name).lstat().st_size for name in names)
    return used
