"""Buttons, fields and icons are read where they are content, and left out where they only operate the page."""

from collections.abc import Callable

import pytest

Write = Callable[[str], str]
PROSE = f"<p>{'Some text. ' * 60}</p>"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>The <button>spillway</button> is open.</p>", "The spillway is open."),
        ("<p>Press <button>Copy</button> to copy it.</p>", "Press Copy to copy it."),
        ("<p>Text <button>Share</button></p>", "Text"),
        ("<p>Text</p><button>Menu</button><div><button>Show all</button></div>", "Text"),
        ("<p>Mug</p><button disabled>Sold out</button>", "Mug\n\nSold out"),
        ("<div><button role=radio>S</button><button role=radio disabled>M</button></div>", "S\n\nM (disabled)"),
        (
            "<button><h3>Basic</h3><p>For small teams that fetch pages from a few sites, and read them.</p></button>",
            "### Basic\n\nFor small teams that fetch pages from a few sites, and read them.",
        ),
        ("<nav><button>Products</button></nav><p>Text</p>", "Text"),
    ],
)
def test_a_button_is_read_in_a_sentence_as_a_state_and_as_a_card(write: Write, html: str, markdown: str) -> None:
    assert write(html) == markdown


def test_buttons_of_a_table_name_its_columns_and_hold_its_values(write: Write) -> None:
    html = (
        "<table><tr><th><button>Name</button></th><th><button>Since<svg></svg></button></th><th></th></tr>"
        "<tr><td>gap</td><td><button><span>Full support</span> 63</button></td><td><button>Edit</button></td></tr></table>"  # noqa: E501 - a page's own line
    )
    assert write(html) == "| Name | Since |  |\n| --- | --- | --- |\n| gap | Full support 63 |  |"


def _write_cell(write: Write, cell: str) -> str:
    row = write(f"<table><tr><th>a<th>b<tr><td>x<td>{cell}</table>").split("\n")[-1]
    return row.removeprefix("| x | ").removesuffix("|").strip()


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('<svg aria-label="Yes"><path/></svg>', "Yes"),
        ("<svg><title>Included</title><path/></svg>", "Included"),
        ('<i class="y" title="No"></i>', "No"),
        ('<span aria-label="Nicht enthalten"></span>', "Nicht enthalten"),
        ('<i class="fa fa-check"></i>', "✓"),
        ('<svg class="lucide lucide-x"><path/></svg>', "✗"),
        ('<svg><use href="#icon-check"></use></svg>', "✓"),
        ("<input type=checkbox checked>", "[x]"),
        ('<div role="img" aria-label="4.5 out of 5 stars"><svg></svg></div>', "4.5 out of 5 stars"),
        ('<a href="/x"><svg aria-label="Open"></svg></a>', ""),
        ('text <svg aria-label="Info"><path/></svg>', "text"),
        ("<input value=42>", "42"),
    ],
)
def test_an_icon_or_a_field_that_fills_a_cell_is_its_text(write: Write, cell: str, text: str) -> None:
    assert _write_cell(write, cell) == text


def test_boxes_are_written_where_some_are_checked(write: Write) -> None:
    rows = "<tr><td>y<td><input type=checkbox{}><tr><td>z<td><input type=checkbox>"
    assert write(f"<table><tr><th>a<th>b{rows.format(' checked')}</table>").endswith("| y | [x] |\n| z | [ ] |")
    assert write(f"<table><tr><th>a<th>b{rows.format('')}</table>").endswith("| y |  |\n| z |  |")


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<div role="img" aria-label="4.5 out of 5 stars"><svg></svg></div><p>Good</p>', "4.5 out of 5 stars\n\nGood"),
        ('<div><svg aria-label="Accepted"></svg></div><p>An answer</p>', "Accepted\n\nAn answer"),
        (
            '<ul><li><svg aria-label="Included"></svg> Users<li><svg aria-label="Not included"></svg> Keys</ul>',
            "- Included Users\n- Not included Keys",
        ),
        ('<ul><li><svg aria-label="Cart"></svg> Users</ul><p><svg aria-label="Logo"></svg></p>', "- Users"),
        ("<p>Score <meter value=4 max=5></meter></p>", "Score 4 of 5"),
        ('<p>On <time datetime="2024-01-02"></time></p>', "On 2024-01-02"),
    ],
)
def test_ratings_states_and_moments_are_read(write: Write, html: str, markdown: str) -> None:
    assert write(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<select name=size><option>S<option>M<option disabled>L</select>"
            "<select name=qty><option>1<option>2</select><select name=lang><option>English<option>Deutsch</select>",
            "S; M; L (disabled)",
        ),
        ('<form action="/cart/add"><select aria-label="Wood"><option>Oak<option>Ash</select></form>', "Wood: Oak; Ash"),
        (
            "<input type=radio id=a><label for=a>S</label><input type=radio id=b disabled><label for=b>M</label>",
            "S M (disabled)",
        ),
        ("<p>Run <input readonly value='npm i x'> now</p>", "Run npm i x now"),
        ("<input value=typed><input readonly value='https://site.example/share'>", ""),
    ],
)
def test_choices_and_values_are_read_where_they_are_content(write: Write, html: str, markdown: str) -> None:
    assert write(PROSE + html).replace(("Some text. " * 60).strip(), "").strip() == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p><span>€180</span><span>€150</span><span>Sold out</span></p>", "€180 €150 Sold out"),
        ("<p><del>€180</del><ins>€150</ins></p>", "~~€180~~ €150"),
        ("<p><a>Blue mug</a><span>€20</span></p>", "Blue mug €20"),
        ("<p><span>Blue mug</span><span>20,50 €</span></p>", "Blue mug 20,50 €"),
        ("<p><span>word</span><span>s</span></p>", "words"),
    ],
)
def test_names_prices_and_states_do_not_run_together(write: Write, html: str, markdown: str) -> None:
    assert write(html) == markdown


def test_many_icons_in_a_cell_and_many_buttons_are_read_in_time(write: Write) -> None:
    icons = '<svg aria-label="Yes"><title>Yes</title></svg>' * 5_000
    buttons = "word <button>Name</button> " * 5_000
    assert "word" in write(f"<table><tr><th>a<th>b<tr><td>x<td>{icons}</table><p>{buttons}</p>")
