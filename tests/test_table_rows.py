"""Which rows of the tables of tests a run makes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

TABLE = """
import pytest

@pytest.mark.process
@pytest.mark.parametrize("row", range(40))
def test_rows(row):
    pass

@pytest.mark.slow
@pytest.mark.parametrize("row", range(40))
def test_slow_rows(row):
    pass

@pytest.mark.slow
def test_alone():
    pass

@pytest.mark.parametrize("row", range(40))
def test_unit_rows(row):
    pass
"""


def test_of_tables_a_run_may_make_the_first_row_and_some_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TABLE)

    def list_tests(choice: str) -> list[str]:
        environment = {**os.environ, "FERRULE_TEST_ROWS": choice}
        named = [f"-pferrule_testkit.runner.{one}" for one in ("tiers", "rows")]
        command = [sys.executable, "-m", "pytest", "-q", "--collect-only", *named, "test_it.py"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return [line.partition("::")[2] for line in done.stdout.splitlines() if line.startswith("test_it.py::")]

    assert len(list_tests("")) == 121
    one, other = set(list_tests("4:one")), set(list_tests("4:other"))
    for chosen in (one, other):
        assert {"test_rows[0]", "test_slow_rows[0]", "test_alone"} <= chosen
        for table in ("test_rows", "test_slow_rows"):
            assert 2 < sum(name.startswith(table + "[") for name in chosen) < 20
        assert sum(name.startswith("test_unit_rows") for name in chosen) == 40
    assert one != other
    assert list_tests("4:one") == [name for name in list_tests("1:") if name in one]
    assert list_tests("four") == []
