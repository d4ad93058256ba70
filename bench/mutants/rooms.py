"""What is mutated, and which test files may see a change there though they execute it in other processes."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DISTRIBUTIONS = ("host/src/ferrule", "plugins/fetch/src", "plugins/serve/src", "plugins/ask/src")

_CALLS = (
    "tests/test_contract_*.py",
    "tests/test_faults.py",
    "tests/test_links.py",
    "tests/test_wrappers.py",
    "host/tests/test_crash.py",
    "host/tests/test_failures.py",
    "host/tests/test_bounded.py",
    "host/tests/test_channel.py",
)
_CLI = ("host/tests/test_cli_*.py", "host/tests/test_*_cli.py", "tests/test_links.py")
_SCHEMA = ("host/tests/test_schema*.py", "host/tests/test_arguments.py", "host/tests/test_cli_validate.py", *_CALLS)
_STORAGE = ("host/tests/test_storage*.py", "host/tests/test_cache_*.py", "host/tests/test_artifacts*.py")
_ARTIFACTS = ("host/tests/test_artifacts*.py", "tests/test_wrappers.py", "host/tests/test_storage*.py")
_CACHE = ("host/tests/test_cache_*.py", "tests/test_wrappers.py", "host/tests/test_storage*.py")
_TOOL = ("host/tests/test_loading.py", "host/tests/test_credentials*.py", "tests/test_wrappers.py", *_CALLS)
_CONFIG = ("host/tests/test_configuration.py", "host/tests/test_credentials*.py", "host/tests/test_cli_credentials.py")
_SERVED = ("tests/test_serve_clients.py", "tests/test_serve_conformance.py", "tests/test_serve_page.py")

# By the beginning of a source's path, the longest that fits; the globs are those of Path.glob, from the root.
ROOMS: dict[str, tuple[str, ...]] = {
    "host/src/ferrule/": ("host/tests/test_*.py", *_CALLS),
    "host/src/ferrule/admin/": _CLI,
    "host/src/ferrule/calls/": (*_CALLS, "host/tests/test_server_interface.py"),
    "host/src/ferrule/cli/": _CLI,
    "host/src/ferrule/config/": (*_CONFIG, *_CALLS),
    "host/src/ferrule/dispatch.py": _CALLS,
    "host/src/ferrule/discovery.py": ("host/tests/test_discovery.py", *_CALLS, *_CLI),
    "host/src/ferrule/errors.py": _CALLS,
    "host/src/ferrule/http/": (
        "host/tests/test_http_*.py",
        "plugins/fetch/tests/test_*.py",
        "plugins/ask/tests/test_*.py",
    ),
    "host/src/ferrule/installed/": ("host/tests/test_installed.py", "host/tests/test_snapshot.py", *_CALLS),
    "host/src/ferrule/schema/": _SCHEMA,
    "host/src/ferrule/schema/providers/": ("host/tests/test_forms*.py", "host/tests/test_cli_show.py"),
    "host/src/ferrule/storage/": _STORAGE,
    "host/src/ferrule/supervision/": _CALLS,
    "host/src/ferrule/text/": (*_CALLS, *_CLI),
    "host/src/ferrule/plugin/": _TOOL,
    "host/src/ferrule/wrappers/": (*_CACHE, *_CALLS),
    "host/src/ferrule/content/artifacts/": _ARTIFACTS,
    "host/src/ferrule/content/": ("host/tests/test_content*.py", *_ARTIFACTS),
    "host/src/ferrule/wrappers/artifacts/": _ARTIFACTS,
    "host/src/ferrule/wrappers/cache/": _CACHE,
    "plugins/ask/src/": ("plugins/ask/tests/test_*.py", "tests/test_ask_*.py"),
    "plugins/fetch/src/": (
        "plugins/fetch/tests/test_*.py",
        "tests/test_hostile_pages.py",
        "tests/test_reference_pages.py",
    ),
    "plugins/serve/src/": ("plugins/serve/tests/test_*.py", *_SERVED),
    "plugins/serve/src/ferrule_serve/mcp/": (
        "plugins/serve/tests/test_serve.py",
        "plugins/serve/tests/test_serve_access.py",
        *_SERVED,
    ),
    "plugins/serve/src/ferrule_serve/page/": ("tests/test_serve_page.py", "tests/test_serve_page_browser.py"),
    **dict.fromkeys(
        [f"plugins/serve/src/ferrule_serve/{name}" for name in ("pool", "worker", "warm_", "plugin_process", "wire")],
        ("plugins/serve/tests/test_*.py", "tests/test_serve_replicas.py"),
    ),
}

# Test files are of a source's name where they share a word with it; these have words of their own there.
_WORDS = {
    "diagnosis": "doctor",
    "errors": "failures crash",
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
    words = PurePosixPath(test_file).stem.removeprefix("test_").split("_")
    return any(word[:_WORD_CHARS] in wanted for word in words)


def _matches(root: Path, globs: tuple[str, ...]) -> list[str]:
    found = [path.relative_to(root).as_posix() for glob in globs for path in sorted(root.glob(glob))]
    return list(dict.fromkeys(found))
