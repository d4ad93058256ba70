"""Whether there is a browser, and when it is used, as the administrator decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from ferrule_research.page.errors import CONFIG, page_error

if TYPE_CHECKING:
    from ferrule import Context, ToolError

NEEDED, FIRST = "needed", "first"
USES = (NEEDED, FIRST)


class BrowserPolicy(NamedTuple):
    """program: the path of a headless Chromium, "" for none. is_first: whether it reads every page of HTML."""

    program: str = ""
    is_first: bool = False

    @classmethod
    def from_context(cls, context: Context) -> Self:
        """What the settings ask for. Raises ToolError MISSING_EXTRA where one cannot be understood."""
        program = context.setting("browser", "FERRULE_BROWSER") or ""
        use = context.setting("browser_use", "FERRULE_BROWSER_USE") or NEEDED
        if not isinstance(program, str) or not (program == "" or program.startswith("/")):
            raise _unusable("browser", "It takes the path of a headless Chromium.")
        if use not in USES:
            raise _unusable("browser_use", f"It takes {' or '.join(USES)}.")
        return cls(program, use == FIRST)


def _unusable(setting: str, hint: str) -> ToolError:
    return page_error(CONFIG, "", f"{setting!r} in the tool's table of config.toml cannot be understood. {hint}")
