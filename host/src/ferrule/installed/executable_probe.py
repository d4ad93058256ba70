"""Any executable on disk, asked for its schema as the client asks: under its limits, and judged by its rules."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ferrule.schema.rules import Finding, check_text
from ferrule.schema.rules.contract import MAX_BYTES
from ferrule.supervision import processes
from ferrule.supervision.signals import Signals
from ferrule.text.names import SUFFIX, tool_name

SECONDS = 1.0  # after which the client is ended by its own alarm
OTHER_LANGUAGE = {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}
_MAX_READ_BYTES = 1 << 20  # more than a schema may have, to say how many there are too many
_CHUNK_BYTES = 65_536
_EXIT_POLL_SECONDS = 0.002


class Probe(NamedTuple):
    """What came of one run.

    output: what it printed, 1 MiB of it at the most. exit_code: negative for the signal that ended it; None where it
    was late, or did not start. problem: why it did not start.
    """

    output: bytes = b""
    exit_code: int | None = None
    problem: str | None = None


def judge(path: str, probe: Probe, *, strict: bool = False, silenced: Sequence[str] = ()) -> list[Finding]:
    """What is wrong with an executable that was asked for its schema, and with the schema that it printed.

    Args:
        strict, silenced: as `schema_rules.check` takes them.
    """
    findings = [*_check_name(path), *_check_limits(probe)]
    if not probe.output:
        return findings
    name = tool_name(path) if path.endswith(SUFFIX) else None
    size = len(probe.output)
    return findings + check_text(probe.output, name=name, size=size, strict=strict, silenced=silenced)


def varies(path: str, probe: Probe, *, strict: bool = False) -> list[Finding]:
    """Whether an executable prints another schema when it is asked again, in another language and folder."""
    if probe.exit_code != 0 or not probe.output:
        return []
    again = ask(path, environment={**os.environ, **OTHER_LANGUAGE}, folder="/")
    if again.output == probe.output:
        return []
    return [variation("The second time it was asked, it printed another schema", strict=strict)]


def variation(what: str, *, strict: bool) -> Finding:
    """The finding about a schema that is not always the same."""
    message = f"{what}, in another process, language and folder: an agent is shown one, and called by another."
    fix = "Ship the schema as a file, or take out what depends on the time, the language or an order of a set."
    return Finding("schema-varies", "", message, fix, severity="error" if strict else None)


def ask(
    path: str,
    arguments: Sequence[str] = ("--schema",),
    seconds: float = SECONDS,
    *,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> Probe:
    """Run `PATH --schema`, or it with other arguments, for so many seconds, without stdin and stderr.

    Args:
        environment, folder: those of this process by default. Everything that it started is gone afterwards.

    Raises:
        CallInterrupted.
    """
    processes.adopt_orphans()
    others = processes.children()
    with Signals() as signals:
        try:
            process = subprocess.Popen(
                [os.path.abspath(path), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,
                bufsize=0,
                env=environment,
                cwd=folder,
            )
        except OSError as error:
            return Probe(problem=error.strerror or str(error))
        with process:
            probe = _watch(process, signals, time.monotonic() + seconds)
            processes.end_descendants(process.pid, others)
            process.poll()
        if signals.interrupted:
            raise signals.interrupted
    return probe


def _watch(process: subprocess.Popen[bytes], signals: Signals, deadline: float) -> Probe:
    output = _read(process, signals, deadline)
    while process.poll() is None and not signals.interrupted and time.monotonic() < deadline:
        time.sleep(_EXIT_POLL_SECONDS)
    return Probe(output, process.returncode if time.monotonic() < deadline else None)


def _read(process: subprocess.Popen[bytes], signals: Signals, deadline: float) -> bytes:
    """Its stdout to the end, which comes only when every process that holds it has closed it."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    file = process.stdout.fileno()
    poll = select.poll()
    poll.register(file, select.POLLIN)
    poll.register(signals.file, select.POLLIN)
    data = bytearray()
    while (left := deadline - time.monotonic()) > 0 and not signals.interrupted:
        ready = [descriptor for descriptor, _ in poll.poll(left * 1000)]
        if signals.file in ready:
            signals.settle()
        if file in ready:
            chunk = os.read(file, _CHUNK_BYTES)
            if not chunk:
                break
            data += chunk[: _MAX_READ_BYTES - len(data)]
    return bytes(data)


def _check_name(path: str) -> list[Finding]:
    """The client looks at files of one form of name alone."""
    if path.endswith(SUFFIX) and os.path.basename(path) != SUFFIX:
        return []
    message = f"The client looks only at files whose names end with {SUFFIX!r}."
    return [_finding("file-name", message, f"Rename it, as in weather{SUFFIX}.")]


def _check_limits(probe: Probe) -> list[Finding]:
    """The limits of the client that the executable did not keep."""
    if probe.problem:
        fix = "Make it a program that the system can start; a script begins with #! and an interpreter."
        return [_finding("not-started", f"It cannot be started: {probe.problem}.", fix)]
    if probe.exit_code is None:
        message = f"It had not printed its schema and ended after {SECONDS:.0f} s, which ends the client itself."
        fix = "Print the schema before anything is imported, and leave no process behind that holds stdout open."
        return [_finding("late", message, fix)]
    if probe.exit_code:
        how = f"with exit code {probe.exit_code}" if probe.exit_code > 0 else f"by signal {-probe.exit_code}"
        return [_finding("exit-code", f"It ended {how}, so the client skips it.", "End with exit code 0.")]
    if not probe.output:
        return [_finding("silent", "It printed nothing.", f"Print the schema, {MAX_BYTES:,} bytes at the most.")]
    return []


def _finding(rule: str, message: str, fix: str) -> Finding:
    return Finding(rule, "", message, fix, severity="error")
