"""The tools that 39 servers list, as `plugins/mcp/tests/projection/record_schemas.py` has recorded them."""

import gzip
import json
from functools import cache
from typing import Any

from ferrule_testkit import PROJECT

_FILE = PROJECT / "plugins/mcp/tests/projection/schemas.json.gz"

SERVERS = (
    *("everything", "filesystem", "memory", "sequential-thinking", "pdf", "playwright", "chrome-devtools", "context7"),
    *("desktop-commander", "obsidian-npm", "repomix", "mermaid", "antv", "eslint", "figma", "git-cyan", "mobile"),
    *("notion", "brave", "tavily", "exa", "firecrawl", "time", "fetch", "git", "sqlite", "motherduck", "markitdown"),
    *("calculator", "pandoc", "duckduckgo", "arxiv", "excel", "word", "shell", "basic-memory", "serena", "aws-docs"),
    "obsidian-py",
)


@cache
def read_recorded() -> dict[str, list[dict[str, Any]]]:
    """The tools by the name of the server, each with its name and `inputSchema`."""
    recorded: dict[str, list[dict[str, Any]]] = json.loads(gzip.decompress(_FILE.read_bytes()))
    return recorded
