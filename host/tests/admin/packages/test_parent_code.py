"""What distributions do in ferrule's own process, seen in folders of packages as installers leave them."""

import base64
import hashlib
import json
import os
from pathlib import Path

import pytest

from ferrule.admin.packages import distribution_files, path_files
from ferrule.admin.packages.distribution_files import DistributionFiles
from ferrule.admin.packages.parent_code import IDS, ParentCode, of_arriving, of_installed


class Site:
    """A folder of packages in an environment of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "lib/python3.11/site-packages"
        self.folder.mkdir(parents=True)

    def add(self, name: str, files: dict[str, str], *, points: str = "", metadata: str = "", listed: str = "") -> None:
        """Install a distribution. listed: of what digest each file is in RECORD, instead of its own."""
        folder = self.folder / (metadata or f"{name.replace('-', '_')}-1.0.dist-info")
        lines = []
        for file, text in files.items():
            path = self.folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            digest = base64.urlsafe_b64encode(hashlib.sha256((listed or text).encode()).digest()).rstrip(b"=").decode()
            lines.append(f"{file},sha256={digest},{len(text)}\n")
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(points)
        (folder / "RECORD").write_text("".join(lines) + f"{folder.name}/RECORD,,\n")

    def read(self) -> list[DistributionFiles]:
        return list(distribution_files.in_folder(str(self.folder)))

    def found(self) -> list[ParentCode]:
        return list(of_installed(self.read()))

    def told(self) -> list[tuple[str, str, str]]:
        return [(one.id, one.distribution, one.file) for one in self.found() if not one.known]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    found = Site(tmp_path / "env")
    found.add("ferrule", {"ferrule/__init__.py": "", "ferrule/_version.py": "1", "../../../bin/ferrule": "#!"})
    found.add("click", {"click.py": ""})
    return found


def test_an_ordinary_plugin_is_nothing_to_tell(site: Site) -> None:
    files = {"ferrule_x/__init__.py": "", "ferrule_x/model.pth": "import x", "../../../bin/x-tool": "#!"}
    site.add("ferrule-x", {**files, "../../../share/man/man1/x.1": ""}, points="[ferrule.tools]\nx_1 = ferrule_x\n")
    assert site.found() == []


@pytest.mark.parametrize(
    ("file", "kind", "named"),
    [
        ("evil.pth", "code-at-start", "evil.pth"),
        ("evil.start", "code-at-start", "evil.start"),
        ("sitecustomize.py", "code-at-start", "sitecustomize.py"),
        ("usercustomize.cpython-311-x86_64-linux-gnu.so", "code-at-start", ""),
        ("ferrule/_version.py", "file-of-another", "ferrule/_version.py"),
        ("ferrule/_version.abi3.so", "file-in-another", ""),
        ("ferrule/deep/er/module.py", "file-in-another", "ferrule/deep/er/module.py"),
        ("ferrule/__pycache__/_version.cpython-311.pyc", "file-in-another", ""),
        ("click/__init__.py", "file-in-another", "click"),
        ("__pycache__/click.cpython-311.pyc", "file-in-another", "click"),
        ("click-1.0.dist-info/entry_points.txt", "metadata-of-another", "click-1.0.dist-info"),
        ("click-0.0.1.egg-info/entry_points.txt", "metadata-of-another", "click-0.0.1.egg-info"),
        ("../../../bin/ferrule", "file-of-another", "/bin/ferrule"),
        ("../../../bin/python3", "file-outside", "/bin/python3"),
        ("../../../pyvenv.cfg", "file-outside", "/pyvenv.cfg"),
        ("../../python3.11/os.py", "file-outside", "/lib/python3.11/os.py"),
        ("../../../../elsewhere", "file-outside", ""),
        ("../../../lib/python3.11/site-packages/evil.pth", "code-at-start", "evil.pth"),
    ],
)
def test_what_takes_effect_in_ferrule_itself_is_told(site: Site, file: str, kind: str, named: str) -> None:
    site.add("evil", {file: "import os; os.system('true')"})
    told = [one for one in site.told() if one[0] == kind]
    assert [one[1] for one in told][:1] == ["evil"]
    assert named in ("", told[0][2])


def test_every_kind_has_a_name_and_a_line_that_helps(site: Site) -> None:
    site.add("evil", {"evil.pth": "/tmp", "../../../bin/sh": ""}, points="[ferrule.tools]\n../x = y\n")
    assert site.told() == [
        ("path-added", "evil", "evil.pth"), ("entry-point-name", "evil", "../x"), ("script-shadows", "evil", "/bin/sh"),
    ]  # fmt: skip
    for one in site.found():
        assert one.id in IDS
        assert one.fix == "Where you do not know why, run: ferrule uninstall evil"


def test_a_file_that_nobody_has_installed_is_told_by_its_name(site: Site) -> None:
    (site.folder / "stray.pth").write_text("import stray")
    (found,) = site.found()
    assert (found.id, found.subject) == ("code-at-start", "stray.pth")
    assert found.fix == "Where you do not know where it comes from, remove the file."


def test_a_file_of_two_distributions_is_told_of_the_one_that_wrote_it_last(site: Site) -> None:
    site.add("a", {"shared.py": "old"})
    site.add("b", {"shared.py": "new"})
    site.add("c", {"LICENSE": "c's"})
    site.add("d", {"LICENSE": "d's"})
    assert site.told() == [("file-of-another", "b", "shared.py")]


def test_a_package_that_distributions_share_is_nothing_to_tell(site: Site) -> None:
    for name in ("a", "b"):
        site.add(name, {"shared/__init__.py": "same", f"shared/{name}.py": "", f"space/{name}/__init__.py": ""})
    assert site.told() == []


def test_two_folders_of_metadata_for_one_name_are_told(site: Site) -> None:
    site.add("click", {"other.py": ""}, metadata="click-0.9.dist-info")
    assert site.told() == [("metadata-of-another", "click", "click-0.9.dist-info")]


def test_metadata_of_another_name_than_its_folder_is_told(site: Site) -> None:
    site.add("click", {"evil.py": ""}, metadata="evil-1.0.dist-info")
    site.add("nobody", {"other.py": ""}, metadata="other-1.0.dist-info")
    assert site.told() == [("metadata-of-another", "evil", "evil-1.0.dist-info")]


@pytest.mark.parametrize("metadata", ["click-0.0.1.egg-info", "click.egg-info", "Click-9.dist-info"])
def test_metadata_that_a_package_brings_for_another_is_told_of_who_brought_it(site: Site, metadata: str) -> None:
    site.add("evil", {"evil.py": "", f"{metadata}/entry_points.txt": "[ferrule.tools]\nx = evil\n"})
    assert site.told() == [("metadata-of-another", "evil", metadata)]


DISTUTILS = (
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; "
    "enabled and __import__('_distutils_hack').add_shim(); "
)


@pytest.mark.parametrize(
    ("owner", "file", "text"),
    [
        ("setuptools", "distutils-precedence.pth", DISTUTILS),
        ("", "_virtualenv.pth", "import _virtualenv"),
        ("coverage", "a1_coverage.pth", "import sys; exec('try: import coverage; coverage.process_startup()')"),
        ("", "pipx_shared.pth", "/shared/lib/python3.11/site-packages"),
    ],
)
def test_known_files_are_named_as_what_they_are(site: Site, owner: str, file: str, text: str) -> None:
    if owner:
        site.add(owner, {file: text})
    else:
        (site.folder / file).write_text(text)
    (found,) = site.found()
    assert found.known
    assert site.told() == []


def test_a_known_name_alone_makes_nothing_known(site: Site) -> None:
    site.add("setuptools", {"distutils-precedence.pth": f"{DISTUTILS}import evil"})
    site.add("evil", {"_virtualenv.pth": "import _virtualenv", "a1_coverage.pth": "import coverage"})
    assert [one[2] for one in site.told()] == ["_virtualenv.pth", "a1_coverage.pth", "distutils-precedence.pth"]


def test_a_projects_folder_is_the_users_own(site: Site, tmp_path: Path) -> None:
    finder = "import __editable___own_1_0_finder; __editable___own_1_0_finder.install()"
    site.add("own", {"__editable__.own-1.0.pth": finder})
    site.add("other", {"_editable_impl_other.pth": str(tmp_path)})
    for name in ("own", "other"):
        facts = {"url": f"file://{tmp_path}", "dir_info": {"editable": True}}
        (site.folder / f"{name}-1.0.dist-info/direct_url.json").write_text(json.dumps(facts))
    assert len(site.told()) == 2  # there is no project in that folder
    (tmp_path / "pyproject.toml").touch()
    assert site.told() == []


def test_what_arrives_takes_the_place_of_its_own_earlier_version(site: Site, tmp_path: Path) -> None:
    arriving = Site(tmp_path / "read")
    site.add("own", {"own/__init__.py": "", "own/_version.py": "1", "../../../bin/own": "#!"})
    arriving.add("own", {"own/__init__.py": "", "own/_version.py": "2", "../../../bin/own": "#!2"})
    assert list(of_arriving(arriving.read(), [], site.read())) == []


def test_what_arrives_is_told_of_before_it_is_there(site: Site, tmp_path: Path) -> None:
    arriving = Site(tmp_path / "read")
    arriving.add("evil", {"sitecustomize.py": "", "evil.pth": "import os\n", "ferrule/x.py": ""})
    (arriving.folder / "extra.py").touch()
    read = arriving.read()
    unlisted = distribution_files.unlisted(str(arriving.root), read)
    assert unlisted == ["extra.py"]
    found = {(one.id, one.file) for one in of_arriving(read, unlisted, site.read())}
    assert found >= {
        ("code-at-start", "sitecustomize.py"),
        ("code-at-start", "evil.pth"),
        ("file-unlisted", "extra.py"),
    }


def test_a_wheel_has_no_projects_folder(site: Site, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    arriving = Site(tmp_path / "read")
    arriving.add("evil", {"__editable__.evil.pth": "import __editable___e_finder; __editable___e_finder.install()"})
    facts = {"url": f"file://{tmp_path}", "dir_info": {"editable": True}}
    (arriving.folder / "evil-1.0.dist-info/direct_url.json").write_text(json.dumps(facts))
    assert [one.known for one in of_arriving(arriving.read(), [], site.read())] == [""]


def test_a_file_that_cannot_be_read_counts_as_code(tmp_path: Path) -> None:
    (tmp_path / "a.pth").write_bytes(b"\xff\xfe")
    (tmp_path / "b.pth").write_bytes(b"#" * (1 << 17))
    assert [path_files.read(str(tmp_path / name), name).code for name in ("a.pth", "b.pth", "c.pth")] == [
        ["(cannot be read)"], ["(too large to be read)"], ["(cannot be read)"],
    ]  # fmt: skip


def test_lines_are_told_apart_as_python_does(tmp_path: Path) -> None:
    (tmp_path / "x.pth").write_text("# import no\nimport a\nimport\tb\nimportant\n  import c\n\n/folder\n")
    found = path_files.read(str(tmp_path / "x.pth"), "x.pth")
    assert (found.code, found.folders) == (["import a", "import\tb"], ["important", "import c", "/folder"])


def test_a_record_that_cannot_be_read_lists_nothing(site: Site) -> None:
    (site.folder / "click-1.0.dist-info/RECORD").write_bytes(b"\xff")
    os.chmod(site.folder / "click-1.0.dist-info", 0o755)
    assert [len(one.digests) for one in site.read()] == [0, 4]


def test_a_launcher_is_refused_when_it_arrives_and_known_once_it_is_there(site: Site, tmp_path: Path) -> None:
    new = Site(tmp_path / "new")
    new.add(
        "any-launcher", {"any_launcher/__init__.py": ""}, points="[ferrule.launchers]\nany-launcher = any_launcher\n"
    )
    (found,) = of_arriving(new.read(), [], site.read())
    assert (found.id, found.distribution, found.file, found.known) == ("launcher", "any-launcher", "any-launcher", "")
    assert "starts each tool that is linked from now on, with all rights of the user" in found.message
    assert [(one.id, one.known) for one in new.found()] == [("launcher", "launcher")]
