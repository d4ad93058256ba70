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


LEVELS = [("Ann: one", 0), ("Bob: two", 1), ("Cy: three", 2), ("Dan: four", 0)]


def test_comments_that_say_how_deep_they_are_are_nested(write: Write) -> None:
    divs = (f'<div class="comment" data-depth="{level}"><p>{text}</p></div>' for text, level in LEVELS)
    assert write("".join(divs)).replace("\n\n", "\n") == NESTED
    rows = (
        f'<tr><td><table><tr><td indent="{level}"><img src="s.gif"></td><td><a id="up"></a></td><td>{text}</td></tr></table>'  # noqa: E501 - a page's own line
        for text, level in LEVELS
    )
    assert write(f"<table>{''.join(rows)}</table><p>Text</p>") == f"{NESTED}\n\nText"


def test_a_comment_that_is_deeper_than_one_before_answers_it(write: Write) -> None:
    html = "".join(f'<div data-depth="{level}">{level}</div>' for level in (7, 9, 3, 99, 98, 0, 1))
    assert write(html) == "- 7\n  - 9\n- 3\n  - 99\n  - 98\n- 0\n  - 1"


def test_comments_side_by_side_are_no_list(write: Write) -> None:
    assert write("<div class=comment>one</div><div class=comment>two</div>") == "one\n\ntwo"


def test_many_comments_in_each_other_are_read_in_time(write: Write) -> None:
    deep, many = "<div class='comment a b c'>x" * 200, "<div class=comment>y<div class=comment>z</div></div>" * 2_000
    assert write(deep + "</div>" * 200 + many).count("y") == 2_000
