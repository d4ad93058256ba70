"""Command lines of uvx, uv, pipx and Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from ferrule_mcp.launch.options import Grammar, Scanned, scan_options
from ferrule_mcp.launch.paths import absolute_file, absolute_words, find_program
from ferrule_mcp.launch.plan import FILE, MODULE, NONE, PYPI, SCRIPT, Launch, LaunchRefused
from ferrule_mcp.launch.python_projects import read_project, read_script

_INDEX = {
    "--index": "--extra-index-url", "--extra-index-url": "--extra-index-url", "--default-index": "--index-url",
    "-i": "--index-url", "--index-url": "--index-url", "-f": "--find-links", "--find-links": "--find-links",
}  # fmt: skip
_UV_VALUED = {
    **_INDEX,
    "--with": "with", "-w": "with", "--with-editable": "with_folder", "--with-requirements": "file",
    "-p": "python", "--python": "python", "--prerelease": "prerelease", "-c": "constraint", "-b": "ignored",
    "--constraints": "constraint", "--constraint": "constraint", "--exclude-newer": "--exclude-newer",
    "--index-strategy": "--index-strategy", "--env-file": "env_file", "--directory": "directory",
    "--project": "project", "--build-constraints": "ignored", "--overrides": "override", "--override": "override",
    **dict.fromkeys(
        ("--cache-dir", "--color", "--config-file", "--link-mode", "--refresh-package", "--reinstall-package",
         "--upgrade-package", "-P", "--python-preference", "--allow-insecure-host", "--keyring-provider",
         "--resolution", "--fork-strategy", "--config-setting", "-C", "--torch-backend"), "ignored",
    ),
}  # fmt: skip
_UV_FLAGS = frozenset(
    ("-q", "--quiet", "-v", "--verbose", "-n", "--no-cache", "--isolated", "--refresh", "--reinstall", "-U",
     "--upgrade", "--offline", "--native-tls", "--system-certs", "--no-config", "--no-progress", "--managed-python",
     "--no-managed-python", "--no-python-downloads", "--no-index", "--no-build", "--no-binary", "--lfs",
     "--compile-bytecode", "--no-env-file", "--show-resolution", "--no-sources", "--no-build-isolation", "--preview"),
)  # fmt: skip
UVX = Grammar("uvx", _UV_FLAGS, {**_UV_VALUED, "--from": "from"})
_RUN_VALUED = {
    **_UV_VALUED, "--extra": "extra", "--group": "group", "--only-group": "group", "--no-group": "ignored",
    "--package": "package", "-m": "module", "--module": "module", "-s": "script", "--script": "script",
    "--no-extra": "ignored",
}  # fmt: skip
_RUN_FLAGS = _UV_FLAGS | frozenset(
    ("--frozen", "--locked", "--no-sync", "--all-extras", "--no-dev", "--dev", "--only-dev", "--no-project", "--exact",
     "--no-default-groups", "--all-groups", "--active", "--no-editable", "--inexact", "--all-packages", "--gui-script"),
)  # fmt: skip
RUN = Grammar("uv run", _RUN_FLAGS, _RUN_VALUED)
UV = Grammar("uv", _UV_FLAGS, {"--directory": "directory", "--project": "project", **_UV_VALUED})
PIPX = Grammar(
    "pipx run",
    frozenset(("-q", "--quiet", "-v", "--verbose", "--no-cache", "--fetch-missing-python", "--pypackages", "--global")),
    {"--spec": "from", "--with": "with", "--python": "python", "--path": "script", "-i": "--index-url",
     "--index-url": "--index-url", "--pip-args": "pip_args", "--suffix": "ignored", "--backend": "ignored",
     "--fetch-python": "ignored"},
)  # fmt: skip
PYTHON = Grammar(
    "python",
    frozenset(("-u", "-I", "-E", "-s", "-S", "-P", "-B", "-O", "-OO", "-q", "-b", "-bb", "-d", "-v", "-x")),
    {"-X": "kept", "-W": "kept", "-m": "module", "-c": "code", "--check-hash-based-pycs": "kept"},
)
_AT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[^\]]*\])?)@(?P<version>[^/:@\s]+)")
_ADDRESS = re.compile(r"(?:git|hg|svn|bzr)\+|https?:|file:")
PYTHONS = re.compile(r"(?:python|pypy)(?:w|3?(?:\.\d+)?t?)?(?:\.exe)?|py")


def parse_uvx(words: Sequence[str], folder: Path) -> Launch:
    """`uvx` and `uv tool run`: the words after them. Raises LaunchRefused."""
    scanned = scan_options(words, UVX)
    return _plan_command(scanned, _directory(scanned, folder), "uvx")


def parse_pipx(words: Sequence[str], folder: Path) -> Launch:
    """`pipx run …`; another command of pipx starts no server. Raises LaunchRefused."""
    scanned = scan_options(words, PIPX)
    if scanned.rest[:1] != ("run",):
        raise LaunchRefused("pipx starts a server by `pipx run` only.", hint="Write `pipx run NAME`.")
    scanned = scan_options(scanned.rest[1:], PIPX)
    if scanned.last("script"):
        return _plan_file(scanned.last("script"), scanned.rest, scanned, folder)
    if not scanned.last("from") and scanned.rest and _is_script(scanned.rest[0]):
        return _plan_file(scanned.rest[0], scanned.rest[1:], scanned, folder)
    return _plan_command(scanned, folder, "pipx run")


def parse_uv(words: Sequence[str], folder: Path) -> Launch:
    """`uv run …`, `uv tool run …` and `uv x …`, with the options of uv before them. Raises LaunchRefused."""
    scanned = scan_options(words, UV)
    folder = _directory(scanned, folder)
    project = scanned.last("project")
    if scanned.rest[:2] == ("tool", "run"):
        return parse_uvx(scanned.rest[2:], folder)
    if scanned.rest[:1] != ("run",):
        raise LaunchRefused("uv starts a server by `uv run` or `uvx` only.", hint="Write `uvx NAME`.")
    inner = scan_options(scanned.rest[1:], RUN, ends=("-m", "--module", "-s", "--script"))
    return _plan_run(inner, _directory(inner, folder), inner.last("project") or project)


def parse_python(words: Sequence[str], folder: Path, program: str) -> Launch:
    """`python FILE` and `python -m MODULE`, with the packages that this Python has. Raises LaunchRefused."""
    scanned = scan_options(words, PYTHON, ends=("-m", "-c"))
    kind, executable, rest = _python_target(scanned, folder)
    launch = Launch(
        NONE,
        kind,
        executable,
        arguments=absolute_words(rest, folder),
        interpreter=_find_python(program, folder),
        flags=_python_flags(words, scanned),
    )
    return launch.add_notes(
        f"The packages of {launch.interpreter} are its own: what is installed there later changes the server. "
        "`ferrule mcp add NAME -- uvx PACKAGE` gives it an environment."
    )


def split_requirement(text: str) -> str:
    """`name@1.2` of uvx as a requirement; anything else as it stands. Raises LaunchRefused for what is none."""
    found = _AT.fullmatch(text)
    if found:
        text = found["name"] + ("" if found["version"] == "latest" else f"=={found['version']}")
    if _ADDRESS.match(text):
        return text
    try:
        Requirement(text)
    except InvalidRequirement:
        raise LaunchRefused(
            f"{text} is no name of a package.", hint="Write NAME, NAME==VERSION or NAME@VERSION."
        ) from None
    return text


def _plan_command(scanned: Scanned, folder: Path, runner: str) -> Launch:
    if not scanned.rest:
        raise LaunchRefused(f"{runner} is given nothing to run.", hint=f"Name a package, such as `{runner} NAME`.")
    first = scanned.last("from") or scanned.rest[0]
    requirement = _place_requirement(first, folder)
    own = scanned.rest[0] if scanned.last("from") else _script_of(requirement)
    launch = _base(scanned, folder)
    requirements = (requirement, *launch.requirements)
    arguments = absolute_words(scanned.rest[1:], folder)
    return launch._replace(executable=own, requirements=requirements, arguments=arguments)


def _script_of(requirement: str) -> str:
    """The script that a requirement is called by; empty where only its metadata has the name."""
    try:
        return Requirement(requirement).name
    except InvalidRequirement:
        return ""


def _plan_run(scanned: Scanned, folder: Path, project: str) -> Launch:
    if scanned.last("script"):
        return _plan_file(scanned.last("script"), scanned.rest, scanned, folder)
    kind, executable, rest, flags = _run_target(scanned, folder)
    launch = _base(scanned, folder)
    notes: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    if "--no-project" not in scanned.flags:
        at = absolute_file(project or ".", folder, "folder", must_exist=bool(project))
        found = read_project(at, scanned.all("extra"), scanned.all("group"), is_wanted=bool(project))
        requirements, notes = found.requirements, found.notes
        launch = launch._replace(options=(*launch.options, *found.options))
    if kind == FILE and not requirements and not launch.requirements:
        requirements = tuple(read_script(Path(executable)))
    return launch._replace(
        kind=kind,
        executable=executable,
        requirements=(*requirements, *launch.requirements),
        arguments=absolute_words(rest, folder),
        flags=flags,
        notes=(*launch.notes, *notes),
    )


def _run_target(scanned: Scanned, folder: Path) -> tuple[str, str, Sequence[str], tuple[str, ...]]:
    """What `uv run` starts: its kind, its name, its arguments, and flags of Python."""
    if scanned.last("module"):
        return MODULE, scanned.last("module"), scanned.rest, ()
    if not scanned.rest:
        raise LaunchRefused("uv run is given nothing to run.", hint="Name the server's file or command.")
    word, *rest = scanned.rest
    if PYTHONS.fullmatch(word):
        inner = scan_options(rest, PYTHON, ends=("-m", "-c"))
        kind, executable, arguments = _python_target(inner, folder)
        return kind, executable, arguments, _python_flags(rest, inner)
    if _is_script(word):
        return FILE, str(absolute_file(word, folder, "file")), rest, ()
    return SCRIPT, word, rest, ()


def _plan_file(word: str, rest: Sequence[str], scanned: Scanned, folder: Path) -> Launch:
    """A file that names its own requirements."""
    if _ADDRESS.match(word):
        raise LaunchRefused("A script at an address is not what it is tomorrow.", hint="Save it, and name the file.")
    file = absolute_file(word, folder, "file")
    launch = _base(scanned, folder)
    requirements = (*read_script(file), *launch.requirements)
    arguments = absolute_words(rest, folder)
    return launch._replace(kind=FILE, executable=str(file), requirements=requirements, arguments=arguments)


def _base(scanned: Scanned, folder: Path) -> Launch:
    """What the options of a runner say: further requirements, the version of Python, where packages come from."""
    further = [part for value in scanned.all("with") for part in _split_list(value)]
    requirements = [_place_requirement(part, folder) for part in further]
    requirements += [_place_requirement(part, folder, is_path=True) for part in scanned.all("with_folder")]
    requirements += [f"-r {absolute_file(part, folder, 'file')}" for part in scanned.all("file")]
    options = [part for name, value in scanned.values.items() if name.startswith("--") for part in _pairs(name, value)]
    options += [
        part
        for value in scanned.all("constraint")
        for part in ("--constraint", str(absolute_file(value, folder, "file")))
    ]
    options += [
        part for value in scanned.all("override") for part in ("--override", str(absolute_file(value, folder, "file")))
    ]
    options += ["--no-index"] if "--no-index" in scanned.flags else []
    options += ["--pre"] if scanned.last("prerelease") == "allow" else []
    notes = [
        f"The file {value} is read by uv, not here: give its variables with the server."
        for value in scanned.all("env_file")
    ]
    return Launch(
        PYPI,
        SCRIPT,
        "",
        requirements=tuple(requirements),
        python=scanned.last("python"),
        options=(*options, *scanned.last("pip_args").split()),
        notes=tuple(notes),
    )


def _pairs(name: str, values: Sequence[str]) -> list[str]:
    """Each value behind its option. An index may have a name for uv, as in `name=https://…`, unknown to pip."""
    plain = [re.sub(r"^[\w-]+=(?=https?://)", "", value) for value in values]
    return [part for value in plain for part in (name, value)]


def _split_list(text: str) -> list[str]:
    """The requirements between commas, but for commas of extras and versions."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])(?=\s*[A-Za-z@./])", text) if part.strip()]


