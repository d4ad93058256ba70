"""The YAML block of a note: found, read with its types, written so that every reader understands it."""

import math
from itertools import pairwise

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrule_opennotes.create import fields
from ferrule_opennotes.notebook import frontmatter

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029\ufeff"), max_size=60).filter(
    lambda text: all(character.isprintable() or character in "\n\t" for character in text)
)
WORDS = "yes No on y n ~ null true 1e3 007 0x1F 0o17 12:30 2026-01-01 2026-01-01T10:00:00Z .inf .nan - # a: ' \" | >"
SIGNS = "1_000 &a *a !b % @ ` { [ = << --- ... 1. +1 -.5 0b1 1e999 ١٢"
TRICKY = st.sampled_from([*WORDS.split(), *SIGNS.split(), "- a", "a: b", "a #b", " ", ""])
SCALARS = st.one_of(
    TEXTS, TRICKY, st.integers(-(2**62), 2**62), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
)
FIELDS = st.dictionaries(
    st.one_of(TRICKY, st.text("abcxyz_-. :#", min_size=1, max_size=20)).filter(lambda key: key not in ("<<", "=")),
    st.one_of(SCALARS, st.lists(st.one_of(TEXTS, TRICKY), max_size=4)),
    max_size=5,
)
WHATEVER_THE_LOAD = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def dump(values):
    return fields.write(fields.represent(values))


@WHATEVER_THE_LOAD
@given(FIELDS)
def test_what_is_written_is_what_readers_of_both_yamls_read(values):
    written = dump(values)
    assert frontmatter.load(written) == values
    assert yaml.safe_load(written) == values


@WHATEVER_THE_LOAD
@given(FIELDS)
def test_what_is_written_is_found_again_between_its_rules(values):
    text = f"---\n{dump(values)}---\n\nThe body.\n"
    block, body = frontmatter.split(text)
    assert block is not None
    assert frontmatter.load(block) == values
    assert body == "\nThe body.\n"


@pytest.mark.parametrize(
    ("text", "block", "body"),
    [
        ("---\ntitle: A\n---\nbody", "title: A\n", "body"),
        ("---\r\ntitle: A\r\n---\r\nbody", "title: A\r\n", "body"),
        ("\ufeff---\ntitle: A\n---\nbody", "title: A\n", "body"),
        ("---  \ntitle: A\n...\nbody", "title: A\n", "body"),
        ("---\n---\nbody", "", "body"),
        ("---\ntitle: A\n---", "title: A\n", ""),
        ("---\ntitle: A\nno end", None, "---\ntitle: A\nno end"),
        ("\n---\ntitle: A\n---\n", None, "\n---\ntitle: A\n---\n"),
        ("----\ntitle: A\n---\n", None, "----\ntitle: A\n---\n"),
        ("---\ntitle: A\n ---\nb\n---\nrest", "title: A\n ---\nb\n", "rest"),
        ("", None, ""),
    ],
)
def test_the_block_begins_with_the_file_and_ends_with_a_rule(text, block, body):
    assert frontmatter.split(text) == (block, body)


@pytest.mark.parametrize(
    ("yaml_text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("12:30", "12:30"),
        ("2026-01-28", "2026-01-28"),
        ("2026-01-28T23:30:00+10:30", "2026-01-28T23:30:00+10:30"),
        ("2026-13-45", "2026-13-45"),
        ("007", "007"),
        ("7", 7),
        ("-7", -7),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("1e99999", "1e99999"),
        ("0x1F", 31),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("~", None),
        ("", None),
        ("[a, 1, true]", ["a", 1, True]),
        ("\n  - a\n  - b", ["a", "b"]),
        ("{b: {c: 1}}", {"b": {"c": 1}}),
        ("!custom text", "text"),
        ("!!binary aGk=", "aGk="),
        ("!!python/object:os.system {}", {}),
        ("99999999999999999999999", "99999999999999999999999"),
        ("|\n  one\n  two\n", "one\ntwo\n"),
        ("'it''s'", "it's"),
    ],
)
def test_values_keep_the_types_that_yaml_1_2_gives_them(yaml_text, value):
    assert frontmatter.load(f"a: {yaml_text}") == {"a": value}


@pytest.mark.parametrize("text", ["a: [", "just prose", "- a\n- b", "a: b: c", "a: &x [*x]", "\ta: b", "a: *nowhere"])
def test_what_is_no_mapping_is_no_frontmatter(text):
    assert frontmatter.load(text) is None


def test_a_few_aliases_that_stand_for_billions_of_values_are_no_frontmatter():
    names = "abcdefghij"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]" for before, name in pairwise(names)]
    assert frontmatter.load("\n".join(lines)) is None


@pytest.mark.parametrize("text", ["a: " + "[" * 50_000, "a: " + "{a: " * 50_000, "- " * 50_000, "? " * 50_000])
def test_nesting_that_would_crash_the_parser_is_no_frontmatter(text):
    assert frontmatter.load(text) is None


def test_keys_that_are_no_text_become_text():
    assert frontmatter.load("2: a\ntrue: b\n~: c\n1.5: d") == {"2": "a", "true": "b", "null": "c", "1.5": "d"}


