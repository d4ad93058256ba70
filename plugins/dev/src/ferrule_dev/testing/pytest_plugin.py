"""The plugin of pytest: fixtures for the tests of a tool, recorded exchanges, and `ferrule check` as tests.

It is loaded in every run of pytest where ferrule is installed, so it imports nothing but pytest until a test asks for
one of its fixtures, and all that it adds has a name of its own: fixtures begin with `ferrule_`, options with
`--ferrule-`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from pathlib import Path

    from ferrule_dev.testing.environment import Environment
    from ferrule_dev.testing.exchanges.exchanges import Exchanges
    from ferrule_dev.testing.http_server import Server
    from ferrule_dev.testing.tool import Tool

_EXCHANGES: pytest.StashKey[Exchanges] = pytest.StashKey()
_RECORD = ("missing", "never", "anew")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("ferrule", "tools for LLM agents")
    group.addoption(
        "--ferrule-record",
        choices=_RECORD,
        default="never" if os.environ.get("CI") else "missing",
        help="which exchanges of ferrule_exchanges to record: those that are missing (the default), none (the default "
        "where the variable CI is set), or all of them anew",
    )
    group.addoption(
        "--ferrule-check",
        action="append",
        default=[],
        metavar="TOOL|PATH",
        help="run `ferrule check` of a tool as one more test; may be given more than once",
    )


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add a test for each tool to check."""
    for target in config.getoption("--ferrule-check"):
        items.append(
            ConformanceItem.from_parent(session, name=target, nodeid=f"ferrule-check::{target}", target=target)
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Say first that a test's requests are others than the recorded ones: whatever else fails in it follows from that.

    What a test has recorded is kept where the test has passed.
    """
    exchanges = item.stash.get(_EXCHANGES, None)
    if exchanges is None:
        return (yield)
    from ferrule_dev.testing.exchanges.exchanges import ExchangesDiffer

    try:
        try:
            yield
        except Exception:
            exchanges.require_no_problem()
            raise
        exchanges.finish()
    except ExchangesDiffer as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


class ConformanceItem(pytest.Item):
    """`ferrule check` of one tool."""

    def __init__(self, *, target: str, **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type] # pytest passes them on
        self._target = target

    def runtest(self) -> None:
        """Check the tool."""
        from ferrule_dev.testing.conformance_check import require_conformance

        require_conformance(self._target)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """What fails, without the way through the code of ferrule."""
        if excinfo.errisinstance(AssertionError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[str, None, str]:
        """Where it is: nowhere."""
        return "ferrule", None, self.name


@pytest.fixture(scope="session")
def _ferrule_original_environ() -> Mapping[str, str]:
    """The environment in which pytest was started."""
    return dict(os.environ)


@pytest.fixture
def ferrule_environment(
    _ferrule_original_environ: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Environment:
    """The environment of a user who has configured nothing: home, configuration, state and cache are the test's own."""
    from ferrule_dev.testing.environment import foreign_variables, make_environment

    for name in foreign_variables():
        monkeypatch.delenv(name)
    made = make_environment(tmp_path / "ferrule")
    for name, value in made.variables.items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture
def ferrule_settings(ferrule_environment: Environment) -> Callable[[str], Path]:
    """Write the admin's config.toml: `ferrule_settings('[tools.weather]\\nunit = "C"')`. Returns its path."""

    def write(text: str) -> Path:
        ferrule_environment.config_toml.write_text(text, encoding="utf-8")
        return ferrule_environment.config_toml

    return write


@pytest.fixture
def ferrule_credentials(
    ferrule_environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, str]]:
    """Set credentials of a tool for the test: `ferrule_credentials("weather", api_key="a-key")`.

    Those that are not named get a value that is no key of anybody. Returns the values by the credentials' names.
    """
    from ferrule_dev.testing.credentials import choose_values

    def choose(tool: str, **values: str) -> dict[str, str]:
        chosen = choose_values(tool, values)
        for credential, value in chosen:
            monkeypatch.setenv(credential.environment, value)
        return {credential.name: value for credential, value in chosen}

    return choose


@pytest.fixture
def ferrule_server() -> Iterator[Server]:
    """An HTTP server on loopback, without pages as yet: `ferrule_server.page("/", "<h1>Hello</h1>")` is a URL."""
    from ferrule_dev.testing.http_server import Server

    with Server() as server:
        yield server


@pytest.fixture
def ferrule_exchanges(
    request: pytest.FixtureRequest,
    _ferrule_original_environ: Mapping[str, str],
    ferrule_environment: Environment,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Exchanges]:
    """Record the requests of the test's tools and their answers when it first runs, and replay them from then on.

    The file is `exchanges/MODULE/TEST.json`, beside the test. It has no credentials; look at it before you publish it.
    `--ferrule-record=anew` records again.
    """
    from ferrule.admin.author_interface import RELAY_VARIABLE
    from ferrule_dev.testing.environment import CERTIFICATES, PROXIES
    from ferrule_dev.testing.exchanges.exchanges import RecordedExchanges, ReplayedExchanges
    from ferrule_dev.testing.exchanges.file import UnusableFile, path_of

    path = path_of(request.path, request.node.nodeid.partition("::")[2].replace("::", "."))
    choice = request.config.getoption("--ferrule-record")
    anew = f"pytest '{request.node.nodeid}' --ferrule-record=anew"
    if choice == "never" and not path.exists():
        pytest.fail(f"{path} is missing, and nothing is recorded in this run. Record it with: {anew}", pytrace=False)
    is_new = choice == "anew" or not path.exists()
    try:
        made = RecordedExchanges(path, anew) if is_new else ReplayedExchanges(path, anew)
    except UnusableFile as error:
        pytest.fail(f"{error}. Record it with: {anew}", pytrace=False)
    if is_new:  # the relay asks for the tool, as the user's network wants it
        for name in (*PROXIES, *CERTIFICATES):
            if name in _ferrule_original_environ:
                monkeypatch.setenv(name, _ferrule_original_environ[name])
    monkeypatch.setenv(RELAY_VARIABLE, made.url)
    request.node.stash[_EXCHANGES] = made
    with made:
        yield made


@pytest.fixture
def ferrule_tool(
    request: pytest.FixtureRequest,
    _ferrule_original_environ: Mapping[str, str],
    ferrule_environment: Environment,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], Tool]:
    """A tool by its name, or by the path of its executable: `ferrule_tool("weather").run({"city": "Oslo"})`.

    `run` starts the executable, `call` calls the hooks in this process, `check` is `ferrule check`. Keys of the
    machine do not reach it, but for a test that records its exchanges.
    """
    from ferrule_dev.testing.credentials import values_for_test
    from ferrule_dev.testing.tool import Tool

    def make(name: str) -> Tool:
        exchanges = request.node.stash.get(_EXCHANGES, None)
        tool = Tool(name, before_run=exchanges.secrets.look_into if exchanges else None)
        declared = tool.credentials
        is_recording = exchanges.is_recording if exchanges else None
        for variable, value in values_for_test(declared, _ferrule_original_environ, is_recording).items():
            if value is None:
                monkeypatch.delenv(variable, raising=False)
            else:
                monkeypatch.setenv(variable, value)
        if exchanges:
            exchanges.secrets.declare(declared)
        return tool

    return make
