"""A virtual environment for a server in Python, by uv where it is there, else by venv and pip, with the same result."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule.errors import PackageRefused
from ferrule.text.names import same_distribution
from ferrule_mcp.environment.programs import OnLine, ProgramFailed, find_uv, run_program
from ferrule_mcp.environment.python_packages import find_site
from ferrule_mcp.environment.record import InstallFailed
from ferrule_mcp.launch.bundles import FOLDER as BUNDLE
from ferrule_mcp.launch.python_projects import LOCKED

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.launch.plan import Launch

LOCK = "requirements.lock"
_WANTED = "requirements.in"
_INDEX_OPTIONS = ("--index-url", "--extra-index-url", "--find-links", "--index-strategy")
_CONSTRAINTS = "constraints.txt"
_OF_UV = (LOCKED, "--override", "--index-strategy", "--exclude-newer")
_ADDRESS = re.compile(r"(?:\w+\+)?(?:https?|ssh|file|git):")
_NO_WHEEL = re.compile(
    r"have no usable wheels and you require (?P<uv>[\w.-]+)|Wheels are required for `(?P<hint>[\w.-]+)`"
    r"|No matching distribution found for (?P<pip>[\w.-]+)|disabled, but attempted to build `(?P<built>[\w.-]+)`"
)
_OTHER_PYTHON = re.compile(r"Requires-Python|requires? (?:a different )?Python|depend on Python|Python>=", re.I)
_OLD_PYTHON = re.compile(
    r"current Python version \((?P<there>[\d.]+)\) does not satisfy Python(?P<wanted>>=(?P<version>\d+\.\d+)[\d.]*)"
)
_NO_PYTHON = re.compile(r"(?:No interpreter found for Python |Failed to download .*/cpython-)(?P<version>\d+\.\d+)")
_SHEBANG = re.compile(rb"#!(?:/bin/sh\n'''exec' (?P<long>.+) \"\$0\" \"\$@\"\n' '''|(?P<short>[^\n]+))\n")
_RELOCATABLE = '#!/bin/sh\n\'\'\'exec\' "$(dirname -- "$(realpath -- "$0")")/{python}" "$0" "$@"\n\' \'\'\'\n'


def install_python(launch: Launch, folder: Path, allowed: Collection[str], on_line: OnLine) -> dict[str, str]:
    """Make the environment in an empty folder; nothing of a package is run but what `allowed` names.

    Args:
        launch: whose requirements are installed.
        folder: is empty, and becomes the virtual environment.
        allowed: the packages that may be built from their source, by code of their own.
        on_line: gets what the installer says.

    Returns:
        The digests of the archives of packages by their names, where the installer tells them.

    Raises:
        InstallFailed: the packages cannot be had.
        PackageRefused: one of them has no wheel, and was not allowed to be built.
    """
    for text in launch.requirements:
        _refuse_build(text, allowed)
    (folder / _WANTED).write_text("".join(f"{text}\n" for text in launch.requirements), encoding="utf-8")
    uv = find_uv()
    try:
        archives = (
            _install_by_uv(uv, launch, folder, allowed, on_line)
            if uv
            else _install_by_pip(launch, folder, allowed, on_line)
        )
    except ProgramFailed as error:
        raise _explain(error, launch) from None
    _make_relocatable(folder)
    _compile(folder, on_line)
    return archives


def _refuse_build(text: str, allowed: Collection[str]) -> None:
    """What is no wheel and in no index is built by its own code: a folder, a source archive, a repository."""
    name = _find_built(text)
    if name and not {text, name} & set(allowed):
        raise PackageRefused(
            f"{text} would be built, which runs its code with all rights of the user.",
            hint=f"Where you trust it with them, add --allow-scripts {name}. A wheel needs none.",
        )


def _find_built(text: str) -> str:
    """What the package at an address or a path is called, which has to be built; empty for one that has not."""
    name, at, address = text.partition(" @ ")
    address = address if at else text
    bare = address.partition("#")[0]
    if bare.endswith(".whl") or not (address.startswith("/") or _ADDRESS.match(address)):
        return ""
    if at:
        return name.partition("[")[0]
    last = bare.partition("[")[0].rstrip("/").rpartition("/")[2]
    return _read_project_name(Path(bare.partition("[")[0])) or last.partition("@")[0].removesuffix(".git")


def _read_project_name(folder: Path) -> str:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
        return str(project.get("name", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _install_by_uv(uv: str, launch: Launch, folder: Path, allowed: Collection[str], on_line: OnLine) -> dict[str, str]:
    python = str(folder / "bin" / "python")
    run_program(
        [
            uv,
            "venv",
            "--quiet",
            "--allow-existing",
            "--no-project",
            "--python",
            launch.python or sys.executable,
            str(folder),
        ],
        folder,
        on_line,
    )
    if not launch.requirements:
        return {}
    shared = ["--python", python, *_build_options(allowed)]
    on_line("Resolving the packages.")
    options = _write_constraints(uv, launch.options, folder, on_line)
    run_program(
        [uv, "pip", "compile", *shared, *options, "--generate-hashes", "--no-header", "--no-annotate", "--quiet",
         "--output-file", LOCK, _WANTED],
        folder,
        on_line,
    )  # fmt: skip
    index = _pick_options(launch.options, _INDEX_OPTIONS)
    # A copy: files that are shared with the cache of uv change here when they are edited in another environment.
    install = [uv, "pip", "install", "--link-mode", "copy", "--no-deps", "--requirements", LOCK]
    on_line("Installing the packages.")
    run_program([*install, *shared, *index], folder, on_line)
    return {}


def _write_constraints(uv: str, options: Sequence[str], folder: Path, on_line: OnLine) -> list[str]:
    """The options with the versions of a project's uv.lock as constraints, where the project has one."""
    if LOCKED not in options:
        return list(options)
    at = options.index(LOCKED)
    shared = ["--frozen", "--no-dev", "--no-emit-workspace", "--no-hashes", "--no-header", "--quiet"]
    run_program(
        [uv, "export", *shared, "--project", options[at + 1], "--output-file", str(folder / _CONSTRAINTS)],
        folder,
        on_line,
    )
    return [*options[:at], *options[at + 2 :], "--constraint", _CONSTRAINTS]


