"""What is mutated, and which test files may see a change there though they execute it in other processes."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DISTRIBUTIONS = ("host/src/ferrule", "plugins/fetch/src", "plugins/serve/src", "plugins/ask/src")

_CALLS = (
    *(f"tests/calls/test_{name}.py" for name in ("input", "signals", "streams", "surroundings", "faults", "wrappers")),
    "tests/executables/test_links.py",
    "host/tests/supervision/test_exception_text.py",
    "host/tests/plugin/test_failures.py",
    "host/tests/supervision/test_bounded.py",
    "host/tests/supervision/channel/test_channel.py",
)
_CLI = ("host/tests/cli/**/test_*.py", "tests/executables/test_links.py")
_SCHEMA = ("host/tests/schema/**/test_*.py", "host/tests/cli/tools/test_validate.py", *_CALLS)
_STORAGE = ("host/tests/storage/test_*.py", "host/tests/wrappers/cache/test_*.py", "host/tests/*/artifacts/test_*.py")
_ARTIFACTS = ("host/tests/*/artifacts/test_*.py", "tests/calls/test_wrappers.py", "host/tests/storage/test_*.py")
_CACHE = ("host/tests/wrappers/cache/test_*.py", "tests/calls/test_wrappers.py", "host/tests/storage/test_*.py")
_CREDENTIALS = ("host/tests/trust/credentials/test_lookup.py", "host/tests/config/test_credentials_file.py")
_TOOL = ("host/tests/plugin/test_loader.py", *_CREDENTIALS, "tests/calls/test_wrappers.py", *_CALLS)
_CONFIG = ("host/tests/config/test_configuration.py", *_CREDENTIALS, "host/tests/cli/setup/test_credentials.py")
_SERVED = ("tests/serve/test_clients.py", "tests/serve/test_conformance.py", "tests/serve/test_page.py")
_SERVE = "plugins/serve/tests/**/test_*.py"

# By the beginning of a source's path, the longest that fits; the globs are those of Path.glob, from the root.
ROOMS: dict[str, tuple[str, ...]] = {
    "host/src/ferrule/": ("host/tests/**/test_*.py", *_CALLS),
    "host/src/ferrule/admin/": (*_CLI, "host/tests/admin/**/test_*.py"),
    "host/src/ferrule/calls/": (*_CALLS, "host/tests/calls/test_*.py"),
    "host/src/ferrule/calls/fork_server/": (_SERVE, *_SERVED, "host/tests/calls/test_server_interface.py"),
    "host/src/ferrule/cli/": _CLI,
    "host/src/ferrule/config/": (*_CONFIG, *_CALLS),
    "host/src/ferrule/dispatch.py": _CALLS,
    "host/src/ferrule/discovery.py": ("host/tests/test_discovery.py", *_CALLS, *_CLI),
    "host/src/ferrule/errors.py": _CALLS,
    "host/src/ferrule/http/": (
        "host/tests/http/**/test_*.py",
        "plugins/fetch/tests/**/test_*.py",
        "plugins/ask/tests/test_*.py",
    ),
    "host/src/ferrule/installed/": ("host/tests/installed/test_*.py", *_CALLS),
    "host/src/ferrule/schema/": _SCHEMA,
    "host/src/ferrule/schema/providers/": ("host/tests/schema/providers/test_*.py", "host/tests/cli/tools/test_s*.py"),
    "host/src/ferrule/storage/": _STORAGE,
    "host/src/ferrule/supervision/": _CALLS,
    "host/src/ferrule/text/": (*_CALLS, *_CLI),
    "host/src/ferrule/plugin/": _TOOL,
    "host/src/ferrule/wrappers/": (*_CACHE, *_CALLS),
    "host/src/ferrule/content/artifacts/": _ARTIFACTS,
    "host/src/ferrule/content/": ("host/tests/content/test_*.py", *_ARTIFACTS),
    "host/src/ferrule/wrappers/artifacts/": _ARTIFACTS,
    "host/src/ferrule/wrappers/cache/": _CACHE,
    "plugins/ask/src/": ("plugins/ask/tests/test_*.py", "tests/ask/test_*.py"),
    "plugins/fetch/src/": (
        "plugins/fetch/tests/**/test_*.py",
        "tests/attacks/test_pages.py",
        "tests/docs/test_reference_pages.py",
    ),
    "plugins/serve/src/": (_SERVE, *_SERVED),
    "plugins/serve/src/ferrule_serve/mcp/": (
        "plugins/serve/tests/test_serve.py",
        "plugins/serve/tests/test_access.py",
        *_SERVED,
    ),
    "plugins/serve/src/ferrule_serve/page/": ("tests/serve/test_page.py", "tests/serve/test_page_browser.py"),
    **dict.fromkeys(
        [f"plugins/serve/src/ferrule_serve/{name}" for name in ("pool", "supervisor", "wire")],
        (_SERVE, "tests/serve/test_replicas.py"),
    ),
}

# Test files are of a source's name where they share a word with it; these have words of their own there.
_WORDS = {
    "diagnosis": "doctor",
    "errors": "failures exception",
    "executable_probe": "link doctor",
    "inventory": "list show",
    "linked_executables": "link unlink",
    "plugin_process": "pool forks",
    "processes": "ends faults bounded",
    "supervisor": "faults bounded",
    "template": "new",
    "warm_plugin": "pool forks",
    "warm_runner": "pool forks",
    "worker": "pool ends",
    "wrapper_status": "doctor wrappers",
}
_WORD_CHARS = 4  # that make two words the same: link, links, linked


def distribution(source: str) -> str:
    """The folder of DISTRIBUTIONS that a source is in."""
    return next(folder for folder in DISTRIBUTIONS if source.startswith(folder + "/"))


def test_files(root: Path, source: str) -> list[str]:
    """The test files of the room that a source stands in, in the table's order; paths from the root."""
    room = max((beginning for beginning in ROOMS if source.startswith(beginning)), key=len)
    return _matches(root, ROOMS[room])


def all_test_files(root: Path) -> list[str]:
    """The test files of all rooms."""
    return sorted(set(_matches(root, tuple(glob for globs in ROOMS.values() for glob in globs))))


def is_of_name(test_file: str, source: str) -> bool:
    """Whether a test file seems to be about the very source."""
    stem = PurePosixPath(source).stem
    wanted = {word[:_WORD_CHARS] for word in _WORDS.get(stem, stem.replace("_", " ")).split()}
    file = PurePosixPath(test_file)
    words = [file.parent.name, *file.stem.removeprefix("test_").split("_")]
    return any(word[:_WORD_CHARS] in wanted for word in words)


def _matches(root: Path, globs: tuple[str, ...]) -> list[str]:
    found = [path.relative_to(root).as_posix() for glob in globs for path in sorted(root.glob(glob))]
    return list(dict.fromkeys(found))
