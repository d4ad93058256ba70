"""What is kept of a schema as it is, and how much of it."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeGuard

LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
TEXTS = {"description", "title", "default", "examples", "format"}
"""Keywords that judge no value: of two, the outer one is taken."""

MAX_TUPLE_ITEMS = 20
_MAX_NUMBER = 1e300


class Room(NamedTuple):
    """How much of a schema is shown.

    tool_chars: of the tool's description. text_chars: of what the server says of a parameter. sketch_chars: of the form
    of a JSON text. values: of an enum. levels: of objects and arrays inside one another. optional: parameters that need
    not be given; None for all of them.
    """

    tool_chars: int = 1024
    text_chars: int = 4000
    sketch_chars: int = 600
    values: int = 1000
    levels: int = 10
    optional: int | None = None


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that a limit can be, and that JSON can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _MAX_NUMBER and not (isinstance(value, float) and math.isnan(value))
