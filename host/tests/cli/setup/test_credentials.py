"""`ferrule credentials`: what is needed, where it is looked up, whether it is set; never a value."""

import json
import os
import stat
from typing import Any

import pytest

from ferrule_testkit.entry_points import offer
from ferrule_testkit.machine import Finished, Machine

pytestmark = pytest.mark.process


KEY = "the-very-secret-key"


def needing(machine: Machine, name: str, *credentials: str) -> None:
    declared = ", ".join(
        f"Credential('{one}', environment='{name.upper()}_{one.upper()}', path='{name}.{one}',"
        f" url='https://{name}.example/keys')"
        for one in credentials
    )
    machine.install(name, top=f"@hookimpl\ndef credentials():\n    return [{declared}]")


def store(machine: Machine, content: Any, mode: int = 0o600) -> None:
    machine.credentials.parent.mkdir(parents=True, exist_ok=True)
    machine.credentials.write_text(content if isinstance(content, str) else json.dumps(content))
    machine.credentials.chmod(mode)


def content(machine: Machine) -> Any:
    return json.loads(machine.credentials.read_text())


def states(shown: Finished) -> dict[str, tuple[str, str | None]]:
    return {f"{one['tool']}.{one['name']}": (one["state"], one["source"]) for one in shown.document["credentials"]}


def test_each_credential_is_shown_with_where_it_is_looked_up_and_where_to_get_one(machine: Machine) -> None:
    needing(machine, "alpha", "api_key", "engine")
    store(machine, {"alpha": {"engine": KEY}})
    shown = machine.ferrule("credentials")
    assert shown.code == 0
    rows = [line.split() for line in shown.out.splitlines() if line.startswith("alpha")]
    assert rows == [
        ["alpha", "api_key", "missing", "-", "ALPHA_API_KEY", "alpha.api_key", "https://alpha.example/keys"],
        [
            "alpha",
            "engine",
            "set",
            "file:",
            "alpha.engine",
            "ALPHA_ENGINE",
            "alpha.engine",
            "https://alpha.example/keys",
        ],
    ]
    assert str(machine.credentials) in shown.out
    assert KEY not in shown.out + shown.err


def test_a_key_that_was_written_without_quotes_is_unusable_and_not_missing(machine: Machine) -> None:
    needing(machine, "alpha", "pin")
    store(machine, {"alpha": {"pin": 90_210}})
    shown = machine.ferrule("credentials", "--json", "--check", "alpha")
    assert shown.code == 1
    (status,) = shown.document["credentials"]
    assert (status["state"], status["source"]) == ("unusable", None)
    assert "is no text" in status["problem"]
    assert "90210" not in shown.out


@pytest.mark.slow
def test_the_environment_wins_then_the_nested_key_then_the_flat_one(machine: Machine) -> None:
    needing(machine, "alpha", "key")
    file = str(machine.credentials)
    store(machine, {"ALPHA_KEY": KEY})
    assert states(machine.ferrule("credentials", "--json")) == {"alpha.key": ("set", f"{file}, key ALPHA_KEY")}
    store(machine, {"ALPHA_KEY": KEY, "alpha": {"key": KEY}})
    assert states(machine.ferrule("credentials", "--json")) == {"alpha.key": ("set", f"{file}, key alpha.key")}
    shown = machine.ferrule("credentials", "--json", environment={"ALPHA_KEY": KEY})
    assert states(shown) == {"alpha.key": ("set", "environment variable ALPHA_KEY")}
    assert KEY not in shown.out


