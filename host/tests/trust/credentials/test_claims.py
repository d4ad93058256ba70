"""A credential belongs to the distribution that declared it first; another one gets it when the admin accepts that."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ferrule import Credential, ToolError
from ferrule.discovery import InstalledTool
from ferrule.trust.credentials import claims as credential_claims
from ferrule_testkit.machine import BIN, Machine

KEY = Credential("api_key", environment="RADIO_KEY", path="radio.api_key")
ENVIRONMENT = {"RADIO_KEY": "sk-radio-12345678"}
DECLARES = """
@hookimpl
def credentials():
    return [Credential("api_key", environment="RADIO_KEY", path="radio.{path}")]
"""
EXECUTE = "return {'length': len(context.credential('api_key'))}"


def tool(name: str, distribution: str) -> InstalledTool:
    return InstalledTool(name, f"module_{name}", distribution, "1.0", "")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[InstalledTool]:
    """Two tools of one distribution, and one of another, on this process's own path."""
    found = [tool("radio", "waves"), tool("tuner", "waves"), tool("listener", "strangers")]
    for one in found:
        metadata = tmp_path / "site" / f"{one.distribution}-1.0.dist-info"
        metadata.mkdir(parents=True, exist_ok=True)
        lines = [f"{two.name} = {two.value}\n" for two in found if two.distribution == one.distribution]
        (metadata / "entry_points.txt").write_text("[ferrule.tools]\n" + "".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "state"))
    return found


def test_who_declares_it_first_has_it_and_shares_it_within_the_distribution(installed: list[InstalledTool]) -> None:
    radio, tuner, listener = installed
    assert credential_claims.record(radio, [KEY]) == []
    assert credential_claims.record(tuner, [KEY]) == []
    claims = credential_claims.record(listener, [KEY])
    assert [(claim.key, claim.owners, claim.is_accepted) for claim in claims] == [
        ("RADIO_KEY", ["waves"], False),
        ("radio.api_key", ["waves"], False),
    ]
    assert credential_claims.given_variables(radio) == ["RADIO_KEY"]
    assert credential_claims.given_variables(listener) == []
    refusal = credential_claims.refusals(claims)["api_key"]
    assert isinstance(refusal, ToolError)
    assert (refusal.code, refusal.message) == (
        "PERMISSION_DENIED",
        "listener of strangers asks for RADIO_KEY, which waves declared first. So it is not given to listener.",
    )
    assert str(refusal.admin).endswith("ferrule credentials accept listener")


@pytest.mark.parametrize(
    "again",
    [
        Credential("token", environment="OTHER", path="radio.api_key"),
        Credential("token", environment="RADIO_KEY", path="other"),
        Credential("token", environment="OTHER", path="RADIO_KEY"),
    ],
    ids=["the key of the file", "the variable", "the variable's name as a key of the file"],
)
def test_a_part_of_it_under_another_name_is_a_claim_as_well(installed: list[InstalledTool], again: Credential) -> None:
    credential_claims.record(installed[0], [KEY])
    assert [claim.credential for claim in credential_claims.record(installed[2], [again])] == ["token"]


def test_what_is_accepted_is_given_and_stays_so(installed: list[InstalledTool]) -> None:
    radio, _, listener = installed
    credential_claims.record(radio, [KEY])
    assert [claim.key for claim in credential_claims.accept(listener, [KEY])] == ["RADIO_KEY", "radio.api_key"]
    assert credential_claims.accept(listener, [KEY]) == []
    assert credential_claims.refusals(credential_claims.record(listener, [KEY])) == {}
    assert credential_claims.given_variables(listener) == ["RADIO_KEY"]
    of_another = tool("listener", "successors")
    assert credential_claims.given_variables(of_another) == []
    assert credential_claims.refusals(credential_claims.record(of_another, [KEY]))


def test_a_distribution_that_is_gone_owns_nothing(installed: list[InstalledTool], tmp_path: Path) -> None:
    credential_claims.record(installed[0], [KEY])
    (tmp_path / "site" / "waves-1.0.dist-info" / "entry_points.txt").unlink()
    assert credential_claims.record(installed[2], [KEY]) == []


