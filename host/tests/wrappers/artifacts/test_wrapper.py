"""How much a tool may say where its result is stored instead of sent."""

from types import SimpleNamespace

import pytest

from ferrule import ResultPolicy, WrapperContext
from ferrule.plugin.hooks.context import ANSWER_BYTES
from ferrule.wrappers.artifacts import wrapper
from ferrule_dev.testing import context


@pytest.mark.parametrize(
    ("state", "linkable", "is_more"), [("there", True, True), ("there", False, False), ("/proc/no", True, False)]
)
def test_a_tool_has_more_room_only_where_its_result_can_be_stored(tmp_path, monkeypatch, state, linkable, is_more):
    monkeypatch.setenv("FERRULE_STATE", state if state.startswith("/") else str(tmp_path / state))
    one = WrapperContext(context("any_tool"))
    one.call = SimpleNamespace(result_policy=ResultPolicy(linkable=linkable))
    around = wrapper.execute({}, one)
    next(around)
    assert (one.max_bytes > ANSWER_BYTES) is is_more
    with pytest.raises(StopIteration) as ended:
        around.send({"success": True})
    assert ended.value.value == {"success": True}
    assert one.max_bytes == ANSWER_BYTES
