"""Attacks through one way into the host, as a program: `python -m ferrule_testkit.attacks WAY FOLDER [NAME…]`.

WAY: `executable`, `run`, `kept` (by a keeper), `stdio`, `http`, `pool` (of a server, without its protocol) or `ask`;
with `--hooks`, which has the attacks in hooks instead of the others, also `list`, `doctor`, `validate` or `install`.
With `--together`, all are made in one call; with `--innocent`, innocent tools are called. FOLDER: an empty one. Writes
`report.json` there at the end: what came of each attack, and what the healthy tools said before and after them. It
prints nothing, since an attack may write wherever its client does. A test starts it as the user as whom the attacks
shall be.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule_testkit.attacks import hooks, installation, trial
from ferrule_testkit.attacks.scene import Scene
from ferrule_testkit.attacks.ways import Commands, Executables, Kept, Served
from ferrule_testkit.installation.hidden_distributions import hide, offering_commands, offering_tools

if TYPE_CHECKING:
    from hostile_attacks import table

    from ferrule_testkit.attacks.ways import ListedWay
    from ferrule_testkit.corpus import Site

_SERVERS = ("stdio", "http")
_STAYING = (*_SERVERS, "kept")
HEALTHY = {"example": {"city": "Oslo"}, "vault": {}}


def main() -> None:
    """Put all, or the named ones, through."""
    name, folder, *names = sys.argv[1:]
    import ferrule

    root = Path(folder).resolve()
    named = [one for one in names if not one.startswith("--")]
    chosen = trial.attacks([] if "--hooks" in names else named)
    site = trial.install(root / "installed", chosen)
    grants = {attack.name: attack.grants for attack in chosen if attack.grants}
    code = Path(ferrule.__file__).parent
    scene = Scene(root, site=site.path, host_code=code, links=site.links, grants=grants, kept=name == "kept")
    if "--hooks" in names and name != installation.INSTALL:
        hooks.install(site, scene, hooks.attacks(named), is_served=name in _STAYING)
    if name in hooks.COMMANDS:  # which load all that is installed, so what a developer has besides would cost most
        hide(site.path, offering_commands() | offering_tools() - {"ferrule", "ferrule-example"})
    seconds = 100.0 if "--together" in names else 15.0  # all of them are one call then
    search = [str(site.path), *_inherited_path()]
    environment = {**scene.environment(), "PYTHONPATH": os.pathsep.join(search), "FERRULE_DEADLINE": f"{seconds:.0f}"}
    way = _way(name, site, scene, environment, _tools(names, chosen), seconds + 5)
    report: dict[str, object] = {}
    try:
        _call_healthy(way)  # with the first answer, a server says which tools it serves
        report["before"] = _call_healthy(way)
        if "--innocent" in names:
            report["innocent"] = trial.compare_innocents(way, scene, site, environment)
        elif "--hooks" in names:
            report["hooks"] = [found._asdict() for found in _put_hooks_through(name, way, scene, environment, named)]
        elif "--together" in names:
            report["damage"], report["said"] = trial.put_through_together(way, scene, chosen)
        else:
            report["verdicts"] = [verdict._asdict() for verdict in trial.put_through(way, scene, chosen)]
        _call_healthy(way)  # what a busy server has yet to say of the last attack comes with these answers
        report["after"] = _call_healthy(way)
    finally:
        way.close()
        scene.close()
    (root / "report.json").write_text(json.dumps(report, indent=1))


def _call_healthy(way: ListedWay) -> list[str]:
    return [way.call(tool, arguments).text for tool, arguments in HEALTHY.items()]


def _put_hooks_through(
    name: str, way: ListedWay, scene: Scene, environment: dict[str, str], named: list[str]
) -> Iterator[hooks.Found]:
    if name == installation.INSTALL:
        with tempfile.TemporaryDirectory(dir=scene.root) as folder:
            found = {**environment, **installation.environment()}
            yield hooks.look(name, installation.prepare(Path(folder), scene, hooks.attacks(named)), scene, found)
    elif name in hooks.COMMANDS:
        command = [sys.executable, "-P", "-m", "ferrule", *hooks.COMMANDS[name]]
        yield hooks.look(name, command, scene, environment)
    else:
        yield from hooks.put_through(way, scene, hooks.attacks(named), times=2 if name in _STAYING else 1)


def _tools(names: list[str], chosen: list[table.Attack]) -> list[str]:
    """Those that are called."""
    if "--together" in names:
        return [trial.SEVERAL]
    if "--hooks" in names:
        return [one.name for one in hooks.attacks(one for one in names if not one.startswith("--"))]
    return [one.name for one in (trial.innocents() if "--innocent" in names else chosen)]


def _inherited_path() -> list[str]:
    """Where a copy of the interpreter finds what is installed."""
    return [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]


def _way(
    name: str, site: Site, scene: Scene, environment: dict[str, str], tools: list[str], seconds: float
) -> ListedWay:
    everything = [*tools, *HEALTHY]
    os.chdir(scene.work)
    if name == "pool":
        return Served(environment, seconds)
    if name == "kept":
        return Kept(environment, scene.work, scene.root / "run", seconds)
    if name == "executable":
        site.link(everything, environment, beside=_inherited_path())
        scene.renew()
        return Executables(site.links, environment, scene.work, seconds)
    if name in ("run", installation.INSTALL, *hooks.COMMANDS):
        return Commands(site.links, environment, scene.work, seconds)
    from ferrule_testkit.attacks.conversations import Asked, Http, Stdio  # with the SDK, which takes a second

    if name in _SERVERS:
        return (Stdio if name == "stdio" else Http)(environment, scene.root, everything)
    for variable in [variable for variable in os.environ if variable.startswith(("FERRULE", "VAULT"))]:
        del os.environ[variable]
    os.environ.update(environment)
    sys.path.insert(1, str(site.path))  # behind the script's own folder, on which no tool may depend
    return Asked(everything, seconds)


if __name__ == "__main__":
    main()
