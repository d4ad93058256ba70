"""What stands on the pages of a PDF comes back in its order, as what it is."""

import pytest

from ferrule_fetch.formats.pdf.document import Document
from ferrule_fetch.formats.pdf.front import Front
from ferrule_testkit.documents import drawn_pdf, line

PROSE = "Water of the river was measured at this place"


def read(page: str, **more: dict[str, tuple[int, ...]]) -> str:
    """The markdown of a page that a stream draws."""
    return Document(drawn_pdf([page], **more)).read(0, "http://h/").text  # type: ignore[arg-type] # one parameter of many


def lines(texts: list[str], left: float = 72, top: float = 700, size: float = 10) -> str:
    return "".join(line(text, left, top - 12 * number, size) for number, text in enumerate(texts))


def grid(across: list[int], down: list[int]) -> str:
    """The rules of a table with cells between all of these places."""
    level = [f"{across[0]} {y} m {across[-1]} {y} l S\n" for y in down]
    return "".join(level + [f"{x} {down[0]} m {x} {down[-1]} l S\n" for x in across])


def test_lines_of_a_paragraph_are_joined_and_paragraphs_are_not() -> None:
    page = lines([f"{PROSE},", "and its quality was found to be good in the end."]) + lines([f"{PROSE}."], top=660)
    assert read(page) == f"{PROSE}, and its quality was found to be good in the end.\n\n{PROSE}."


@pytest.mark.parametrize(("first", "joined"), [("exam-", "example"), ("UTF-", "UTF-ple"), ("-", "- ple")])
def test_a_word_that_is_divided_at_the_end_of_a_line_becomes_whole(first: str, joined: str) -> None:
    assert read(lines([f"{PROSE} {first}", f"ple {PROSE}"])) == f"{PROSE} {joined} {PROSE}"


def test_columns_are_read_one_after_the_other() -> None:
    left = [f"L{number} is a line of the left column" for number in range(8)]
    right = [f"R{number} is a line of the right one" for number in range(8)]
    title = line("A title that stands across both of the columns", 72, 740, 20)
    page = title + "".join(
        lines([a], 72, 700 - 12 * n) + lines([b], 320, 700 - 12 * n)
        for n, (a, b) in enumerate(zip(left, right, strict=True))
    )
    text = read(page)
    assert text.startswith("### A title that stands across both of the columns\n\nL0")
    assert text.index("L7") < text.index("R0")
    assert " ".join(left) in text
    assert " ".join(right) in text


def test_what_stands_below_columns_is_read_after_them() -> None:
    columns = lines([f"L{n} is a line of the left column" for n in range(6)])
    columns += lines([f"R{n} is a line of the right one" for n in range(6)], 320)
    text = read(columns + lines([f"Last: {PROSE} {PROSE}"], top=600) + line("7", 300, 30))
    assert text.index("L5") < text.index("R0") < text.index("R5") < text.index("Last:")
    assert text.endswith("\n\n7")


def test_a_table_with_rules_is_a_table_in_its_place() -> None:
    cells = [["Station", "Value"], ["North", "1"], ["South | bank", "2"]]
    drawn = "".join(
        line(cell, 104 + 100 * x, 606 - 20 * y) for y, row in enumerate(cells) for x, cell in enumerate(row)
    )
    page = lines(["Before."]) + grid([100, 200, 300], [560, 580, 600, 620]) + drawn + lines(["After."], top=500)
    table = "| Station | Value |\n| --- | --- |\n| North | 1 |\n| South \\| bank | 2 |"
    assert read(page) == f"Before.\n\n{table}\n\nAfter."


def test_the_lines_of_a_cell_are_one_cell() -> None:
    drawn = line("Name", 104, 606) + line("Remark", 204, 606) + line("North", 104, 585)
    drawn += line("first line", 204, 588) + line("second", 204, 576)
    assert read(grid([100, 200, 300], [570, 600, 620]) + drawn).endswith("| North | first line second |")


def test_a_frame_around_text_is_no_table() -> None:
    assert read(grid([60, 500], [600, 720]) + lines([PROSE, PROSE])) == f"{PROSE} {PROSE}"


