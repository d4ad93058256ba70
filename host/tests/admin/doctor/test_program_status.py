"""The programs that tools need, as `list --check`, `show` and `doctor` tell of them."""

import json

import pytest

from ferrule_testkit.machine import Machine

NEED = {
    "names": ["notes", "jot"],
    "version": ["version"],
    "output": "^Notes ",
    "variable": "NOTES_CLI",
    "setting": "cli",
    "install": "apt install notes",
}
pytestmark = pytest.mark.process


def program(machine: Machine, name: str, text: str) -> str:
    path = machine.work / "programs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    machine.environment["PATH"] = f"{path.parent}:/usr/bin:/bin"
    return str(path)


@pytest.fixture
def needy(machine: Machine) -> Machine:
    """A machine with a tool that needs a program, and with one that needs none."""
    machine.environment["PATH"] = "/usr/bin:/bin"
    machine.install("alpha", module="needy")
    machine.install("beta")
    (machine.site / "needy.tool.json").write_text(json.dumps({"programs": [NEED]}))
    return machine


def statuses(machine: Machine, *command: str, **options: dict[str, str]) -> list[dict[str, object]]:
    finished = machine.ferrule(*(command or ("list", "--check")), "--json", **options)
    assert finished.code == 0, finished.err
    return finished.document["programs"]


@pytest.mark.slow
def test_a_program_that_is_missing_is_told_with_how_to_get_it(needy: Machine) -> None:
    listed = needy.ferrule("list", "--check")
    assert listed.code == 0
    assert "notes or jot  missing  dist-alpha 1.0  not found on PATH; apt install notes\n" in listed.out
    assert "missing: not found on PATH; apt install notes" in needy.ferrule("show", "alpha").out
    doctor = needy.ferrule("doctor")
    assert doctor.code == 0
    assert "  warning program-missing: notes or jot\n" in doctor.out
    assert "It is not found on PATH, and is needed by alpha.\n    apt install notes\n" in doctor.out


@pytest.mark.slow
def test_the_program_that_was_found_is_told_with_its_version(needy: Machine) -> None:
    path = program(needy, "notes", '[ "$*" = version ] && echo "Notes 1.2" && echo more')
    assert f"notes or jot  found  dist-alpha 1.0  Notes 1.2 at {path}\n" in needy.ferrule("list", "--check").out
    assert f"found: Notes 1.2 at {path}" in needy.ferrule("show", "alpha").out
    told = f"  note program-found: {path}\n    It says it is Notes 1.2, and is needed by alpha.\n"
    assert told in needy.ferrule("doctor").out
    (status,) = statuses(needy)
    assert status == {
        "names": ["notes", "jot"],
        "state": "found",
        "tools": ["alpha"],
        "sources": ["dist-alpha 1.0"],
        "path": path,
        "version": "Notes 1.2",
        "problem": None,
        "install": "apt install notes",
    }


def test_nothing_is_started_without_check_and_nothing_told_of_a_tool_that_needs_nothing(needy: Machine) -> None:
    program(needy, "notes", "echo started >$HOME/started; echo Notes 1")
    assert "programs" not in needy.ferrule("list", "--json").document
    assert statuses(needy, "show", "beta") == []
    assert not (needy.home / "started").exists()
    assert statuses(needy, "show", "alpha")[0]["version"] == "Notes 1"


@pytest.mark.slow
def test_another_program_of_the_name_is_passed_over(needy: Machine) -> None:
    program(needy, "notes", "echo 1 2 3")
    assert statuses(needy)[0]["state"] == "missing"
    path = program(needy, "jot", "echo Notes 2")
    assert statuses(needy)[0]["path"] == path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "problem"),
    [("exit 3", "answers `version` with exit code 3"), ("exec sleep 60", "did not answer `version` within 4 s")],
)
def test_a_program_that_cannot_say_its_version_is_broken(needy: Machine, text: str, problem: str) -> None:
    path = program(needy, "notes", text)
    (status,) = statuses(needy)
    assert (status["state"], status["problem"]) == ("broken", f"{path} {problem}")


@pytest.mark.slow
def test_the_variable_and_the_table_name_the_program(needy: Machine) -> None:
    path = program(needy, "notes", "echo Notes 1")
    other = program(needy, "other", "echo Notes 7")
    config = needy.home / ".config" / "ferrule" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[tools.alpha]\ncli = "{other}"\n')
    assert statuses(needy)[0]["path"] == other
    assert statuses(needy, environment={"NOTES_CLI": path})[0]["path"] == path
    (status,) = statuses(needy, environment={"NOTES_CLI": "/nowhere"})
    assert (status["state"], status["problem"]) == ("missing", "/nowhere is not found, which the configuration names")


@pytest.mark.slow
def test_a_program_without_names_is_needed_only_where_the_admin_names_one(needy: Machine) -> None:
    need = {"names": [], "variable": "NOTES_CLI", "version": ["--say", "x" * 80], "output": "is (Notes [0-9]+)"}
    (needy.site / "needy.tool.json").write_text(json.dumps({"programs": [need]}))
    assert statuses(needy) == []
    path = program(needy, "notes", "echo This is Notes 3, and more")
    (status,) = statuses(needy, environment={"NOTES_CLI": path})
    assert (status["state"], status["version"]) == ("found", "Notes 3")
    path = program(needy, "other", "echo something else")
    (status,) = statuses(needy, environment={"NOTES_CLI": path})
    assert (status["state"], status["problem"]) == (
        "broken",
        f"{path} answers `--say …` with something else than is expected",
    )


def test_a_package_declares_for_all_tools_in_it_and_its_program_can_write_nothing(machine: Machine) -> None:
    package = machine.site / "many"
    for name in ("one", "two"):
        machine.install(name, module=f"many_{name}")
        (package / name).mkdir(parents=True)
        (machine.site / f"many_{name}.py").rename(package / name / "__init__.py")
        (machine.site / f"many_{name}.schema.json").rename(package / name / "schema.json")
        points = machine.site / f"dist_{name}-1.0.dist-info" / "entry_points.txt"
        points.write_text(points.read_text().replace("many_", "many."))
    (package / "__init__.py").write_text("")
    (package / "tool.json").write_text(json.dumps({"programs": [NEED]}))
    program(machine, "notes", "echo once 2>&- >>$HOME/started; echo Notes 1")
    (status,) = statuses(machine)
    assert status["tools"] == ["one", "two"]
    assert (status["state"], status["version"]) == ("found", "Notes 1")
    assert not (machine.home / "started").exists()