@pytest.mark.slow
def test_check_fails_where_one_is_missing_or_unusable_or_a_tool_cannot_be_asked(machine: Machine) -> None:
    needing(machine, "alpha", "key")
    assert machine.ferrule("credentials").code == 0
    assert machine.ferrule("credentials", "--check").code == 1
    assert machine.ferrule("credentials", "--check", environment={"ALPHA_KEY": KEY}).code == 0
    assert machine.ferrule("credentials", "--check", environment={"ALPHA_KEY": "two words"}).code == 1
    machine.install("beta", top="import nothing_of_that_name")
    shown = machine.ferrule("credentials", "--check", environment={"ALPHA_KEY": KEY})
    assert shown.code == 1
    assert "cannot be loaded: beta." in shown.err
    assert machine.ferrule("credentials", "alpha", "--check", environment={"ALPHA_KEY": KEY}).code == 0


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_that_others_can_read_is_warned_about(machine: Machine, mode: int) -> None:
    store(machine, {}, mode)
    shown = machine.ferrule("credentials")
    assert shown.code == 0
    assert f"chmod 600 {machine.credentials}" in shown.err


@pytest.mark.parametrize(("text", "mode"), [("{", 0o600), ("[]", 0o600), ("{}", 0o620)])
def test_a_file_that_cannot_be_used_is_a_failure(machine: Machine, text: str, mode: int) -> None:
    needing(machine, "alpha", "key")
    store(machine, text, mode)
    shown = machine.ferrule("credentials", "--json")
    assert shown.code == 1
    assert shown.document["file"]["problem"]
    assert shown.document["credentials"][0]["state"] == "unusable"


@pytest.mark.parametrize(
    "target", [("alpha", "key"), ("alpha.key",), ("alpha",)], ids=["two-words", "dotted", "the-only-one"]
)
def test_a_tools_credential_is_set_from_stdin(machine: Machine, target: tuple[str, ...]) -> None:
    needing(machine, "alpha", "key")
    written = machine.ferrule("credentials", "set", *target, stdin=f" {KEY}\n".encode())
    assert (written.code, written.out) == (0, "Set alpha.key in ~/.config/ikigai/credentials.json.\n")
    assert content(machine) == {"alpha": {"key": KEY}}
    assert stat.S_IMODE(machine.credentials.stat().st_mode) == 0o600
    assert stat.S_IMODE(machine.credentials.parent.stat().st_mode) == 0o700


def test_a_key_is_set_and_everything_else_is_kept(machine: Machine) -> None:
    store(machine, {"openai": {"api_key": "o"}, "dice": {"other": "x"}, "FLAT": "ü"}, 0o644)
    assert machine.ferrule("credentials", "set", "dice.api_key", "--value", KEY).code == 0
    expected = {"openai": {"api_key": "o"}, "dice": {"other": "x", "api_key": KEY}, "FLAT": "ü"}
    assert content(machine) == expected
    assert stat.S_IMODE(machine.credentials.stat().st_mode) == 0o600


def test_the_value_is_asked_for_on_a_terminal_and_not_shown(machine: Machine) -> None:
    needing(machine, "alpha", "key")
    shown = machine.on_terminal("credentials", "set", "alpha", prompt="alpha.key: ", typed=f"{KEY}\n")
    assert shown.code == 0
    assert content(machine) == {"alpha": {"key": KEY}}
    assert KEY not in shown.out


def test_a_value_that_cannot_be_a_key_is_refused_and_nothing_changes(machine: Machine) -> None:
    store(machine, {"alpha": {"key": "before"}})
    for value in ("", "  \n", "two words", "line\nbreak", "ключ", "tab\there", "nul\0"):
        refused = machine.ferrule("credentials", "set", "alpha.key", stdin=value.encode())
        assert refused.code == 1, value
        assert "nothing was changed" in refused.err, value
        assert content(machine) == {"alpha": {"key": "before"}}, value


def test_a_file_that_cannot_be_read_is_not_overwritten(machine: Machine) -> None:
    store(machine, "{ not json")
    refused = machine.ferrule("credentials", "set", "alpha.key", "--value", KEY)
    assert refused.code == 1
    assert "left as it is" in refused.err
    assert machine.credentials.read_text() == "{ not json"