@WHATEVER_THE_LOAD
@given(st.text(max_size=200))
def test_no_text_at_all_makes_the_reader_fail(text):
    for each in (text, f"---\n{text}\n---\n"):
        block, body = frontmatter.split(each)
        assert each.endswith(body)
        fields = frontmatter.load(block) if block is not None else None
        assert fields is None or isinstance(fields, dict)
        assert "nan" not in [str(value) for value in (fields or {}).values() if isinstance(value, float)]
        assert not any(isinstance(value, float) and math.isinf(value) for value in (fields or {}).values())


@pytest.mark.parametrize(
    ("block", "fields"),
    [
        ("x: !!bool maybe", {"x": "maybe"}),
        ("x: !!bool True", {"x": True}),
        ("x: !!set {b, a}", {"x": {"b": None, "a": None}}),
        ('x: "a\\0b"\n"k\\0": [1]', {"x": "a\ufffdb", "k\ufffd": [1]}),
        ("# nothing but a comment", {}),
    ],
)
def test_what_yaml_allows_and_hardly_anybody_writes_is_read(block, fields):
    assert frontmatter.load(block) == fields


@pytest.mark.parametrize(
    ("block", "fields"),
    [
        ("title: Meeting: budget\ntags: [a, b]\n", {"title": "Meeting: budget", "tags": ["a", "b"]}),
        ("title: @home\npriority: 3\n", {"title": "@home", "priority": 3}),
        ('title: "unclosed\nstatus: todo\n', {"title": "unclosed", "status": "todo"}),
        ("title: x\n\tstatus: todo\n", {"title": "x", "status": "todo"}),
        ("tags:\n\t- a\n\t- b\ntitle: a: b\n", {"tags": ["a", "b"], "title": "a: b"}),
        ("# made by hand\n\ntitle: `x`\nempty:\n", {"title": "`x`", "empty": None}),
        ("title: a: b\nmeta:\n  x: 1\n  y: [\n", {"title": "a: b", "meta": ""}),
        ("due date: 2026-01-01: noon\n", {"due date": "2026-01-01: noon"}),
        ("a: b: c\na: d\n", {"a": "d"}),
    ],
)
def test_what_yaml_refuses_is_read_line_by_line(block, fields):
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(block)
    found = frontmatter.read(block)
    assert found.fields == fields
    assert found.fault.startswith("line ")
    assert frontmatter.load(block) is None


@pytest.mark.parametrize("block", ["Some [prose\n", "- [a\n", "prose first [\ntitle: x\n", "a: [\n" * 1_001])
def test_what_has_no_entries_is_no_frontmatter(block):
    assert frontmatter.read(block).fields is None


@pytest.mark.parametrize(
    ("line", "items"),
    [
        ("tags: [@home, work]", ["@home", "work"]),
        ("tags: ['a', \"b\", `c`]", ["a", "b", "`c`"]),
        ("tags: [ ,@a, ]", ["@a"]),
    ],
)
def test_a_list_that_yaml_refuses_is_a_list_all_the_same(line, items):
    assert frontmatter.read(f"title: A: colon\n{line}\n").fields == {"title": "A: colon", "tags": items}


@pytest.mark.parametrize(
    "block", ["a: [" * 60_000, "a:\n" + "\t- [\n" * 40_000, "a: {b: " * 20_000, "\t" * 200_000 + "a: :"]
)
def test_a_hostile_block_is_given_up_soon(block):
    frontmatter.read(block)


VALUES = st.one_of(
    TEXTS, TRICKY, st.text("aZé1_ ./()',!?;&+=-:#[]", max_size=12),
    st.lists(st.text("aZé1_ .'-,", max_size=5)).map(str),
    st.lists(st.text("aZé_ .-", min_size=1, max_size=5)).map(lambda items: f"[{', '.join(items)}]"),
)  # fmt: skip


@WHATEVER_THE_LOAD
@given(st.lists(st.tuples(st.one_of(TRICKY, st.text("abé_-1 ", max_size=4)), VALUES), max_size=3))
def test_plain_lines_are_read_as_yaml_reads_them(pairs):
    block = "".join(f"{name}: {value}\n" for name, value in pairs)
    plain = frontmatter._read_plain(block)
    if plain is not None:
        assert plain == frontmatter._parse(block)
        assert list(plain) == list(frontmatter._parse(block))


@pytest.mark.parametrize(
    "block",
    [
        "title: Note 7, a plan\ntags: [a, b c]\npriority: 3\ncreated: 2026-01-07T10:00:00Z\n",
        "a: x\r\nb: []\r\n",
        "due: 2026-01-07\nx: Über (all)\n",
        "a: one\na: two",
    ],
)
def test_usual_blocks_are_plain(block):
    assert frontmatter._read_plain(block) == frontmatter._parse(block)


@pytest.mark.parametrize(
    "block",
    ["a: true\n", "a: [x, Null]\n", "True: x\n", "a:\n  - b\n", "a: x: y\n", "a: 007\n", "a: x\n  y\n", "a: x # y\n"],
)
def test_other_blocks_are_left_to_yaml(block):
    assert frontmatter._read_plain(block) is None
