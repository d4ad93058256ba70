"""The host names no plugin, no provider of search and no model: what it knows of them, it reads from entry points."""

import re
from pathlib import Path

import pytest

import ferrule

ROOT = Path(ferrule.__file__).parent
MAKERS = re.compile(r"anthropic|openai|gemini", re.IGNORECASE)
PLUGINS = re.compile(r"ferrule_[a-z]|brave|google|websearch|web_search|opennotes|duckdb|stps", re.IGNORECASE)
ASKING = re.compile(r"""["'\[]ask["'\].]|ferrule ask""")

# What a schema has to be for the makers of models to take it, and the form in which they do.
KNOWS_MAKERS = ("schema/rules/", "schema/providers/", "cli/tools/schemas.py", "cli/setup/link.py")
# The addresses at which clouds hand out keys, which no tool may reach.
KNOWS_CLOUDS = ("http/connections/address_guard.py", "confinement/networks.py")
# What other programs go by, which no tool is told without the admin.
KNOWS_PROGRAMS = ("trust/foreign_variables.py",)
# Examples in help texts and docstrings, and what stands for a distribution's name.
EXAMPLES = re.compile(
    r"web[-_.]search[-_.]brave|snake_case: web_search|ferrule_\{|ferrule_new_|ferrule_weather|FERRULE_|Ferrule_Fetch"
)


def lines(pattern: re.Pattern[str], allowed: tuple[str, ...] = ()) -> list[str]:
    """Each line of the host's source that the pattern is found in, examples left out."""
    return [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in sorted(ROOT.rglob("*.py"))
        if not str(file.relative_to(ROOT)).startswith(allowed)
        for line in file.read_text().splitlines()
        if pattern.search(line) and pattern.search(EXAMPLES.sub("", line))  # few lines need the second
    ]


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        pytest.param(MAKERS, (*KNOWS_MAKERS, *KNOWS_PROGRAMS), id="makers of models"),
        pytest.param(PLUGINS, (*KNOWS_CLOUDS, *KNOWS_PROGRAMS), id="plugins"),
        pytest.param(ASKING, (), id="asking"),
    ],
)
def test_the_host_names_nothing_that_is_a_plugins(pattern: re.Pattern[str], allowed: tuple[str, ...]) -> None:
    assert lines(pattern, allowed) == []


def test_the_patterns_find_what_they_are_for() -> None:
    assert all(MAKERS.search(line) for line in ("ANTHROPIC_API_KEY", "OpenAI"))
    assert all(PLUGINS.search(line) for line in ("from ferrule_ask import ask", "~/.stps", "BRAVE_API_KEY"))
    assert all(ASKING.search(line) for line in ('ASK = "ask"', "[ask] in config.toml", "of `ferrule ask`"))
