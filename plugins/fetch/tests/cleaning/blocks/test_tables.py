"""Tables of data keep their cells; others become what stands in them."""

from collections.abc import Callable

import pytest

Write = Callable[[str], str]


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<table><tr><th>Year<th>Who<tr><td rowspan=2>1990<td>A<tr><td>B</table>",
            "| Year | Who |\n| --- | --- |\n| 1990 | A |\n| 1990 | B |",
        ),
        (
            "<table><tr><th>a<th>b<th>c<tr><td>1<td rowspan=2>2<td>3<tr><td>4<td>5</table>",
            "| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 | 2 | 5 |",
        ),
        (
            "<table><tr><th colspan=2>a<th>b<tr><td>1<td>2<td>3</table>",
            "| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        ),
        (
            "<table><tr><th>Name<th>Example<tr><td>get<td><pre>x = 1\nget(x)</pre></table>",
            "| Name | Example |\n| --- | --- |\n| get | `x = 1` `get(x)` |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><p>x</p><p>y</p><td>1<br>2</table>",
            "| a | b |\n| --- | --- |\n| x y | 1 2 |",
        ),
        ("<table role=presentation><tr><td>a<td>b</table>", "a\n\nb"),
        ("<table><tr><td><h2>a</h2>b<td>c</table>", "## a\n\nb\n\nc"),
        ("<table><tr><td>a<td><table><tr><td>b<td>c</table></table>", "a\n\n| b | c |\n| --- | --- |"),
    ],
)
def test_a_table(write: Write, html: str, markdown: str) -> None:
    assert write(html) == markdown


def test_spans_cannot_make_a_page_swell(write: Write) -> None:
    html = "<table>" + "<tr><td colspan=1000 rowspan=1000>a<td>b" * 200 + "</table>"
    assert len(write(html)) < 1_000_000


def test_a_table_made_by_roles_is_a_table(write: Write) -> None:
    html = (
        '<div role="table" aria-label="Dams"><div role="rowgroup"><div role="row"><span role="columnheader">Name</span>'
        '<span role="columnheader">Height</span></div></div><div role="rowgroup"><div role="row"><div>'
        '<span role="cell">A</span></div><span role="cell"><p>30 m</p></span></div></div></div>'
    )
    assert write(html) == "Dams\n\n| Name | Height |\n| --- | --- |\n| A | 30 m |"


def test_a_grid_of_one_column_is_no_table(write: Write) -> None:
    row = '<div role="row"><div role="gridcell">{}</div></div>'
    assert write(f'<div role="grid">{row.format("a")}{row.format("b")}</div>') == "a\n\nb"
