"""Make a release of all distributions: write the version and the changelog, commit, tag. Nothing is pushed.

Usage: make release VERSION=0.2.0
       scripts/release.py --verify TAG    whether the tag and dist/ are of this tree, which the workflow asks
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# What the pages show of a version beside the places that [tool.bumpversion] names.
DRAWN = ("tests/docs/test_python_api.py", "tests/docs/test_pictures.py")
NEXT = """\
{tag} is committed and tagged. Nothing is pushed. Look at it, then push both:
  git show --stat {tag}
  git push --atomic origin {branch} {tag}
The tag starts .github/workflows/release.yml, which publishes the distributions and the documentation.
To take the release back before it is pushed:
  git tag --delete {tag} && git reset --hard HEAD~1\
"""
UNDO = """\
Nothing is committed. To take back what was written:
  git restore --staged --worktree .\
"""


class Refused(Exception):
    """The release cannot be made; the text says why, and what to do."""


class Project(NamedTuple):
    """What is released. root: the working tree. version: as it stands there. repository: its address."""

    root: Path
    version: str
    repository: str

    @classmethod
    def read(cls, root: Path) -> Project:
        """The project in a working tree."""
        tool = tomllib.loads((root / "pyproject.toml").read_text())["tool"]
        return cls(root, tool["bumpversion"]["current_version"], tool["ferrule"]["release"]["repository"])

    def run(self, *command: str | Path, **environment: str) -> None:
        """Run a command that prints what it does. Raises Refused where it fails."""
        done = subprocess.run(command, cwd=self.root, env={**os.environ, **environment}, check=False)
        if done.returncode:
            raise Refused(f"{Path(command[0]).name} ended with {done.returncode}.\n{UNDO}")

    def ask_git(self, *arguments: str) -> str:
        """What git prints."""
        return subprocess.run(
            ["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout.rstrip()


def check(project: Project, wanted: str) -> None:
    """Raise Refused where a release of this version cannot be made now."""
    try:
        version = Version(wanted)
    except InvalidVersion:
        raise Refused(f"{wanted!r} is no version by PEP 440. Write one such as 0.2.0 or 0.2.0rc1.") from None
    if str(version) != wanted or version.local:
        raise Refused(f"Write the version as {version.public}: this is how package indexes name it.")
    if project.ask_git("tag", "--list", f"v{wanted}"):
        raise Refused(f"The tag v{wanted} exists: this version was released. Choose a newer one.")
    if version < Version(project.version):
        raise Refused(f"{wanted} is not newer than {project.version}, the version of this tree. Choose a newer one.")
    if (urlsplit(project.repository).hostname or "").endswith(".example"):
        raise Refused(
            f"{project.repository} is no address that readers can open. Write yours, and commit it:\n"
            "  make addresses REPOSITORY=https://… DOCUMENTATION=https://…"
        )
    if changed := project.ask_git("status", "--porcelain"):
        raise Refused(f"The working tree has changes. Commit them or put them away:\n{changed}")


def write(project: Project, version: str) -> None:
    """Write the version wherever it stands, and move the fragments into the changelog."""
    if version != project.version:
        bump = BIN / "bump-my-version"
        project.run(bump, "bump", "--no-commit", "--no-tag", "--new-version", version)
    project.run(BIN / "towncrier", "build", "--yes", "--version", version)


def draw(project: Project) -> None:
    """Install what has changed, and generate the pages and pictures that show a version."""
    project.run("make", ".venv/.for-work")
    project.run(sys.executable, "-m", "pytest", "--quiet", *DRAWN, UPDATE_DOCS="1")


def record(project: Project, version: str) -> None:
    """Commit and tag what was written."""
    project.run("git", "add", "--all")
    project.run("git", "commit", "--quiet", "--message", f"This is ferrule {version}")
    project.run("git", "tag", "--annotate", f"v{version}", "--message", f"ferrule {version}")


def verify(project: Project, tag: str) -> None:
    """Raise Refused where the tag or the files in dist/ are of another version, or the metadata names another place."""
    if tag != f"v{project.version}":
        raise Refused(f"The tag is {tag}, and the tree is version {project.version}. Tag by make release.")
    files = {path.name for path in (project.root / "dist").iterdir()}
    folders = [project.root / "host", *(path.parent for path in project.root.glob("plugins/*/pyproject.toml"))]
    wanted = {name for folder in folders for name in name_files(folder / "pyproject.toml", project.version)}
    if files != wanted:
        raise Refused(f"dist/ is not this release. Missing or not of it: {', '.join(sorted(files ^ wanted))}")
    here = "/".join(os.environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
    if here not in ("/", project.repository):
        raise Refused(f"The metadata names {project.repository}, and this is {here}. Write it by make addresses.")


def name_files(file: Path, version: str) -> list[str]:
    """What a release has of one distribution: the source archive, and a wheel, or one for each of its platforms."""
    content = tomllib.loads(file.read_text())
    tags = content["tool"].get("ferrule", {}).get("release", {}).get("wheels", ["py3-none-any"])
    stem = f"{content['project']['name'].replace('-', '_')}-{version}"
    return [f"{stem}.tar.gz", *(f"{stem}-{tag}.whl" for tag in tags)]


def release(project: Project, version: str, *, draws: bool) -> None:
    """Make the release, and say what is next."""
    check(project, version)
    write(project, version)
    if draws:
        draw(project)
    record(project, version)
    print(NEXT.format(tag=f"v{version}", branch=project.ask_git("branch", "--show-current") or "HEAD"))


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("version", nargs="?", help="such as 0.2.0")
    what.add_argument("--verify", metavar="TAG", help="release nothing; look at the tag and at dist/")
    parser.add_argument("--keep-pictures", action="store_true", help="draw no pictures; their test then fails")
    options = parser.parse_args()
    project = Project.read(ROOT)
    try:
        if options.verify:
            verify(project, options.verify)
        else:
            release(project, options.version, draws=not options.keep_pictures)
    except Refused as refused:
        sys.exit(f"release: {refused}")


if __name__ == "__main__":
    main()
