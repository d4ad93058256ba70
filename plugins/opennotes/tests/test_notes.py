"""One note as it lies on disk."""

import os

import pytest

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.notes import Note


@pytest.fixture
def note(tmp_path):
    def make(text, mtime=1_760_000_000.0):
        file = tmp_path / "a-note.md"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Note("a-note.md", str(file), mtime)

    return make


def test_a_summary_says_what_the_frontmatter_says(note):
    text = "---\ntitle: One\ntags: [a, b]\ncreated: 2026-01-28T23:30:00+10:30\nmodified: 2026-02-01\n---\nbody\n"
    assert note(text).summarize() == {
        "path": "a-note.md",
        "title": "One",
        "tags": ["a", "b"],
        "created": "2026-01-28T23:30:00+10:30",
        "modified": "2026-02-01",
    }


def test_a_note_without_frontmatter_has_its_path_and_the_time_of_its_file(note):
    assert note("Text.\n").summarize() == {"path": "a-note.md", "modified": "2025-10-09T08:53:20Z"}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# First\n\n# Second\n", "First"),
        ("Text.\n\n## A **bold** `word` of [a page](x.md) ##\n", "A bold word of a page"),
        ("---\nstatus: todo\n---\n# Below\n", "Below"),
        ("---\ntitle: Above\n---\n# Below\n", "Above"),
        ("---\ntitle: ''\n---\n# Below\n", "Below"),
        ("Underlined\n==========\n\n# Later\n", "Underlined"),
        ("# snake_case and _stress_\r\n", "snake_case and stress"),
        ("```sh\n# a comment\n```\n\n# Behind\n", "Behind"),
        ("~~~\n# never closed\n", None),
        ("#tag\n\n####### seven\n\n    # code\n", None),
        ("| a | b |\n|---|---|\n", None),
        ("x" * 9000 + "\n\n# Far below\n", "Far below"),
        ("# " + " " * 200_000 + "x", "x"),
    ],
)
def test_the_first_heading_is_the_title_where_the_frontmatter_has_none(note, text, title):
    assert note(text).title == title


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("About #work and #home/garden, #2026-plan\n#Ünïcode\n", ["work", "home/garden", "2026-plan", "Ünïcode"]),
        ("---\ntags: [a, work]\n---\n#work #b #b\n", ["a", "work", "b"]),
        ("Number #123, C#, a#b, [x](y#z), [[page#part]], ## Heading #\n", []),
        ("`#code` ``#more`` #real\n```\n#fenced\n```\n", ["real"]),
        ("---\ntags: ['#a', b]\n---\n#a\n", ["a", "b"]),
    ],
)
def test_tags_in_the_text_count_as_those_of_the_frontmatter(note, text, tags):
    assert note(text).tags == tags


@pytest.mark.parametrize(
    "text",
    [
        '+++\ntitle = "One"\ntags = ["a", "b"]\ndate = 2026-01-28T23:30:00Z\nlastmod = 2026-02-01\n+++\n\nbody\n',
        '+++\r\ntitle = "One"\r\ntags = ["a", "b"]\r\ndate = 2026-01-28T23:30:00Z\r\nlastmod = 2026-02-01\r\n+++\nb\n',
        '{\n"title": "One", "tags": ["a", "b"],\n"date": "2026-01-28T23:30:00Z", "lastmod": "2026-02-01"\n}\nbody\n',
        '\ufeff{"title": "One", "tags": ["a", "b"], "date": "2026-01-28T23:30:00Z", "lastmod": "2026-02-01"}\nbody\n',
    ],
)
def test_toml_and_json_are_frontmatter_as_well(note, text):
    one = note(text)
    assert (one.title, one.tags, one.created, one.fault) == ("One", ["a", "b"], "2026-01-28T23:30:00Z", None)
    assert one.frontmatter["lastmod"] == "2026-02-01"
    assert one.body.strip()[0] == "b"


def test_values_of_toml_and_json_become_those_that_json_has(note):
    text = "+++\na = 1979-05-27\nb = 07:32:00\nc = inf\nd = 99999999999999999999\n[e]\nf = [1, 2.5, true]\n+++\n"
    expected = {"a": "1979-05-27", "b": "07:32:00", "c": "inf", "d": "99999999999999999999", "e": {"f": [1, 2.5, True]}}
    assert note(text).frontmatter == expected
    assert note('{"a": NaN, "b": null, "c": 1e999}\n').frontmatter == {"a": "nan", "b": None, "c": "inf"}


@pytest.mark.parametrize(
    "text",
    [
        "{{< figure >}}\ntext\n",
        "{ curly }\n",
        '{"a": 1} and more\n',
        '{"a": 1\n\ntext\n',
        "[1]\n",
        "+++\nno end\n",
        "{" * 90_000,
    ],
)
def test_what_only_looks_like_toml_or_json_is_text(note, text):
    one = note(text)
    assert (one.frontmatter, one.fault, one.body) == ({}, None, text)


