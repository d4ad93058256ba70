"""The options that a runner such as npx takes before the name of what it runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ferrule_mcp.launch.plan import LaunchRefused


class Grammar(NamedTuple):
    """The options of a runner.

    name: as in messages. flags: those without a value. valued: those with one, each with the name under which it is
    kept. A long option may stand as `--name=value`, a short one as `-nvalue`.
    """

    name: str
    flags: Collection[str]
    valued: Mapping[str, str]


class Scanned(NamedTuple):
    """A command line after its options. values: by the kept name, in their order. rest: from the first word on."""

    flags: frozenset[str]
    values: Mapping[str, tuple[str, ...]]
    rest: tuple[str, ...]

    def last(self, name: str) -> str:
        """The value that holds where an option was given more than once; empty where it was not."""
        return self.values.get(name, ("",))[-1]

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of an option."""
        return self.values.get(name, ())


def scan_options(words: Sequence[str], grammar: Grammar, *, ends: Collection[str] = ()) -> Scanned:
    """Read options up to the first word that is none, or past `--`.

    ends: valued options after which all belongs to what is run, as `-m` of Python. Raises LaunchRefused for an option
    that the runner is not known to have: what follows it could be its value.
    """
    flags: set[str] = set()
    values: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        if word in grammar.flags:
            flags.add(word)
            continue
        option, value, used = _read_valued(word, words[at : at + 1], grammar)
        at += used
        kept = grammar.valued[option]
        values[kept] = (*values.get(kept, ()), value)
        if option in ends:
            break
    return Scanned(frozenset(flags), values, tuple(words[at:]))


def _read_valued(word: str, following: Sequence[str], grammar: Grammar) -> tuple[str, str, int]:
    """The option, its value, and how many of the following words it took."""
    name, equals, value = word.partition("=")
    if equals and name in grammar.valued:
        return name, value, 0
    if equals and name in grammar.flags:
        return _refuse(word, grammar)
    if word in grammar.valued:
        if not following:
            raise LaunchRefused(f"The option {word} of {grammar.name} has no value.", hint="Complete the command.")
        return word, following[0], 1
    short = word[:2]
    if not word.startswith("--") and short in grammar.valued:
        return short, word[2:], 0
    return _refuse(word, grammar)


def _refuse(word: str, grammar: Grammar) -> tuple[str, str, int]:
    option = word.partition("=")[0]
    raise LaunchRefused(
        f"{option} is no option of {grammar.name} that is known here.",
        hint=f"Leave it out, or put the server's own options after the name of what {grammar.name} runs.",
    )
