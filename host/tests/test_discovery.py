"""Tools are found in the metadata of distributions, as the standard library finds them, whatever lies on the path."""

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule import discovery
from ferrule.config.configuration import Configuration
from ferrule.errors import ToolDisabled, ToolNameClash, ToolUnknown

Install = Callable[..., Path]
ENTRY = "[ferrule.tools]\ndice = ferrule_dice\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
def install(site: Path) -> Install:
    """Write the metadata of a distribution into a folder of the path."""

    def install(metadata: str, entry_points: str | bytes | None = ENTRY, into: Path = site) -> Path:
        folder = into / metadata
        folder.mkdir(parents=True)
        if entry_points is not None:
            data = entry_points.encode() if isinstance(entry_points, str) else entry_points
            (folder / "entry_points.txt").write_bytes(data)
        return folder

    return install


@contextmanager
def without_privileges() -> Iterator[None]:
    """Be a user who may not read what nobody may read, root included."""
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        yield
    finally:
        os.seteuid(user)


def found(*search: Path | str) -> dict[str, list[str]]:
    """Each tool's name, and who claims it with which value."""
    claims = discovery.scan(map(str, search))
    return {name: [f"{tool.source}: {tool.value}" for tool in tools] for name, tools in claims.items()}


def configuration(disabled: str = "") -> Configuration:
    return Configuration("config.toml", {}, {"FERRULE_DISABLE": disabled})


def test_a_tool_is_known_by_its_metadata_alone(site: Path, install: Install) -> None:
    metadata = install("Ferrule_Dice-1.2.3.dist-info", "[ferrule.tools]\ndice = ferrule_dice.tool:plugin\n")
    (tool,) = discovery.scan([str(site)])["dice"]
    assert (tool.name, tool.value, tool.module) == ("dice", "ferrule_dice.tool:plugin", "ferrule_dice.tool")
    assert (tool.distribution, tool.version, tool.source) == ("ferrule-dice", "1.2.3", "ferrule-dice 1.2.3")
    assert (tool.metadata, tool.failures) == (str(metadata), None)


@pytest.mark.parametrize(
    ("metadata", "source"),
    [
        pytest.param("dice-1.0.dist-info", "dice 1.0", id="dist-info"),
        pytest.param("dice-1.0+local.1.dist-info", "dice 1.0+local.1", id="local-version"),
        pytest.param("dice-1.0-py3.11.egg-info", "dice 1.0", id="egg-info-with-python"),
        pytest.param("dice.egg-info", "dice", id="egg-info-of-a-source-folder"),
        pytest.param("My.Dice_Set-1.0.dist-info", "my-dice-set 1.0", id="odd-spelling"),
    ],
)
def test_a_distribution_has_name_and_version_from_its_folder(
    site: Path, install: Install, metadata: str, source: str
) -> None:
    install(metadata)
    assert found(site) == {"dice": [f"{source}: ferrule_dice"]}


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        pytest.param("[ferrule.tools]\na = m:f [extra, b]\nb=m[x]", {"a": "m:f", "b": "m"}, id="extras"),
        pytest.param("# [ferrule.tools]\n[ferrule.tools]\n#a = m\n;b = m\nc = m # d", {"c": "m # d"}, id="comments"),
        pytest.param("[ferrule.tools]\r\na = m\r\n\r\n[x]\r\nb = m\r\n", {"a": "m"}, id="crlf"),
        pytest.param(
            "[x]\na = m\n[ferrule.tools]\nb = m\n[y]\nc = m\n[ferrule.tools]\nd = m", {"b": "m", "d": "m"}, id="groups"
        ),
        pytest.param("[ferrule.tools]\n  a  =  m  \n\tb\t=\tm\n", {"a": "m", "b": "m"}, id="blanks"),
        pytest.param("[ferrule.tools]\na = m\na = n\n", {"a": "m"}, id="name-twice"),
        pytest.param("[ferrule.tools]\nno equals sign\n=\n[\na = m", {"": "", "a": "m"}, id="garbled-lines"),
        pytest.param("a = m\n[ferrule.tools]", {}, id="before-any-group"),
        pytest.param(b"[ferrule.tools]\n\xff\xfe = \x00m\na = m\n", {"\ufffd\ufffd": "\x00m", "a": "m"}, id="garbage"),
        pytest.param(b"\x80" * 5000, {}, id="nothing-but-garbage"),
        pytest.param("", {}, id="empty"),
        pytest.param(None, {}, id="no-entry-points"),
        pytest.param("[ferrule.toolset]\na = m\n", {}, id="another-group"),
    ],
)
def test_entry_points_are_read_whatever_is_in_the_file(
    site: Path, install: Install, text: str | bytes | None, tools: dict[str, str]
) -> None:
    install("dice-1.0.dist-info", text)
    assert found(site) == {name: [f"dice 1.0: {value}"] for name, value in tools.items()}


