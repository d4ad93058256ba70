"""A tool in a folder of the path, with a config.toml and a state folder, whose answer of the door is kept."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from ferrule.config.own_folders import add_sources_to_path
from ferrule.plugin.admission import judgement
from ferrule.storage import stamps
from ferrule.trust.door import kept_admission

SCHEMA = {
    "name": "weather",
    "description": "Tells the weather of a city.",
    "parameters": {"type": "object", "properties": {}, "required": []},
}
SETTINGS = """
[tools.weather]
unit = "celsius"
[tools.vault]
place = "another tool's own setting"
[serve]
name = "what a command alone reads"
"""


class Site:
    """A folder of the path with one tool that is a package in a package, config.toml and a state folder."""

    def __init__(self, folder: Path) -> None:
        self.earlier, self.packages, self.state = folder / "earlier", folder / "packages", folder / "state"
        self.config = folder / "config.toml"
        self.lock = folder / "ferrule.lock"
        self.outer = self.packages / "acme"
        self.module = self.outer / "weather"
        self.metadata = self.packages / "acme_weather-1.0.dist-info"
        for one in (self.earlier / "acme", self.module, self.metadata):
            one.mkdir(parents=True)
        (self.outer / "__init__.py").write_text("")
        (self.module / "__init__.py").write_text("")
        (self.module / "schema.json").write_text(json.dumps(SCHEMA))
        (self.module / "tool.json").write_text(json.dumps({"permissions": {"network": ["public"]}, "credentials": []}))
        for name in ("METADATA", "RECORD", "INSTALLER"):
            (self.metadata / name).write_text("")
        (self.metadata / "entry_points.txt").write_text("[ferrule.tools]\nweather = acme.weather\n")
        self.config.write_text(SETTINGS)

    def record(self, folder: str, name: str = "weather") -> Path:
        return self.state / folder / f"{name}.json"

    def kept(self) -> Path:
        (found,) = (self.state / kept_admission.FOLDER).iterdir()
        return found


def make_site(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Make one, and have this process find it."""
    made = Site(folder)
    monkeypatch.setattr(stamps, "_TICK_NS", _TICK_NS)
    library = [path for path in sys.path if os.path.isabs(path)]
    monkeypatch.setattr(sys, "path", [str(made.earlier), str(made.packages), *library])
    monkeypatch.setenv("FERRULE_CONFIG", str(made.config))
    monkeypatch.setenv("FERRULE_STATE", str(made.state))
    monkeypatch.delenv("FERRULE_DISABLE", raising=False)
    add_sources_to_path()  # as every process does that looks a tool up
    return made


_TICK_NS = 10_000_000  # of the kernels that tests run on; others have longer ones, which the host allows for


def settle() -> None:
    """Wait until a change of what is there now is seen by its time."""
    time.sleep(stamps._TICK_NS / 1e9 + 0.02)


def keep_answer(site: Site) -> None:
    """Have the answer for the tool kept."""
    judgement.judge("weather")  # which records what it asks for
    for path in (site.record("declared_credentials"), site.record("credentials"), site.record("credentials", "other")):
        path.parent.mkdir(exist_ok=True, mode=0o700)
        path.write_text("{}")
        path.chmod(0o600)
    settle()
    judgement.judge("weather")
    assert kept_admission.read("weather") is not None
    settle()


def write(path: Path, text: str = " ") -> None:
    """Write a file in a folder that may be missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