def test_a_table_without_rules_is_a_table() -> None:
    rows = [("Station", "2022", "2023"), ("North", "12.5", "13.1"), ("South bank", "9.8", "10.4"), ("East", "7", "8")]
    drawn = "".join(line(cell, 100 + 90 * x, 600 - 14 * y) for y, row in enumerate(rows) for x, cell in enumerate(row))
    text = read(lines([f"{PROSE} and {PROSE.lower()}."]) + drawn)
    assert text.endswith(
        "| Station | 2022 | 2023 |\n| --- | --- | --- |\n| North | 12.5 | 13.1 |\n"
        "| South bank | 9.8 | 10.4 |\n| East | 7 | 8 |"
    )


def test_headings_are_told_by_their_size_and_by_their_weight() -> None:
    body = lines([PROSE, PROSE, PROSE], top=600)
    page = line("Large", 72, 740, 20) + line("Middle", 72, 700, 12) + line("Bold", 72, 640, 10, "F2") + body
    assert read(page).startswith("### Large\n\n#### Middle\n\n##### Bold\n\nWater")


def test_short_lines_that_were_ended_on_purpose_stay_apart() -> None:
    assert read(lines([PROSE, "One thing", "Another", "A third"])) == f"{PROSE} One thing\n\nAnother\n\nA third"


def test_items_are_a_list() -> None:
    assert read(lines(["1. First thing", "2. Second thing"])) == "1. First thing\n2. Second thing"
    bullet = "\\267"
    assert read(lines([f"{bullet} First thing", f"{bullet} Second thing"])) == "- First thing\n- Second thing"


def test_lines_of_code_stay_lines() -> None:
    code = line("def read\\(\\):", 72, 660, 10, "F3") + line("return [x]", 96, 648, 10, "F3")
    assert read(lines([PROSE]) + code) == f"{PROSE}\n\n```\ndef read():\n    return [x]\n```"


def test_a_table_of_contents_has_its_lines() -> None:
    text = read(lines(["Introduction . . . . . . . . . . 5", "Methods .................... 17"]))
    assert text == "Introduction … 5\n\nMethods … 17"


def test_a_heading_of_two_lines_is_one() -> None:
    heading = line("A heading that", 72, 740, 14) + line("goes on", 72, 722, 14)
    assert read(heading + lines([PROSE, PROSE, PROSE])).startswith("#### A heading that goes on\n\n")


def test_a_link_is_a_link_where_it_stands() -> None:
    page = line("See here now", 72, 700)
    assert read(page, links={"/there": (92, 698, 111, 712)}) == "See [here](http://h/there) now"
    assert read(page, links={"javascript:x": (92, 698, 111, 712)}) == "See here now"


def test_what_looks_like_markdown_stays_text() -> None:
    assert read(line("[a]\\(http://h/\\) <b> # *x*", 72, 700)) == "\\[a\\](http://h/) \\<b> # \\*x\\*"


def test_text_on_its_side_is_read_last_and_as_words() -> None:
    page = "BT /F1 20 Tf 0 1 -1 0 30 300 Tm (Preprint of May) Tj ET\n" + lines([PROSE])
    assert read(page) == f"{PROSE}\n\nPreprint of May"


def test_a_page_without_text_that_a_picture_covers_says_so() -> None:
    picture = "612 0 0 792 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI"
    record = Document(drawn_pdf([picture])).read(0, "")
    assert (record.text, record.note) == ("", "[This page is a picture without text, as scanners make it.]")


PAPER = (
    line("The water of the rivers", 72, 740, 20)
    + line("Ann Lee1, Bo van Ek2 and Cy Dee", 72, 715)
    + line("Published 12 March 2024", 72, 690)
    + lines([PROSE, PROSE, PROSE], top=600)
)


@pytest.mark.parametrize(
    ("page", "facts", "front"),
    [
        (PAPER, "", Front("The water of the rivers", "Ann Lee, Bo van Ek, Cy Dee", "2024-03-12")),
        (PAPER, "/Title (Rivers) /Author (A. Lee)", Front("Rivers", "A. Lee", "2024-03-12")),
        (
            PAPER,
            "/Title (untitled) /Author (anonymous)",
            Front("The water of the rivers", "Ann Lee, Bo van Ek, Cy Dee", "2024-03-12"),
        ),
        (lines([PROSE]), "/CreationDate (D:20230405120000Z)", Front("", "", "2023-04-05")),
        (lines([PROSE]), "/CreationDate (yesterday)", Front()),
    ],
)
def test_title_authors_and_date_are_those_of_the_file_or_of_its_first_page(page: str, facts: str, front: Front) -> None:
    assert Document(drawn_pdf([page], facts)).read(0, "").front == front
