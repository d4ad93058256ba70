"""An environment into which the attacks in hooks come by `ferrule install`, as one wheel."""

from __future__ import annotations

import json
import os
import sys
import venv
from typing import TYPE_CHECKING

from ferrule_testkit.attacks import hooks, ordinary_user, trial
from ferrule_testkit.installation.wheels import write_wheel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hostile_hooks import table

    from ferrule_testkit.attacks.scene import Scene

INSTALL = "install"
_QUIET = ["importing", "credentials"]  # an installation tells of no tool that fails
# The index is asked for nothing: all that the wheel needs is there.
OPTIONS = ("--", "--no-index", "--no-cache-dir", "--disable-pip-version-check")


def environment() -> dict[str, str]:
    """What the command gets beside the scene's variables: what this process imports, but for the attacks themselves."""
    paths = [path for path in ordinary_user.search_path() if not path.startswith(str(trial.HOSTILE))]
    # pip asks for the version of a compiler, which would write into the home.
    return {"PYTHONPATH": os.pathsep.join(paths), "RUSTUP_HOME": "/nonexistent", "PATH": "/usr/bin:/bin"}


def prepare(folder: Path, scene: Scene, chosen: Sequence[table.HookAttack]) -> list[str]:
    """Make the environment below a folder; the command that installs them. What this process imports is there, too."""
    made = folder / "environment"
    venv.create(made, symlinks=True, with_pip=False)
    (modules,) = made.glob("lib/python*/site-packages")
    facts = {**hooks.facts(scene, _QUIET), "site": str(modules)}
    files = {"hostile_hooks/scene.json": json.dumps(facts)}
    for package in (hooks.HOOKS / "hostile_hooks", trial.HOSTILE / "attacks/hostile_attacks"):
        for path in (*package.rglob("*.py"), *package.glob("*.json")):
            files[str(path.relative_to(package.parent))] = path.read_text()
    for name, schema in hooks.schemas().items():
        files[f"hostile_hooks/{name}.schema.json"] = json.dumps(schema)
    wheel = write_wheel(folder / "wheels", "hostile-hooks", files, entry_points=hooks.entry_points(chosen))
    python = str(made / "bin" / f"python{sys.version_info.major}")
    return [python, "-P", "-m", "ferrule", INSTALL, "--json", str(wheel), *OPTIONS]
