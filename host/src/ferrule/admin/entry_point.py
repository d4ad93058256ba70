"""What a distribution adds to the command `ferrule`: one entry point, imported in this process when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.errors import FerruleError
from ferrule.supervision.exception_text import name_and_text

if TYPE_CHECKING:
    from collections.abc import Container


class EntryPoint(NamedTuple):
    """An entry point of an installed distribution. source: the distribution, and its version."""

    name: str
    value: str
    source: str

    @property
    def module(self) -> str:
        """The module that it names."""
        return self.value.partition(":")[0]

    def load(self, title: str) -> object:
        """Import what it names. Raises FerruleError, which begins with the title, where that fails in any way."""
        from ferrule.tool.loader import resolve

        try:
            found: object = resolve(self.value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self.unusable(title, f"cannot be loaded ({name_and_text(error)})", self._line(error)) from error
        return found

    @property
    def distribution(self) -> str:
        """The name of the distribution that offers it."""
        return self.source.partition(" ")[0]

    def unusable(self, title: str, why: str, line: str | None = None) -> FerruleError:
        """The error that names the entry point and the distribution that has to mend it. line: a command that does."""
        mend = f"Run: {line}" if line else f"Update or uninstall {self.distribution}; all other {title}s work."
        return FerruleError(
            f"The {title} {self.name!r} of {self.source} cannot be used: {self.value} {why}.", hint=mend
        )

    def _line(self, error: BaseException) -> str | None:
        """The command that brings what the error says is missing."""
        from ferrule.tool.missing_module import line_for, missing_module

        module = missing_module(error)
        return line_for(module, self.distribution) if module else None


def entry_points(group: str, taken: Container[str] = ()) -> tuple[dict[str, EntryPoint], list[EntryPoint]]:
    """The entry points of a group by name, in alphabetical order, and those that are passed over.

    Passed over is a name that is taken, and each later claim on the path to a name that a distribution has.
    """
    found: dict[str, EntryPoint] = {}
    passed_over: list[EntryPoint] = []
    for facts in discovery.entry_points(group):
        one = EntryPoint(*facts)
        if one.name in taken or one.name in found:
            passed_over.append(one)
        else:
            found[one.name] = one
    return dict(sorted(found.items())), passed_over