def test_toml_that_is_none_counts_as_text_and_says_so(note):
    one = note("+++\ntitle = One\n+++\nbody\n")
    assert one.frontmatter == {}
    assert one.body.startswith("+++")
    assert one.fault.startswith("TOML refuses the frontmatter (")
    assert one.fault.endswith("so it counts as text.")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_as_what_it_is(note, encoding):
    one = note("---\ntitle: Grüße\n---\nÄ body of some words.\n".encode(encoding))
    assert (one.title, one.encoding[:6]) == ("Grüße", "utf-16")
    assert one.text.endswith("Ä body of some words.\n")
    assert "\ufffd" not in one.text


@pytest.mark.parametrize(
    ("fields", "tags"),
    [
        ("tags: [a, b]", ["a", "b"]),
        ("tags:\n  - a\n  - b", ["a", "b"]),
        ("tags: a, b", ["a", "b"]),
        ("tags: a", ["a"]),
        ("tag: a", ["a"]),
        ("tag: [a]\ntags: [b, a]", ["b", "a"]),
        ("tags: [1, true]", ["1", "true"]),
        ("tags: 'single quoted'", ["single quoted"]),
        ("tags:", []),
        ("tags: []", []),
        ("tags: {a: b}", []),
    ],
)
def test_tags_are_read_in_every_form_that_notes_have_them_in(note, fields, tags):
    assert note(f"---\n{fields}\n---\n").tags == tags


@pytest.mark.parametrize(
    ("value", "title"),
    [("2026", "2026"), ("'Quoted: yes'", "Quoted: yes"), ("true", "true"), ("''", None), ("[a]", None), ("", None)],
)
def test_a_title_is_text_whatever_yaml_takes_it_for(note, value, title):
    assert note(f"---\ntitle: {value}\n---\n").title == title


@pytest.mark.parametrize("field", ["modified", "updated", "updated_at", "'modified'", '"modified"'])
def test_a_note_may_say_itself_when_it_was_modified(note, field):
    assert note(f"---\n{field}: 2026-01-02\n---\n").modified == "2026-01-02"


@pytest.mark.parametrize("value", ["yesterday", "20260102", "[2026-01-02]", "2026-02-30", ""])
def test_what_is_no_date_does_not_count_as_one(note, value):
    assert note(f"---\nmodified: {value}\n---\n").modified == "2025-10-09T08:53:20Z"


def test_frontmatter_longer_than_what_is_read_first_is_read_whole(note):
    one = note("---\n" + "".join(f"field{number}: {'x' * 90}\n" for number in range(500)) + "title: Late\n---\nbody\n")
    assert one.title == "Late"
    assert one.body == "body\n"


def test_a_long_body_is_read_whole_after_its_frontmatter_was_read(note):
    text = "---\ntitle: One\n---\n" + "ä line\n" * 5000
    one = note(text)
    assert one.title == "One"
    assert one.text == text
    assert one.body == "ä line\n" * 5000


def test_bytes_that_are_no_utf_8_are_replaced_and_hide_nothing(note):
    assert note(b"---\ntitle: A\n---\n\xff\xfe text").text == "---\ntitle: A\n---\n\ufffd\ufffd text"


def test_prose_between_rules_stays_in_the_body(note):
    one = note("---\nSome [prose\n---\nbody\n")
    assert one.frontmatter == {}
    assert one.body == "---\nSome [prose\n---\nbody\n"


def test_frontmatter_that_yaml_refuses_is_no_part_of_the_body(note):
    one = note("---\ntitle: [\n---\nbody\n")
    assert one.frontmatter == {"title": "["}
    assert one.body == "body\n"
    assert one.fault.startswith("YAML refuses the frontmatter (line ")
    assert one.fault.endswith("so it is read line by line.")


def test_a_note_that_is_gone_is_empty(note, tmp_path):
    one = note("text")
    (tmp_path / "a-note.md").unlink()
    assert one.text == ""
    assert one.summarize()["path"] == "a-note.md"


def test_a_pipe_in_the_place_of_a_note_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    assert Note("pipe.md", str(tmp_path / "pipe.md"), 0.0).text == ""


def test_instants_in_other_zones_are_put_in_order():
    texts = ["2026-01-28T23:30:00+10:30", "2026-01-28T12:00:00Z", "2026-01-28T14:00:00+00:00"]
    assert sorted(texts, key=dates.to_seconds) == [texts[1], texts[0], texts[2]]


def test_a_nul_is_replaced_since_the_client_cannot_store_it(note):
    assert note("a\0b").text == "a\ufffdb"
    assert note('---\ntitle: "a\\0b"\n---\n').title == "a\ufffdb"


@pytest.mark.parametrize(
    ("mtime", "modified"),
    [(1e13, "9999-12-31T23:59:59Z"), (-1e13, "0001-01-01T00:00:00Z"), (-1.0, "1969-12-31T23:59:59Z")],
)
def test_the_time_of_a_file_may_be_any_number(note, mtime, modified):
    assert note("", mtime).modified == modified


def test_a_folded_title_ends_with_its_last_word(note):
    assert note("---\ntitle: >\n  One\n  title\n---\n").title == "One title"
