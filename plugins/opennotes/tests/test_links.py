"""What notes point to, on real folders of notes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule_opennotes.links import Links
from ferrule_opennotes.notebook.notebook import Notebook
from ferrule_opennotes.notebook.notes import Note

Linked = Callable[..., tuple[Links, dict[str, Note]]]


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """Write files, by their paths, and give the links between the notes among them, and the notes by their paths."""

    def linked(files: dict[str, str]) -> tuple[Links, dict[str, Note]]:
        root = tmp_path / "notebook"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        notes = Notebook(str(root), ".opennotes.json", {}).list_notes()
        return Links(notes, str(root)), {note.path: note for note in notes}

    return linked


def written(linked: Linked, text: str) -> list[tuple[str, str]]:
    """The links of one note, as they are written, with their kinds."""
    links, notes = linked({"note.md": text})
    return [(target.written, target.kind) for target in links.outgoing(notes["note.md"])]


@pytest.mark.parametrize(
    ("text", "destination"),
    [
        ("[t](a.md)", "a.md"),
        ('[t](a.md "The title")', "a.md"),
        ("[t](a.md 'The title')", "a.md"),
        ("[t]( a.md )", "a.md"),
        ("[t](<a b.md>)", "a b.md"),
        ("[t](<a (b).md>)", "a (b).md"),
        ("[t](a(1).md)", "a(1).md"),
        (r"[t](a\_b.md)", "a_b.md"),
        ("[t](a&amp;b.md)", "a&b.md"),
        ("[a [nested] text](a.md)", "a.md"),
        ("[two\nlines](a.md)", "a.md"),
        ("[](a.md)", "a.md"),
        ("[t](my note.md)", "my note.md"),
        ('[t](my note.md "title")', "my note.md"),
    ],
)
def test_a_markdown_link(linked: Linked, text: str, destination: str) -> None:
    assert written(linked, f"before {text} after") == [(destination, "link")]


@pytest.mark.parametrize(
    ("text", "destination"),
    [
        ("[[a]]", "a"),
        ("[[a|An alias]]", "a"),
        ("[[a#A heading]]", "a#A heading"),
        ("![[a]]", "a"),
        ("[[ a ]]", "a"),
        (r"| [[a\|An alias]] |", "a"),
        ("[[A title: with a colon]]", "A title: with a colon"),
    ],
)
def test_a_wiki_link(linked: Linked, text: str, destination: str) -> None:
    assert written(linked, f"before {text} after") == [(destination, "wiki")]


def test_references_lead_where_their_definitions_say(linked: Linked) -> None:
    text = "[full][Ref], [collapsed][], [short], [none][missing]\n\n"
    definitions = "[ref]: a.md\n[Collapsed]: <b c.md> 'x'\n[short]: c.md\n"
    assert written(linked, text + definitions) == [("a.md", "link"), ("b c.md", "link"), ("c.md", "link")]


def test_a_definition_that_nothing_refers_to_is_no_link(linked: Linked) -> None:
    assert written(linked, "[ref]: a.md\n") == []


def test_a_footnote_is_no_reference(linked: Linked) -> None:
    assert written(linked, "Text[^1].\n\n[^1]: a.md\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "`[t](a.md)`",
        "`` [[a]] ` ``",
        "```\n[t](a.md)\n```",
        "```md\n[[a]]\n~~~\n[[b]]\n````\n",
        "~~~\n[t](a.md)\n```\n[[b]]\n~~~",
        "- item\n\n  ```\n  [[a]]\n  ```\n",
        "> ```\n> [[a]]\n> ```\n",
        "```\n[[a]] in a fence that is never closed",
        "[t](https://example.org/a.md)",
        "[t](mailto:someone@example.org)",
        "[t](//example.org/a.md)",
        "[t](#heading)",
        "[[#heading]]",
        "[[https://example.org]]",
        "[1]",
        "[ ] a task",
        r"\[t](a.md)",
        r"\[[a]]",
        "t](a.md)",
        "[t] (a.md)",
        "a[i](x, y)",
        "[t]()",
        "[one paragraph\n\nand another](a.md)",
    ],
)
def test_what_is_no_link_to_anything_in_the_notebook(linked: Linked, text: str) -> None:
    assert written(linked, text) == []


def test_code_ends_where_it_ends(linked: Linked) -> None:
    text = "`[[a]]` [[b]] ```\n[[c]]\n\n```\n[[d]]\n```\n[[e]] `unclosed [[f]]\n\n[[g]]` \\`[[h]]`"
    assert [page for page, _ in written(linked, text)] == ["b", "c", "e", "f", "g", "h"]


def test_a_backslash_takes_its_meaning_from_one_backtick(linked: Linked) -> None:
    assert [page for page, _ in written(linked, "[[a]] a\\`[[b]]` and `\\` [[c]] \\\\`[[d]]`")] == ["a", "b", "c"]


def test_links_keep_their_order_and_are_told_as_often_as_they_are_there(linked: Linked) -> None:
    text = "---\nlinks: [z.md]\n---\n[[b]] [t](a.md) ![i](c.png) [[b]] [![i](d.png)](e.md)\n"
    assert written(linked, text) == [
        ("z.md", "field"),
        ("b", "wiki"),
        ("a.md", "link"),
        ("c.png", "image"),
        ("b", "wiki"),
        ("e.md", "link"),
        ("d.png", "image"),
    ]


@pytest.mark.parametrize(
    ("block", "destinations"),
    [
        ("links: a.md", ["a.md"]),
        ("links: [a.md, b.md]", ["a.md", "b.md"]),
        ("links:\n  - a.md\n  - b.md", ["a.md", "b.md"]),
        ('links: ["[[a]]", "[t](b.md)"]', ["a", "b.md"]),
        ("links: [[a]]", ["a"]),
        ("links:\n  - https://example.org\n  - b.md", ["b.md"]),
        ("links: 5", []),
        ("links:", []),
        ("tags: [links]", []),
    ],
)
def test_links_of_the_frontmatter(linked: Linked, block: str, destinations: list[str]) -> None:
    assert [destination for destination, _ in written(linked, f"---\n{block}\n---\n")] == destinations


def test_a_block_of_prose_is_text_with_links_in_it(linked: Linked) -> None:
    assert written(linked, "---\nSee [[c]]\n---\n") == [("c", "wiki")]


def test_links_of_a_block_that_yaml_refuses_are_those_of_its_field(linked: Linked) -> None:
    assert written(linked, "---\na: b: [[d]]\nlinks: [c.md]\n---\n") == [("c.md", "field")]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[t](b.md)", "sub/b.md"),
        ("[t](b)", "sub/b.md"),
        ("[t](./b.md)", "sub/b.md"),
        ("[t](../a.md)", "a.md"),
        ("[t](../sub/deep/../b.md)", "sub/b.md"),
        ("[t](a.md)", "a.md"),
        ("[t](/a.md)", "a.md"),
        ("[t](sub/b.md)", "sub/b.md"),
        ("[t](b.md#part)", "sub/b.md"),
        ("[t](b.md?x=1#part)", "sub/b.md"),
        ("[t](with%20blank.md)", "with blank.md"),
        ("[t](<with blank.md>)", "with blank.md"),
        ("[t](C%23.md)", "C#.md"),
        ("[[C#]]", "C#.md"),
        ("[[b]]", "sub/b.md"),
        ("[[b.md]]", "sub/b.md"),
        ("[[b#part|alias]]", "sub/b.md"),
        ("[[only]]", "deep/er/only.md"),
        ("[[The Title]]", "titled.md"),
        ("[[same]]", "sub/same.md"),
        ("[t](same.md)", "sub/same.md"),
        ("---\nlinks: same.md\n---\n", "same.md"),
        ("---\nlinks: b\n---\n", "sub/b.md"),
    ],
)
def test_where_a_link_in_a_folder_leads(linked: Linked, text: str, target: str) -> None:
    others = (
        "a.md",
        "sub/b.md",
        "with blank.md",
        "C#.md",
        "deep/er/only.md",
        "sub/same.md",
        "x/twice.md",
        "y/twice.md",
    )
    files = dict.fromkeys(others, "") | {"titled.md": "---\ntitle: The Title\n---\n", "sub/from.md": text}
    if "links: same" in text:
        files["same.md"] = ""
    links, notes = linked(files)
    assert links.targets(notes["sub/from.md"]) == {target}
    assert links.incoming(target) == {"sub/from.md"}
    assert links.broken(notes["sub/from.md"]) == []


def test_a_wiki_link_prefers_the_root_and_a_markdown_link_its_own_folder(linked: Linked) -> None:
    links, notes = linked({"same.md": "", "sub/same.md": "", "sub/wiki.md": "[[same]]", "sub/md.md": "[t](same.md)"})
    assert links.targets(notes["sub/wiki.md"]) == {"same.md"}
    assert links.targets(notes["sub/md.md"]) == {"sub/same.md"}


def test_broken_links_are_told_as_they_are_written_and_once(linked: Linked) -> None:
    text = "[[gone]] [t](lost%20note.md#x) [[gone]] [t](here.md) ![i](no.png) [t](https://example.org/gone.md)"
    links, notes = linked({"here.md": text})
    assert links.broken(notes["here.md"]) == ["gone", "lost%20note.md#x", "no.png"]


def test_an_alias_is_a_name_of_its_note(linked: Linked) -> None:
    text = "[[Nick]] [[Second name|shown]] [[Third]] [[Nobody]]"
    named = "---\naliases:\n  - Nick\n  - Second name\n---\n"
    links, notes = linked({"here.md": text, "sub/named.md": named, "toml.md": '+++\naliases = ["Third"]\n+++\n'})
    assert links.broken(notes["here.md"]) == ["Nobody"]
    assert links.targets(notes["here.md"]) == {"sub/named.md", "toml.md"}


def test_a_link_to_another_file_or_folder_is_not_broken(linked: Linked) -> None:
    text = "[t](data.csv) ![i](../pictures/p.png) [t](../pictures/) ![[p.png]] [[p.png]]"
    links, notes = linked({"sub/note.md": text, "sub/data.csv": "", "pictures/p.png": ""})
    assert links.broken(notes["sub/note.md"]) == []
    assert links.targets(notes["sub/note.md"]) == set()


def test_an_image_of_a_note_is_no_link_to_it(linked: Linked) -> None:
    links, notes = linked({"a.md": "![i](b.md)", "b.md": "![[a]]"})
    assert links.targets(notes["a.md"]) == set()
    assert links.broken(notes["a.md"]) == []
    assert links.targets(notes["b.md"]) == {"a.md"}


def test_a_name_that_several_notes_have_leads_to_none_and_is_not_broken(linked: Linked) -> None:
    links, notes = linked({"x/twice.md": "", "y/twice.md": "", "note.md": "[[twice]]"})
    assert links.targets(notes["note.md"]) == set()
    assert links.broken(notes["note.md"]) == []


def test_what_lies_outside_of_the_notebook_is_not_looked_at(linked: Linked, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("")
    (tmp_path / "notebook").mkdir()
    (tmp_path / "notebook" / "out").symlink_to(tmp_path)
    links, notes = linked({"note.md": "[a](../outside.md) [b](out/outside.md) [c](/../outside.md) [d](..)"})
    assert links.broken(notes["note.md"]) == ["../outside.md", "out/outside.md", "/../outside.md", ".."]


def test_a_destination_with_a_nul_is_broken(linked: Linked) -> None:
    links, notes = linked({"note.md": "[a](b%00c)"})
    assert links.broken(notes["note.md"]) == ["b%00c"]


def test_a_note_that_points_to_itself_is_among_those_that_point_to_it(linked: Linked) -> None:
    links, _ = linked({"a.md": "[[a]]"})
    assert links.incoming("a.md") == {"a.md"}


@pytest.mark.process
@pytest.mark.parametrize(
    "piece",
    [
        "[", "]", "![", "[[a](", "[a](", "[[", "[[a", "](", "[a](b ", "[a](<", '[a](b "', "[a](b '", "[a](b (",
        "`", "` ", "`` `", "\\", "\\`", "[a]: ", "[a]", "[a][", "\n[a]:\n", "> ", "- ", "\n```\n", "\n~~~", "(",
        "[](", "[a](b)", "[[a]]", "\n \n", "[a](b\\", "[a](%", "[a](&", "[a](a b ",
    ],
)  # fmt: skip
def test_much_of_anything_is_read_like_a_page_of_it(linked: Linked, piece: str) -> None:
    # Linear work takes a second at most; anything worse would not end while somebody waits.
    size = 1_000_000 if piece in ("[", "[[a](") else 200_000
    links, notes = linked({f"{count}.md": f"[x]: y.md\n\n{piece * count}" for count in (50, size // len(piece))})
    short, long = notes.values()
    assert set(links.broken(long)) == set(links.broken(short))


@pytest.mark.slow
@pytest.mark.process
def test_ten_thousand_notes(linked: Linked) -> None:
    files = {
        f"{n % 100}/{n}.md": f"---\ntags: [a]\n---\n[t]({n - 100}.md) [[{n + 1}]]\n\nText.\n" for n in range(10_000)
    }
    links, notes = linked(files)
    assert links.incoming("42/4242.md") == {"41/4241.md", "42/4342.md"}
    assert sum(len(links.broken(note)) for note in notes.values()) == 101


@pytest.mark.parametrize(
    ("text", "destinations"),
    [
        ("```\n[a](b.md)\n\nrest\n```\n", []),
        ("[a][r]\n\nrest\n\n[r]: b.md\n\nrest", ["b.md"]),
        ("rest\n\n[a](b.md) and\nrest\n\n    rest `\n\n- rest", ["b.md"]),
        ("[a](b.md \"two\nlines\")\n\nrest", ["b.md"]),
        ("rest\r\n\r\n[a](b.md)\r\n\r\nrest", ["b.md"]),
    ],
)  # fmt: skip
def test_what_stands_around_a_paragraph_with_links(linked: Linked, text: str, destinations: list[str]) -> None:
    assert [destination for destination, _ in written(linked, text)] == destinations
