"""Flags as pflag reads them: `--name=value`, `--name value`, `-n value`, `--`, and nothing that it does not know."""

from collections import namedtuple

from standin.generation import Failure

# kind: "string", "stringArray" (may come again), or "bool".
Flag = namedtuple("Flag", ("name", "kind", "about", "short"), defaults=("",))


class Parsed:
    """What a command was given."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self._values: dict[str, list[str]] = {}

    def add(self, name: str, value: str) -> None:
        self._values.setdefault(name, []).append(value)

    def is_on(self, name: str) -> bool:
        return self.text(name) == "true"

    def is_given(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str, default: str = "") -> str:
        return self._values.get(name, [default])[-1]

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])


def parse(words: list[str], flags: list[Flag]) -> Parsed:
    parsed = Parsed()
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            parsed.arguments += left
            break
        if not word.startswith("-") or word == "-":
            parsed.arguments.append(word)
            continue
        flag, value = _read(word, flags)
        if value is None:
            value = "true" if flag.kind == "bool" else _next(left, word)
        parsed.add(flag.name, value)
    return parsed


def _read(word: str, flags: list[Flag]) -> tuple[Flag, str | None]:
    if word.startswith("--"):
        name, has_value, value = word[2:].partition("=")
        for flag in flags:
            if flag.name == name:
                return flag, value if has_value else None
        raise Failure(f"unknown flag: --{name}")
    for flag in flags:
        if flag.short and word[1] == flag.short:
            return flag, word[2:].removeprefix("=") or None
    raise Failure(f"unknown shorthand flag: {word[1]!r} in {word}")


def _next(left: list[str], word: str) -> str:
    if not left:
        raise Failure(f"flag needs an argument: {word}")
    return left.pop(0)
