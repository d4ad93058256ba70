"""What a distribution adds to the command `ferrule`: one entry point, imported in this process when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.errors import FerruleError
from ferrule.supervision.exception_text import name_and_text

if TYPE_CHECKING:
    from collections.abc import Container


class EntryPoint(NamedTuple):
    """An entry point of an installed distribution.

    source: the distribution, and its version. rivals: others that claim the name; then it cannot be used.
    """

    name: str
    value: str
    source: str
    rivals: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The module that it names."""
        return self.value.partition(":")[0]

    def load(self, title: str) -> object:
        """Import what it names. Raises FerruleError, which names the title, where that fails in any way, or where
        another distribution claims the name.
        """
        from ferrule.plugin.loader import resolve

        if self.rivals:
            raise self.clash(title)
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

    def clash(self, title: str) -> FerruleError:
        """The error that names all who claim it."""
        sources = sorted((self.source, *self.rivals))
        return FerruleError(
            f"The {title} {self.name!r} is claimed by {' and by '.join(sources)}, so none of them gets it.",
            hint=f"Uninstall all but one of: {', '.join(sources)}. `ferrule doctor` says where they come from.",
        )

    def unusable(self, title: str, why: str, line: str | None = None) -> FerruleError:
        """The error that names the entry point and the distribution that has to fix it. line: a command that does."""
        fix = f"Run: {line}" if line else f"Update or uninstall {self.distribution}; all other {title}s work."
        return FerruleError(f"The {title} {self.name!r} of {self.source} cannot be used: {self.value} {why}.", hint=fix)

    def _line(self, error: BaseException) -> str | None:
        """The command that brings what the error says is missing."""
        from ferrule.plugin.remedies.missing_module import line_for, missing_module

        module = missing_module(error)
        return line_for(module, self.distribution) if module else None


def entry_points(group: str, taken: Container[str] = ()) -> tuple[dict[str, EntryPoint], list[EntryPoint]]:
    """The entry points of a group by name, in alphabetical order, and those whose name is taken.

    A name that is claimed twice has its rivals, and cannot be loaded.
    """
    found: dict[str, EntryPoint] = {}
    passed_over: list[EntryPoint] = []
    for facts in discovery.entry_points(group):
        one = EntryPoint(*facts)
        if one.name in taken:
            passed_over.append(one)
        elif one.name in found:
            first = found[one.name]
            found[one.name] = first._replace(rivals=(*first.rivals, one.source))
        else:
            found[one.name] = one
    return dict(sorted(found.items())), passed_over
