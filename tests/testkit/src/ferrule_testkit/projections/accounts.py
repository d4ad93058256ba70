"""Whether a projection has told that it does not check what the server refuses."""

from typing import Any

from jsonschema import ValidationError

_WHOLE_VALUES = ("combination", "text", "type", "reference", "deep", "folded", "impossible", "value")
_UNIONS = ("anyOf", "oneOf")


def is_told(error: ValidationError, losses: list[Any]) -> bool:
    """Whether one of the losses says that the server alone checks this.

    A loss of a whole value is one of all that is inside it. Of a union, a loss inside of it may be the reason.
    """
    place = write_place(error.absolute_path)
    for loss in losses:
        is_around = _is_inside(place, loss.place)
        if loss.kind in _WHOLE_VALUES and is_around:
            return True
        if loss.kind == "unchecked" and is_around and loss.keyword in error.absolute_schema_path:
            return True
        if error.validator in _UNIONS and loss.kind in (*_WHOLE_VALUES, "unchecked") and _is_inside(loss.place, place):
            return True
    return False


def write_place(path: Any) -> str:
    """The place of a value as losses have it: `filter.tags[]`."""
    place = ""
    for part in path:
        place += "[]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place


def _is_inside(place: str, around: str) -> bool:
    return not around or place == around or place.startswith((f"{around}.", f"{around}["))
