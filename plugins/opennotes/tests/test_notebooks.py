"""opennotes_notebooks, and which notebook is meant where a call names none."""

import json

import pytest

pytestmark = pytest.mark.process


def described(folder, source, count=0, name=None):
    return {"name": name or folder.name, "path": str(folder), "source": source, "noteCount": count}


def test_registered_notebooks_and_those_around_the_working_directory_are_listed(cli, make_notebook, answer):
    work = make_notebook("work", register=True)
    here = make_notebook("here")
    (here / "deep" / "er").mkdir(parents=True)
    document = answer("notebooks", cwd=here / "deep" / "er")
    assert document == {
        "notebooks": [described(work, "registered"), described(here, "ancestor")],
        "current": described(here, "ancestor"),
    }


def test_outside_of_every_notebook_there_is_no_current_one(cli, make_notebook, answer, home):
    work = make_notebook("work", register=True)
    assert answer("notebooks", cwd=home) == {"notebooks": [described(work, "registered")], "current": None}


def test_without_any_notebook_the_list_is_empty(cli, answer):
    assert answer("notebooks") == {"notebooks": [], "current": None}


def test_a_notebook_that_is_registered_and_around_is_listed_once(cli, make_notebook, answer):
    work = make_notebook("work", register=True)
    document = answer("notebooks", cwd=work)
    assert document["notebooks"] == [described(work, "registered")]


def test_a_context_makes_a_registered_notebook_the_current_one(cli, make_notebook, answer, tmp_path):
    work = make_notebook("work", register=True)
    config = next(file for file in work.iterdir() if file.suffix == ".json")
    project, sibling = tmp_path / "project", tmp_path / "project-2"
    (project / "src").mkdir(parents=True)
    sibling.mkdir()
    config.write_text(json.dumps({**json.loads(config.read_text()), "contexts": [str(project)]}))
    assert answer("notebooks", cwd=project / "src")["current"] == described(work, "registered")
    assert answer("notebooks", cwd=sibling)["current"] is None


@pytest.mark.parametrize("variable", ["OPENNOTES_NOTEBOOK", "JOT_NOTEBOOK"])
def test_the_environment_names_the_current_notebook(cli, make_notebook, answer, variable):
    work, here = make_notebook("work"), make_notebook("here")
    document = answer("notebooks", cwd=here, environ={variable: str(work)})
    assert document["current"] == described(work, "explicit")


def test_an_argument_beats_the_environment(cli, make_notebook, answer):
    work, here = make_notebook("work"), make_notebook("here")
    variables = {"OPENNOTES_NOTEBOOK": str(here), "JOT_NOTEBOOK": str(here)}
    assert answer("list", notebook=str(work), environ=variables)["notebook"]["path"] == str(work)


def test_a_notebook_may_be_named_as_it_is_registered_or_by_its_file(cli, make_notebook, answer):
    work = make_notebook("work", register=True)
    config = next(file for file in work.iterdir() if file.suffix == ".json")
    for argument in ("work", str(config), f"{work}/"):
        assert answer("list", notebook=argument)["notebook"]["path"] == str(work)


@pytest.mark.parametrize("tool", ["search", "list", "views"])
def test_without_a_notebook_in_the_context_there_is_none_to_work_on(cli, failure, home, tool):
    asked = {"query": "text"} if tool == "search" else {}
    document = failure(tool, asked, cwd=home)
    assert document["code"] == "NOTEBOOK_NOT_FOUND"
    assert f"{cli.name} init" in document["hint"]
    assert document["message"] == "No notebook found in context"
    assert document["hint"].startswith("Specify --notebook or cd to a notebook directory")
    assert str(home) in document["details"]["searchedPaths"]


def test_a_folder_that_is_no_notebook_is_told_with_the_reason(opennotes, failure, tmp_path):
    document = failure("list", notebook=str(tmp_path))
    assert document["message"] == f"No notebook found at {tmp_path}: it holds no .opennotes.json or .jot.json"
    assert "no such folder" in failure("list", notebook=str(tmp_path / "nowhere"))["message"]
    assert failure("list", notebook="x" * 100_000)["code"] == "NOTEBOOK_NOT_FOUND"


