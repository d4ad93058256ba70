"""Tools of the client that it brings along, in C, compiled here from its sources."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TOOLS = {"file_read": ("talloc",), "web_fetch": ("talloc", "curl", "xml2")}
_SHARED = ("json_allocator.c", "panic.c", "wrapper_curl.c", "wrapper_posix.c", "wrapper_stdlib.c", "wrapper_web.c")


def compile_client_tools(source: Path, folder: Path) -> dict[str, Path]:
    """Those that can be compiled, by their names. source: of the client; none is left out silently."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not (source / "tools").is_dir():
        print(f"the client's own tools are left out: no compiler, or no sources in {source}", file=sys.stderr)
        return {}
    found = {}
    for tool, libraries in _TOOLS.items():
        program = folder / f"{tool}-in-c"
        done = subprocess.run(
            [compiler, "-O2", "-w", *_list_sources(source, tool), *_list_options(source), "-o", str(program)]
            + [f"-l{library}" for library in libraries],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            found[tool] = program
        else:
            print(f"the client's {tool} is left out: {done.stderr[-400:]}", file=sys.stderr)
    return found


def _list_sources(source: Path, tool: str) -> list[str]:
    shared = [source / "shared" / name for name in _SHARED]
    paths = [*sorted((source / "tools" / tool).glob("*.c")), *shared, source / "vendor/yyjson/yyjson.c"]
    return [str(path) for path in paths if path.exists()]


def _list_options(source: Path) -> list[str]:
    """Where headers and libraries are: beside the sources too, for a machine that has none for development."""
    headers = [source, source / "shared", source / "include", "/usr/include/libxml2"]
    return [*(f"-I{path}" for path in headers), f"-L{source / 'lib'}"]
