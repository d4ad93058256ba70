"""Command lines of npx and its kin, and of Node itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_mcp.launch.options import Grammar, Scanned, scan_options
from ferrule_mcp.launch.paths import absolute_file, absolute_words, find_program
from ferrule_mcp.launch.plan import FILE, NONE, NPM, SCRIPT, Launch, LaunchRefused

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGES = {"-p": "package", "--package": "package"}
_NPM_VALUED = {
    **_PACKAGES,
    "-c": "call", "--call": "call", "--registry": "registry", "--cache": "ignored", "--userconfig": "ignored",
    "--loglevel": "ignored", "--prefix": "ignored", "-w": "ignored", "--workspace": "ignored",
    "--node-options": "node_options", "-n": "node_options", "--node-arg": "node_options", "--before": "before",
}  # fmt: skip
_NPM_FLAGS = frozenset(
    ("-y", "--yes", "--no", "-q", "--quiet", "--silent", "-s", "--no-install", "--ignore-existing", "--prefer-offline",
     "--prefer-online", "--offline", "--no-audit", "--no-fund", "--no-update-notifier", "-d", "--verbose",
     "--legacy-peer-deps", "--force", "-f", "--include-workspace-root", "--ignore-scripts", "-g", "--global",
     "--always-spawn", "--no-cache", "--shell-auto-fallback", "--yes=true", "-yes", "--no-bin-links"),
)  # fmt: skip
NPX = Grammar("npx", _NPM_FLAGS, _NPM_VALUED)
_DLX_FLAGS = frozenset(("-q", "--quiet", "-y", "--yes", "--silent", "-s", "--bun", "--verbose", "--no-install"))
DLX = Grammar("this runner", _DLX_FLAGS, {**_PACKAGES, "--allow-build": "ignored", "--registry": "registry"})
NODE = Grammar(
    "node",
    frozenset(
        ("--no-warnings", "--enable-source-maps", "--preserve-symlinks", "--preserve-symlinks-main", "--expose-gc",
         "--experimental-strip-types", "--experimental-transform-types", "--experimental-vm-modules",
         "--experimental-sqlite", "--experimental-fetch", "--experimental-modules", "--trace-warnings",
         "--trace-uncaught", "--experimental-require-module", "--experimental-json-modules", "--use-system-ca",
         "--use-openssl-ca", "--experimental-wasm-modules", "--experimental-websocket", "--no-deprecation"),
    ),
    dict.fromkeys(
        ("-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file", "--env-file-if-exists",
         "--max-old-space-size", "--max-semi-space-size", "--stack-size", "--dns-result-order", "-C", "--conditions",
         "--disable-warning", "--unhandled-rejections", "--experimental-specifier-resolution", "--icu-data-dir",
         "--max-http-header-size", "--title"),
        "kept",
    ),
)  # fmt: skip
_CODE = ("-e", "--eval", "-p", "--print")
_VERSION = re.compile(r"(?P<name>(?:@[^/@\s]+/)?[^/@\s]+)@(?P<version>[^/\s]+)")
_NAME = re.compile(r"(?:@[a-z0-9-~][a-z0-9-._~]*/)?[a-z0-9-~][a-z0-9-._~]*", re.IGNORECASE)
_REPOSITORIES = ("git+", "git:", "git@", "github:", "gitlab:", "bitbucket:", "gist:", "ssh:")
_HOSTS = re.compile(
    r"https?://(?:[^/@]*@)?(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|gist\.github\.com)/[^/]+/?[^/]*/?$"
)
_ELSEWHERE = ("git+", "git:", "git@", "github:", "gitlab:", "bitbucket:", "gist:", "http:", "https:", "file:")
_ARCHIVES = (".tgz", ".tar.gz", ".tar")
_SHELL_SIGNS = frozenset(";|&<>`$(){}*?\n")
_BRIDGE = "mcp-remote"


def parse_npx(words: Sequence[str], folder: Path) -> Launch:
    """`npx`, `npm exec` and `npm x`: the words after them. Raises LaunchRefused."""
    return _plan(scan_options(words, NPX), folder, "npx")


def parse_npm(words: Sequence[str], folder: Path) -> Launch:
    """`npm exec …`; any other command of npm runs a script of a project's. Raises LaunchRefused."""
    scanned = scan_options(words, NPX)
    if scanned.rest[:1] not in (("exec",), ("x",)):
        raise LaunchRefused(
            "npm runs a script of a project here, and what that starts is not known.",
            hint="Write what the script in package.json starts, such as `node /path/to/server.js`.",
        )
    return parse_npx(scanned.rest[1:], folder)


def parse_dlx(words: Sequence[str], folder: Path) -> Launch:
    """`bunx`, `pnpm dlx` and `yarn dlx`: the words after them. Raises LaunchRefused."""
    return _plan(scan_options(words, DLX), folder, "the runner")


