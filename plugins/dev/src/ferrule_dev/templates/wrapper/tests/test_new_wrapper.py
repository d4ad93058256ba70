"""The wrapper around a tool, through the tool's executable."""

from pathlib import Path

import pytest
from ferrule_dev.testing import run_tool

NAME = "new_wrapper"


@pytest.mark.parametrize(("wrappers", "meta"), [(NAME, {NAME: {"tool": "example"}}), ("", None)])
def test_a_result_names_its_tool_where_the_wrapper_is_on(wrappers: str, meta: object) -> None:
    run = run_tool("example", {"city": "Oslo"}, environ={"FERRULE_WRAPPERS": wrappers})
    assert run.document["greeting"] == "Hello, Oslo!"
    assert run.document.get("_meta") == meta


def test_the_admin_chooses_the_label(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(f'[wrappers.{NAME}]\nlabel = "made_by"\n')
    environ = {"FERRULE_CONFIG": str(settings), "FERRULE_WRAPPERS": NAME}
    run = run_tool("example", {"city": "Oslo"}, environ=environ)
    assert run.document["_meta"] == {NAME: {"made_by": "example"}}