@pytest.mark.usefixtures("opennotes")
def test_the_first_refusal_of_a_notebook_elsewhere_names_the_folder_and_one_grant_for_all_tools(call, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / ".opennotes.json").write_text('{"root": "notes"}')
    run = call("list", notebook=str(elsewhere))
    assert run.document["code"] == "PERMISSION_DENIED"
    assert f"wanted to read {elsewhere};" in run.document["message"]
    assert f"`ferrule permissions grant 'opennotes_*' --read {elsewhere}` allows it to all 6" in run.text


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "\xff", "[" * 100_000])
def test_a_configuration_that_cannot_be_read_is_told_and_hides_no_other(
    opennotes, make_notebook, failure, answer, text
):
    work, broken = make_notebook("work", register=True), make_notebook("broken", register=True)
    (broken / ".opennotes.json").write_bytes(text.encode("latin-1"))
    assert failure("list", notebook=str(broken))["code"] == "NOTEBOOK_NOT_FOUND"
    document = answer("notebooks", cwd=broken)
    assert [each["path"] for each in document["notebooks"]] == [str(work)]
    assert document["current"] is None
    assert str(broken) in document["_guidance"]


def test_counts_are_those_of_the_notes(cli, make_notebook, answer):
    work = make_notebook("work", register=True)
    root = work / json.loads(next(file for file in work.iterdir() if file.suffix == ".json").read_text())["root"]
    for name in ("a.md", "b.md", "c.txt"):
        (root / name).write_text("")
    assert answer("notebooks")["notebooks"] == [described(work, "registered", 2)]


def test_a_root_that_is_not_there_yet_holds_no_notes(opennotes, make_notebook, answer):
    work = make_notebook("work")
    (work / ".opennotes.json").write_text('{"root": "later", "name": "work"}')
    assert answer("list", notebook=str(work))["notes"] == []


def test_notebooks_of_the_other_generation_are_read_as_well(jot, make_notebook, answer, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    (old / ".opennotes.json").write_text('{"root": ".", "name": "Old"}')
    (old / "a.md").write_text("old note")
    assert answer("get", path="a.md", notebook=str(old))["note"]["content"] == "old note"


def test_a_removed_working_directory_is_no_context(opennotes, call, tmp_path):
    import subprocess
    import sys

    from ferrule_dev.testing import executable

    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(gone), executable("opennotes_list")],
        input=b"{}",
        capture_output=True,
        env={"PATH": f"{opennotes.folder}:/usr/bin:/bin", "HOME": str(tmp_path)},
        check=False,
    )
    assert json.loads(done.stdout)["code"] == "NOTEBOOK_NOT_FOUND"


@pytest.mark.slow
def test_a_relative_registration_makes_no_folder_a_notebook(opennotes, make_notebook, answer, home, tmp_path):
    work = make_notebook("work")
    config = home / ".config" / "opennotes" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"notebooks": ["."]}))
    assert answer("notebooks", cwd=tmp_path) == {"notebooks": [], "current": None}
    [only] = answer("notebooks", cwd=work)["notebooks"]
    assert (only["path"], only["source"]) == (str(work), "ancestor")


def test_a_notebook_may_be_named_by_the_folder_of_its_notes(opennotes, make_notebook, answer):
    work = make_notebook("work")
    assert answer("list", notebook=str(work / ".notes"))["notebook"]["path"] == str(work)


def test_a_notebook_that_was_registered_as_a_dot_is_one_notebook_with_one_source(cli, answer, environment, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    made = cli.run("notebook", "create", ".", "--name", "mine", "--register", environment=environment, cwd=folder)
    assert made.returncode == 0
    document = answer("notebooks", cwd=folder)
    assert [(each["name"], each["source"]) for each in document["notebooks"]] == [("mine", "ancestor")]
    assert "_guidance" not in answer("notebooks", cwd=tmp_path)
