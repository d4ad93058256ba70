"""The page of the configuration has every variable and every key that the source reads, and no others."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text()
SOURCES = [
    path.read_text()
    for folder in (ROOT / "host" / "src", *ROOT.glob("plugins/*/src"))
    for path in sorted(folder.glob("**/*.py"))
]
OF_AN_EXAMPLE = {"FERRULE_ALMANAC_ENDPOINT"}  # in the docstring of a library
# The ways in which the source asks for a key: each finds its name.
READINGS = (
    r'\bsetting\(\s*"(\w+)",',
    r'_setting\([^()]*?, "(\w+)",',
    r'_request\(context, "(\w+)",',
    r'\.tool\(\w+\)\.get\("(\w+)"',
    r'\b(?:_?settings|_?table)\.get\("(\w+)"',
    r'_positive\(settings, "(\w+)"',
    r'self\._one\([^"]*"[A-Z_]+", "(\w+)"',
    r'\bSETTING = "[A-Z_]+", "(\w+)"',
    r'\bendpoint\(context, "(\w+)"',
)
# Tables inside of tables, which the page shows as such.
TABLES = {"tools", "wrappers", "ask", "prices"}


def test_every_variable_of_the_source_is_on_the_page_and_no_other() -> None:
    read = {name for text in SOURCES for name in re.findall(r"(?<!\w)FERRULE_[A-Z_]*[A-Z]\b", text)}
    shown = set(re.findall(r"^\| `(FERRULE_[A-Z_]+)` \|", PAGE, re.MULTILINE))
    prefixes = {name for name in read if any(f'"{name}_"' in text for text in SOURCES)}
    assert read - prefixes - OF_AN_EXAMPLE == shown


def test_the_variables_are_in_the_order_of_the_alphabet() -> None:
    shown = re.findall(r"^\| `(FERRULE_[A-Z_]+)` \|", PAGE, re.MULTILINE)
    assert shown == sorted(shown)


def keys_of_the_source() -> set[str]:
    return {key for text in SOURCES for reading in READINGS for key in re.findall(reading, text)}


def keys_of_the_page() -> set[str]:
    """The keys of the example of the whole file."""
    example = re.search(r"## All keys of config.toml\n\n```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return set(keys(tomllib.loads(example[1]))) if example else set()


def keys(table: dict[str, Any], depth: int = 0) -> list[str]:
    found = []
    for key, value in table.items():
        found += keys(value, depth + 1) if isinstance(value, dict) else [key]
    return [key for key in found if key != "my-model"]


def test_every_key_of_the_source_is_on_the_page() -> None:
    assert keys_of_the_source() - TABLES - keys_of_the_page() == set()


def test_every_key_of_the_page_is_in_the_source() -> None:
    assert keys_of_the_page() - keys_of_the_source() == set()


def test_every_key_of_the_example_has_a_row() -> None:
    table = PAGE.split("| key | meaning | default |")[1].split("\n\n")[0]
    rows = {key for cell in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for key in re.findall(r"(\w+)`", cell)}
    assert keys_of_the_page() <= rows
