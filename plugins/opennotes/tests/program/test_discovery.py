"""Which program is taken for the CLI, and which one never is."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule import Context, ToolError
from ferrule_opennotes.program import discovery
from ferrule_opennotes.program.process import Program
from ferrule_testkit.programs import opennotes as opennotes_cli
from ferrule_testkit.programs.opennotes import Cli

pytestmark = pytest.mark.process


NUMBERS = "#!/bin/sh\necho 1\necho 2\n"  # what BSD's jot is for
SYSTEM = "/usr/bin:/bin"


@pytest.fixture
def path(make_context: Callable[..., Context], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Context]:
    """A context, and these entries on PATH before the system's."""

    def path(*entries: object, **settings: object) -> Context:
        monkeypatch.setenv("PATH", os.pathsep.join([*map(str, entries), SYSTEM]))
        return make_context(**settings)

    return path


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def not_found(context: Context) -> ToolError:
    with pytest.raises(ToolError) as raised:
        discovery.find_program(context)
    assert raised.value.code == "CLI_NOT_FOUND"
    assert "go install" in (raised.value.hint or "")
    return raised.value


def test_the_cli_on_path_is_found(cli: Cli, program: Program, make_context: Callable[..., Context]):
    assert discovery.find_program(make_context()) == program


def test_opennotes_comes_before_jot_wherever_they_stand(opennotes: Cli, jot: Cli, path: Callable[..., Context]):
    assert discovery.find_program(path(jot.folder, opennotes.folder)).kind == "opennotes"


def test_jot_is_taken_where_there_is_no_opennotes(jot: Cli, path: Callable[..., Context]):
    assert discovery.find_program(path(jot.folder)) == Program(str(jot.path), "jot")


def test_another_program_named_jot_is_not_the_cli(path: Callable[..., Context], tmp_path: Path):
    not_found(path(script(tmp_path / "bsd" / "jot", NUMBERS).parent))


def test_another_program_named_jot_does_not_hide_the_cli(jot: Cli, path: Callable[..., Context], tmp_path: Path):
    bsd = script(tmp_path / "bsd" / "jot", NUMBERS).parent
    assert discovery.find_program(path(bsd, jot.folder)).path == str(jot.path)


@pytest.mark.slow
def test_a_jot_that_does_not_answer_is_not_said_to_be_missing(path: Callable[..., Context], tmp_path: Path):
    slow = script(tmp_path / "slow" / "jot", "#!/bin/sh\nexec sleep 600\n")
    with pytest.raises(ToolError, match="did not answer") as raised:
        discovery.find_program(path(slow.parent, seconds=2))
    assert raised.value.code == "QUERY_TIMEOUT"
    assert (raised.value.details or {})["command"] == [str(slow), "version"]


@pytest.mark.slow
def test_a_jot_that_does_not_answer_does_not_hide_the_cli(jot: Cli, path: Callable[..., Context], tmp_path: Path):
    slow = script(tmp_path / "slow" / "jot", "#!/bin/sh\nexec sleep 600\n")
    assert discovery.find_program(path(slow.parent, jot.folder)).path == str(jot.path)


def test_a_jot_that_floods_is_not_the_cli(path: Callable[..., Context], tmp_path: Path):
    not_found(path(script(tmp_path / "flood" / "jot", "#!/bin/sh\nexec yes 'Jot 0.0.2'\n").parent))


