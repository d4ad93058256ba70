"""What the admin decided: where it is looked for, what it may say, and that nothing in it can crash a call."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.config.configuration import DEFAULT_DEADLINE, DEFAULT_MEMORY, Configuration, deadline, default_path, read
from ferrule.errors import ConfigurationMalformed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def written(file: Path, text: str | bytes, **environ: str) -> Configuration:
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read({"FERRULE_CONFIG": str(file), **environ})


# Where it is.


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs itself is asked")
@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({"HOME": "/home/ada"}, id="home"),
        pytest.param({"HOME": "/home/ada/"}, id="home-with-a-slash"),
        pytest.param({"HOME": "/"}, id="home-is-the-root"),
        pytest.param({"HOME": ""}, id="home-is-empty"),
        pytest.param({"HOME": "relative"}, id="home-is-relative"),
        pytest.param({}, id="no-home"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": "/xdg"}, id="xdg"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": "/xdg/"}, id="xdg-with-a-slash"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": ""}, id="xdg-is-empty"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": "  "}, id="xdg-is-blank"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": " /xdg"}, id="xdg-begins-with-a-blank"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": "/xdg "}, id="xdg-ends-with-a-blank"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": "relative"}, id="xdg-is-relative"),
        pytest.param({"HOME": "/home/ada", "XDG_CONFIG_HOME": "~/xdg"}, id="xdg-with-a-tilde"),
        pytest.param({"XDG_CONFIG_HOME": "/xdg"}, id="xdg-alone"),
    ],
)
def test_the_file_is_where_platformdirs_has_it(environ: dict[str, str]) -> None:
    program = (
        "import platformdirs\n"
        "from ferrule.config.configuration import default_path\n"
        "print(default_path())\n"
        "print(platformdirs.user_config_path('ferrule', appauthor=False) / 'config.toml')\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    ours, theirs = finished.stdout.splitlines()
    assert ours == theirs == default_path(environ)


@pytest.mark.process
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user that there is not")
def test_a_user_whom_the_system_does_not_know_has_a_home_all_the_same() -> None:
    program = "import os; from ferrule.config.configuration import home; os.setuid(54321); print(home({}))"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout == "/\n"


@pytest.mark.process
def test_finding_the_file_imports_no_platformdirs() -> None:
    program = (
        "import sys; from ferrule.config import configuration; \n"
        "configuration.read(); print('platformdirs' in sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout == "False\n"


# What cannot be read.


@pytest.mark.parametrize(
    "path",
    ["nowhere.toml", "nowhere/config.toml", "file/config.toml", os.devnull],
    ids=lambda path: Path(path).parent.name,
)
def test_no_file_means_no_settings(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").touch()
    configuration = read({"FERRULE_CONFIG": os.path.join(tmp_path, path)})
    assert configuration.content == {}
    assert configuration.path == os.path.join(tmp_path, path)
    assert not configuration.is_disabled("dice")


def test_a_fifo_in_the_files_place_does_not_hang(file: Path) -> None:
    os.mkfifo(file)
    assert read({"FERRULE_CONFIG": str(file)}).content == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("a = 1\nb = \n", r"is not TOML: Invalid value \(at line 2, column 5\)\.", id="no-value"),
        pytest.param("[tools\n", r"is not TOML: .*\(at line 1, column 7\)\.", id="open-table"),
        pytest.param("[a]\nb = 1\nb = 2", r"is not TOML: Cannot overwrite a value \(at .*\)\.", id="key-twice"),
        pytest.param(b"a = 1\n\n# \xff", r"is not TOML: it is not UTF-8 \(at line 3\)\.", id="not-utf-8"),
        pytest.param(b"a = 1\0", r"is not TOML: .*\(at line 1, column 6\)\.", id="nul"),
        pytest.param("a = " + "[" * 5000, r"is not TOML: it is nested too deeply\.", id="too-deep"),
        pytest.param("a = " + "9" * 5000, r"is not TOML: ", id="integer-of-5000-digits"),
        pytest.param("#" * (1 << 21), r"is larger than 1 MiB\.", id="2-MiB"),
    ],
)
def test_a_malformed_file_is_told_with_its_place(file: Path, text: str | bytes, reason: str) -> None:
    with pytest.raises(ConfigurationMalformed, match=f"^{file} {reason}"):
        written(file, text)


@pytest.mark.parametrize("place", ["folder", "endless"])
def test_what_is_no_file_is_told_so(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "endless").symlink_to("/dev/zero")
    with pytest.raises(ConfigurationMalformed, match=r"cannot be read: Is a directory|is larger than 1 MiB"):
        read({"FERRULE_CONFIG": str(tmp_path / place)})


def test_a_file_that_may_not_be_read_is_told_so(file: Path) -> None:
    file.touch(mode=0o000)
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        with pytest.raises(ConfigurationMalformed, match=r"config.toml cannot be read: Permission denied\."):
            read({"FERRULE_CONFIG": str(file)})
    finally:
        os.seteuid(user)


# What disables a tool.


@pytest.mark.parametrize(
    ("setting", "disabled"),
    [
        pytest.param("", set(), id="empty"),
        pytest.param("dice", {"dice"}, id="one"),
        pytest.param("dice,cards", {"dice", "cards"}, id="commas"),
        pytest.param(" dice ,, cards\tcoins ", {"dice", "cards", "coins"}, id="commas-and-blanks"),
        pytest.param("*", {"dice", "cards", "coins"}, id="all"),
        pytest.param("dice,*", {"dice", "cards", "coins"}, id="all-and-one"),
        pytest.param("DICE,d*,dic", set(), id="no-such-name"),
    ],
)
def test_the_environment_disables_tools_by_name(setting: str, disabled: set[str]) -> None:
    configuration = Configuration("config.toml", {}, {"FERRULE_DISABLE": setting})
    assert {name for name in ("dice", "cards", "coins") if configuration.is_disabled(name)} == disabled
    for name in disabled:
        assert configuration.why_disabled(name) == "FERRULE_DISABLE"


def test_the_file_disables_a_tool_and_is_named_for_it(file: Path) -> None:
    configuration = written(file, "[tools.dice]\nenabled = false\n[tools.cards]\nenabled = true\nsides = 6\n")
    assert configuration.is_disabled("dice")
    assert configuration.why_disabled("dice") == f"[tools.dice] in {file}"
    assert not configuration.is_disabled("cards")
    assert configuration.tool("cards") == {"enabled": True, "sides": 6}


@pytest.mark.parametrize(
    "text",
    [
        "tools = 3",
        "tools = []",
        "[tools.dice]\nmemory = 'much'",
        "[tools.dice]\nmemory = true",
        "[tools.dice]\nmemory = -5",
        "[tools.dice]\nmemory = nan",
        "[tools.dice]\nmemory = inf",
        "[tools.dice]\nmemory = 1979-05-27",
        "[tools.dice]\nmemory = {}",
        "wrappers = 7",
    ],
    ids=lambda text: text.replace("\n", " "),
)
def test_a_setting_of_another_type_counts_as_not_set(file: Path, text: str) -> None:
    configuration = written(file, text)
    assert not configuration.is_disabled("dice")
    assert configuration.memory("dice") == DEFAULT_MEMORY
    assert isinstance(configuration.tool("dice"), dict)


# Deadline and memory.


@pytest.mark.parametrize(
    ("setting", "seconds"),
    [
        pytest.param("", DEFAULT_DEADLINE, id="empty"),
        pytest.param("10", 10.0, id="integer"),
        pytest.param(" 2.5 ", 2.5, id="blanks"),
        pytest.param("1e-3", 0.001, id="exponent"),
        pytest.param("1e7", 86_400.0, id="more-than-a-day"),
        *(
            pytest.param(text, DEFAULT_DEADLINE, id=text)
            for text in ("0", "-1", "nan", "inf", "-inf", "1e999", "5s", "x")
        ),
    ],
)
def test_a_deadline_is_a_positive_number_of_seconds_or_the_default(setting: str, seconds: float) -> None:
    assert deadline({"FERRULE_DEADLINE": setting}) == seconds
    assert deadline({"FERRULE_DEADLINE": setting}) == seconds


def test_memory_is_taken_from_the_environment_then_from_the_tools_table(file: Path) -> None:
    configuration = written(file, "[tools.dice]\nmemory = 64.9\n[tools.cards]\nmemory = 0.5\n")
    assert [configuration.memory(name) for name in ("dice", "cards", "coins")] == [64, 1, DEFAULT_MEMORY]
    configuration = written(file, "[tools.dice]\nmemory = 64\n", FERRULE_MEMORY="128")
    assert [configuration.memory(name) for name in ("dice", "coins")] == [128, 128]
    assert written(file, "[tools.dice]\nmemory = 64\n", FERRULE_MEMORY="lots").memory("dice") == 64


@pytest.mark.process
@settings(deadline=None, database=None)
@given(
    content=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["tools", "dice", "enabled", "memory"]), inner, max_size=3)
        ),
        max_leaves=8,
    ).map(lambda value: value if isinstance(value, dict) else {"tools": value}),
    environ=st.dictionaries(
        st.sampled_from(["FERRULE_DISABLE", "FERRULE_DEADLINE", "FERRULE_MEMORY"]), st.text(max_size=6)
    ),
)
def test_no_setting_whatever_crashes_a_call(content: dict[str, Any], environ: dict[str, str]) -> None:
    configuration = Configuration("config.toml", content, environ)
    assert configuration.is_disabled("dice") in (True, False)
    assert 0 < deadline(environ) <= 86_400
    assert configuration.memory("dice") >= 1
    assert configuration.why_disabled("dice")


@pytest.mark.parametrize(
    ("table", "environ", "on"),
    [
        ("", {}, {"artifacts"}),
        ("[wrappers.artifacts]\nenabled = false\n", {}, set()),
        ("[wrappers.cache]\nenabled = true\n", {}, {"artifacts", "cache"}),
        ("", {"FERRULE_WRAPPERS": "timing"}, {"timing"}),
        ("", {"FERRULE_WRAPPERS": ""}, set()),
    ],
)
def test_what_is_on_by_default_can_be_switched_off(
    table: str, environ: dict[str, str], on: set[str], tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(table)
    found = read({"FERRULE_CONFIG": str(file), "FERRULE_WRAPPERS_DEFAULT": "artifacts", **environ})
    assert set(found.wrappers()) == on


@pytest.mark.parametrize(
    "text",
    [
        "[tools.dice]\nenabled = 'false'",
        "[tools.dice]\nenabled = 'no'",
        "[tools.dice]\nenabled = 0",
        "[tools.dice.enabled]\nx = false",
        "[tools.dice]\nEnabled = false",
        "[tools.dice]\ndisabled = true",
        "[tools]\ndice = 1",
        "[tools]\ndice = false",
        "[[tools.dice]]\nenabled = false",
    ],
    ids=lambda text: text.replace("\n", " "),
)
def test_a_switch_that_is_malformed_is_off_and_says_why(text: str, file: Path) -> None:
    configuration = written(file, text)
    assert configuration.is_disabled("dice")
    assert configuration.why_disabled("dice").startswith(f"[tools.dice] in {file}, wh")
    assert configuration.disabled_tools() == ["dice"]
    assert configuration.memory("dice") == DEFAULT_MEMORY
    assert isinstance(configuration.tool("dice"), dict)


@pytest.mark.parametrize(
    ("text", "problem"), [("memory = -1", True), ("memory = 'much'", True), ("memory = 2048", False), ("", False)]
)
def test_memory_that_is_no_number_of_mebibytes_is_a_problem(text: str, problem: bool, file: Path) -> None:
    configuration = written(file, f"[tools.dice]\n{text}\n")
    assert (configuration.has_memory_problem("dice"), configuration.is_disabled("dice")) == (problem, False)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[tool.weather]\nenabled = false\n", "tools"),
        ("[Tools.weather]\nenabled = false\n", "tools"),
        ("tool = 1\n", "tools"),
        ('[permission]\nunenforced = "refuse"\n', "permissions"),
        ("[wrapper.guard]\nenabled = true\n", "wrappers"),
    ],
)
def test_a_slip_for_a_table_that_decides_what_may_run_is_an_error(file: Path, text: str, meant: str) -> None:
    with pytest.raises(ConfigurationMalformed, match="which nothing reads") as caught:
        written(file, text)
    assert caught.value.hint == f"Write [{meant}]."
