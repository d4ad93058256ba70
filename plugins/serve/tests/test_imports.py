"""What the server imports of the host: what every distribution may, and one interface besides."""

import ast
from pathlib import Path

import ferrule_serve

_PUBLIC = (
    "ferrule", "ferrule.content.artifacts", "ferrule.calls.server_interface", "ferrule.cli", "ferrule.config",
    "ferrule.content", "ferrule.discovery", "ferrule.errors", "ferrule.http", "ferrule.installed",
    "ferrule.lazy", "ferrule.schema.providers", "ferrule.storage", "ferrule_dev.testing",
)  # fmt: skip
_UNTIL_A_FACADE_HAS_THEM = (
    "ferrule.admin", "ferrule.admin.fingerprint", "ferrule.admin.snapshot", "ferrule.installed.suggestions",
    "ferrule.supervision.python_path",
)  # fmt: skip


def test_only_public_modules_of_the_host_are_imported() -> None:
    imported = set()
    for file in Path(ferrule_serve.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported.add(str(node.module))
            elif isinstance(node, ast.Import):
                imported |= {one.name for one in node.names}
    of_host = {name for name in imported if name.partition(".")[0] == "ferrule"}
    assert "ferrule.calls.server_interface" in of_host
    private = {name for name in of_host if name not in _PUBLIC and not name.startswith("ferrule.text")}
    assert private <= set(_UNTIL_A_FACADE_HAS_THEM)
