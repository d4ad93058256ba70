"""A list looks for each module once, and what comes after it looks anew."""

from pathlib import Path

import pytest

from ferrule.schema.schema_file import RememberedModules, find_module_file


def test_a_module_is_looked_for_once_while_it_is_remembered_and_anew_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    with RememberedModules():
        assert find_module_file("came_later") is None
        (tmp_path / "came_later.py").write_text("")
        assert find_module_file("came_later") is None
        assert find_module_file("came_later", [str(tmp_path)]) is not None
    assert find_module_file("came_later") == str(tmp_path / "came_later.py")
