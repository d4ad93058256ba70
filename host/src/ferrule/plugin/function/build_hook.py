"""A build hook of hatchling: wheels have the schema files of their functions, whether those are committed or not.

    [build-system]
    requires = ["hatchling", "ferrule[schema]"]

    [tool.hatch.build.hooks.ferrule]

A file that is missing is made. One that is there and differs from its function fails the build. An editable install
writes the files into the project, where the host reads them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from ferrule.plugin.function.files import STALE, to_text


class SchemaHook(BuildHookInterface):  # type: ignore[type-arg] # hatchling's own hooks give none
    """Asks `ferrule schema`, in a process of its own, since the functions' modules are imported for it."""

    PLUGIN_NAME = "ferrule"
    _folder: str | None = None

    def dependencies(self) -> list[str]:
        """What the project needs when it runs, since its modules are imported. An sdist needs none of it."""
        return [] if self.target_name == "sdist" else list(self.metadata.core.dependencies)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel, or write them for an editable install."""
        if self.target_name != "wheel":
            return
        files = self._ask("--write") if version == "editable" else self._ask()
        if version == "editable":
            return
        for file in files:
            if file["state"] == STALE:
                self.app.abort(f"{file['difference']} Run `ferrule schema --write`.")
        self._folder = tempfile.mkdtemp(prefix="ferrule-schema-")
        for number, file in enumerate(files):
            path = Path(self._folder, f"{number}.json")
            path.write_text(to_text(file["content"]), encoding="utf-8")
            build_data["force_include"][str(path)] = file["wheel_path"]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel has by now."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(self, *options: str) -> list[dict[str, Any]]:
        command = [sys.executable, "-m", "ferrule", "schema", self.root, "--json", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            self.app.abort(f"The schemas of the functions cannot be made. {_reason(done.stdout) or done.stderr}")
        return [file for tool in json.loads(done.stdout)["tools"] for file in tool["files"]]


def _reason(output: str) -> str:
    """What the command says on stdout of its failure, where it came so far."""
    try:
        error = json.loads(output)["error"]
        return " ".join(filter(None, (error["message"], error.get("hint"))))
    except (ValueError, KeyError, TypeError):
        return ""


@hookimpl
def hatch_register_build_hook() -> type[SchemaHook]:
    """The hook, which hatchling knows as `ferrule`."""
    return SchemaHook
