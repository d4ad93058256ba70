"""Whatever a tool does, a keeper's call writes byte for byte what its executable writes, and the keeper goes on."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ferrule_testkit.corpus import DISTS, Site
from ferrule_testkit.keeper import Started, call_keeper
from ferrule_testkit.runs import SECONDS, run

pytestmark = pytest.mark.process

OSLO = b'{"city": "Oslo"}'
TOOLS = sorted(path.parent.name for path in DISTS.glob("*/pyproject.toml") if not path.parent.name.startswith("same-"))
SAMPLE = {
    "raises-on-import",
    "dies-on-import",
    "hangs-on-import",
    "raises-in-execute",
    "calls-os-exit",
    "tool-error-with-odd-values",
    "segfaults",
    "becomes-another-program",
    "kills-its-group",
    "kills-its-parent",
    "loops-in-c",
    "stops-itself",
    "prints-forever",
    "fills-memory",
    "returns-10-megabytes",
    "closes-all-descriptors",
    "prints-a-megabyte-to-stderr",
    "writes-to-every-descriptor",
    "leaves-a-daemon",
    "forks-and-both-return",
    "failures-write-everywhere",
    "schema-is-not-json",
}
"""One of each kind of what can happen to the process of a call."""
HANGING = {"hangs", "loops", "ignores", "stops", "waits", "prints-forever", "schema-hook-hangs"}
CHANGING = re.compile(r"0x[0-9a-f]+|[0-9.]+ s\b")
"""Addresses of objects, and how long something took."""


class Home(NamedTuple):
    """Where the broken tools are kept. cold: the environment of somebody who keeps nothing. root: of all paths."""

    keeper: Started
    environment: dict[str, str]
    cold: dict[str, str]
    root: Path


@pytest.fixture(scope="module")
def home(corpus: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    root = tmp_path_factory.mktemp("k")
    table = root / "kept/.config/ferrule/config.toml"
    table.parent.mkdir(parents=True)
    table.write_text('[keep]\ntools = ["*"]\n')
    (root / "cold").mkdir()
    (root / "run").mkdir(mode=0o700)
    common = {"PATH": os.environ["PATH"], "PYTHONPATH": str(corpus.path), "FERRULE_MEMORY": "300"}
    common["XDG_RUNTIME_DIR"] = str(root / "run")
    environment = {**common, "HOME": str(root / "kept")}
    keeper = Started(environment)
    yield Home(keeper, environment, {**common, "HOME": str(root / "cold")}, root)
    assert not keeper.has_ended()
    keeper.stop()


def settle(data: bytes) -> str:
    return CHANGING.sub("…", data.decode(errors="replace"))


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one in SAMPLE else pytest.mark.full) for one in TOOLS])
def test_a_kept_call_writes_what_the_executable_writes(name: str, home: Home, corpus: Site) -> None:
    limit = {"FERRULE_DEADLINE": "0.6"} if name.startswith(tuple(HANGING)) else {}
    linked = corpus.links / f"{name}-tool"
    executable = linked if linked.exists() else corpus.scripts / linked.name
    tool = name.replace("-", "_")

    code, document, text = call_keeper(
        home.keeper.path, tool, b"{}", {**home.environment, **limit}, str(home.root), seconds=SECONDS
    )
    cold = run([executable], environment={**home.cold, **limit}, cwd=home.root)

    assert (settle(document + b"\n"), code) == (settle(cold.stdout), cold.exit_code)
    if not name.endswith("-forever"):  # how far one gets that prints without end depends on the machine
        assert settle(text) == settle(cold.stderr)
    healthy = call_keeper(home.keeper.path, "example", OSLO, home.environment, str(home.root), seconds=SECONDS)
    assert healthy == (0, b'{"success":true,"greeting":"Hello, Oslo!"}', b"")