def test_the_hosts_own_secrets_cannot_be_accepted(installed: list[InstalledTool]) -> None:
    own = Credential("redis", environment="FERRULE_REDIS", path="listener.redis")
    (claim,) = credential_claims.record(installed[2], [own])
    assert claim.owners == ["ferrule"]
    credential_claims.accept(installed[2], [own])
    assert credential_claims.refusals(credential_claims.record(installed[2], [own]))


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"since": 5, "given": 5, "accepted": 5}', b"\xff"])
def test_a_record_that_is_no_record_holds_nothing_up(
    installed: list[InstalledTool], tmp_path: Path, content: bytes
) -> None:
    credential_claims.record(installed[0], [KEY])
    path = tmp_path / "state" / "credentials" / "radio.json"
    path.write_bytes(content)
    assert credential_claims.given_variables(installed[0]) == []
    assert credential_claims.record(installed[2], [KEY]) == []
    assert credential_claims.record(installed[0], [KEY])[0].owners == ["strangers"]


def test_a_name_that_is_no_file_name_leads_out_of_no_folder(installed: list[InstalledTool], tmp_path: Path) -> None:
    credential_claims.record(tool("../../outside", "waves"), [KEY])
    assert [path.name for path in tmp_path.rglob("*outside*")] == []
    assert {path.suffix for path in (tmp_path / "state" / "credentials").iterdir()} == {".json"}


def test_where_no_record_can_be_written_calls_go_on(installed: list[InstalledTool], tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"")
    assert credential_claims.record(installed[0], [KEY]) == []
    assert [claim.owners for claim in credential_claims.record(installed[2], [KEY])] == []


def call(machine: Machine, name: str) -> Any:
    done = subprocess.run(
        [BIN / "ferrule", "run", name, "{}", "--json"],
        cwd=machine.work,
        env={**machine.environment, **ENVIRONMENT},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.process
def test_a_claimed_key_is_refused_told_and_given_once_it_is_accepted(machine: Machine) -> None:
    machine.install("radio", top=DECLARES.format(path="api_key"), execute=EXECUTE)
    machine.install("listener", top=DECLARES.format(path="mine"), execute=EXECUTE)
    length = len(ENVIRONMENT["RADIO_KEY"])
    assert call(machine, "radio") == {"length": length}
    refused = call(machine, "listener")
    assert refused["error_code"] == "PERMISSION_DENIED"
    assert "dist-listener asks for RADIO_KEY, which dist-radio declared first" in refused["error"]
    assert "ferrule credentials accept" not in refused["error"]
    shown = machine.ferrule("credentials", "--json", environment=ENVIRONMENT).document["credentials"]
    assert {one["tool"]: one["state"] for one in shown} == {"radio": "set", "listener": "claimed"}
    assert "accept listener" in machine.ferrule("credentials", environment=ENVIRONMENT).err
    told = machine.ferrule("doctor", "--json", environment=ENVIRONMENT).document["findings"]
    assert "credential-claimed" in {one["id"] for one in told}
    accepted = machine.ferrule("credentials", "accept", "listener", "--json").document["accepted"]
    assert [one["key"] for one in accepted] == ["RADIO_KEY"]
    assert [call(machine, name) for name in ("listener", "radio")] == [{"length": length}] * 2
    assert machine.ferrule("credentials", "accept", "radio").out == "radio claims nothing that waits to be accepted.\n"
    assert os.stat(machine.home / ".local/state/ferrule/credentials").st_mode & 0o777 == 0o700


def test_a_key_that_is_declared_under_two_names_is_claimed_under_both(installed: list[InstalledTool]) -> None:
    radio, _, listener, *_ = installed
    credential_claims.record(radio, [KEY])
    names = [Credential(name, environment=KEY.environment, path=f"other.{name}") for name in ("first", "second")]
    claims = credential_claims.record(listener, names)
    assert set(credential_claims.refusals(claims)) == {"first", "second"}
    assert credential_claims.given_variables(listener) == []


def test_a_new_version_is_given_no_variable_before_it_has_asked(installed: list[InstalledTool]) -> None:
    radio = installed[0]
    credential_claims.record(radio, [KEY])
    assert credential_claims.given_variables(radio) == [KEY.environment]
    newer = InstalledTool(**{**radio.as_dict(), "version": "2.0"})
    assert credential_claims.given_variables(newer) == []
