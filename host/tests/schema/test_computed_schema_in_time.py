"""The time that a computed schema has, counted from where the client counts."""

import subprocess
import sys
import time

import pytest

from ferrule.plugin import computed_schema
from ferrule_testkit.machine import Finished, Machine

_AGE = "from ferrule.supervision.processes import seconds_since_start as age; input(); print(age())"
_CLOCK_SECONDS = 0.02  # the kernel counts in hundredths


@pytest.mark.process
def test_a_process_is_as_old_as_whoever_started_it_has_waited() -> None:
    before = time.monotonic()
    command = ["sh", "-c", 'exec "$0" -c "$1"', sys.executable, _AGE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        started = time.monotonic()
        time.sleep(0.1)
        asked = time.monotonic()
        age = float(process.communicate(b"\n")[0])
    assert asked - started <= age <= time.monotonic() - before + _CLOCK_SECONDS


@pytest.mark.parametrize(
    ("age", "left"),
    [
        pytest.param(0.25, 0.25, id="the-time-since-the-start-is-used-up"),
        pytest.param(0.75, -0.25, id="none-is-left"),
        pytest.param(60.0, 0.5, id="no-client-waits-for-an-old-process"),
        pytest.param(None, 0.5, id="without-the-kernels-word-from-the-import"),
    ],
)
def test_a_computed_schema_has_half_a_second_from_the_start(
    age: float | None, left: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computed_schema, "seconds_since_start", lambda: age)
    before = time.monotonic()
    deadline = computed_schema.client_deadline(before)
    assert before + left <= deadline <= time.monotonic() + left


@pytest.mark.process
def test_a_late_start_leaves_the_schema_less_time_and_the_answer_says_what_helps(machine: Machine) -> None:
    machine.install("alpha", static=False)
    late = _ask_for_schema(machine, "import time; time.sleep(0.6)")
    assert late.code == 1
    assert late.document["error_code"] == "TIMEOUT"
    assert "alpha of dist-alpha 1.0 had not given its schema in time. Ship the schema as a file" in late.err + late.out
    assert "FERRULE_DEADLINE" not in late.err + late.out


def _ask_for_schema(machine: Machine, before: str) -> Finished:
    code = f"{before}\nfrom ferrule import dispatch\ndispatch.run('alpha', ['--schema'], {{}})"
    done = subprocess.run([sys.executable, "-c", code], env=machine.environment, capture_output=True, check=False)
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())
