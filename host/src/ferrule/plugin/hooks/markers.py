"""The decorators `hookspec` and `hookimpl`, as pluggy has them, without pluggy: it costs twice the interpreter's start.

A marked function has the options as an attribute, in the form that pluggy documents; a test compares the two.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


class SpecificationMarker:
    """Marks a function as the specification of a hook. project: the name of the plugin manager."""

    def __init__(self, project: str) -> None:
        self._attribute = f"{project}_spec"

    def __call__(self, *, firstresult: bool) -> Callable[[Any], Any]:
        """Return the decorator. firstresult: whether the first result that is not None is that of the hook."""
        options = {
            "firstresult": firstresult,
            "historic": False,
            "warn_on_impl": None,
            "warn_on_impl_args": None,
        }
        return _marker(self._attribute, options)


class ImplementationMarker:
    """Marks a function as a hook, with the options of `pluggy.HookimplMarker`. project: as above."""

    def __init__(self, project: str) -> None:
        self.project_name = project

    def __call__(
        self,
        function: Any = None,
        hookwrapper: bool = False,
        optionalhook: bool = False,
        tryfirst: bool = False,
        trylast: bool = False,
        specname: str | None = None,
        wrapper: bool = False,
    ) -> Any:
        """Mark the function, or return a decorator that does where only options are given."""
        options = {
            "wrapper": wrapper,
            "hookwrapper": hookwrapper,
            "optionalhook": optionalhook,
            "tryfirst": tryfirst,
            "trylast": trylast,
            "specname": specname,
        }
        mark = _marker(f"{self.project_name}_impl", options)
        return mark if function is None else mark(function)


def _marker(attribute: str, options: Mapping[str, object]) -> Callable[[Any], Any]:
    def mark(function: Any) -> Any:
        setattr(function, attribute, dict(options))
        return function

    return mark
