"""A command line as a README or a client's configuration has it, read as a plan to install and start the server."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ferrule_mcp.launch.node_runners import parse_dlx, parse_node, parse_npm, parse_npx
from ferrule_mcp.launch.paths import absolute_words, find_program
from ferrule_mcp.launch.plan import NONE, PROGRAM, Launch, LaunchRefused, Secret
from ferrule_mcp.launch.python_runners import PYTHONS, parse_pipx, parse_python, parse_uv, parse_uvx
from ferrule_mcp.launch.secret_values import extract_secrets, has_login

_CONTAINERS = ("docker", "podman", "nerdctl", "container")
_SHELLS = ("sh", "bash", "zsh", "dash", "fish", "cmd", "powershell", "pwsh")
_SHELL_SIGNS = frozenset(";|&<>`$(){}*?\n")
_ENDINGS = (".exe", ".cmd", ".bat")
_MAX_SHELLS = 3  # one in another

_Parser = Callable[[Sequence[str], Path], Launch]
_RUNNERS: dict[tuple[str, ...], _Parser] = {
    ("npx",): parse_npx,
    ("npm",): parse_npm,
    ("bunx",): parse_dlx,
    ("bun", "x"): parse_dlx,
    ("pnpx",): parse_dlx,
    ("pnpm", "dlx"): parse_dlx,
    ("yarn", "dlx"): parse_dlx,
    ("uvx",): parse_uvx,
    ("uv",): parse_uv,
    ("pipx",): parse_pipx,
}


def parse_command(
    words: Sequence[str],
    folder: str | Path,
    variables: Mapping[str, str] | None = None,
    secrets: Sequence[Secret] = (),
) -> Launch:
    """The plan for a command line. Nothing is installed or run. Values that look like secrets go into `Launch.secrets`.

    Args:
        words: the command line, as a list of words.
        folder: what relative paths are relative to.
        variables: that the server is started with.
        secrets: that are known already, and stand as `{name}` in the words and variables.

    Raises:
        LaunchRefused: it cannot become a server; the hint says what to write instead.
    """
    own, rest = _split_variables(list(words))
    launch = _parse(rest, Path(folder), depth=0)
    _refuse_logins(launch)
    all_variables = {**(variables or {}), **own, **launch.variables}
    return extract_secrets(launch._replace(variables=all_variables, secrets=tuple(secrets)))


def _parse(words: Sequence[str], folder: Path, depth: int) -> Launch:
    if not words or not words[0]:
        raise LaunchRefused("There is no command.", hint="Write it after `--`, as in `-- npx -y NAME`.")
    name = _plain_name(words[0])
    if name in _CONTAINERS:
        return _refuse_container(name)
    if name in _SHELLS and len(words) > 1:
        return _parse_shell(name, words, folder, depth)
    for begin, parse in _RUNNERS.items():
        if (name, *words[1 : len(begin)]) == begin:
            return parse(words[len(begin) :], folder)
    if name in ("node", "nodejs"):
        return parse_node(words[1:], folder, words[0])
    if PYTHONS.fullmatch(name):
        return parse_python(words[1:], folder, words[0])
    if name == "deno":
        raise LaunchRefused(
            "deno fetches what it runs at its start, so it cannot be held to one version.",
            hint="Where the server is also on npm, write `npx -y NAME`; else `deno compile` makes a program of it.",
        )
    return Launch(NONE, PROGRAM, find_program(words[0], folder), arguments=absolute_words(words[1:], folder))


def _refuse_logins(launch: Launch) -> None:
    """What is installed from is written down, and must hold no password."""
    for word in (*launch.requirements, *launch.options):
        if has_login(word):
            raise LaunchRefused(
                "The address of a package or an index has a password or a token in it, which would be written down.",
                hint="Put it where the installer looks for it (.netrc, pip.conf, .npmrc), and leave it out here.",
            )


def _plain_name(word: str) -> str:
    """The name of a program without its folder and the ending of another system."""
    name = word.replace("\\", "/").rpartition("/")[2].lower()
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def _split_variables(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """The `NAME=value` before a command, with or without `env`."""
    rest = words[1:] if words and _plain_name(words[0]) == "env" else words
    variables: dict[str, str] = {}
    while rest and "=" in rest[0] and rest[0].partition("=")[0].isidentifier():
        name, _, value = rest[0].partition("=")
        variables[name] = value
        rest = rest[1:]
    return variables, rest


def _parse_shell(name: str, words: Sequence[str], folder: Path, depth: int) -> Launch:
    """The command that a shell is given, where it means the same without the shell."""
    option = "/c" if name == "cmd" else "-c"
    if words[1].lower() != option and not (words[1].startswith("-") and words[1].endswith("c")):
        return Launch(NONE, PROGRAM, find_program(words[0], folder), arguments=absolute_words(words[1:], folder))
    text = " ".join(words[2:]) if name == "cmd" else words[2] if len(words) > 2 else ""
    if set(text) & _SHELL_SIGNS or depth == _MAX_SHELLS:
        raise LaunchRefused(
            f"The text for {name} needs a shell, so it does not say what has to be installed.",
            hint="Write the command itself, or an executable file with the text in it, and name that file.",
        )
    try:
        inner = list(words[2:]) if name == "cmd" else shlex.split(text)
    except ValueError:
        raise LaunchRefused(f"The text for {name} has a quote that does not end.", hint="Complete it.") from None
    variables, rest = _split_variables(inner)
    launch = _parse(rest, folder, depth + 1)
    return launch._replace(variables={**variables, **launch.variables})


def _refuse_container(name: str) -> Launch:
    raise LaunchRefused(
        f"{name} starts the server in a container, as a child of a service: nothing that ferrule sets holds it there, "
        "neither its permissions nor its deadline nor its end.",
        hint="Most servers are on npm or PyPI, too: write `npx -y NAME` or `uvx NAME`, and ferrule holds it without a "
        "container. For one that is nowhere else, start it with HTTP on loopback, and add its URL.",
    )
