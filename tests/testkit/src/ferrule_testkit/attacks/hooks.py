"""Attacks that are made while a plugin is imported and in its hooks: by a call of each, or by a command that looks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_testkit.attacks import trial
from ferrule_testkit.attacks.not_promised import OPEN, OPEN_WHILE_IMPORTED, OPEN_WHILE_LOADED
from ferrule_testkit.attacks.ways import Answered

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_testkit.attacks.scene import Scene
    from ferrule_testkit.attacks.ways import ListedWay
    from ferrule_testkit.corpus import Site

HOOKS = trial.HOSTILE / "hooks"
sys.path.append(str(HOOKS))

from hostile_hooks import table  # noqa: E402 - it is no part of any installed package
from hostile_hooks.plugins import describe  # noqa: E402 - the path is set before

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "list": ("list", "--check", "--json"),
    "doctor": ("doctor", "--json"),
    "validate": ("validate", "--json"),
}
"""Commands that load each tool that is installed, in one run."""
LISTING = "listing"
_SAID = re.compile(r"(\w+) tried (\d+), got <([^>\n]*)")
_REFUSED = re.compile(r"(\w+) wanted ")
_LATE = re.compile("had not said what it is|TIMEOUT|had not given its schema")
_SECONDS = 300.0


class Found(NamedTuple):
    """What came of hook attacks. called: the tool, or what looked at all of them: a command, or the way itself.

    tried: by attack that was heard of, how many it made. got: by attack, what it says that it got. refused: those of
    which the host says that they were refused something, instead of what they say themselves. damage: what could
    be seen from outside. late: how many had not come to an end in time. text: the end of what was said.
    """

    called: str
    tried: dict[str, int]
    got: dict[str, str]
    refused: list[str]
    damage: list[str]
    late: int
    text: str


def attacks(names: Iterable[str] = ()) -> list[table.HookAttack]:
    """The hook attacks of these names, or all."""
    found = table.load()
    return [found[name] for name in names] or list(found.values())


def install(site: Site, scene: Scene, chosen: Iterable[table.HookAttack], *, is_served: bool) -> None:
    """Install these attacks, and of all others the code alone, so that a command looks at nothing else.

    All but those in the hook `schema` have their schema in a file. They find the scene in one, too. is_served: a server
    keeps them loaded, which it does with none that fails while it is imported.
    """
    site.install(HOOKS)
    for name in ("hostile_attacks", "innocent"):
        shutil.rmtree(site.path / f"{name}-1.0.dist-info")
    (site.path / "hostile_hooks-1.0.dist-info/entry_points.txt").write_text(entry_points(chosen))
    folder = site.path / "hostile_hooks"
    (folder / "scene.json").write_text(
        json.dumps(facts(scene, [table.IMPORTING] if is_served else [], is_served=is_served))
    )
    for name, schema in schemas().items():
        (folder / f"{name}.schema.json").write_text(json.dumps(schema))


def facts(scene: Scene, quiet: Sequence[str], *, is_served: bool = False) -> JSONObject:
    """What the attacks are told. quiet: the places in which they do not fail."""
    known = [*OPEN, *OPEN_WHILE_LOADED, *(OPEN_WHILE_IMPORTED if is_served else ())]
    return {**scene.facts(), "known": known, "quiet": quiet}


def entry_points(chosen: Iterable[table.HookAttack]) -> str:
    """By which these attacks are tools."""
    return "[ferrule.tools]\n" + "".join(f"{one.name} = hostile_hooks.plugins:{one.name}\n" for one in chosen)


def schemas() -> dict[str, JSONObject]:
    """By tool: the schema that stands in a file."""
    return {one.name: describe(one.name, one.tries) for one in attacks() if one.place != table.SCHEMA}


def put_through(way: ListedWay, scene: Scene, chosen: Iterable[table.HookAttack], *, times: int) -> Iterator[Found]:
    """Call each attack's tool so many times, one after the other: a server keeps it loaded."""
    scene.damage("")
    for attack in chosen:
        answers = [_call(way, attack.name) for _ in range(times)]
        text = "\n".join(answered.text for answered in answers)
        yield _found(attack.name, scene, Answered(text, {}, any(answered.died for answered in answers)))
    yield _found(LISTING, scene, Answered(way.listing(), {}, died=False))


def look(name: str, command: list[str], scene: Scene, environment: Mapping[str, str]) -> Found:
    """Run a command that looks at all of them."""
    scene.damage("")
    done = subprocess.run(
        command,
        env=dict(environment),
        cwd=scene.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        process_group=0,
    )
    return _found(name, scene, Answered(done.stdout + done.stderr, {}, done.returncode < 0))


def _call(way: ListedWay, tool: str) -> Answered:
    try:
        return way.call(tool, {"note": "x"})
    except FileNotFoundError:  # it could not be linked
        return Answered("", {}, died=False)


def _found(name: str, scene: Scene, answered: Answered) -> Found:
    damage = trial.find_damage(scene, answered)
    if answered.died:
        damage.append("ended the host's process")
    said = _SAID.findall(answered.text)
    return Found(
        name,
        {attack: int(number) for attack, number, _ in said},
        {attack: got for attack, _, got in said if got},
        sorted(set(_REFUSED.findall(answered.text))),
        damage,
        len(_LATE.findall(answered.text)),
        answered.text[-2000:],
    )