def _place_requirement(text: str, folder: Path, *, is_path: bool = False) -> str:
    """A requirement, or a folder or archive with an absolute path."""
    if (
        is_path
        or text.startswith(("./", "../", "/", "~/"))
        or text in (".", "..")
        or text.endswith((".whl", ".tar.gz"))
    ) and not _ADDRESS.match(text):
        return str(absolute_file(text, folder, "package"))
    return split_requirement(text)


def _directory(scanned: Scanned, folder: Path) -> Path:
    named = scanned.last("directory")
    return absolute_file(named, folder, "folder") if named else folder


def _is_script(word: str) -> bool:
    return word.endswith((".py", ".pyw")) or _ADDRESS.match(word) is not None


def _python_target(scanned: Scanned, folder: Path) -> tuple[str, str, Sequence[str]]:
    if scanned.last("code"):
        raise LaunchRefused("Code in the command line is no server.", hint="Write it into a file, and name that.")
    if scanned.last("module"):
        return MODULE, scanned.last("module"), scanned.rest
    if not scanned.rest:
        raise LaunchRefused("Python is given nothing to run.", hint="Name a file, or a module with -m.")
    return FILE, str(absolute_file(scanned.rest[0], folder, "file")), scanned.rest[1:]


def _python_flags(words: Sequence[str], scanned: Scanned) -> tuple[str, ...]:
    """The options of the interpreter, without `-m NAME`."""
    count = len(words) - len(scanned.rest)
    return tuple(_cut_module(words[:count]))


def _cut_module(words: Sequence[str]) -> list[str]:
    kept = [word for word in words if word != "--"]
    at = next((number for number, word in enumerate(kept) if word.startswith("-m")), len(kept))
    return kept[:at]


def _find_python(program: str, folder: Path) -> str:
    """The path of `python`, which many systems call `python3` only."""
    try:
        return find_program(program, folder)
    except LaunchRefused:
        if program not in ("python", "py"):
            raise
        return find_program("python3", folder)