def test_a_tool_is_found_together_with_its_own_rendering_of_failures(site: Path, install: Install) -> None:
    install("a-1.dist-info", "[ferrule.failures]\nx = a:render\nz = a:other\n[ferrule.tools]\nx = a\ny = a\n")
    install("b-1.dist-info", "[ferrule.failures]\ny = b:render\n")
    tools = {name: tool.failures for name, (tool,) in discovery.scan([str(site)]).items()}
    assert tools == {"x": "a:render", "y": None}


def test_the_first_of_a_distribution_on_the_path_hides_the_others(tmp_path: Path, install: Install) -> None:
    install("ferrule_dice-1.0.dist-info", into=tmp_path / "one")
    install("Ferrule.Dice-2.0.dist-info", "[ferrule.tools]\ndice = other\ncards = other\n", into=tmp_path / "two")
    assert found(tmp_path / "one", tmp_path / "two") == {"dice": ["ferrule-dice 1.0: ferrule_dice"]}
    assert list(found(tmp_path / "two", tmp_path / "one")) == ["dice", "cards"]


def test_a_folder_met_twice_counts_once(tmp_path: Path, install: Install) -> None:
    install("dice-1.0.dist-info", into=tmp_path / "lib" / "site")
    (tmp_path / "lib64").symlink_to("lib")
    twice = [tmp_path / "lib" / "site", tmp_path / "lib64" / "site", tmp_path / "lib" / "site"]
    assert found(*twice) == {"dice": ["dice 1.0: ferrule_dice"]}


def test_two_distributions_that_claim_a_name_clash_and_both_are_named(site: Path, install: Install) -> None:
    install("b-2.0.dist-info", "[ferrule.tools]\ndice = b\nother = b\n")
    install("a-1.0.dist-info")
    assert found(site)["dice"] == ["a 1.0: ferrule_dice", "b 2.0: b"]
    with pytest.raises(ToolNameClash) as caught:
        discovery.find("dice", configuration(), [str(site)])
    assert caught.value.message == "The tool 'dice' is claimed by a 1.0 and by b 2.0, so none of them gets it."
    assert caught.value.hint == "Uninstall all but one of: a 1.0, b 2.0."
    assert caught.value.details == {"distributions": ["a 1.0", "b 2.0"]}
    assert discovery.find("other", configuration(), [str(site)]).source == "b 2.0"


IMPOSTORS = [
    pytest.param("ferrule_example-0.0.1.egg-info", ENTRY, id="an egg-info that is sorted first"),
    pytest.param("ferrule_example-9.egg-info", ENTRY, id="an egg-info that is sorted last"),
    pytest.param("ferrule_example-0.0.1.dist-info", ENTRY, id="a second version"),
    pytest.param("ferrule_example-1.0.egg-info", ENTRY, id="the same version"),
    pytest.param("ferrule_example.egg-info", ENTRY, id="no version"),
    pytest.param("Ferrule.Example-0.0.1.dist-info", ENTRY, id="another spelling"),
    pytest.param("ferrule_example-0.0.1-py3.11.egg-info", ENTRY, id="a version of Python"),
    pytest.param("ferrule_example-0.0.1.dist-info", "[ferrule.tools]\nother = evil\n", id="another tool"),
]


