"""The address of a keeper, which a program in C finds by the same rules."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from ferrule.links import keeper_address


def test_the_number_of_an_environment_is_the_sum_of_its_base_variables() -> None:
    # FNV-1a-64 of `HOME=/a` and of `LC_ALL=C`, added; the other variables are each call's own.
    environ = {"HOME": "/a", "LC_ALL": "C", "TERM": "xterm", "FERRULE_DEADLINE": "3", "IKIGAI_AGENT_ID": "x"}
    assert keeper_address.environment_number({"HOME": "/a"}) == "9f19ed8b98150ca9"
    assert keeper_address.environment_number(environ) == keeper_address.environment_number(
        {"LC_ALL": "C", "HOME": "/a"}
    )
    assert keeper_address.environment_number({}) == "0" * 16


@pytest.mark.parametrize(
    "name", ["HOME", "PATH", "LC_TIME", "PYTHONPATH", "FERRULE_CONFIG", "LD_PRELOAD", "https_proxy"]
)
def test_what_the_host_goes_by_counts(name: str) -> None:
    assert keeper_address.base_environ({name: "x", "OTHER": "y"}) == {name: "x"}


@pytest.mark.parametrize("name", ["TERM", "PWD", "BRAVE_API_KEY", "IKIGAI_AGENT_ID", "FERRULE_CALLER", "SHLVL"])
def test_what_is_each_calls_own_does_not(name: str) -> None:
    assert keeper_address.base_environ({name: "x"}) == {}


def test_a_folder_counts_where_it_is_this_users_alone() -> None:
    with tempfile.TemporaryDirectory(prefix="f-") as folder:
        assert keeper_address.is_own(folder)
        os.chmod(folder, 0o710)
        assert not keeper_address.is_own(folder)
    assert not keeper_address.is_own(folder)


def test_a_folder_whose_path_leaves_no_room_for_a_socket_does_not_count(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 64)
    folder.mkdir(mode=0o700)
    assert not keeper_address.is_own(str(folder))


def test_an_interpreter_has_one_number_by_all_of_its_names(tmp_path: Path) -> None:
    for folder, names in (("one", ("python", "python3")), ("other", ("python",))):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).symlink_to(sys.executable)
    numbers = [
        keeper_address.installation_number(str(tmp_path / name), [], "1")
        for name in ("one/python", "one/python3", "other/python")
    ]
    assert numbers[0] == numbers[1] != numbers[2]
