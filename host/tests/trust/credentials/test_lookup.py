"""Where a credential's value comes from, and what is said if there is none that can be used."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule.config import CredentialsFile, credentials_path
from ferrule.errors import CredentialMissing, CredentialsMalformed
from ferrule.plugin.hooks.context import Context
from ferrule.plugin.hooks.credentials import Credential, missing, named

KEY = Credential(
    "api_key",
    environment="DICE_API_KEY",
    path="dice.online.api_key",
    url="https://dice.example/keys",
    description="an API key",
)
PLAIN = Credential("api_key", environment="DICE_API_KEY", path="dice.api_key")


def nested(value: Any) -> dict[str, Any]:
    return {"dice": {"online": {"api_key": value}}}


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Write a credentials file, and read it as the host does."""

    def write(content: Any) -> CredentialsFile:
        path = tmp_path / "credentials.json"
        path.write_text(json.dumps(content))
        path.chmod(0o600)
        return CredentialsFile(str(path))

    return write


@pytest.fixture
def config_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the running process looks for its credentials file; nothing is set in the environment."""
    monkeypatch.setenv("IKIGAI_CONFIG_DIR", str(tmp_path))
    monkeypatch.delenv("DICE_API_KEY", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("environ", "content", "value", "source"),
    [
        pytest.param("env", nested("nested"), "env", "environment variable DICE_API_KEY", id="environment-first"),
        pytest.param("", nested("nested"), "nested", "{path}, key dice.online.api_key", id="empty-variable"),
        pytest.param(" \t\n", nested("nested"), "nested", "{path}, key dice.online.api_key", id="blank-variable"),
        pytest.param(
            "", nested("nested") | {"DICE_API_KEY": "flat"}, "nested", "{path}, key dice.online.api_key", id="nested"
        ),
        pytest.param("", {"DICE_API_KEY": "flat"}, "flat", "{path}, key DICE_API_KEY", id="flat"),
        pytest.param(
            "", nested("  ") | {"DICE_API_KEY": "flat"}, "flat", "{path}, key DICE_API_KEY", id="blank-nested-key"
        ),
        pytest.param("", nested(17) | {"DICE_API_KEY": "flat"}, "flat", "{path}, key DICE_API_KEY", id="no-text"),
        pytest.param("", {"dice": "x", "DICE_API_KEY": "flat"}, "flat", "{path}, key DICE_API_KEY", id="no-object"),
    ],
)
def test_a_value_is_taken_from_the_first_place_that_has_one(
    file: Any, environ: str, content: Any, value: str, source: str
) -> None:
    credentials = file(content)
    found = KEY.look_up({"DICE_API_KEY": environ}, credentials)
    assert found is not None
    assert (found.value, found.source) == (value, source.format(path=credentials.path))


@pytest.mark.parametrize(
    "content",
    [{}, nested(""), nested(None), {"dice": None}, {"dice.online.api_key": "dotted"}],
    ids=["empty", "empty-text", "null", "no-branch", "dotted-key"],
)
def test_where_nothing_stands_there_is_no_value(file: Any, content: Any) -> None:
    assert KEY.look_up({}, file(content)) is None
    assert KEY.look_up({}) is None


@pytest.mark.parametrize(
    ("content", "key"),
    [
        pytest.param(nested(90_210), "dice.online.api_key", id="number"),
        pytest.param(nested(0), "dice.online.api_key", id="zero"),
        pytest.param(nested(False), "dice.online.api_key", id="false"),
        pytest.param(nested({"a": "90210"}), "dice.online.api_key", id="object"),
        pytest.param({"DICE_API_KEY": ["90210"]}, "DICE_API_KEY", id="flat-array"),
    ],
)
def test_what_is_no_text_is_refused_with_its_place_and_without_showing_it(file: Any, content: Any, key: str) -> None:
    credentials = file(content)
    with pytest.raises(CredentialsMalformed) as caught:
        KEY.look_up({}, credentials)
    assert caught.value.message == (
        f"The value of api_key ({credentials.path}, key {key}) is no text, so it cannot be a key."
    )
    assert "90210" not in str(caught.value.facts())


@pytest.mark.parametrize("pasted", ["key-1\n", "\r\n key-1", "\tkey-1  "], ids=repr)
def test_blanks_pasted_around_a_key_are_dropped(file: Any, pasted: str) -> None:
    for found in (KEY.look_up({"DICE_API_KEY": pasted}), KEY.look_up({}, file(nested(pasted)))):
        assert found is not None
        assert found.value == "key-1"


@pytest.mark.parametrize("inside", ["k3y 1", "k3y\n1", "k3y\t1", "k3yé1", "k3y\u200b1", "k3y\x7f1"], ids=ascii)
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(file: Any, inside: str) -> None:
    for environ, credentials in (({"DICE_API_KEY": inside}, file({})), ({}, file(nested(inside)))):
        with pytest.raises(CredentialsMalformed) as caught:
            KEY.look_up(environ, credentials)
        text = str(caught.value.facts())
        assert "DICE_API_KEY" in text or "dice.online.api_key" in text
        assert "so it cannot be a key" in text
        assert "k3y" not in text


def test_neither_a_credential_nor_what_was_found_shows_a_value_when_it_is_printed() -> None:
    found = KEY.look_up({"DICE_API_KEY": "k3y-1"})
    assert "k3y-1" not in f"{found!r} {found} {KEY!r}"
    assert "DICE_API_KEY" in repr(KEY)


def test_a_tool_gets_only_what_it_declared() -> None:
    assert named([PLAIN], "api_key") is PLAIN
    with pytest.raises(KeyError, match=r"'password' is not declared by the tool.*\['api_key'\]"):
        named([PLAIN], "password")


def test_a_missing_credential_is_told_to_the_model_and_to_the_person(tmp_path: Path) -> None:
    error = missing("dice", KEY, "/home/ada/credentials.json")
    assert isinstance(error, CredentialMissing)
    assert error.code == "AUTH_MISSING"
    assert error.message == (
        "dice needs an API key. Get one: https://dice.example/keys. Set DICE_API_KEY, or add it to "
        "/home/ada/credentials.json as 'dice.online.api_key'."
    )
    assert error.event is not None
    assert error.event["kind"] == "config_required"
    assert str(error.event["content"]) == f"⚠ Configuration Required\n\n{error.message}"
    assert error.event["data_json"] == (
        '{"tool": "dice", "credential": "api_key", "signup_url": "https://dice.example/keys"}'
    )


def test_a_tool_under_another_name_is_called_by_it_except_in_commands() -> None:
    error = missing("dice", KEY, "file", name="cubes")
    assert error.message.startswith("cubes needs an API key.")
    assert error.hint == "Run: ferrule credentials set dice api_key"
    assert error.event is not None
    assert '"tool": "cubes"' in str(error.event["data_json"])


def test_the_facts_of_a_missing_credential_are_json_whatever_is_in_them() -> None:
    odd = Credential('a"b\\c', environment="X", path="x", url='https://x.example/?q="é"')
    event = missing("dice", odd, "file").event
    assert event is not None
    facts = {"tool": "dice", "credential": 'a"b\\c', "signup_url": 'https://x.example/?q="é"'}
    assert json.loads(str(event["data_json"])) == facts


def test_a_file_that_cannot_be_used_is_named_where_a_credential_is_missing(config_folder: Path) -> None:
    (config_folder / "credentials.json").write_text('{"dice": ')
    with pytest.raises(CredentialMissing, match=r"credentials.json is not JSON: .* at line 1 column 10"):
        Context("dice", 0.0, credentials=[PLAIN]).credential("api_key")


def test_the_reason_why_a_file_cannot_be_used_comes_before_what_a_client_cuts(config_folder: Path) -> None:
    (config_folder / "credentials.json").write_text('{"dice": ')
    with pytest.raises(CredentialMissing) as caught:
        Context("dice", 0.0, credentials=[PLAIN]).credential("api_key")
    path = config_folder / "credentials.json"
    assert caught.value.message.startswith(f"{path} is not JSON: ")
    assert ". dice needs " in caught.value.message


@pytest.mark.parametrize(
    "value",
    [
        "your-api-key-here",
        "YOUR_API_KEY",
        "<key>",
        "<API_KEY>",
        "${BRAVE_API_KEY}",
        "xxxx-xxxx",
        "changeme",
        "...",
    ],
)
def test_what_an_example_has_in_the_place_of_a_key_is_sent_nowhere(file: Any, value: str) -> None:
    with pytest.raises(CredentialsMalformed, match="is a placeholder"):
        KEY.look_up({"DICE_API_KEY": value})


@pytest.mark.parametrize(
    "value", ["sk-proj-yourself", "BSA-here-1", "xoxb-123", "abcd", "e3b0c44298fc1c149afbf4c8996fb924"]
)
def test_a_key_that_only_resembles_an_example_is_a_key(value: str) -> None:
    found = KEY.look_up({"DICE_API_KEY": value})
    assert found is not None
    assert found.value == value


def test_a_text_in_the_place_of_an_object_of_keys_is_told(file: Any) -> None:
    with pytest.raises(CredentialsMalformed, match="with the key api_key is expected as dice") as caught:
        KEY.look_up({}, file({"dice": {"online": "k3y-1"}}))
    assert "k3y-1" not in str(caught.value.facts())


def test_a_key_that_cannot_be_sent_is_a_missing_credential_to_the_tool(
    config_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DICE_API_KEY", "k3y 1")
    with pytest.raises(CredentialMissing, match="cannot be a key") as caught:
        Context("dice", 0.0, credentials=[PLAIN]).credential("api_key")
    assert caught.value.code == "AUTH_MISSING"


def test_every_value_that_a_secret_has_is_kept_out_of_outputs(
    config_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (config_folder / "credentials.json").write_text('{"dice": {"api_key": "in-file"}, "DICE_API_KEY": "two\\nlines"}')
    monkeypatch.setenv("DICE_API_KEY", "in-environment")
    engine = Credential("engine", environment="DICE_ENGINE", path="dice.engine", secret=False)
    monkeypatch.setenv("DICE_ENGINE", "may-be-seen")
    context = Context("dice", 0.0, credentials=[PLAIN, engine])
    assert context.credential("api_key") == "in-environment"
    assert context.credential("engine") == "may-be-seen"
    assert context.secrets() == ["in-environment", "in-file", "two\nlines"]


@pytest.mark.process
def test_a_value_that_is_not_utf_8_is_refused_and_does_no_harm(config_folder: Path) -> None:
    program = (
        "from ferrule.plugin.hooks.context import Context\n"
        "from ferrule.plugin.hooks.credentials import Credential\n"
        "context = Context('dice', 0.0, credentials=[Credential('a', environment='DICE_API_KEY', path='a')])\n"
        "print(context.secrets())\n"
        "context.credential('a')\n"
    )
    environ = {**os.environb, b"DICE_API_KEY": b"k3y\xff\xfe"}
    finished = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=False)
    assert finished.stdout == "[]\n"
    assert "CredentialMissing: The value of a (environment variable DICE_API_KEY) holds" in finished.stderr
    assert "k3y" not in finished.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({"HOME": "/home/ada"}, "/home/ada/.config/ikigai", id="home"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": "/xdg"}, "/xdg/ikigai", id="xdg"),
        pytest.param({"HOME": "/h", "XDG_CONFIG_HOME": "/xdg", "IKIGAI_CONFIG_DIR": "/own"}, "/own", id="own"),
        pytest.param({"HOME": "/h", "XDG_CONFIG_HOME": "", "IKIGAI_CONFIG_DIR": ""}, "/h/.config/ikigai", id="empty"),
    ],
)
def test_the_file_is_looked_for_where_the_client_has_it(environ: dict[str, str], expected: str) -> None:
    assert credentials_path(environ) == f"{expected}/credentials.json"
    program = "from ferrule.config import credentials_path; print(credentials_path())"
    finished = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert finished.stdout == f"{expected}/credentials.json\n"
