"""Whether this version of the host is one that a tool says it runs on: `requires_ferrule` of its declaration.

Import this only where `schema_file.may_declare(tool, "requires_ferrule")`: it takes the library that compares versions.
"""

from __future__ import annotations

from packaging.specifiers import SpecifierSet

from ferrule._version import __version__
from ferrule.errors import ToolBroken
from ferrule.plugin.declaration import read_if_well
from ferrule.plugin.remedies.installation import install_command

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool


def require_host(tool: InstalledTool) -> None:
    """Raise ToolBroken where the tool requires another version of ferrule than this one.

    A declaration that cannot be read refuses no call; `ferrule list --check` tells of it.
    """
    required = read_if_well(tool).requires_ferrule
    if required is None or SpecifierSet(required).contains(__version__, prereleases=True):
        return
    command = install_command(f"ferrule{required}", "--upgrade")
    raise ToolBroken(
        f"{tool.name} of {tool.source} requires ferrule {required}, and this is ferrule {__version__}.",
        hint=f"Install another version of {tool.distribution}, or run: {command}",
        details={"requires_ferrule": required, "ferrule": __version__, "distribution": tool.distribution},
    )
