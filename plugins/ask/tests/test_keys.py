"""Where a key comes from, in which order, and that no value is ever in a message."""

import json
import os
from pathlib import Path

import pytest

from ferrule.errors import CredentialsMalformed
from ferrule_ask.keys import ANTHROPIC, SESSION, Keys, how_to_set

SECRET = "BSA-a-very-secret-key"
VARIABLE, PATH = "BRAVE_API_KEY", "web_search.brave.api_key"
NESTED = {"web_search": {"brave": {"api_key": "nested-key"}}}


class Home:
    """A home with the files in which keys may stand."""

    def __init__(self, root: Path) -> None:
        self.environ = {"HOME": str(root)}
        self.credentials = root / ".config/ikigai/credentials.json"
        self.own = root / ".stps/brave_api_key"
        for file in (self.credentials, self.own):
            file.parent.mkdir(parents=True)

    def store(self, content: object) -> None:
        self.credentials.write_text(json.dumps(content))
        self.credentials.chmod(0o600)

    def write(self, content: str | bytes, mode: int = 0o600) -> None:
        self.own.write_bytes(content.encode() if isinstance(content, str) else content)
        self.own.chmod(mode)

    def keys(self, **environ: str) -> Keys:
        return Keys({**self.environ, **environ})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def value(keys: Keys) -> str | None:
    found = keys.find(VARIABLE, PATH)
    return found.value if found else None


def refusal(keys: Keys) -> str:
    with pytest.raises(CredentialsMalformed) as raised:
        keys.find(VARIABLE, PATH)
    text = f"{raised.value.message} {raised.value.hint} {keys!r}"
    assert SECRET not in text
    return text


def test_the_session_wins_then_the_environment_then_the_credentials_file_then_the_own_file(home: Home) -> None:
    home.write("own-key\n")
    home.store({VARIABLE: "flat-key", **NESTED})
    keys = home.keys(**{VARIABLE: "environment-key"})
    keys.set(VARIABLE, "session-key")
    assert value(keys) == "session-key"
    keys.set(VARIABLE, None)
    assert value(keys) == "environment-key"
    assert value(home.keys()) == "nested-key"
    home.store({VARIABLE: "flat-key"})
    assert value(home.keys()) == "flat-key"
    home.store({})
    assert value(home.keys()) == "own-key"
    home.own.unlink()
    assert value(home.keys()) is None


def test_it_is_said_where_a_key_was_found(home: Home) -> None:
    home.write(SECRET)
    found = home.keys().find(VARIABLE, PATH)
    assert found
    assert found.source.startswith(str(home.own))
    keys = home.keys()
    keys.set(VARIABLE, SECRET)
    session = keys.find(VARIABLE, PATH)
    assert session
    assert session.source == SESSION
    assert SECRET not in repr((found, session, keys))


@pytest.mark.parametrize("blank", ["", " ", "\t\r\n"])
def test_blank_is_unset_everywhere(blank: str, home: Home) -> None:
    home.write("own-key")
    home.store({"web_search": {"brave": {"api_key": blank}}, VARIABLE: blank})
    keys = home.keys(**{VARIABLE: blank})
    keys.set(VARIABLE, blank)
    assert value(keys) == "own-key"
    home.write(blank + "\nsecond-line")
    assert value(keys) is None


@pytest.mark.parametrize(
    "content",
    [
        b"own-key",
        b"own-key\n",
        b"own-key\r\n",
        b"  own-key \nnot-the-key\n",
        b"\xef\xbb\xbfown-key\r\n",
        b"own-key\r\n# a note\r\n",
    ],
)
def test_the_own_file_has_the_key_on_its_first_line(content: bytes, home: Home) -> None:
    home.write(content)
    assert value(home.keys()) == "own-key"


def test_the_models_key_has_its_places_too(home: Home) -> None:
    home.store({"llm": {"anthropic": {"api_key": "nested-key"}}})
    found = home.keys().find(ANTHROPIC.environment)
    assert found
    assert found.value == "nested-key"
    home.store({})
    (home.own.parent / "anthropic_api_key").write_text("own-key\n")
    (home.own.parent / "anthropic_api_key").chmod(0o600)
    found = home.keys().find(ANTHROPIC.environment)
    assert found
    assert found.value == "own-key"


