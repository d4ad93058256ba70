"""One thing that is wrong with an installation."""

from __future__ import annotations

from typing import NamedTuple

ERROR, WARNING, NOTE = "error", "warning", "note"


class Diagnosis(NamedTuple):
    """One thing that is wrong.

    id: what kind of thing, as in `link-stale`. severity: `error`, `warning` or `note`. subject: the tool, file or
    folder that it is about. message: what is wrong. fix: what to do about it, None where nothing need be done.
    """

    id: str
    severity: str
    subject: str
    message: str
    fix: str | None = None

    def as_dict(self) -> dict[str, str | None]:
        """The diagnosis as JSON."""
        return self._asdict()