@pytest.mark.parametrize(("metadata", "text"), IMPOSTORS)
def test_a_second_folder_of_metadata_takes_nobodys_place(
    site: Path, install: Install, metadata: str, text: str
) -> None:
    install("aaa-1.0.dist-info", "[ferrule.tools]\nown = aaa\n")
    real = install("ferrule_example-1.0.dist-info", "[ferrule.tools]\ndice = real\n")
    false = install(metadata, text.replace("ferrule_dice", "evil"))

    claims = discovery.scan([str(site)])
    assert sorted(claims) == sorted({"own", "dice"} | ({"other"} if "other" in text else set()))
    for name in claims.keys() - {"own"}:
        with pytest.raises(ToolNameClash) as caught:
            discovery.find(name, configuration(), [str(site)])
        assert sorted(one.metadata for one in claims[name]) == sorted(map(str, (real, false)))
        assert "claimed by ferrule-example" in caught.value.message
        assert str(real) in (caught.value.hint or "")
        assert str(false) in (caught.value.hint or "")
    assert discovery.find("own", configuration(), [str(site)]).value == "aaa"


@pytest.mark.parametrize("group", [discovery.WRAPPERS, discovery.COMMANDS, discovery.DIAGNOSES, discovery.CREDENTIALS])
def test_a_second_folder_of_metadata_makes_every_kind_of_entry_point_a_clash(
    site: Path, install: Install, group: str
) -> None:
    install("ferrule_x-1.0.dist-info", f"[{group}]\nx = real\n")
    install("ferrule_x-0.1.egg-info", f"[{group}]\nx = evil\ny = evil\n")
    assert [(name, source) for name, _, source in discovery.entry_points(group, [str(site)])] == [
        ("x", "ferrule-x 0.1"),
        ("x", "ferrule-x 1.0"),
        ("y", "ferrule-x 0.1"),
        ("y", "ferrule-x 1.0"),
    ]


def test_an_egg_info_file_makes_a_clash_too(site: Path, install: Install) -> None:
    install("dice-1.0.dist-info")
    (site / "dice-0.5.egg-info").write_text("Name: dice\n")
    with pytest.raises(ToolNameClash):
        discovery.find("dice", configuration(), [str(site)])


def test_what_an_uninstallation_left_is_no_rival(site: Path, install: Install) -> None:
    install("dice-0.9.dist-info", None)
    install("dice-1.0.dist-info")
    (site / "dice-0.8.dist-info").symlink_to(site / "nowhere")
    assert found(site) == {"dice": ["dice 1.0: ferrule_dice"]}


def test_a_tool_that_is_not_installed_or_not_offered_is_told_so(site: Path, install: Install) -> None:
    install("dice-1.0.dist-info")
    assert discovery.find("dice", configuration("cards"), [str(site)]).name == "dice"
    with pytest.raises(ToolUnknown, match="No installed distribution offers a tool named 'cards'"):
        discovery.find("cards", configuration(), [str(site)])
    with pytest.raises(ToolDisabled, match="The tool 'dice' is disabled by FERRULE_DISABLE"):
        discovery.find("dice", configuration("dice"), [str(site)])


def test_what_is_on_the_path_and_no_folder_of_distributions_is_passed_over(site: Path, install: Install) -> None:
    install("dice-1.0.dist-info")
    (site / "file.dist-info").write_text(ENTRY)
    (site / "gone-1.0.dist-info").symlink_to(site / "nowhere")
    (site / "entry-1.0.dist-info" / "entry_points.txt").mkdir(parents=True)
    (site / "archive.zip").write_bytes(b"PK\5\6" + bytes(18))
    others = [site / "nowhere", site / "archive.zip", site / "file.dist-info", site / "dice-1.0.dist-info"]
    assert found(*others, site, "") == {"dice": ["dice 1.0: ferrule_dice"]}


def test_a_fifo_in_the_place_of_entry_points_does_not_hang(site: Path, install: Install) -> None:
    install("a-1.0.dist-info")
    os.mkfifo(install("b-1.0.dist-info", None) / "entry_points.txt")
    assert list(found(site)) == ["dice"]