def test_a_key_that_leads_through_a_text_is_refused(machine: Machine) -> None:
    store(machine, {"alpha": "text"})
    refused = machine.ferrule("credentials", "set", "alpha.key", "--value", KEY)
    assert refused.code == 1
    assert content(machine) == {"alpha": "text"}


def test_a_variable_that_wins_over_the_file_is_noted(machine: Machine) -> None:
    needing(machine, "alpha", "key")
    written = machine.ferrule("credentials", "set", "alpha", "--value", KEY, environment={"ALPHA_KEY": "other"})
    assert "ALPHA_KEY is set, and wins over the file." in written.err


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        pytest.param(("alpha",), 2, "name one of engine, key", id="several"),
        pytest.param(("alpha", "kye"), 1, "has no credential 'kye'", id="misspelt"),
        pytest.param(("alhpa", "key"), 1, "Did you mean alpha?", id="unknown-tool"),
        pytest.param(("beta",), 1, "needs no credentials", id="none-needed"),
        pytest.param(("broken", "key"), 1, "nothing_of_that_name", id="broken"),
        pytest.param(("alpha..key",), 1, "no credential", id="empty-part-of-a-tools"),
        pytest.param(("dice..key",), 1, "is no key", id="empty-part"),
    ],
)
def test_what_is_meant_has_to_be_clear(machine: Machine, target: tuple[str, ...], code: int, message: str) -> None:
    needing(machine, "alpha", "key", "engine")
    machine.install("beta")
    machine.install("broken", top="import nothing_of_that_name")
    refused = machine.ferrule("credentials", "set", *target, "--value", KEY)
    assert refused.code == code
    assert message in refused.err
    assert not machine.credentials.exists()


def test_unset_takes_out_the_nested_and_the_flat_key_and_keeps_the_rest(machine: Machine) -> None:
    needing(machine, "alpha", "key")
    store(machine, {"alpha": {"key": KEY}, "ALPHA_KEY": KEY, "beta": {"key": "b"}})
    removed = machine.ferrule("credentials", "unset", "alpha", "--json")
    assert removed.document["changed"] is True
    assert content(machine) == {"beta": {"key": "b"}}
    again = machine.ferrule("credentials", "unset", "alpha")
    assert again.code == 0
    assert "was not set" in again.out


@pytest.mark.slow
def test_another_file_is_used_where_the_client_is_told_so(machine: Machine) -> None:
    folder = machine.work / "elsewhere"
    machine.ferrule("credentials", "set", "dice.key", "--value", KEY, environment={"IKIGAI_CONFIG_DIR": str(folder)})
    assert json.loads((folder / "credentials.json").read_text()) == {"dice": {"key": KEY}}
    assert os.listdir(folder) == ["credentials.json"]


def test_a_credential_that_is_no_text_makes_the_tool_broken_and_no_more(machine: Machine) -> None:
    machine.install(
        "alpha", top="@hookimpl\ndef credentials():\n    return [Credential('key', environment=5, path='a')]"
    )
    shown = machine.ferrule("credentials", "--json")
    assert shown.code == 0
    (failed,) = shown.document["failed"]
    assert (failed["tool"], failed["state"]) == ("alpha", "broken")
    assert "is no text" in failed["error"]


def test_a_mistyped_tool_is_not_taken_for_a_key_of_the_file(machine: Machine) -> None:
    machine.install("dice")
    done = machine.ferrule("credentials", "set", "dicee", "--value", "sk-1234567890")
    assert done.code == 1
    assert "Did you mean dice?" in done.err
    assert not machine.credentials.exists()


# Credentials that are no tool's, by the entry points of a distribution.

DECLARES = """
from ferrule import Credential

def command():
    return [Credential("token", environment="RADIO_TOKEN", path="radio.token", url="https://radio.example/keys")]
"""
GROUP = "ferrule.credentials"


