"""`make release`, in a clone of the repository: what it writes, and what it refuses."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from ferrule_testkit import PROJECT

pytestmark = [pytest.mark.process, pytest.mark.slow]

OLD = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["bumpversion"]["current_version"]
NEW = "99.1.0rc2"
REPOSITORY, DOCUMENTATION = "https://code.ann.test/ferrule", "https://code.ann.test/ferrule/pages"


def git(clone: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=clone, capture_output=True, text=True, check=True).stdout


def run(clone: Path, script: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, clone / "scripts" / script, *arguments]
    return subprocess.run(command, cwd=clone, env=environ or None, capture_output=True, text=True, check=False)


def release(clone: Path, version: str) -> subprocess.CompletedProcess[str]:
    return run(clone, "release.py", version, "--keep-pictures")


def make_clone(clone: Path) -> Path:
    """A clone of the repository, by a user with a name."""
    subprocess.run(["git", "clone", "--quiet", PROJECT, clone], check=True)
    git(clone, "config", "user.name", "Ann")
    git(clone, "config", "user.email", "ann@ann.test")
    done = run(clone, "write_addresses.py", REPOSITORY, DOCUMENTATION)
    assert done.returncode == 0, done.stderr
    git(clone, "commit", "--quiet", "--all", "--message", "The project is at home at Ann's")
    return clone


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return make_clone(tmp_path / "clone")


class Released(NamedTuple):
    """A clone after a release. before: its commit before. said: what the release printed. fragments: their texts."""

    clone: Path
    before: str
    said: str
    fragments: list[str]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    clone = make_clone(tmp_path_factory.mktemp("released") / "clone")
    before = git(clone, "rev-parse", "HEAD")
    fragments = [path.read_text() for path in (clone / "changelog.d").iterdir() if path.name != "README.md"]
    done = release(clone, NEW)
    assert done.returncode == 0, done.stderr
    return Released(clone, before, done.stdout, fragments)


def projects(clone: Path) -> list[Path]:
    return [clone / "host/pyproject.toml", *sorted(clone.glob("plugins/*/pyproject.toml"))]


def test_a_release_is_one_commit_and_one_tag(released: Released) -> None:
    clone = released.clone
    assert git(clone, "rev-parse", f"v{NEW}^{{commit}}~1") == released.before
    assert git(clone, "cat-file", "-t", f"v{NEW}") == "tag\n"
    assert git(clone, "status", "--porcelain") == ""
    branch = git(clone, "branch", "--show-current").strip() or "HEAD"
    assert f"git push --atomic origin {branch} v{NEW}" in released.said


def test_the_version_stands_everywhere(released: Released) -> None:
    clone = released.clone
    for file in [*projects(clone), clone / "tests/testkit/pyproject.toml"]:
        project = tomllib.loads(file.read_text())["project"]
        assert project["version"] == NEW
        assert not [one for one in project["dependencies"] if one.startswith("ferrule") and OLD in one]
    names = "ferrule.__version__, ferrule_fetch.transfer.request_policy.VERSION"
    code = (
        f"import sys; sys.path[:0] = ['{clone}/host/src', '{clone}/plugins/fetch/src']\n"
        f"import ferrule, ferrule_fetch.transfer.request_policy; print({names})"
    )
    printed = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == f"{NEW} {NEW}\n"
    serve = tomllib.loads((clone / "plugins/serve/pyproject.toml").read_text())["project"]
    assert f"ferrule=={NEW}" in serve["dependencies"]


def test_no_page_and_no_source_keeps_the_old_version(released: Released) -> None:
    """What stays are examples of other packages: those that `ferrule new` makes, and programs of other projects."""
    ours = re.compile(
        rf"""\bferrule(?:-[a-z]+)? {re.escape(OLD)}|^(?:__version__|VERSION) = ["']{re.escape(OLD)}""", re.M
    )
    patterns = ("README.md", "docs/**/*.md", "host/src/ferrule/*.py", "plugins/*/src/**/*.py")
    files = [path for pattern in patterns for path in released.clone.glob(pattern)]
    found = {str(path.relative_to(released.clone)) for path in files if ours.search(path.read_text())}
    assert found <= {"host/src/ferrule/discovery.py"}  # an example in a docstring


