"""Replies are nested as deep as they are on the page."""

from collections.abc import Callable

import pytest

Write = Callable[[str], str]
NESTED = "- Ann: one\n  - Bob: two\n    - Cy: three\n- Dan: four"


def _page(comment: str, replies: str) -> str:
    def write(text: str, *inner: str) -> str:
        nested = f'<div class="{replies}">{"".join(inner)}</div>' if replies and inner else "".join(inner)
        return f'<div class="{comment}"><div class="body">{text}</div>{nested}</div>'

    return write("Ann: one", write("Bob: two", write("Cy: three"))) + write("Dan: four")


@pytest.mark.parametrize(
    ("comment", "replies"),
    [
        ("comment", ""),
        ("comment", "children"),
        ("comment", "comment__children"),
        ("thing comment", "comments"),
        ("Reply depth", "replies"),
    ],
)
def test_comments_in_comments_are_items_of_nested_lists(write: Write, comment: str, replies: str) -> None:
    assert write(f'<div class="comments">{_page(comment, replies)}</div>') == NESTED


def test_comments_side_by_side_are_no_list(write: Write) -> None:
    assert write("<div class=comment>one</div><div class=comment>two</div>") == "one\n\ntwo"


def test_many_comments_in_each_other_are_read_in_time(write: Write) -> None:
    deep, many = "<div class='comment a b c'>x" * 200, "<div class=comment>y<div class=comment>z</div></div>" * 2_000
    assert write(deep + "</div>" * 200 + many).count("y") == 2_000
