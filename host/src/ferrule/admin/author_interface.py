"""What the kit for authors of tools takes of the host beyond the public names. Its version goes with the host's.

`ferrule-dev` runs tools, holds them against the host's own rules and replays their requests, so it needs facts that no
tool does. It takes them from here; this module changes whenever the host does.

**What a tool is.** `inventory.examine(inventory.Entry(name, [tool]), settings, load=True)` gives the state, the schema
and the credentials of an installed tool. `read_declaration` reads its `tool.json` into a `Declaration`, or raises
`MalformedDeclaration`. `find_disagreement` compares the files of a function tool with the function. `check_text` holds
the bytes of a schema against the format and gives each `Finding`; `MAX_BYTES` is the size that a schema may have.

**What it may touch.** `clauses(declared(tool))` says it in words; `unenforced` is what this system does not hold of it.

**Its executable.** `linked_executables` writes one and reads what stands in one; `interpreter` is the path of the
Python that a console script of this environment starts.

**A call in this process.** `load` imports a plugin and gives its `LoadedTool`; `require_valid` checks its schema, and
`prepare` the arguments.

**A call in another process.** `Signals` says what stops the one who waits for it, `name_signal` puts the end of a
process in words, and `processes` asks the kernel about processes, and ends them.

**Requests and secrets.** `RELAY_VARIABLE` names the variable with the address of a relay, which then gets all requests
of `ferrule.http`. `Connections(deadline, resolve)` sends one past the relay. `likely_secrets` finds values in an
environment that must not be written down, and `may_be_secret` judges the name of a variable or a header.

Every name is loaded when it is first used.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.admin.function_files import find_disagreement
    from ferrule.http.connections.connections import Connections
    from ferrule.http.connections.relay import RELAY_VARIABLE
    from ferrule.http.resolution import resolve
    from ferrule.installed import inventory
    from ferrule.links import linked_executables
    from ferrule.plugin.declaration import Declaration, MalformedDeclaration, read_declaration
    from ferrule.plugin.hooks.credentials import likely_secrets
    from ferrule.plugin.loader import LoadedTool, load
    from ferrule.schema.arguments import prepare
    from ferrule.schema.rules import Finding, check_text
    from ferrule.schema.rules.contract import MAX_BYTES
    from ferrule.schema.schema_file import require_valid
    from ferrule.supervision import processes
    from ferrule.supervision.python_process import interpreter
    from ferrule.supervision.signals import Signals, name_signal
    from ferrule.trust.declaration import declared
    from ferrule.trust.description import clauses
    from ferrule.trust.enforcement import unenforced
    from ferrule.trust.entries import may_be_secret

__all__ = [
    "MAX_BYTES", "RELAY_VARIABLE", "Connections", "Declaration", "Finding", "LoadedTool", "MalformedDeclaration",
    "Signals", "check_text", "clauses", "declared", "find_disagreement", "interpreter", "inventory", "likely_secrets",
    "linked_executables", "load", "may_be_secret", "name_signal", "prepare", "processes", "read_declaration",
    "require_valid", "resolve", "unenforced",
]  # fmt: skip

_NAMES = {
    "ferrule.admin.function_files": ("find_disagreement",),
    "ferrule.http.connections.connections": ("Connections",),
    "ferrule.http.connections.relay": ("RELAY_VARIABLE",),
    "ferrule.http.resolution": ("resolve",),
    "ferrule.installed": ("inventory",),
    "ferrule.links": ("linked_executables",),
    "ferrule.plugin.declaration": ("Declaration", "MalformedDeclaration", "read_declaration"),
    "ferrule.plugin.hooks.credentials": ("likely_secrets",),
    "ferrule.plugin.loader": ("LoadedTool", "load"),
    "ferrule.schema.arguments": ("prepare",),
    "ferrule.schema.rules": ("Finding", "check_text"),
    "ferrule.schema.rules.contract": ("MAX_BYTES",),
    "ferrule.schema.schema_file": ("require_valid",),
    "ferrule.supervision": ("processes",),
    "ferrule.supervision.python_process": ("interpreter",),
    "ferrule.supervision.signals": ("Signals", "name_signal"),
    "ferrule.trust.declaration": ("declared",),
    "ferrule.trust.description": ("clauses",),
    "ferrule.trust.enforcement": ("unenforced",),
    "ferrule.trust.entries": ("may_be_secret",),
}

__getattr__ = attach(__name__, {name: module for module, names in _NAMES.items() for name in names})