def test_the_fragments_become_the_changelog(released: Released) -> None:
    page = (released.clone / "CHANGELOG.md").read_text()
    assert page.count(f"\n## {NEW} (") == 1
    assert [one for one in released.fragments if " ".join(one.split()) not in " ".join(page.split())] == []
    assert [path.name for path in (released.clone / "changelog.d").iterdir()] == ["README.md"]


def test_the_first_release_may_have_the_version_of_the_tree(clone: Path) -> None:
    for tag in git(clone, "tag").split():
        git(clone, "tag", "--delete", tag)
    assert release(clone, OLD).returncode == 0
    assert git(clone, "tag") == f"v{OLD}\n"
    again = release(clone, OLD)
    assert (again.returncode, f"The tag v{OLD} exists" in again.stderr) == (1, True)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("new", "no version by PEP 440"),
        ("v99.0.0", "Write the version as 99.0.0"),
        ("99.0.0+mine", "Write the version as 99.0.0"),
        ("0.0.1", f"not newer than {OLD}"),
    ],
)
def test_a_version_that_cannot_be_released_is_refused(clone: Path, version: str, said: str) -> None:
    assert_refused(clone, version, said)


def test_a_changed_tree_is_refused_and_named(clone: Path) -> None:
    (clone / "README.md").write_text("changed")
    (clone / "new.txt").write_text("new")
    done = release(clone, NEW)
    assert done.returncode == 1
    assert " M README.md\n?? new.txt\n" in done.stderr
    assert git(clone, "tag", "--list", f"v{NEW}") == ""


def test_a_project_without_an_address_is_refused(clone: Path) -> None:
    assert run(clone, "write_addresses.py", "https://code.example/ferrule", DOCUMENTATION).returncode == 0
    git(clone, "commit", "--quiet", "--all", "--message", "The project is at home nowhere")
    assert_refused(clone, NEW, "make addresses REPOSITORY=")


def assert_refused(clone: Path, version: str, said: str) -> None:
    before = git(clone, "rev-parse", "HEAD"), git(clone, "tag")
    done = release(clone, version)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (git(clone, "rev-parse", "HEAD"), git(clone, "tag")) == before
    assert git(clone, "status", "--porcelain") == ""


def test_addresses_are_written_wherever_they_stand(clone: Path) -> None:
    """One of them may be the beginning of the other, so they are written twice."""
    other = "https://other.ann.test/a/b"
    assert run(clone, "write_addresses.py", other, "https://other.ann.test/pages").returncode == 0
    for file in [clone / "pyproject.toml", *projects(clone)]:
        text = file.read_text()
        assert "code.ann.test" not in text
        assert other in text
        assert "https://other.ann.test/pages/" in text
    assert run(clone, "write_addresses.py", "http://plain.ann.test", other).returncode == 1


def test_the_workflow_is_told_where_tag_files_or_place_are_of_something_else(clone: Path) -> None:
    dist = clone / "dist"
    dist.mkdir()
    for file in projects(clone):
        content = tomllib.loads(file.read_text())
        stem = f"{content['project']['name'].replace('-', '_')}-{OLD}"
        tags = content["tool"].get("ferrule", {}).get("release", {}).get("wheels", ["py3-none-any"])
        for end in (".tar.gz", *(f"-{tag}.whl" for tag in tags)):
            (dist / f"{stem}{end}").touch()
    server, _, path = REPOSITORY.rpartition("/")
    here = {"GITHUB_SERVER_URL": server, "GITHUB_REPOSITORY": path}
    assert run(clone, "release.py", "--verify", f"v{OLD}", **here).returncode == 0
    other = run(clone, "release.py", "--verify", f"v{OLD}", **{**here, "GITHUB_REPOSITORY": "ben/ferrule"})
    assert f"this is {server}/ben/ferrule" in other.stderr
    assert "The tag is v0.0.3" in run(clone, "release.py", "--verify", "v0.0.3").stderr
    (dist / f"ferrule-{OLD}.tar.gz").unlink()
    assert len(list(dist.glob("ferrule_launcher-*.whl"))) == 4
    assert f"not of it: ferrule-{OLD}.tar.gz" in run(clone, "release.py", "--verify", f"v{OLD}").stderr
