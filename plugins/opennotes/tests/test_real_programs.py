"""The real CLIs are there, or it is known why not. All tests with the fixture `cli` run on those that are."""

import pytest

from ferrule_testkit import opennotes_programs as opennotes_cli

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", opennotes_cli.GENERATIONS)
def test_the_real_program_makes_a_notebook_and_a_note(name, tmp_path, home):
    if not opennotes_cli.is_built(name):
        pytest.skip(opennotes_cli.why_not_built(name))
    cli = opennotes_cli.real(name, tmp_path / "bin")
    environment = opennotes_cli.surroundings(home, cli.folder)
    folder = tmp_path / "notebook"
    folder.mkdir()
    assert cli.run("notebook", "create", folder, "--name", "Real", environment=environment).returncode == 0
    added = cli.run("notes", "add", f"--notebook={folder}", "--", "A note", environment=environment)
    assert added.returncode == 0
    assert [path.name for path in folder.rglob("*.md")] == ["a-note.md"]
