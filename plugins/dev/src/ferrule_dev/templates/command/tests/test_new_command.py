"""The command, called in the process of the test."""

import json

import pytest
from ferrule.errors import FerruleError

from ferrule_new_command.command import command


def test_a_name_is_greeted(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["Ann"], standalone_mode=False) == 0
    assert capsys.readouterr().out == "Hello, Ann!\n"


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["Ann", "--json"], standalone_mode=False) == 0
    assert json.loads(capsys.readouterr().out) == {"greeting": "Hello, Ann!"}


def test_a_number_is_refused() -> None:
    with pytest.raises(FerruleError, match="7 is no name"):
        command.main(["7"], standalone_mode=False)
