"""One attack after the other through one way into the host, and what came of each."""

from __future__ import annotations

import compileall
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrule_testkit import PROJECT
from ferrule_testkit.corpus import EXAMPLE, Site

if TYPE_CHECKING:
    from ferrule_testkit.attacks.scene import Scene
    from ferrule_testkit.attacks.ways import Answered, Way

HOSTILE = PROJECT / "tests/dists/hostile"
INNOCENT = PROJECT / "tests/dists/hostile/innocent"
sys.path += [str(HOSTILE / "attacks"), str(INNOCENT)]

from hostile_attacks import table  # noqa: E402 - it is no part of any installed package
from hostile_attacks.plugins import SEVERAL as SEVERAL  # noqa: E402 - for those who import this
from hostile_attacks.plugins import describe  # noqa: E402 - the path is set before
from innocent import table as innocent_table  # noqa: E402 - the path is set before

_ALONE = """\
import json, sys
from innocent import {package}
from innocent.table import INNOCENTS
done = INNOCENTS["{name}"].function(json.loads(sys.argv[1]))
print(json.dumps(dict(success=True, done=done), separators=(",", ":"), ensure_ascii=False))
"""
DENIED, FAILED, ANSWERED, DIED = "denied", "failed", "answered", "died"
_PLANTED = "planted-by-an-attack"
_PAUSE_SECONDS = 0.2  # in which a thread that works would be seen to
_LOAD_SECONDS = 6.0
_GRACE_SECONDS = 1.0  # in which what a call has started may end


class Verdict(NamedTuple):
    """What came of an attack.

    damage: what could be seen from outside. told: `denied`, with PERMISSION_DENIED; `failed`, as the tool's own
    failure; `answered`, as a success; `died`. text: the beginning of what the client got.
    """

    name: str
    kind: str
    proof: str
    needs_root: bool
    is_through: bool
    damage: list[str]
    told: str
    code: str
    seconds: float
    text: str


def attacks(names: Iterable[str] = ()) -> list[table.Attack]:
    """The attacks of these names, or all."""
    found = table.load()
    return [found[name] for name in names] or list(found.values())


def install(root: Path, chosen: Iterable[table.Attack]) -> Site:
    """Install the attacks, the innocent tools, and two healthy ones beside them, as pip would."""
    site = Site(root).install(EXAMPLE, HOSTILE / "vault", HOSTILE / "attacks", INNOCENT)
    for attack in chosen:
        path = site.path / "hostile_attacks" / f"{attack.name}.schema.json"
        path.write_text(json.dumps(describe(attack.name, attack.tries)))
    (site.path / "hostile_attacks" / f"{SEVERAL}.schema.json").write_text(
        json.dumps(describe(SEVERAL, "Tries several attacks in one process, one after the other."))
    )
    # As pip does. A call may not write there, so each of hundreds would compile all that it imports.
    compileall.compile_dir(site.path, quiet=2)
    return site


def innocents() -> list[innocent_table.Innocent]:
    """All innocent tools."""
    return list(innocent_table.load().values())


def compare_innocents(way: Way, scene: Scene, site: Site, environment: Mapping[str, str]) -> dict[str, list[str]]:
    """By innocent tool: what its function says without any host, and what the host says for it."""
    found = {}
    for one in innocents():
        facts = {**scene.facts(), "tool": one.name}
        code = _ALONE.format(package=one.package, name=one.name)
        command = [sys.executable, "-c", code, json.dumps(facts)]
        alone = subprocess.run(command, env=environment, cwd=scene.work, capture_output=True, text=True, timeout=60)
        answered = way.call(one.name, {"scene": scene.facts()})
        found[one.name] = [alone.stdout.strip() or alone.stderr, answered.text.strip()]
        scene.damage("")
    return found


