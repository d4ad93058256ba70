"""From argv to the exit code, as cobra does it: find the command, read its flags, print its help or run it."""

import importlib
import sys

from standin import usage
from standin.behaviour import Behaviour
from standin.flags import Parsed, parse
from standin.generation import Failure, Generation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# By module and function, since no command needs the modules of the others.
COMMANDS = {
    "init": ("notebooks", "init"),
    "version": ("notebooks", "version"),
    "notebook": ("notebooks", "info"),
    "notebook list": ("notebooks", "show_all"),
    "notebook create": ("notebooks", "create"),
    "notes add": ("adding", "add"),
    "notes remove": ("adding", "remove"),
    "notes list": ("searching", "list_notes"),
    "notes search": ("searching", "search"),
    "notes search query": ("searching", "query"),
    "notes view": ("views", "view"),
}
GROUPS = ("", "notes")
ALIASES = {"nb": "notebook", "ls": "list", "rm": "remove"}
MOST_ARGUMENTS = {"notes add": 2, "notes search": 1, "notes view": 1, "notebook create": 1, "notes remove": 1}


def main(launcher: str) -> int:
    behaviour = Behaviour.of(launcher)
    behaviour.misbehave()
    generation = Generation.of(launcher, behaviour.kind)
    path, rest = command_of(sys.argv[1:])
    try:
        run(generation, path, rest, behaviour)
    except Failure as failure:
        print(f"Error: {failure}\n{usage.usage(generation, path)}\n", file=sys.stderr)
        print(failure, file=sys.stderr)
        return 1
    return 0


def run(generation: Generation, path: str, rest: list[str], behaviour: Behaviour) -> None:
    parsed = parse(rest, usage.flags(generation, path))
    if parsed.is_on("help") or (path in GROUPS and not parsed.arguments):
        print(usage.help_text(generation, path), end="")
        return
    if path in GROUPS:
        name = f"{generation.name} {path}".strip()
        raise Failure(f'unknown command "{parsed.arguments[0]}" for "{name}"')
    most = MOST_ARGUMENTS.get(path)
    if most is not None and len(parsed.arguments) > most:
        raise Failure(f"accepts at most {most} arg(s), received {len(parsed.arguments)}")
    command(path)(generation, parsed, behaviour)


def command(path: str) -> "Callable[[Generation, Parsed, Behaviour], None]":
    module, name = COMMANDS[path]
    found: Callable[[Generation, Parsed, Behaviour], None]
    found = getattr(importlib.import_module(f"standin.{module}"), name)
    return found


def command_of(arguments: list[str]) -> tuple[str, list[str]]:
    """The longest command that the words name, and what is left. Flags before a command are its flags, too."""
    path: list[str] = []
    left = list(arguments)
    position = 0
    while position < len(left) and left[position] != "--":
        word = left[position]
        if word.startswith("-"):
            position += 2 if word == "--notebook" else 1
            continue
        longer = " ".join([*path, ALIASES.get(word, word)])
        if longer not in COMMANDS and longer not in GROUPS:
            break
        path = longer.split()
        del left[position]
    return " ".join(path), left
