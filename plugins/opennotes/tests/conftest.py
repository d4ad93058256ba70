"""A CLI of either generation, a notebook that it has made, and the tools as a client calls them.

`cli` runs a test once with each generation; a test that is about one of them asks for `opennotes` or `jot` instead. All
are the real programs where scripts/install-opennotes has built them, and stand-ins elsewhere. `standin` is always one,
for tests that need a CLI to misbehave; `behave` makes one of any other.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import Context
from ferrule_dev.testing import Run, context, executable
from ferrule_opennotes.program.process import Program
from ferrule_testkit.installation.declarations import declared_credentials
from ferrule_testkit.installation.hidden_distributions import hide, offering_tools
from ferrule_testkit.processes import fork_server
from ferrule_testkit.programs import opennotes as opennotes_cli
from ferrule_testkit.programs.opennotes import GENERATIONS, Cli
from ferrule_testkit.schemas.declared_results import require_declared_shape

_SECONDS = 60.0


@pytest.fixture(params=GENERATIONS)
def cli(request: pytest.FixtureRequest, tmp_path: Path) -> Cli:
    """Each generation."""
    return opennotes_cli.best(request.param, tmp_path / "bin")


@pytest.fixture(params=GENERATIONS)
def standin(request: pytest.FixtureRequest, tmp_path: Path) -> Cli:
    """The stand-in of each generation."""
    return opennotes_cli.stand_in(request.param, tmp_path / "bin")


@pytest.fixture
def opennotes(tmp_path: Path) -> Cli:
    """`opennotes` v0.1.0."""
    return opennotes_cli.best("opennotes", tmp_path / "bin-opennotes")


@pytest.fixture
def jot(tmp_path: Path) -> Cli:
    """`jot` v0.2.0."""
    return opennotes_cli.best("jot", tmp_path / "bin-jot")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of a person who has configured nothing, in which all notebooks are."""
    return tmp_path


@pytest.fixture
def chosen(request: pytest.FixtureRequest) -> Cli:
    """The one CLI that the test asked for: `cli`, `standin`, `opennotes` or `jot`; `opennotes` where it names none."""
    names = [name for name in ("cli", "standin", "opennotes", "jot", "offline") if name in request.fixturenames]
    cli: Cli = request.getfixturevalue(names[0] if names else "opennotes")
    return cli


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH that hides the tools of other distributions: each call looks at what they may write."""
    folder = tmp_path_factory.mktemp("hiding")
    hide(folder, offering_tools() - {"ferrule-opennotes"})
    return folder


@pytest.fixture
def environment(home: Path, chosen: Cli, alone: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the chosen CLI is the only one."""
    config = home / "granted.toml"
    opennotes_cli.grant(config)
    state = tmp_path_factory.mktemp("state")
    own = {"FERRULE_CONFIG": str(config), "FERRULE_STATE": str(state), "PYTHONPATH": str(alone)}
    return {**opennotes_cli.surroundings(home, chosen.folder), **own}


@pytest.fixture
def make_notebook(chosen: Cli, environment: dict[str, str], tmp_path: Path) -> Callable[..., Path]:
    """Have the CLI make a notebook, and return its folder: `make_notebook("work", register=True)`.

    It is a copy of one that the CLI has made before, unless it is not to be one (copy=False).
    opennotes keeps the notes of such a notebook in its folder `.notes`, jot in the folder itself.
    """

    def make(name: str = "notebook", *, register: bool = False, copy: bool = True) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        if copy and not register:
            opennotes_cli.copy_notebook(chosen.name, folder, is_real=chosen.is_real)
            return folder
        flags = ["--register"] if register else []
        made = chosen.run("notebook", "create", folder, "--name", name, *flags, environment=environment)
        assert made.returncode == 0, made.stderr
        return folder

    return make


@pytest.fixture
def notebook(make_notebook: Callable[..., Path]) -> Path:
    """The folder of a notebook that the CLI has made."""
    return make_notebook()


@pytest.fixture
def program(chosen: Cli) -> Program:
    """The chosen CLI, as the plugin knows it."""
    return Program(str(chosen.path), "jot" if chosen.name == "jot" else "opennotes")


@pytest.fixture
def make_context(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Context]:
    """What a call is given, in the environment of the chosen CLI: `make_context("opennotes_create", seconds=5)`."""
    for name in list(os.environ):
        if name not in environment and name != "PYTEST_CURRENT_TEST":
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def make(tool: str = "opennotes_search", *, seconds: float = 20.0, **settings: Any) -> Context:
        return context(tool, seconds=seconds, settings=settings, credentials=declared_credentials(tool))

    return make


@pytest.fixture
def call(environment: dict[str, str], home: Path) -> Callable[..., Run]:
    """Call a tool as a client does, and return how it ended: `call("search", query="x").document`.

    tool: its name, with or without `opennotes_`. environ: variables beside those of `environment`; None takes one
    away. cwd: the working directory, the home where it is not given. Everything else is an argument of the tool.
    """

    def call(
        tool: str,
        arguments: dict[str, Any] | None = None,
        *,
        environ: dict[str, str | None] | None = None,
        cwd: Path | None = None,
        **more: Any,
    ) -> Run:
        name = tool if tool.startswith("opennotes_") else f"opennotes_{tool}"
        merged = {**environment, **(environ or {})}
        env = {key: value for key, value in merged.items() if value is not None}
        data = json.dumps({**(arguments or {}), **more}).encode()
        if fork_server.is_possible(env):
            packages = ("ferrule", "ferrule_opennotes")
            argv = [str(executable(name))]
            ended = fork_server.run(
                "ferrule.dispatch:main", argv, data, environment=env, cwd=cwd or home, packages=packages
            )
            return Run(ended.exit_code, _document(ended.stdout, ended.stderr), ended.stderr.decode(errors="replace"))
        done = subprocess.run(
            [executable(name)],
            input=data,
            capture_output=True,
            env=env,
            cwd=cwd or home,
            timeout=_SECONDS,
            check=False,
        )
        return Run(done.returncode, _document(done.stdout, done.stderr), done.stderr.decode(errors="replace"))

    return call


@pytest.fixture
def answer(call: Callable[..., Run]) -> Callable[..., dict[str, Any]]:
    """Call a tool that has to answer, and return the document."""

    def answer(tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        run = call(tool, arguments, **options)
        assert run.exit_code == 0, run
        require_declared_shape(f"opennotes_{tool.removeprefix('opennotes_')}", run.document)
        return run.document

    return answer


@pytest.fixture
def failure(call: Callable[..., Run]) -> Callable[..., dict[str, Any]]:
    """Call a tool that has to fail, and return the document."""

    def failure(tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        run = call(tool, arguments, **options)
        assert run.exit_code == 1, run
        assert run.document["error"] is True
        return run.document

    return failure


def _document(output: bytes, text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(output)
    except ValueError as error:
        raise AssertionError(f"stdout is no JSON document: {error}\n{output[:400]!r}\n{text!r}") from None
    assert isinstance(document, dict)
    assert output.endswith(b"\n")
    return document