def _install_by_pip(launch: Launch, folder: Path, allowed: Collection[str], on_line: OnLine) -> dict[str, str]:
    if importlib.util.find_spec("pip") is None:
        raise InstallFailed(
            "Neither uv nor pip is there to install with.", hint="Install uv, or add pip to the environment of ferrule."
        )
    for word in (*launch.options, *launch.requirements):
        if word in _OF_UV or word.startswith("-r "):  # what such a file names, pip would build without a question
            raise InstallFailed(f"{word.split()[0]} is not taken without uv.", hint="Install uv, and try again.")
    run_program([_find_python(launch.python), "-m", "venv", "--without-pip", str(folder)], folder, on_line)
    if not launch.requirements:
        return {}
    report = folder / "report.json"
    run_program(
        [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--no-compile",
         "--disable-pip-version-check", "--no-input", "--report", str(report), *_build_options(allowed),
         *launch.options, "--requirement", _WANTED],
        folder,
        on_line,
    )  # fmt: skip
    installed: list[JSONObject] = json.loads(report.read_bytes())["install"]
    report.unlink()
    archives = {same_distribution(one["metadata"]["name"]): _read_hash(one) for one in installed}
    lines = [f"{one['metadata']['name']}=={one['metadata']['version']} {_lock_hash(one)}\n" for one in installed]
    (folder / LOCK).write_text("".join(sorted(lines, key=str.lower)), encoding="utf-8")
    return {name: digest for name, digest in archives.items() if digest}


def _read_hash(installed: JSONObject) -> str:
    digest = installed.get("download_info", {}).get("archive_info", {}).get("hashes", {}).get("sha256", "")
    return f"sha256={digest}" if digest else ""


def _lock_hash(installed: JSONObject) -> str:
    digest = _read_hash(installed).replace("=", ":")
    return f"--hash={digest}" if digest else ""