def put_through(way: Way, scene: Scene, chosen: Iterable[table.Attack]) -> Iterator[Verdict]:
    """Call each attack's tool, look at the damage, and repair it."""
    scene.damage("")
    for attack in chosen:
        began = time.monotonic()
        answered = way.call(attack.name, {"scene": scene.facts()})
        seconds = time.monotonic() - began
        damage = find_damage(scene, answered)
        yield _verdict(attack, answered, damage, seconds)


def put_through_together(way: Way, scene: Scene, chosen: Iterable[table.Attack]) -> tuple[list[str], dict[str, object]]:
    """Try several in one process; the damage that all of them have done, and what each said by its name."""
    scene.damage("")
    names = [attack.name for attack in chosen]
    answered = way.call(SEVERAL, {"scene": scene.facts(), "attacks": names})
    limit = time.monotonic() + _GRACE_SECONDS
    while _is_planted_in(scene.tmp) and time.monotonic() < limit:
        time.sleep(0.01)  # `ferrule serve` removes them once it has answered
    damage = find_damage(scene, answered)
    return damage, answered.document


def find_damage(scene: Scene, answered: Answered) -> list[str]:
    """What can be seen from outside once a tool has answered, all of which is repaired."""
    found = [*_left(scene.mark), *_works_on(scene.mark)]
    return [*found, *scene.damage(answered.text), *_forged(answered, scene.mark)]


def _is_planted_in(folder: Path) -> bool:
    """Folders may go while they are looked at."""
    return any(name.startswith(_PLANTED) for _, _, files in os.walk(folder) for name in files)


def _verdict(attack: table.Attack, answered: Answered, damage: list[str], seconds: float) -> Verdict:
    document = answered.document
    code = str(document.get("error_code", document.get("code", "")))
    told = DIED if answered.died else ANSWERED if document.get("success") is True else FAILED
    told = DENIED if code == "PERMISSION_DENIED" else told
    if attack.proof == table.WORD and told == ANSWERED:
        damage.append("was let through by the kernel")
    if answered.died:
        damage.append("ended the host's process")
    text = str(document.get("error", document.get("message", document.get("loot", answered.text))))[:300]
    kind, proof, needs_root = attack.kind, attack.proof, attack.needs_root
    return Verdict(attack.name, kind, proof, needs_root, bool(damage), damage, told, code, round(seconds, 3), text)


def _forged(answered: Answered, mark: str) -> list[str]:
    return ["forged the answer"] if re.search(rf"forged\W+{mark}", answered.text) else []


def _left(mark: str) -> list[str]:
    """Whether a process is left of an attack, by the name that it has given itself; it is ended."""
    limit = time.monotonic() + _GRACE_SECONDS
    while (left := _named(f"left-{mark[:8]}")) and time.monotonic() < limit:
        time.sleep(0.01)
    for process in left:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return ["left a process running"] if left else []


def _works_on(mark: str) -> list[str]:
    """Whether a thread goes on with its work while no call is made, by the name that it has given itself.

    A server may be about to load the tool again, in which its code runs; that has an end.
    """
    limit = time.monotonic() + _LOAD_SECONDS
    while before := _used(f"goes-{mark[:8]}"):
        time.sleep(_PAUSE_SECONDS)
        now = _used(f"goes-{mark[:8]}")
        if not any(now[one] > used for one, used in before.items() if one in now):
            return []
        if time.monotonic() > limit:
            return ["worked on between calls"]
    return []


def _used(name: str) -> dict[str, int]:
    """By thread of that name: how often it has begun to run."""
    found = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            for thread in Path(f"/proc/{process}/task").iterdir():
                if (thread / "comm").read_text().strip() == name:
                    lines = (thread / "status").read_text().splitlines()
                    switches = [line.split()[1] for line in lines if "ctxt_switches" in line]
                    found[str(thread)] = sum(map(int, switches))
    return found


def _named(name: str) -> list[int]:
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if Path(f"/proc/{entry}/comm").read_text().strip() == name:
                found.append(int(entry))
    return found
