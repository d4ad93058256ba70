"""What a user types for a package, and which packages are looked at for it, in which order."""

from pathlib import Path

import pytest

from ferrule.admin.packages import package_names
from ferrule.admin.packages.package_names import BUILT, FOLDER, NAME, WHEEL, wanted
from ferrule.errors import FerruleError


def candidates(text: str) -> list[str]:
    return [one.requirement for one in package_names.candidates(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tides", NAME),
        ("ferrule-tides[csv]>=1,<2", NAME),
        ("https://example.org/ferrule_tides-1.0-py3-none-any.whl#sha256=00", WHEEL),
        ("ferrule-tides @ https://example.org/ferrule_tides-1.0-py3-none-any.whl", WHEEL),
        ("https://example.org/ferrule_tides-1.0.tar.gz", BUILT),
        ("git+https://example.org/tides", BUILT),
        ("ferrule-tides @ git+ssh://git@example.org/tides.whl", BUILT),
    ],
)
def test_names_addresses_and_what_has_to_be_built_are_told_apart(text: str, kind: str) -> None:
    assert wanted(f" {text} ").kind == kind


def test_files_are_told_apart_by_their_endings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("tides-1.0-py3-none-any.whl", "tides-1.0.tar.gz"):
        Path(name).touch()
    assert wanted("tides-1.0-py3-none-any.whl").kind == WHEEL
    assert wanted("./tides-1.0-py3-none-any.whl[csv]").kind == WHEEL
    assert wanted("tides-1.0.tar.gz").kind == BUILT
    assert wanted(".").kind == FOLDER
    assert wanted(f"{tmp_path}[csv]").kind == FOLDER


@pytest.mark.parametrize(
    ("text", "message"), [("./nothing", "There is no ./nothing."), ("no name", "'no name' names no package.")]
)
def test_what_is_not_there_or_means_nothing_is_told(text: str, message: str) -> None:
    with pytest.raises(FerruleError) as caught:
        wanted(text)
    assert (caught.value.message, bool(caught.value.hint)) == (message, True)


@pytest.mark.parametrize("text", ["ferrule-tides", "Ferrule_Tides==1", "ferrule[http]"])
def test_a_package_of_ferrules_own_names_means_itself(text: str) -> None:
    assert candidates(text) == [text]


def test_a_known_tool_or_command_means_its_package_alone() -> None:
    assert candidates("connect[traces]>=0.1") == ["ferrule-serve[traces]>=0.1"]
    assert candidates("web-search-tavily-tool ; python_version > '3'") == ['ferrule-tavily ; python_version > "3"']


def test_another_name_is_a_plugins_first_and_the_package_of_that_name_last() -> None:
    assert candidates("tide_table==1") == [
        "ferrule-tide-table==1", "ferrule-table==1", "ferrule-tide==1", "tide_table==1",
    ]  # fmt: skip
    needed = {one.requirement: one.tool for one in package_names.candidates("tide-table-tool")}
    assert needed == {
        "ferrule-tide-table-tool": "", "ferrule-tide-table": "", "ferrule-table": "tide_table",
        "ferrule-tide": "tide_table", "tide-table-tool": "",
    }  # fmt: skip
    assert candidates("tides") == ["ferrule-tides", "tides"]


PROJECT = '[project]\nname = "x"\ndependencies = ["requests"]\n'
POINTS = '[project.entry-points."ferrule.tools"]\nx = "x"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PROJECT + POINTS, (True, ["requests"])),
        (PROJECT, (False, ["requests"])),
        (PROJECT.replace("requests", "ferrule-fetch>=1"), (True, ["ferrule-fetch>=1"])),
        (PROJECT + 'dynamic = ["entry-points"]\n', (None, ["requests"])),
        ("[tool.poetry]\n", (None, [])),
        ("no toml", (None, [])),
        ("project = 3\n", (None, [])),
    ],
)
def test_a_project_is_read_and_not_run(tmp_path: Path, text: str, says: tuple[bool | None, list[str]]) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert package_names.project(str(tmp_path)) == says


def test_the_extras_of_a_project_are_read(tmp_path: Path) -> None:
    extras = '[project.optional-dependencies]\ncsv = ["petl"]\nall = ["dask"]\n'
    (tmp_path / "pyproject.toml").write_text(PROJECT + POINTS + extras)
    assert package_names.project(f"{tmp_path}[csv, all]")[1] == ["requests", "petl", "dask"]


def test_a_folder_without_a_project_says_nothing(tmp_path: Path) -> None:
    assert package_names.project(str(tmp_path)) == (None, [])
