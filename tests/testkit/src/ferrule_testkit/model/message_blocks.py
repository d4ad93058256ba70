"""Content blocks of a model's message, as hypothesis makes them up: sound, odd, and of kinds that nobody knows yet."""

from hypothesis import strategies as st

from ferrule_testkit.model.memory_tools import SEARCH

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_names = st.sampled_from([SEARCH, "web_search", "", "rm -rf"])
_tool_uses = st.builds(
    lambda id, name, input, more: {"type": "tool_use", "id": id, "name": name, "input": input, **more},
    st.sampled_from(["toolu_1", "toolu_2", "toolu_3"]),
    _names,
    _values,
    st.sampled_from([{}, {"caller": {"type": "direct"}}]),
)
blocks = st.one_of(
    _tool_uses,
    st.builds(lambda text: {"type": "text", "text": text}, st.text()),
    st.builds(lambda data: {"type": "redacted_thinking", "data": data}, st.text()),
    st.builds(lambda kind, value: {"type": kind, "value": value}, st.sampled_from(["new_block", "image"]), _values),
)