def _find_python(wanted: str) -> str:
    """The interpreter for a version or a path."""
    if not wanted:
        return sys.executable
    named = wanted if "/" in wanted else f"python{wanted.removeprefix('python')}"
    found = shutil.which(named)
    if found is None:
        raise InstallFailed(
            f"{named} is not there.", hint="Install it, or install uv, which brings versions of Python."
        )
    return found


def _build_options(allowed: Collection[str]) -> list[str]:
    names = [name for name in sorted(allowed) if "/" not in name and ":" not in name]
    return ["--only-binary", ":all:", *(part for name in names for part in ("--no-binary", name))]


def _pick_options(options: Sequence[str], names: Iterable[str]) -> list[str]:
    """Those options of a list that have one of the names, with their values; `--no-index` has none."""
    pairs = pairwise([*options, ""])
    picked = [part for name, value in pairs if name in names for part in (name, value)]
    return [*picked, "--no-index"] if "--no-index" in options else picked


def _explain(error: ProgramFailed, launch: Launch) -> Exception:
    text = " ".join(error.lines)
    older = _OLD_PYTHON.search(text)
    if older:
        return InstallFailed(
            f"{', '.join(launch.requirements)} needs Python {older['wanted']}, and this one is {older['there']}.",
            hint=f"Name another one, as in: -- uvx --python {older['version']} …; uv brings it where it is missing.",
        )
    missing = _NO_PYTHON.search(text)
    if missing:
        return InstallFailed(
            f"Python {missing['version']} is not on PATH, and uv cannot fetch it.",
            hint=f"Install it, or name the path of one: -- uvx --python /usr/bin/python{missing['version']} …",
        )
    found = _NO_WHEEL.search(text)
    name = next((one for one in found.groups() if one), "") if found else ""
    if name and not (found and found["pip"]):
        return PackageRefused(
            f"{name} has no wheel for this machine; building it runs its code with all rights of the user.",
            hint=f"Where you trust it with them, add --allow-scripts {name}.",
        )
    what = ", ".join(launch.requirements) or "The environment"
    hint = "Check the name and the version. pip.conf, uv.toml and their variables say which index is asked."
    if _OTHER_PYTHON.search(text):
        hint = "Name a version of Python that it takes, as in `uvx --python 3.13 NAME`."
    elif name:
        hint += f" Where {name} has no wheel, --allow-scripts {name} lets its code build it."
    return InstallFailed(f"{what} cannot be installed: {error.summary}", hint=hint)


def _make_relocatable(folder: Path) -> None:
    """Let scripts find the interpreter in their folder, wherever the folder is; the scripts that activate it go."""
    for path in (folder / "bin").iterdir():
        if path.name.lower().startswith(("activate", "deactivate", "pydoc.bat")):
            path.unlink()
        elif not path.is_symlink() and path.is_file():
            _rewrite_shebang(path, folder)


def _rewrite_shebang(path: Path, folder: Path) -> None:
    """Replace the first line, or the three that installers write where the path is long or has blanks."""
    content = path.read_bytes()
    found = _SHEBANG.match(content)
    if found is None:
        return
    interpreter = Path(os.fsdecode(found["short"] or found["long"]).strip('"'))
    if interpreter.is_relative_to(folder / "bin"):
        path.write_bytes(_RELOCATABLE.format(python=interpreter.name).encode() + content[found.end() :])


def _compile(folder: Path, on_line: OnLine) -> None:
    """Compile every module now: the server may not write there. A file that is no valid Python is left as it is.

    Nothing confines this process, so it must run no code of a package: a file `.pth` or a `sitecustomize` is code that
    an interpreter runs at its start, unless it starts without `site`.
    """
    on_line("Compiling the modules.")
    brought = [str(folder / BUNDLE)] if (folder / BUNDLE).is_dir() else []
    try:
        run_program(
            [
                str(folder / "bin" / "python"),
                "-I",
                "-S",
                "-m",
                "compileall",
                "-q",
                "-j",
                "0",
                str(find_site(folder)),
                *brought,
            ],
            folder,
            lambda _line: None,
        )
    except ProgramFailed:
        on_line("Some files of the packages are no valid Python; they are left as they are.")
