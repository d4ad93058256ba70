"""What the tests of the whole system share: an environment without surprises, and the corpus of broken tools."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from corpus import EXAMPLE, PROBE, Site, broken_distributions
from runs import Call, Run, Start, run


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a person who has configured nothing."""
    home = tmp_path / "home"
    home.mkdir()
    return plain_environment(home)


@pytest.fixture
def here(environment: dict[str, str], healthy: Site) -> dict[str, str]:
    """The environment in which the healthy tools are installed."""
    return {**environment, "PYTHONPATH": str(healthy.path)}


@pytest.fixture
def call(healthy: Site, here: dict[str, str]) -> Call:
    """Call a healthy tool: `call("example", b"{}", FERRULE_DEADLINE="1")`; `kind` is `links` or `scripts`."""

    def call(tool: str, arguments: bytes, *, kind: str = "links", **environ: str) -> Run:
        return run([getattr(healthy, kind) / f"{tool}-tool"], arguments, environment={**here, **environ})

    return call


@pytest.fixture
def start(healthy: Site, here: dict[str, str]) -> Iterator[Start]:
    """Start a healthy tool with pipes on its streams, or whatever else is given; it is ended with the test."""
    with ExitStack() as started:

        def start(tool: str, *, kind: str = "links", environ: dict[str, str] | None = None, **options: Any) -> Any:
            streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            command = [getattr(healthy, kind) / f"{tool}-tool"]
            process = subprocess.Popen(
                command,
                env={**here, **(environ or {})},
                process_group=0,
                bufsize=0,
                **{"preexec_fn": _hear_hangups, **streams, **options},
            )
            started.callback(_end, process)
            return process

        yield start


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A folder of installed distributions that a test may change; the example and the probe are in it."""
    return Site(tmp_path / "installed").install(EXAMPLE, PROBE)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The example beside all broken distributions."""
    return _built_once(tmp_path_factory, "corpus", lambda site: site.install(EXAMPLE, *broken_distributions()))


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The example and the probe, with nothing broken beside them."""
    return _built_once(tmp_path_factory, "healthy", lambda site: site.install(EXAMPLE, PROBE))


def _hear_hangups() -> None:
    """Tests that run under nohup hand down that SIGHUP is ignored, and ferrule leaves it at that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
        stream.close()


def plain_environment(home: Path) -> dict[str, str]:
    """What a program needs of the environment, and nothing that would change what it does."""
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


def _built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Site], object]) -> Site:
    """The same site for all workers: the first one that comes builds it."""
    shared = factory.getbasetemp().parent if os.environ.get("PYTEST_XDIST_WORKER") else factory.getbasetemp()
    root = shared / f"sites-{name}"
    site = Site(root)
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "whole").exists():
            build(site)
            (root / "home").mkdir()
            site.link(site.tools(), plain_environment(root / "home"))
            (root / "whole").touch()
    return site
