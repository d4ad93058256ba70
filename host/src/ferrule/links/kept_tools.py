"""Which tools are kept: those that [keep] of config.toml names, and those that an admin has added to be kept."""

from __future__ import annotations

from ferrule.config.own_folders import is_of_source

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool

_KEY = "lasting"


def is_to_keep(settings: Configuration, tool: InstalledTool) -> bool:
    """Whether calls of this tool may be answered by a keeper.

    An admin has added a tool of a source by a command, and may have said then that it is to be kept. A distribution
    that anybody has made may say of itself what it likes: there [keep] decides alone.
    """
    if "keep" in settings.content:
        from ferrule.config.keep import is_kept, keep_seconds

        if is_kept(settings, tool.name):
            return True
        if not keep_seconds(settings):
            return False
    return is_of_source(tool.metadata) and _is_lasting(tool)


def _is_lasting(tool: InstalledTool) -> bool:
    """Whether its declaration says so; the bytes are looked at before anything is parsed."""
    from ferrule.schema import schema_file

    if not schema_file.may_declare(tool, _KEY):
        return False
    from ferrule.text import strict_json

    for path in schema_file.find_beside(tool.value, schema_file.DECLARATION):
        try:
            content = strict_json.loads(schema_file.read_file(path))
        except (OSError, ValueError):
            return False
        if isinstance(content, dict) and _KEY in content:
            return content[_KEY] is True
    return False