def parse_node(words: Sequence[str], folder: Path, program: str = "node") -> Launch:
    """`node FILE …`, whose packages are those around the file. Raises LaunchRefused."""
    if any(word in _CODE for word in words[:1]):
        raise LaunchRefused("Code in the command line is no server.", hint="Write it into a file, and name that.")
    scanned = scan_options(words, NODE)
    if not scanned.rest:
        raise LaunchRefused("node is given no file to run.", hint="Name the server's file, such as `node server.js`.")
    count = len(words) - len(scanned.rest)
    flags = [word for word in words[:count] if word != "--"]
    file = _find_script(scanned.rest[0], folder)
    return Launch(
        NONE,
        FILE,
        str(file),
        arguments=absolute_words(scanned.rest[1:], folder),
        interpreter=find_program(program, folder),
        flags=absolute_words(flags, folder),
    )


def split_spec(spec: str) -> tuple[str, str]:
    """Name and version, or dist-tag, of `@scope/name@1.2`; the name is empty for what the registry does not have."""
    name, _, target = spec.partition("@npm:")
    if target and _NAME.fullmatch(name):
        return name, f"npm:{target}"
    found = _VERSION.fullmatch(spec)
    if found and _NAME.fullmatch(found["name"]):
        return found["name"], found["version"]
    return (spec, "") if _NAME.fullmatch(spec) else ("", "")


def is_elsewhere(spec: str) -> bool:
    """Whether a package comes from a repository, an address or this machine, and not from the registry."""
    return not split_spec(spec)[0]


def is_repository(spec: str) -> bool:
    """Whether npm clones a package from a repository, by its address or as `owner/name`."""
    address = spec.partition("@")[2] if spec.partition("@")[2].startswith(_REPOSITORIES) else spec
    bare = address.partition("#")[0]
    if bare.startswith(("http:", "https:")):
        return bare.endswith(".git") or (bool(_HOSTS.match(bare)) and not bare.endswith(_ARCHIVES))
    is_short = not split_spec(spec)[0] and bare.count("/") == 1 and not bare.startswith((".", "/", "~", "@"))
    return address.startswith(_REPOSITORIES) or is_short


def _plan(scanned: Scanned, folder: Path, runner: str) -> Launch:
    packages, rest = list(scanned.all("package")), list(scanned.rest)
    if scanned.last("call"):
        if rest:
            raise LaunchRefused("With -c, npx takes no further words.", hint="Put them into the text of -c.")
        rest = _split_call(scanned.last("call"))
    if not rest:
        raise LaunchRefused(f"{runner} is given nothing to run.", hint="Name a package, such as `npx -y NAME`.")
    executable = rest[0] if packages else ""
    specs = [_place_spec(spec, folder) for spec in packages or rest[:1]]
    options = tuple(f"--registry={value}" for value in scanned.all("registry"))
    options += tuple(f"--before={value}" for value in scanned.all("before"))
    launch = Launch(
        NPM,
        SCRIPT,
        executable,
        requirements=tuple(specs),
        arguments=absolute_words(rest[1:], folder),
        flags=tuple(word for text in scanned.all("node_options") for word in text.split()),
        options=options,
    )
    return launch.add_notes(*_list_notes(launch))


def _list_notes(launch: Launch) -> list[str]:
    notes = [
        f"{spec} does not come from the registry, so nothing says who has published it."
        for spec in launch.requirements
        if is_elsewhere(spec)
    ]
    if split_spec(launch.requirements[0])[0] == _BRIDGE:
        notes.append(f"{_BRIDGE} only passes messages on; `ferrule mcp add NAME URL` needs nothing between.")
    return notes


def _split_call(text: str) -> list[str]:
    """The words of a text for a shell, where they mean the same without one."""
    if set(text) & _SHELL_SIGNS:
        raise LaunchRefused(
            "The text of -c needs a shell, and a server is started without one.",
            hint="Write it into an executable file, and name that.",
        )
    try:
        return shlex.split(text)
    except ValueError:
        raise LaunchRefused("The text of -c has a quote that does not end.", hint="Complete it.") from None


def _place_spec(spec: str, folder: Path) -> str:
    """A package as npm takes it, with an absolute path where it is a folder or an archive here."""
    is_path = spec.startswith(("./", "../", "/", "~/", "file:")) or spec in (".", "..") or spec.endswith(_ARCHIVES)
    if is_path and not spec.startswith(("http:", "https:", "git+")):
        return str(absolute_file(spec.removeprefix("file:"), folder, "package"))
    if not split_spec(spec)[0] and not spec.startswith(_ELSEWHERE) and spec.count("/") != 1:
        raise LaunchRefused(f"{spec} is no name of a package.", hint="Write it as the registry does: NAME@VERSION.")
    return spec


def _find_script(word: str, folder: Path) -> Path:
    """The file that Node runs for a path: itself, with an ending, or the main file of a folder."""
    path = absolute_file(word, folder, "file", must_exist=False)
    tried = [path, *(path.with_name(path.name + ending) for ending in (".js", ".mjs", ".cjs"))]
    found = next((one for one in tried if one.is_file()), None)
    if found is None and path.is_dir():
        found = next((one for one in (_main_file(path), path / "index.js") if one and one.is_file()), None)
    if found is None:
        raise LaunchRefused(f"There is no file {path}.", hint="Build the server first, or correct the path.")
    return found


def _main_file(folder: Path) -> Path | None:
    import json

    try:
        main = json.loads((folder / "package.json").read_text()).get("main")
    except (OSError, ValueError, AttributeError):
        return None
    return folder / main if isinstance(main, str) else None
