"""What stands instead of a large result says what it is about, in at most 300 characters."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.wrappers.artifacts.summary import summary

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=60), inner, max_size=20),
    max_leaves=20,
)
KNOWN = st.dictionaries(st.sampled_from(["title", "name", "content", "text", "url", "metadata", "results"]), JSON)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(
            {"title": "Tea", "content": "Tea is a drink. It is hot."},
            "Tea. Tea is a drink. Keys: title (3 characters), content (26 characters).",
            id="title-and-sentence",
        ),
        pytest.param({"metadata": {"title": "Tea"}}, "Tea. Keys: metadata (1 member).", id="title-in-the-metadata"),
        pytest.param(
            {"query": "best tea?", "results": [1, 2]},
            "best tea? Keys: query (9 characters), results (2 items).",
            id="query",
        ),
        pytest.param({"results": [1, 2], "n": 1}, "Keys: results (2 items), n.", id="keys-alone"),
        pytest.param(
            {"title": " ", "text": "\n One\ntwo "},
            "One two. Keys: title (1 character), text (10 characters).",
            id="blank",
        ),
        pytest.param({"title": 5, "text": ["x"]}, "Keys: title, text (1 item).", id="other-types"),
        pytest.param([1, 2], "Keys: .", id="no-object"),
        pytest.param(
            {"success": True, "content": [{"type": "text", "text": text} for text in ("Tea is hot.", "So it is.")]},
            "Tea is hot. Items: 2 text.",
            id="content",
        ),
    ],
)
def test_a_summary_has_what_there_is_of_title_sentence_and_keys(document: Any, expected: str) -> None:
    assert summary(document, "artifact_read") == f"{expected} Read it with artifact_read."


def test_more_than_twelve_keys_are_counted() -> None:
    text = summary({f"key{number}": number for number in range(1000)}, "artifact_read")
    assert "key11, 988 more." in text


@pytest.mark.slow
@pytest.mark.process
@given(document=JSON | KNOWN)
def test_a_summary_of_anything_is_short_printable_and_says_how_it_is_read(document: Any) -> None:
    text = summary(document, "artifact_read")
    assert len(text) <= 300
    assert text.isprintable()
    assert text.endswith(" Read it with artifact_read.")


def test_what_cannot_be_seen_does_not_get_into_a_summary() -> None:
    text = summary({"title": "T\u202eea\x1b[31m\u200b", "content": "a\u2066b.\x07"}, "artifact_read")
    assert text.startswith("Tea[31m. ab. Keys")
