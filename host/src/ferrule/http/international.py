"""Host names that are not ASCII, as browsers read them: UTS 46, not transitional, with the WHATWG's options.

IDNA 2008, which idna's own `encode` holds names against, knows no symbols: names with an emoji would not work.
"""

from __future__ import annotations

import idna

_PREFIX = "xn--"
_JOINERS = "\u200c\u200d"


def to_ascii(host: str) -> str:
    """The host in ASCII, each label of other letters in Punycode. Raises ValueError where it cannot be a name."""
    return ".".join(map(_label, idna.uts46_remap(host, std3_rules=False).split(".")))


def _label(label: str) -> str:
    if not label.startswith(_PREFIX):
        return label if label.isascii() else _encoded(label)
    text = label.removeprefix(_PREFIX).encode("ascii").decode("punycode")
    # A label that a browser would write in another way than it stands here can pass for another one.
    if text.isascii() or idna.uts46_remap(text, std3_rules=False) != text or _encoded(text) != label:
        raise ValueError
    return label


def _encoded(text: str) -> str:
    idna.check_initial_combiner(text)
    idna.check_bidi(text)
    if not all(idna.valid_contextj(text, place) for place, letter in enumerate(text) if letter in _JOINERS):
        raise ValueError
    return _PREFIX + text.encode("punycode").decode("ascii")
