"""Known ways in which an environment that was resolved today does not start, and what makes it start."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ferrule_mcp.environment.python_packages import names_package
from ferrule_mcp.launch.plan import PYPI

if TYPE_CHECKING:
    from ferrule_mcp.environment.record import Environment
    from ferrule_mcp.launch.plan import Launch


class Repair(NamedTuple):
    """launch: with what makes it start. reason: a sentence for the admin."""

    launch: Launch
    reason: str


class _Break(NamedTuple):
    """pattern: in what the server wrote when it died. package: which is held back, and below which version."""

    pattern: re.Pattern[str]
    package: str
    bound: str
    reason: str


_BREAKS = (
    _Break(
        re.compile(
            r"'?(?:Server|FastMCP|ClientSession)'? object has no attribute '\w+'"
            r"|Server\.\w+\(\) (?:got an unexpected|takes|missing)"
            r"|No module named 'mcp\.[\w.]+'|cannot import name '\w+' from 'mcp(?:\.[\w.]+)?'"
            r"|module 'mcp(?:\.[\w.]+)?' has no attribute"
        ),
        "mcp",
        "<2",
        "The server is written for the first version of the MCP SDK and names no upper bound, so the second one was "
        "installed, with which it ends at its start.",
    ),
    _Break(
        re.compile(r"cannot import name '\w+' from 'pydantic\._internal"),
        "pydantic",
        "<2.12",
        "The server's packages use inner names of pydantic that its newer versions do not have.",
    ),
)
_NATIVE = re.compile(
    r"(?P<name>[\w-]+)\.node\b|Could not locate the bindings file|/build/Release/|node-gyp|prebuild|"
    r"NODE_MODULE_VERSION|Cannot find module '\./?\.\./build",
)


def repair(launch: Launch, failure: str) -> Repair | None:
    """The launch with a bound that is known to help; None where none is, or it is there already.

    failure: what the server wrote to stderr before it ended.
    """
    if launch.ecosystem != PYPI:
        return None
    for one in _BREAKS:
        is_bound = any(names_package(text, one.package) for text in launch.requirements)
        if one.pattern.search(failure) and not is_bound:
            bound = f"{one.package}{one.bound}"
            changed = launch._replace(requirements=(*launch.requirements, bound))
            reason = f"{one.reason} It was installed again with {bound}."
            return Repair(changed.add_notes(reason), reason)
    return None


def explain_failure(environment: Environment, failure: str) -> str | None:
    """A sentence on why a server did not start, where an install script that was left out explains it."""
    left = environment.left_out_scripts
    found = _NATIVE.search(failure)
    if not left or not found:
        return None
    named = [name for name in left if name in failure] or left
    options = " ".join(f"--allow-scripts {name}" for name in named)
    return (
        f"{' and '.join(named)} came without what an install script makes or fetches. Where you trust it with all "
        f"rights of the user, add the server with {options}."
    )
