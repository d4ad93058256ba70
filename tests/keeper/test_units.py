"""A keeper whose socket systemd has opened: it takes calls from there, leaves it there, and has the right variables."""

import configparser
import os
import select
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.keeper import KeptMachine

pytestmark = pytest.mark.process

OSLO = {"city": "Oslo"}
# What systemd does with a unit: the words of the command, and of each line of variables, by its own rules of quoting.
_ESCAPED = {"\\n": "\n", '\\"': '"', "\\\\": "\\", "\\t": "\t", "%%": "%", "$$": "$"}


class Given(NamedTuple):
    """A socket that listens before there is a keeper, and the units that say how one is started."""

    kept: KeptMachine
    line: socket.socket
    service: str

    def read(self, name: str) -> list[str]:
        """The words of all lines of this name."""
        lines = [line for line in self.service.splitlines() if line.startswith(f"{name}=")]
        return [word for line in lines for word in split(line.partition("=")[2])]

    def start(self, **variables: str) -> "subprocess.Popen[bytes]":
        """Start the service as systemd does: with the socket as file 3, and variables of its own."""
        environ = dict(word.split("=", 1) for word in self.read("Environment"))
        with_own = {"USER": "somebody", "INVOCATION_ID": "1", "LISTEN_FDS": "1", **environ, **variables}
        number = self.line.fileno()
        script = f'[ {number} -eq 3 ] || exec 3<&{number} {number}<&-; export LISTEN_PID=$$; exec "$@"'
        words = ["bash", "-c", script, "bash", *self.read("ExecStart")]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, env=with_own, pass_fds=(number,), stderr=pipe, stdout=pipe)


def split(text: str) -> list[str]:
    """Words as systemd reads them."""
    words, at = [""], 0
    while at < len(text):
        pair = text[at : at + 2]
        if pair in _ESCAPED:
            words[-1] += _ESCAPED[pair]
            at += 1
        elif text[at] == " " and words[-1].count("\0") % 2 == 0:
            words.append("")
        else:
            words[-1] += "\0" if text[at] == '"' else text[at]
        at += 1
    return [word.replace("\0", "") for word in words]


@pytest.fixture
def given(kept: KeptMachine) -> Iterator[Given]:
    kept.machine.install("alpha")
    units = kept.ferrule_keep("unit")
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.read_string(units["socket"])
    kept.path = parsed["Socket"]["ListenStream"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.bind(kept.path)
        line.listen()
        yield Given(kept, line, units["service"])


def test_the_units_are_printed_and_written(kept: KeptMachine) -> None:
    folder = kept.machine.home / ".config/systemd/user"
    units = kept.ferrule_keep("unit")
    assert (units["written"], folder.exists()) == ([], False)
    written = [Path(one) for one in kept.ferrule_keep("unit", "--write")["written"]]
    assert [one.read_text() for one in written] == [units["socket"], units["service"]]
    assert {one.parent for one in written} == {folder}
    said = kept.machine.ferrule("keep", "unit", "--write", close_fds=True).out
    assert said.splitlines()[-1] == f"systemctl --user enable --now {units['name']}.socket"


def test_systemd_takes_the_units(kept: KeptMachine) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("elsewhere: no systemd here")
    written = kept.ferrule_keep("unit", "--write")["written"]
    done = subprocess.run([analyze, "verify", "--man=no", *written], capture_output=True, text=True)
    own = [line for line in done.stderr.splitlines() if "ferrule-keep" in line]
    assert (done.returncode, own) == (0, [])


@pytest.mark.slow
def test_a_keeper_takes_calls_from_a_socket_that_it_was_given_and_leaves_it_there(given: Given) -> None:
    with given.kept.connect():  # which waits, before there is a keeper
        first = given.start()
        assert given.kept.call("alpha", OSLO).document == {"got": OSLO}
    (state,) = given.kept.ferrule_keep("status")["keepers"]
    assert state["calls"] == 1
    given.kept.stop()
    assert first.wait(PATIENCE_SECONDS) == 0
    first.stdout.close()
    first.stderr.close()
    assert os.path.exists(given.kept.path)
    second = given.start()
    assert given.kept.call("alpha", OSLO).document == {"got": OSLO}
    given.kept.stop()
    assert second.wait(PATIENCE_SECONDS) == 0
    second.stdout.close()
    second.stderr.close()


def test_other_variables_than_those_of_the_socket_are_an_error(given: Given) -> None:
    process = given.start(LC_TIME="de_DE.UTF-8")
    said = process.communicate(timeout=PATIENCE_SECONDS)[1].decode()
    assert process.returncode == 1
    assert "`ferrule keep unit --write` writes the units again" in said
    assert not select.select([given.line], [], [], 0)[0]
