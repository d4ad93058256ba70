"""What commands print on a terminal of 80 columns: nothing is cut, and no line is longer than the terminal."""

import json
import re

import pytest

from ferrule.cli import columns
from ferrule_testkit.machine import Machine

WIDTH = 80
NAME = "a_tool_whose_name_is_as_long_as_the_format_of_the_schemas_allows"
PATH = "/srv/" + "a" * 70
WORDS = " ".join(f"word{number}" for number in range(120))
COMMANDS = [
    ("list",),
    ("list", "--check"),
    ("show", NAME),
    ("permissions",),
    ("permissions", NAME),
    ("credentials",),
    ("doctor",),
    ("log",),
    ("lock", "--check"),
    ("link",),
]


@pytest.fixture
def verbose(machine: Machine) -> Machine:
    """A machine with a tool that has much to say."""
    schema = {
        "name": NAME,
        "description": WORDS,
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": WORDS}}},
    }
    credential = (
        "Credential('the_api_key_of_it', environment='A_VARIABLE_WITH_A_RATHER_LONG_NAME_KEY', "
        "path='a.rather.long.path.of.a.key', url='https://example.com/get/one')"
    )
    top = f"from ferrule import Credential, hookimpl\n@hookimpl\ndef credentials():\n    return [{credential}]\n"
    machine.install(NAME, schema=schema, top=top, permissions={"read": [PATH, "~/*"], "environment": ["ABC", "DEF_*"]})
    machine.install("short")
    config = machine.home / ".config" / "ferrule" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[journal]\nenabled = true\n")
    machine.ferrule("run", NAME, "city=Oslo")
    return machine


@pytest.mark.slow
def test_nothing_is_cut_or_longer_than_a_terminal_of_80_columns(verbose: Machine) -> None:
    for command in COMMANDS:
        shown = re.sub(r"\x1b\[[0-9;]*[mK]", "", verbose.on_terminal(*command).out).splitlines()
        lines = [line.rpartition("\r")[2] for line in shown]
        long = [line for line in lines if len(line) > WIDTH and " " in line.strip()]  # one word is left whole
        assert long == [], command
        assert "…" not in "".join(lines), command
        told = " ".join(" ".join(lines).split())
        if command[0] in ("list", "show"):
            assert "word119" in told, command
        if command[0] == "permissions":
            assert PATH in told, command


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        pytest.param("one two three", 8, ["one two", "three"], id="words"),
        pytest.param("one /a/very/long/path two", 8, ["one", "/a/very/long/path", "two"], id="a word that is longer"),
        pytest.param("/a/very/long/path", 8, ["/a/very/long/path"], id="nothing else"),
        pytest.param("", 8, [""], id="nothing"),
    ],
)
def test_a_text_is_wrapped_at_its_words_and_loses_none(text: str, width: int, lines: list[str]) -> None:
    assert columns.wrap(text, width) == lines


def test_a_table_is_narrowed_where_it_can_be_and_is_no_table_where_it_cannot() -> None:
    table = [["NAME", "WHAT"], ["a" * 20, WORDS]]
    widths = columns.fit(table, WIDTH)
    assert widths == [20, 58]
    lines = [" ".join(cells) for cells in columns.lines_of(table[1], widths)]
    assert json.dumps(lines).count("word") == 120
    assert columns.fit([["NAME", "WHAT"], ["a" * 60, "b" * 30]], WIDTH) is None
    assert columns.fit(table, None) == [20, len(WORDS)]
