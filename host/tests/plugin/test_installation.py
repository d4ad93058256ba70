"""The line that brings a distribution into the environment of ferrule."""

from pathlib import Path

import pytest

from ferrule.plugin.remedies.installation import install_command
from ferrule.supervision.python_process import interpreter

BIN = Path(interpreter()).parent


@pytest.mark.parametrize("linked", [False, True])
def test_the_command_is_short_where_the_shell_finds_this_ferrule(
    linked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if linked:  # as pipx and `uv tool` do
        (tmp_path / "ferrule").symlink_to(BIN / "ferrule")
    monkeypatch.setenv("PATH", f"{tmp_path}:{BIN}")
    assert install_command("ferrule-fetch[pdf]") == "ferrule install 'ferrule-fetch[pdf]'"
    assert install_command("ferrule>=0.2", "--upgrade") == "ferrule install --upgrade 'ferrule>=0.2'"


@pytest.mark.parametrize("has_another", [False, True])
def test_the_interpreter_is_named_where_the_shell_finds_another_ferrule_or_none(
    has_another: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_another:
        (tmp_path / "ferrule").write_text("#!/bin/sh\n")
        (tmp_path / "ferrule").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert install_command("pypdf>=4") == f"{interpreter()} -m ferrule install 'pypdf>=4'"
