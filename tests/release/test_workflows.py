"""The workflows of the repository: they are of the right form, safe, pinned, and start what is there."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ferrule_testkit import PROJECT

BIN = Path(sys.executable).parent
WORKFLOWS = sorted((PROJECT / ".github/workflows").glob("*.yml"))
RELEASE: dict[str, Any] = yaml.safe_load((PROJECT / ".github/workflows/release.yml").read_text())["jobs"]


def name(path: Path) -> str:
    return path.name


def steps(job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = RELEASE[job]["steps"]
    return found


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("schema", ["vendor.github-workflows", "custom.github-workflows-require-timeout"])
def test_the_form_is_right(schema: str) -> None:
    command = [BIN / "check-jsonschema", "--builtin-schema", schema, *WORKFLOWS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.process
def test_a_tool_for_the_security_of_workflows_finds_nothing() -> None:
    done = subprocess.run([BIN / "zizmor", "--offline", *WORKFLOWS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=name)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(path: Path) -> None:
    used = re.findall(r"uses: (.+)", path.read_text())
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=name)
def test_what_is_run_is_there(path: Path) -> None:
    makefile = (PROJECT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    text = path.read_text()
    assert set(re.findall(r"run: make (\w+)", text)) <= targets
    assert [one for one in re.findall(r"scripts/[\w.-]+", text) if not (PROJECT / one).is_file()] == []


def test_only_publishing_may_name_itself_and_no_job_has_a_secret() -> None:
    may = {job: set(content["permissions"]) for job, content in RELEASE.items()}
    reads = {"contents"}
    assert may == {
        "test": reads,
        "build": reads,
        "launcher": reads,
        "docs": reads,
        "publish": {"id-token"},
        "pages": {"pages", "id-token"},
    }
    assert "secrets." not in (PROJECT / ".github/workflows/release.yml").read_text()


def test_the_launcher_is_tried_on_each_machine_for_which_another_one_compiles_it() -> None:
    tried = RELEASE["launcher"]
    assert tried["strategy"]["matrix"]["machine"] == ["ubuntu-24.04-arm", "macos-15", "macos-15-intel"]
    assert [one["with"]["name"] for one in steps("launcher") if "download" in one.get("uses", "")] == ["dist"]
    assert steps("launcher")[-1]["run"] == "sh scripts/try-launcher"


def test_what_was_built_and_tested_is_published_with_attestations_in_an_environment() -> None:
    assert set(RELEASE["publish"]["needs"]) == {"test", "build", "launcher", "docs"}
    assert RELEASE["publish"]["environment"] == "pypi"
    assert RELEASE["pages"]["needs"] == "publish"
    upload = steps("build")[-1]["with"]
    download, publish = (step["with"] for step in steps("publish"))
    assert upload["name"] == download["name"]
    assert upload["path"] == download["path"] == publish["packages-dir"] == "dist/"
    assert publish["attestations"] is True
    assert not {"password", "user", "skip-existing"} & set(publish)