@pytest.mark.parametrize("entry", ["", ".", "./", "bin", "../here", "~"])
def test_the_working_directory_is_never_searched(
    entry: str, path: Callable[..., Context], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here = tmp_path / "here"
    for folder in (here, here / "bin", here / "~"):
        opennotes_cli.stand_in("opennotes", folder)
    monkeypatch.chdir(here)
    searched = not_found(path(entry)).details
    assert searched == {"searchedPaths": ["/usr/bin", "/bin"]}


def test_what_cannot_be_run_is_passed_over(opennotes: Cli, path: Callable[..., Context], tmp_path: Path):
    folders = [tmp_path / name for name in ("folder", "text", "dangling", "missing")]
    (folders[0] / "opennotes").mkdir(parents=True)
    script(folders[1] / "opennotes", NUMBERS, 0o644)
    folders[2].mkdir()
    (folders[2] / "opennotes").symlink_to(tmp_path / "nothing")
    assert discovery.find_program(path(*folders, opennotes.folder)).path == str(opennotes.path)


def test_the_error_names_every_folder_once(path: Callable[..., Context]):
    assert not_found(path("/nowhere/bin", "/nowhere/bin/")).details == {
        "searchedPaths": ["/nowhere/bin", "/usr/bin", "/bin"]
    }


def test_a_folder_whose_name_is_not_text_is_shown_all_the_same(path: Callable[..., Context]):
    assert "/nowhere/\ufffd" in str(not_found(path(os.fsdecode(b"/nowhere/\xff"))).details)


def test_a_path_that_is_not_set_is_the_systems(path: Callable[..., Context], monkeypatch: pytest.MonkeyPatch):
    context = path()
    monkeypatch.delenv("PATH")
    assert not_found(context).details == {"searchedPaths": os.defpath.split(os.pathsep)}


@pytest.mark.parametrize("name", ["opennotes", "jot", "notes", "my jot"])
def test_a_named_program_is_what_it_calls_itself(
    name: str, path: Callable[..., Context], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for kind in opennotes_cli.GENERATIONS:
        cli = opennotes_cli.stand_in(kind, tmp_path / kind, file_name=name)
        monkeypatch.setenv("FERRULE_OPENNOTES_CLI", str(cli.path))
        assert discovery.find_program(path()) == Program(str(cli.path), kind)


def test_the_variable_beats_path_and_the_table(
    opennotes: Cli, jot: Cli, path: Callable[..., Context], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FERRULE_OPENNOTES_CLI", str(jot.path))
    assert discovery.find_program(path(opennotes.folder, cli=str(opennotes.path))).kind == "jot"


def test_the_table_names_a_program_by_its_path(opennotes: Cli, jot: Cli, path: Callable[..., Context]):
    assert discovery.find_program(path(opennotes.folder, cli=str(jot.path))) == Program(str(jot.path), "jot")


def test_a_bare_name_is_looked_up_on_path(path: Callable[..., Context], tmp_path: Path):
    cli = opennotes_cli.stand_in("opennotes", tmp_path / "bin", file_name="notes")
    assert discovery.find_program(path(cli.folder, cli="notes")) == Program(str(cli.path), "opennotes")


def test_a_tilde_is_the_home(home: Path, path: Callable[..., Context]):
    cli = opennotes_cli.stand_in("opennotes", home / "bin")
    assert discovery.find_program(path(cli="~/bin/opennotes")).path == str(cli.path)


@pytest.mark.parametrize("name", ["./opennotes", "bin/opennotes", "../here/opennotes"])
def test_a_relative_path_is_refused(
    name: str, path: Callable[..., Context], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here = tmp_path / "here"
    opennotes_cli.stand_in("opennotes", here)
    opennotes_cli.stand_in("opennotes", here / "bin")
    monkeypatch.chdir(here)
    assert name in not_found(path(here, here / "bin", cli=name)).message


@pytest.mark.parametrize("kind", ["missing", "folder", "text", "dangling", "other"])
def test_a_named_program_that_is_none_is_named_in_the_error(
    kind: str, opennotes: Cli, path: Callable[..., Context], tmp_path: Path
):
    (tmp_path / "folder").mkdir()
    script(tmp_path / "text", NUMBERS, stat.S_IRUSR)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    script(tmp_path / "other", NUMBERS)
    name = str(tmp_path / kind)
    # That there is another one on PATH must not hide that the configuration is wrong.
    assert name in not_found(path(opennotes.folder, cli=name)).message


@pytest.mark.parametrize("name", ["/bin/\0opennotes", "open\0notes", 7, True])
def test_a_setting_that_names_no_file_is_an_error(name: object, path: Callable[..., Context]):
    not_found(path(cli=name))


@pytest.mark.slow
def test_a_named_program_that_is_slow_to_say_what_it_is_is_believed(path: Callable[..., Context], tmp_path: Path):
    slow = script(tmp_path / "jot-of-mine", "#!/bin/sh\nexec sleep 600\n")
    assert discovery.find_program(path(cli=str(slow))) == Program(str(slow), "jot")


def test_an_entry_of_path_means_what_the_system_takes_it_for(
    opennotes: Cli, path: Callable[..., Context], tmp_path: Path
):
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    entry = f"{tmp_path}/link/../{opennotes.folder.name}"  # which is below `far`, if there is none
    assert entry in (not_found(path(entry)).details or {})["searchedPaths"]


def test_a_named_program_that_does_not_run_says_why(path: Callable[..., Context], tmp_path: Path):
    broken = script(tmp_path / "opennotes", "#!/bin/sh\necho 'libstdc++.so.6: cannot open' >&2\nexit 127\n")
    with pytest.raises(ToolError) as raised:
        discovery.find_program(path(cli=str(broken)))
    assert raised.value.code == "CLI_FAILED"
    assert "libstdc++.so.6: cannot open" in raised.value.message