@pytest.mark.slow
def test_a_credential_that_is_no_tools_is_set_shown_checked_and_unset(machine: Machine) -> None:
    offer(machine, GROUP, "radio", DECLARES)
    unset = machine.ferrule("credentials")
    assert "radio" not in unset.out
    assert "The command radio has credentials, too, which are not set: ferrule credentials radio\n" in unset.err
    assert states(machine.ferrule("credentials", "radio", "--json")) == {"radio.token": ("missing", None)}
    assert machine.ferrule("credentials", "radio", "--check").code == 1
    assert machine.ferrule("credentials", "set", "radio", stdin=KEY.encode()).code == 0
    assert content(machine) == {"radio": {"token": KEY}}
    shown = machine.ferrule("credentials", "--check")
    assert shown.code == 0
    assert "radio" not in shown.err
    assert ["radio", "token", "set"] in [line.split()[:3] for line in shown.out.splitlines()]
    assert KEY not in shown.out
    assert machine.ferrule("credentials", "unset", "radio.token").code == 0
    assert content(machine) == {}
    done = machine.ferrule("credentials", "set", "radio", "engine", stdin=b"x")
    assert (done.code, done.err) == (1, "Error: radio has no credential 'engine'.\nIt has token.\n")


def test_a_tool_of_that_name_comes_first(machine: Machine) -> None:
    needing(machine, "radio", "api_key")
    offer(machine, GROUP, "radio", DECLARES, distribution="more")
    assert states(machine.ferrule("credentials", "radio", "--json")) == {"radio.api_key": ("missing", None)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "value", "reason"),
    [
        ("", "absent:command", "cannot be loaded (ModuleNotFoundError: No module named 'absent')"),
        ("raise RuntimeError('no')", "", "cannot be loaded (RuntimeError: no)"),
        ("def command():\n    raise RuntimeError('no')", "", "fails (RuntimeError: no)"),
        ("import sys\ndef command():\n    sys.exit(0)", "", "fails (SystemExit: 0)"),
        ("import asyncio\ndef command():\n    raise asyncio.CancelledError", "", "fails (CancelledError)"),
        ("command = 5", "", "returns no list of ferrule.Credential"),
        ("def command():\n    return ['token']", "", "returns no list of ferrule.Credential"),
    ],
)
def test_a_broken_list_of_credentials_is_told_by_name_and_hurts_no_other(
    machine: Machine, source: str, value: str, reason: str
) -> None:
    offer(machine, GROUP, "radio", DECLARES)
    offer(machine, GROUP, "bad", source, value=value)
    machine.ferrule("credentials", "set", "radio", stdin=KEY.encode())
    shown = machine.ferrule("credentials", "--json", "--check")
    assert shown.code == 1
    assert states(shown)["radio.token"][0] == "set"
    (failed,) = shown.document["failed"]
    assert (failed["tool"], failed["state"]) == ("bad", "broken")
    assert "The credential list 'bad' of dist-bad 1.0 cannot be used: " in failed["error"]
    assert reason in failed["error"]
    assert "cannot be loaded: bad. See `ferrule doctor`." in machine.ferrule("credentials").err
    done = machine.ferrule("credentials", "set", "bad", stdin=b"x")
    assert done.code == 1
    assert reason in done.err
    found = machine.ferrule("doctor", "--json").document["findings"]
    (finding,) = [one for one in found if one["id"] == "credentials-broken"]
    assert (finding["subject"], finding["severity"]) == ("bad", "error")
    assert reason in finding["message"]


def test_why_a_credential_cannot_be_used_is_no_column_of_the_table(machine: Machine) -> None:
    machine.install(
        "alpha",
        top="@hookimpl\ndef credentials():\n    return [Credential('key', environment='ALPHA_KEY', path='alpha.key')]",
    )
    shown = machine.ferrule("credentials", "alpha", environment={"ALPHA_KEY": "two words"})
    row = next(line for line in shown.out.splitlines() if line.startswith("alpha"))
    assert row.split() == ["alpha", "key", "unusable", "-", "ALPHA_KEY", "alpha.key"]
    assert "warning: alpha key: " in shown.err
    assert "two words" not in shown.out + shown.err