@pytest.mark.parametrize("wrong", [f"{SECRET} with words", f"{SECRET}\x07", f"{SECRET}-é", f"{SECRET}\u200b"])
def test_what_no_header_can_carry_is_no_key_and_is_not_shown(wrong: str, home: Home) -> None:
    assert "so it cannot be a key" in refusal(home.keys(**{VARIABLE: wrong}))
    home.write(wrong)
    assert str(home.own) in refusal(home.keys())
    keys = home.keys()
    with pytest.raises(CredentialsMalformed) as raised:
        keys.set(VARIABLE, wrong)
    assert SECRET not in str(raised.value)
    assert keys.session() == {}


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["a directory", "a FIFO"])
def test_what_is_no_file_is_said_and_does_not_hang(make: object, home: Home) -> None:
    make(home.own)  # type: ignore[operator] # its kind is known here
    assert "is not a regular file" in refusal(home.keys())


@pytest.mark.skipif(os.getuid() == 0, reason="only root reads what it may not")
def test_a_file_that_cannot_be_read_is_said(home: Home) -> None:
    home.write(SECRET, 0o000)
    assert "cannot be read: Permission denied" in refusal(home.keys())


def test_bytes_that_are_no_text_are_said_and_not_shown(home: Home) -> None:
    home.write(SECRET.encode("utf-16"))
    assert "is not text in UTF-8" in refusal(home.keys())


def test_a_file_that_others_may_write_is_not_used(home: Home) -> None:
    home.write(SECRET, 0o622)
    assert f"can be written by other users. Run: chmod 600 {home.own}" in refusal(home.keys())


def test_a_file_that_others_may_read_is_used_with_a_warning_told_once(home: Home) -> None:
    home.write("own-key", 0o644)
    keys = home.keys()
    assert [value(keys), value(keys)] == ["own-key", "own-key"]
    assert keys.warnings == (f"{home.own} can be read by other users. Run: chmod 600 {home.own}",)
    home.store(NESTED)
    home.credentials.chmod(0o640)
    assert value(keys) == "nested-key"
    assert len(keys.warnings) == 2


def test_a_file_in_which_no_key_was_found_is_not_warned_of(home: Home) -> None:
    home.write("own-key", 0o644)
    keys = home.keys(**{VARIABLE: "environment-key"})
    assert value(keys) == "environment-key"
    assert keys.warnings == ()


def test_a_credentials_file_that_is_broken_does_not_hide_the_own_file_and_is_told_without_one(home: Home) -> None:
    home.credentials.write_text("{")
    assert "is not JSON" in refusal(home.keys())
    home.write("own-key")
    keys = home.keys()
    assert value(keys) == "own-key"
    assert [warning for warning in keys.warnings if "is not JSON" in warning]


def test_without_a_home_the_users_own_is_taken(tmp_path: Path) -> None:
    assert Keys({"IKIGAI_CONFIG_DIR": str(tmp_path)}).find("NOBODY_HAS_SET_THIS") is None


@pytest.mark.parametrize("variable", ["../../etc/passwd", "a/b", "", ".", "~", "NUL\0"])
def test_a_variable_that_a_plugin_names_does_not_lead_out_of_the_folder(variable: str, home: Home) -> None:
    assert home.keys().find(variable, "some.path") is None


def test_what_is_set_again_replaces_what_was_set(home: Home) -> None:
    keys = home.keys()
    keys.set(VARIABLE, "one")
    keys.set(VARIABLE, "two")
    assert keys.session() == {VARIABLE: "two"}


def test_how_to_set_a_key_names_all_places_and_where_to_get_one() -> None:
    text = how_to_set(ANTHROPIC)
    for part in ("ANTHROPIC_API_KEY", "llm.anthropic.api_key", "~/.stps/anthropic_api_key", ANTHROPIC.url):
        assert part in text
