"""Apps that React, Vue, Svelte and plain scripts show, bundled and split as their makers do it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.programs import node

pytestmark = [pytest.mark.process, pytest.mark.slow]

STORY = {
    "title": "lifted out of the river",
    "text": "Four oak gates were lifted out of the river on Monday, a century after they were hung.",
    "notes": ["New gates of green oak arrive in March.", "The towpath stays closed until April."],
}
SHOWN = """\
# The gates: lifted out of the river

Four oak gates were lifted out of the river on Monday, a century after they were hung.

## Notes

- New gates of green oak arrive in March.
- The towpath stays closed until April."""


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the apps that were built."""
    folder = tmp_path_factory.mktemp("apps")
    subprocess.run([*node.script("build-apps.mjs", node.BUNDLER), str(folder)], check=True)
    return folder


@pytest.mark.parametrize("name", ["plain", "react", "vue", "svelte"])
def test_an_app_is_read_as_it_shows_itself(
    server: Server, apps: Path, scrape_as_installed: Callable[..., dict[str, Any]], browser: str, name: str
) -> None:
    files = list((apps / name).rglob("*.js"))
    for file in files:
        server.page(f"/{file.relative_to(apps / name)}", file.read_bytes(), "text/javascript")
    server.page("/story.json", json.dumps(STORY), "application/json")
    source = "<title>Gates</title><div id=root></div><script type=module src=/app.js></script>"
    answer = scrape_as_installed(server.page("/", source), browser=browser)
    assert answer.get("content") == SHOWN, answer
    assert answer["extractedBy"] == "browser"
    assert len(files) > 1
    assert "/app.css" not in [request.target for request in server.requests]
