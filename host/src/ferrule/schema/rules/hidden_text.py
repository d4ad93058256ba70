"""The rule that text for a model is text that people see. On the path of `--schema`, so it imports next to nothing."""

from __future__ import annotations

from ferrule.schema.rules.findings import Finding, pointer_to
from ferrule.schema.rules.nodes import MAX_LEVELS
from ferrule.text.visibility import make_visible, may_hide

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_SHOWN_LETTERS = 5


def hidden_characters(document: object) -> Iterator[Finding]:
    """Control characters, tags and the like: lists and terminals hide them, and a model reads what they spell."""
    # Almost no document hides anything: one look at all of its text spares the walk that makes pointers.
    if not may_hide("".join(_all_text(document))):
        return
    told = set()  # a name and what it names have the same pointer
    for pointer, text in _texts(document):
        hidden = hidden_in(text) if may_hide(text) else []
        if hidden and pointer not in told:
            told.add(pointer)
            some = ", ".join(f"U+{ord(letter):04X}" for letter in hidden[:_MAX_SHOWN_LETTERS])
            more = ", …" if hidden[_MAX_SHOWN_LETTERS:] else ""
            message = f"The text has characters that nobody sees and a model reads: {some}{more}."
            fix = "Take them out; escape what has to be named."
            yield Finding("hidden-characters", make_visible(pointer), message, fix)


def hidden_in(text: str) -> list[str]:
    """The characters of a text that are hidden and not needed by its writing, each once, in their order."""
    from ferrule.text import invisible  # which compiles expressions; most schemas need none

    hidden = invisible.hidden_in(text)
    # The end of a line is seen; alone, it has a terminal write over what stands before it.
    return ["\r", *hidden] if "\r" in text.replace("\r\n", "") else hidden


def _all_text(document: object) -> list[str]:
    """The texts that `_texts` gives, in any order."""
    texts: list[str] = []
    level = [document]
    for _ in range(MAX_LEVELS + 1):
        below: list[object] = []
        for value in level:
            if isinstance(value, str):
                texts.append(value)
            elif isinstance(value, dict):
                texts += [key for key in value if isinstance(key, str)]
                below += value.values()
            elif isinstance(value, list | tuple):
                below += value
        level = below
    return texts


def _texts(document: object) -> Iterator[tuple[str, str]]:
    """Every text in the document, names of properties included, with its pointer."""
    waiting: list[tuple[str, object, int]] = [("", document, 0)]
    while waiting:
        pointer, value, levels = waiting.pop()
        if isinstance(value, str):
            yield pointer, value
        elif isinstance(value, dict | list | tuple) and levels < MAX_LEVELS:
            members = list(value.items() if isinstance(value, dict) else enumerate(value))
            yield from ((pointer_to(pointer, key), key) for key, _ in members if isinstance(key, str))
            inner = [(pointer_to(pointer, key), one, levels + 1) for key, one in members]
            waiting.extend(reversed(inner))
