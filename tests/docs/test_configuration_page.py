"""The page of the configuration has every variable and every key that the source reads, and no others."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from ferrule.trust import declaration

ROOT = Path(__file__).resolve().parents[2]
NAME = "docs/reference/configuration.md"
PAGE = (ROOT / NAME).read_text()
PROJECTS = (ROOT / "host", *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml")))
TEMPLATES = ROOT / "plugins/dev/src/ferrule_dev/templates"  # packages of their own, which read what is theirs
SOURCES_OF = {
    project: [path.read_text() for path in sorted(project.glob("src/**/*.py")) if TEMPLATES not in path.parents]
    for project in PROJECTS
}
SOURCES = [text for texts in SOURCES_OF.values() for text in texts]
# In the docstring of a library, and of a tool that is made up to be checked.
OF_AN_EXAMPLE = {"FERRULE_ALMANAC_ENDPOINT", "FERRULE_CHECK_API_KEY"}
# The ways in which the source asks for a key: each finds its name. Each begins with what it is found by: a search for a
# boundary would look at every letter of the source.
READINGS = (
    r'setting\(\s*"(\w+)",',
    r'_setting\([^()]*?, "(\w+)",',
    r'_request\(context, "(\w+)",',
    r'\.tool\([\w.]+\)\.get\("(\w+)"',
    r'settings\.get\("(\w+)"',
    r'table\.get\("(\w+)"',
    r'_positive\(settings, "(\w+)"',
    r'self\._one\([^"]*"[A-Z_]+", "(\w+)"',
    r'SETTING = "[A-Z_]+", "(\w+)"',
    r'endpoint\(context, "(\w+)"',
    r'endpoint_setting = "(\w+)"',
    r'choice\(settings, "(\w+)"\)',
    r'_LOCK_KEY = "(\w+)"',
    r'_[A-Z]+ = "(\w+)", "FERRULE_SERVE_\w+"',
)
# Tables inside of tables, which the page shows as such.
TABLES = {"tools", "wrappers", "ask", "permissions", "prices", "providers", "search_prices", "serve"}


def test_every_variable_of_the_source_is_on_the_page_and_no_other() -> None:
    read = {name for text in SOURCES for name in re.findall(r"FERRULE_(?<!\wFERRULE_)[A-Z_]*[A-Z]\b", text)}
    shown = set(re.findall(r"^\| `(FERRULE_[A-Z_]+)` \|", PAGE, re.MULTILINE))
    prefixes = {name for name in read if any(f'"{name}_"' in text for text in SOURCES)}
    read -= prefixes | OF_AN_EXAMPLE
    missing = "".join(
        f"\nadd a row `| `{name}` | … | … |` to `All variables` in {NAME}" for name in sorted(read - shown)
    )
    assert not missing, missing
    unread = "".join(f"\nremove the row of `{name}` from {NAME}: no source reads it" for name in sorted(shown - read))
    assert not unread, unread


def test_the_variables_are_in_the_order_of_the_alphabet() -> None:
    shown = re.findall(r"^\| `(FERRULE_[A-Z_]+)` \|", PAGE, re.MULTILINE)
    assert shown == sorted(shown)


def keys_of(texts: list[str]) -> set[str]:
    return {key for text in texts for reading in READINGS for key in re.findall(reading, text)}


def keys_of_the_source() -> set[str]:
    return {*keys_of(SOURCES), *declaration.KEYS}


def table_of(key: str) -> str:
    """The table of config.toml that a key belongs to, as far as its distribution tells: `wrappers.audit`."""
    project = next(project for project, texts in SOURCES_OF.items() if key in keys_of(texts))
    groups = tomllib.loads((project / "pyproject.toml").read_text())["project"].get("entry-points", {})
    tables = [f"{kind}.{name}" for kind in ("wrappers", "tools") for name in groups.get(f"ferrule.{kind}", ())]
    return tables[0] if len(tables) == 1 else "…"


def keys_of_the_page() -> set[str]:
    """The keys of the example of the whole file."""
    example = re.search(r"## All keys of config.toml\n\n```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return set(keys(tomllib.loads(example[1]))) if example else set()


def keys(table: dict[str, Any], depth: int = 0) -> list[str]:
    found = []
    for key, value in table.items():
        found += keys(value, depth + 1) if isinstance(value, dict) else [key]
    return [key for key in found if key not in ("my-model", "web_search_brave")]


def test_every_key_of_the_source_is_on_the_page() -> None:
    missing = sorted(keys_of_the_source() - TABLES - keys_of_the_page())
    todo = "".join(
        f"\nadd a row `| `[{table_of(key)}] {key}` | … | … |` to the table of keys in {NAME},"
        f" and `{key} = …` under `[{table_of(key)}]` in the block above it"
        for key in missing
    )
    assert not missing, todo


def test_every_key_of_the_page_is_in_the_source() -> None:
    unread = sorted(keys_of_the_page() - keys_of_the_source())
    assert not unread, f"remove from the block in {NAME}, or read in a way that READINGS finds: {unread}"


def test_every_key_of_the_example_has_a_row() -> None:
    table = PAGE.split("| key | meaning | default |")[1].split("\n\n")[0]
    rows = {key for cell in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for key in re.findall(r"(\w+)`", cell)}
    missing = sorted(keys_of_the_page() - rows)
    assert not missing, f"add a row `| `[TABLE] KEY` | … | … |` to the table of keys in {NAME} for: {missing}"