def test_a_folder_that_cannot_be_read_is_passed_over(site: Path, install: Install) -> None:
    install("dice-1.0.dist-info")
    site.chmod(0o000)
    with without_privileges():
        assert found(site) == {}
    site.chmod(0o755)
    assert list(found(site)) == ["dice"]


@pytest.mark.process
@pytest.mark.parametrize("flags", [[], ["-I"]], ids=["plain", "isolated"])
def test_the_running_environment_is_seen_as_the_standard_library_sees_it(flags: list[str]) -> None:
    program = (
        "import json, importlib.metadata\n"
        "from ferrule import discovery\n"
        "ours = [(t.name, t.value) for tools in discovery.scan().values() for t in tools]\n"
        "theirs = [(p.name, p.value) for p in importlib.metadata.entry_points(group=discovery.TOOLS)]\n"
        "assert sorted(ours) == sorted(theirs), (ours, theirs)\n"
    )
    finished = subprocess.run([sys.executable, *flags, "-c", program], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.process
def test_scanning_imports_nothing_but_what_it_reads_with() -> None:
    program = (
        "import sys; before = set(sys.modules)\n"
        "from ferrule import discovery; discovery.scan()\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    config = ["ferrule.config", "ferrule.config.configuration", "ferrule.config.own_folders"]
    rooms = ["ferrule", *config, "ferrule.discovery", "ferrule.text", "ferrule.text.names"]
    assert finished.stdout.split() == ["__future__", *rooms]


# Any entry_points.txt that the standard library can read.

WORD = st.from_regex(r"[a-z][a-z0-9_.]{0,6}", fullmatch=True)
GROUP = st.sampled_from(["ferrule.tools", "ferrule.tools", "ferrule.failures", "console_scripts"])
EXTRAS = st.sampled_from(["", " [x]", "[x, y]", " [ x ] "])
PADDING = st.sampled_from(["", " ", "\t", "  "])
ENTRY_LINE = st.builds(
    lambda name, attribute, extras, a, b, c: f"{a}{name}{b}={c}{attribute}{extras}",
    WORD,
    WORD | st.builds("{}:{}".format, WORD, WORD),
    EXTRAS,
    PADDING,
    PADDING,
    PADDING,
)
LINE = ENTRY_LINE | ENTRY_LINE | GROUP.map("[{}]".format) | st.sampled_from(["", "  ", "# a = b", "#[ferrule.tools]"])
FILE = st.builds(
    lambda lines, end: end.join(["[ferrule.tools]", *lines]),
    st.lists(LINE, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
)


def by_the_standard_library(search: Iterable[Path]) -> dict[tuple[str, str], str]:
    """What each distribution and entry point names, the first of either counting."""
    known: dict[str, importlib.metadata.Distribution] = {}
    for one in importlib.metadata.distributions(path=[str(folder) for folder in search]):
        known.setdefault(one.metadata["Name"].replace("_", "-").lower(), one)
    found: dict[tuple[str, str], str] = {}
    for name, one in known.items():
        for point in one.entry_points:
            if point.group == discovery.TOOLS:
                found.setdefault((name, point.name), f"{point.module}:{point.attr or ''}".rstrip(":"))
    return found


@pytest.mark.slow
@settings(deadline=None, database=None)
@given(texts=st.lists(st.tuples(st.sampled_from(["a", "B_c", "d"]), st.integers(0, 1), FILE), max_size=4))
def test_any_installation_is_seen_as_the_standard_library_sees_it(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, int, str]]
) -> None:
    root = tmp_path_factory.mktemp("path")
    search = [root / "0", root / "1"]
    for name, place, text in texts:
        folder = search[place] / f"{name}-1.0.dist-info"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_bytes(text.encode())
    claims = [tool for tools in discovery.scan(map(str, search)).values() for tool in tools]
    assert {(tool.distribution, tool.name): tool.value for tool in claims} == by_the_standard_library(search)
    assert len({(tool.distribution, tool.name) for tool in claims}) == len(claims)
