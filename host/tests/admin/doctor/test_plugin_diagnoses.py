"""What `ferrule doctor` and `ferrule credentials` run of distributions unasked sees nothing of the user's."""

import json
import os
import socket

import pytest

from ferrule import confinement
from ferrule_testkit.entry_points import offer
from ferrule_testkit.machine import Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="elsewhere: this kernel cannot hold it"),
]

SECRET = "the-very-secret-key"
# Each of these is tried, and what it gave is told.
PRIES = """
import os, socket
from ferrule import Credential
from ferrule.cli import Diagnosis, shown_files

def tries():
    home = os.environ["HOME"]
    for path in {paths!r}:
        yield path, lambda: open(path).read()
    yield "list", lambda: os.listdir(home)
    yield "environment", lambda: "\\n".join(f"{{k}}={{v}}" for k, v in os.environ.items() if "secret" in v) or 1 / 0
    yield "parent", lambda: open(f"/proc/{{os.getppid()}}/environ").read()
    yield "write", lambda: open(os.path.join(home, "written"), "w").close()
    yield "network", lambda: socket.create_connection(("127.0.0.1", {port}), 5).close()

def got():
    for name, do in tries():
        try:
            yield name, repr(do())
        except Exception as error:
            continue
"""
DIAGNOSIS = """
def command():
    for name, text in got():
        yield Diagnosis("got", "error", name, text)
    for path, word in (shown_files() or {}).items():
        yield Diagnosis("shown", "note", word, open(path).read())
"""
CREDENTIALS = """
def command():
    return [Credential("x", environment="RADIO_X", path="radio.x", url=name, description=text) for name, text in got()]
"""
SHOWS = '''"""Show."""
import sys
import click
from ferrule.cli import show_files

@click.command("show_it")
@click.argument("path")
@click.argument("word", required=False)
def command(path, word):
    show_files("{name}", {{path: word}})
'''


@pytest.fixture
def pries(machine: Machine) -> str:
    """Code that looks at all that the user has."""
    (machine.home / ".ssh").mkdir()
    files = [machine.home / ".ssh/id_rsa", machine.credentials, machine.home / "notes.txt"]
    files.append(machine.home / ".config/ferrule/config.toml")
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"key": SECRET}) if path.suffix == ".json" else f"# {SECRET}\n")
    return PRIES.format(paths=[*map(str, files)], port=listener.getsockname()[1])


listener = socket.create_server(("127.0.0.1", 0))


@pytest.mark.slow
def test_a_diagnosis_sees_no_file_key_or_network(machine: Machine, pries: str) -> None:
    offer(machine, "ferrule.diagnoses", "pries", pries + DIAGNOSIS)
    shown = machine.ferrule("doctor", "--json", environment={"OPENAI_API_KEY": SECRET, "PLAIN": "a secret"})
    found = [one for one in shown.document["findings"] if one["id"] in ("got", "diagnosis-broken")]
    assert found == []
    assert SECRET not in shown.out + shown.err
    assert not (machine.home / "written").exists()


def test_a_list_of_credentials_sees_no_file_key_or_network(machine: Machine, pries: str) -> None:
    offer(machine, "ferrule.credentials", "radio", pries + CREDENTIALS)
    shown = machine.ferrule("credentials", "radio", "--json", environment={"OPENAI_API_KEY": SECRET})
    assert shown.document["credentials"] == []
    assert shown.document["failed"] == []
    assert SECRET not in shown.out + shown.err
    assert not (machine.home / "written").exists()


@pytest.mark.slow
def test_a_command_shows_a_file_to_the_diagnosis_of_its_distribution_alone(machine: Machine, pries: str) -> None:
    offer(machine, "ferrule.diagnoses", "pries", pries + DIAGNOSIS, distribution="one")
    points = machine.site / "one-1.0.dist-info/entry_points.txt"
    diagnoses = points.read_text()
    offer(machine, "ferrule.commands", "show_it", SHOWS.format(name="pries"), distribution="one")
    points.write_text(points.read_text() + diagnoses)
    offer(machine, "ferrule.diagnoses", "other", pries + DIAGNOSIS, distribution="two")
    notes = machine.home / "notes.txt"
    notes.write_text("what is in it")

    def findings() -> list[tuple[str, str, str]]:
        found = machine.ferrule("doctor", "--json").document["findings"]
        return [(one["id"], one["subject"], one["message"]) for one in found if one["id"] in ("got", "shown")]

    assert machine.ferrule("show_it", str(notes), "mine").code == 0
    assert findings() == [("got", str(notes), "'what is in it'"), ("shown", "mine", "what is in it")]
    assert machine.ferrule("show_it", str(notes)).code == 0
    assert findings() == []


def test_no_command_shows_files_to_a_diagnosis_that_is_not_there(machine: Machine) -> None:
    offer(machine, "ferrule.commands", "show_it", SHOWS.format(name="pries"))
    done = machine.ferrule("show_it", os.devnull, "x")
    assert done.code == 1
    assert "No one distribution has a diagnosis 'pries'." in done.err
