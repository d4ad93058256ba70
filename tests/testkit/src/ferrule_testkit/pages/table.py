"""What each page needs, and what its reader does with each block: README, the tutorials and the how-to guides.

A page that is new gets an entry here. `python -m ferrule_testkit.pages.census` prints which blocks are run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrule_testkit.pages.uses import CONFIG, Use, client, config, file, more, part, program, shown, statement, unused

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING, ALL, OWN = "nothing", "all", "own"
"""What the reader has installed: nothing yet; all distributions; all, where the page puts something beside them."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """has: what is installed. uses: of the blocks without commands, in their order, by language.

    before, after: what the reader types besides, since the page takes it for granted, or to see what has come.
    left_out: lines that are not typed, by their beginning, each with the reason. fails: lines that fail as the page
    says, with their exit code. answers: what is typed when a line asks. replaced: what is another here.
    """

    has: str = ALL
    uses: tuple[Use, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    fails: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)


KEY = "key-of-the-user-0123456789"
_PICTURE = "a picture of folders"
_CLIENT = "a client's program; tests/serve/test_clients.py runs it"
_MACHINE = "changes the machine"
_SERVER = "the folder that is the index has no servers; the tests of ferrule-mcp add them"
_UNPUBLISHED = "nobody has published it; tests/installation/test_reads.py installs such packages"

_TOUR = {
    "README.md": Page(
        has=NOTHING,
        uses=(more("page.py"),),
        after=(
            """echo 'assert weather("Oslo", 2) == {"success": True, "days": ["snow", "snow"]}' >> page.py""",
            "{python} page.py",
        ),
        left_out={"make ": "needs a clone, in which this is the run"},
        answers={"ferrule credentials set ": KEY},
    ),
    "docs/tutorial/first-call.md": Page(
        has=NOTHING,
        uses=(shown(),),
        fails={"ferrule run web_fetch url=example.com": 1},
        answers={"ferrule credentials set ": KEY},
    ),
    "docs/tutorial/first-tool.md": Page(
        has=NOTHING,
        uses=(
            unused("text", _PICTURE),
            file("src/ferrule_weather/__init__.py"),
            file("src/ferrule_weather/tool.json", "json"),
            file("tests/test_weather.py"),
        ),
        fails={"ferrule run weather city=Olso": 1},
    ),
    "docs/tutorial/published-tool.md": Page(
        has=NOTHING,
        before=("git init --quiet --bare ~/remote.git",),
        uses=(
            unused("text", _PICTURE),
            file("../tide_service.py"),
            file("src/ferrule_tides/service.py"),
            file("src/ferrule_tides/__init__.py"),
            file("src/ferrule_tides/tool.json", "json"),
            shown(),
            shown(),
            file("tests/test_unknown_harbour.py"),
            unused("text", "needs a published package"),
        ),
        fails={"ferrule run tides harbour=Bergen": 1, "ferrule run tides harbour=Atlantis": 1},
        answers={"ferrule credentials set tides": "key-of-ann-1234"},
        replaced={"8123": "{port}", "git@github.com:ann/ferrule-tides.git": "~/remote.git"},
    ),
}

_AUTHORS = {
    "docs/how-to/add-a-command.md": Page(
        has=OWN,
        uses=(
            part("ferrule-greet/pyproject.toml"),
            file("ferrule-greet/src/ferrule_greet/command.py"),
            more("ferrule-greet/pyproject.toml", "toml"),
            file("ferrule-greet/src/ferrule_greet/diagnosis.py"),
            more("ferrule-greet/pyproject.toml", "toml"),
            file("ferrule-greet/src/ferrule_greet/keys.py"),
        ),
        answers={"ferrule credentials set greet": KEY},
    ),
    "docs/how-to/add-a-search-provider.md": Page(
        has=OWN,
        before=("export FERRULE_LIGHTHOUSE_ENDPOINT={site}/lighthouse",),
        uses=(
            part("ferrule-lighthouse/src/ferrule_lighthouse/tool.json", "json"),
            part("ferrule-lighthouse/pyproject.toml"),
            file("ferrule-lighthouse/src/ferrule_lighthouse/general.py"),
            more("ferrule-lighthouse/pyproject.toml", "toml"),
            more("ferrule-lighthouse/src/ferrule_lighthouse/general.py"),
            program(),
        ),
        answers={"ferrule credentials set web_search_lighthouse": KEY},
    ),
    "docs/how-to/ask-a-service.md": Page(has=OWN, uses=(program(), program(), program(), program())),
    "docs/how-to/declare-permissions.md": Page(
        has=OWN,
        before=("ferrule new sort_lines --cli", "pip install --editable ./ferrule-sort-lines"),
        uses=(file("ferrule-sort-lines/src/ferrule_sort_lines/tool.json", "json"),),
    ),
    "docs/how-to/find-permissions.md": Page(
        has=OWN,
        before=("ferrule new weather", "pip install --editable ./ferrule-weather"),
        uses=(file("ferrule-weather/src/ferrule_weather/tool.json", "json"),),
        after=("ferrule list --check",),
    ),
    "docs/how-to/limit-work.md": Page(uses=(program(),)),
    "docs/how-to/test-a-tool.md": Page(
        has=OWN,
        before=("pip install pytest", "export HTTP_PROXY={site}"),
        uses=tuple(more("tests/test_weather.py") for _ in range(5)),
        after=("unset HTTP_PROXY", "pytest tests/test_weather.py --ferrule-record=never"),
    ),
    "docs/how-to/write-a-tool.md": Page(
        has=OWN,
        before=(
            "ferrule new weather",
            "cd ferrule-weather",
            """echo 'def forecast(*_, **__): return [1.0] * 7' > src/ferrule_weather/forecast.py""",
        ),
        uses=(
            file("pyproject.toml", "toml"),
            file("src/ferrule_weather/__init__.py"),
            file("src/ferrule_weather/__init__.py"),
        ),
        after=(
            "sed -i 's/ferrule_weather:weather/ferrule_weather/; /hooks.ferrule/d' pyproject.toml",
            "pip install --editable .",
            f"WEATHER_API_KEY={KEY} ferrule run weather city=Oslo",
        ),
    ),
    "docs/how-to/write-a-wrapper.md": Page(
        has=OWN,
        uses=(
            part("ferrule-stamp/pyproject.toml"),
            file("ferrule-stamp/src/ferrule_stamp/__init__.py"),
            config(),
            file("ferrule-stamp/tests/test_label.py"),
            more("ferrule-stamp/src/ferrule_stamp/__init__.py"),
            more("ferrule-stamp/src/ferrule_stamp/__init__.py"),
        ),
        after=(
            "ferrule run example city=Oslo 2>&1 | grep 'example: OK'",
            "echo 'dry = true' >> ~/.config/ferrule/config.toml",
            "ferrule run example city=Oslo | grep dry",
        ),
    ),
}

_USERS = {
    "docs/how-to/ask-a-model.md": Page(
        has=OWN,
        before=(
            "printf 'city\\nOslo\\n' > cities.csv",
            "echo 'Tea is hot.' > notes.txt",
            "git init --quiet && git add notes.txt && echo 'Or cold.' >> notes.txt",
        ),
        uses=(program(), program(), program(), statement("CREATE TABLE stocks AS SELECT 'BTC' AS ticker")),
        answers={"ferrule credentials set ": KEY},
    ),
    "docs/how-to/cache-and-link-results.md": Page(
        uses=(more(CONFIG, "toml"), more(CONFIG, "toml"), config()), fails={"ferrule cache why web_fetch": 1}
    ),
    "docs/how-to/call-tools-from-python.md": Page(uses=(program(), program(), program())),
    "docs/how-to/check-a-tool.md": Page(
        before=(
            "ferrule link weather --to .",
            """echo '[{"city": "Oslo"}]' > examples.json""",
            "mkdir -p tests/home",
        ),
        uses=(unused("text", "the lines of a tool that is at fault"),),
        left_out={"ferrule check line_count": "needs such a tool; test_programs_of_tools.py of the host has one"},
    ),
    "docs/how-to/connect-mcp-clients.md": Page(
        has=OWN,
        uses=(
            client("claude-code", ".mcp.json", "--project"),
            client("claude-desktop", "~/.config/Claude/claude_desktop_config.json"),
            client("vscode", ".vscode/mcp.json", "--project"),
            client("cursor", "~/.cursor/mcp.json"),
            client("zed", "~/.config/zed/settings.json"),
            client("codex", "~/.codex/config.toml", language="toml"),
            program(),
        ),
        left_out={"claude ": _CLIENT, "codex ": _CLIENT, "npx ": _CLIENT},
    ),
    "docs/how-to/find-faults.md": Page(),
    "docs/how-to/grant-permissions.md": Page(
        has=OWN,
        before=(
            "ferrule new weather",
            """sed -i 's/"network": .*]/"network": ["public"]/' ferrule-weather/src/ferrule_weather/tool.json""",
            "pip install --editable ./ferrule-weather",
            "mkdir ~/almanac",
        ),
        uses=(config(),),
    ),
    "docs/how-to/install-tools.md": Page(
        has=OWN,
        before=(
            "ferrule new tides",
            """sed -i 's/^version = .*/version = "1.0"/' ferrule-tides/pyproject.toml""",
            "pip wheel --quiet --no-deps --wheel-dir dist ./ferrule-tides",
        ),
        left_out={
            "ferrule install 'ferrule-serve[traces]'": "what the extra brings is not in the folder that is the index",
            "ferrule install ferrule-tides": _UNPUBLISHED,
            "ferrule install --trust": _UNPUBLISHED,
        },
    ),
    "docs/how-to/lock-tools.md": Page(
        uses=(config(), unused("text", "what a package with such a file has ferrule say")),
    ),
    "docs/how-to/research-a-question.md": Page(
        has=OWN,
        uses=(program(), program(), program(), program()),
        answers={"ferrule credentials set ": KEY},
    ),
    "docs/how-to/use-mcp-servers.md": Page(
        left_out={
            "ferrule mcp ": _SERVER,
            "ferrule run time_": _SERVER,
            "ferrule link time_": _SERVER,
            "ferrule permissions grant docs_search": _SERVER,
            "ferrule credentials set docs_search": _SERVER,
        },
    ),
    "docs/how-to/watch-calls.md": Page(
        uses=(config(),),
        left_out={"ferrule log --follow": "runs until Ctrl-C; the tests of the journal run it"},
    ),
}

_SERVERS = {
    "docs/how-to/run-a-server.md": Page(
        left_out={
            "openssl rand -hex 32 > deploy/": "writes into a clone",
            "docker ": "needs an engine for containers; tests/release/test_deploy.py reads the files",
            "python3 -m venv /opt/": _MACHINE,
            "install -m 600": _MACHINE,
            "cp deploy/": _MACHINE,
        },
    ),
    "docs/how-to/run-replicas.md": Page(
        has=OWN,
        uses=(unused("mermaid", "a drawing; tests/docs/test_pages.py reads it, and tests/docs/test_site.py draws it"),),
        left_out={"ferrule serve --http 10.0.0.1:": "another machine; tests/serve/test_replicas.py has replicas"},
    ),
    "docs/how-to/serve-tools.md": Page(
        uses=(
            client("claude-code", ".mcp.json", "--project"),
            client("claude-code", ".mcp.json", "--project"),
            client("claude-code", ".mcp.json", "--project"),
            Use("toml", ("ferrule new weather", "{judge} part {block} ferrule-weather/pyproject.toml")),
        ),
        left_out={"kill -HUP": "finds servers of other users; tests/serve/test_used_again.py sends the signal"},
    ),
}

PAGES: dict[str, Page] = {**_TOUR, **_AUTHORS, **_USERS, **_SERVERS}
