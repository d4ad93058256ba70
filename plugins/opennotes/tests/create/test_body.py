"""One block of frontmatter, whatever goes into it, and the body as it was given."""

import json
import re
import string
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule import ToolError
from ferrule_opennotes.create.body import compose, parse, parse_template
from ferrule_opennotes.notebook import frontmatter
from ferrule_testkit.effort import examples

CREATED = "2026-01-28T14:30:00+10:30"
TYPED = "true False yes NO on off y N ~ null Null 1e3 1E3 .5 -1 +1 0x1F 0o17 017 007 0b11 1_000 1. +.5e-3"
DATED = "2026-01-01 2026-01-01T10:00:00Z 12:30 190:20:30 .inf -.INF .nan NaN"
SIGNS = "= << - ? : | > * & ! % @ ` # [] {} --- ... !!str"
AMBIGUOUS = f"{TYPED} {DATED} {SIGNS}".split()
# What the core schema of YAML 1.2 takes for something else than text, from its specification.
CORE = re.compile(
    r"null|Null|NULL|~||true|True|TRUE|false|False|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN"
)

# Without NUL, which no call can hold.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
texts |= st.sampled_from(AMBIGUOUS)
lines = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=200)
numbers = st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = texts | numbers | st.booleans() | st.lists(texts, max_size=5)
datas = st.dictionaries(lines.filter(lambda key: key not in ("title", "created")), values, max_size=6)


def written(title: str, body: str | None = None) -> str:
    """A note as the CLI writes it."""
    block = f'created: "{CREATED}"\n' + yaml.safe_dump({"title": title}, allow_unicode=True)
    return f"---\n{block}---\n\n" + (f"# {title}\n\n" if body is None else body)


def composed(title: str = "A", *, template: str = "", content: str | None = None, **data: Any) -> str:
    parts = parse_template(template, title)
    body = parts.body.replace("{{title}}", title) if template else None
    return compose(title, written(title, body), parts.fields, content, data)


def fields(text: str) -> dict[str, Any]:
    """What a reader of YAML 1.1 finds, which has to be what our own reader finds."""
    block, _ = frontmatter.split(text)
    assert block is not None
    found = yaml.safe_load(block)
    assert isinstance(found, dict)
    return found


def body(text: str) -> str:
    return frontmatter.split(text)[1]


@pytest.mark.slow
@settings(max_examples=examples(80), deadline=None)
@given(lines.filter(str.strip), datas, st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_what_is_given_is_what_every_reader_finds(title: str, data: dict[str, Any], content: str | None) -> None:
    text = compose(title, written(title), {}, content, data)
    block, rest = frontmatter.split(text)
    expected = {"title": title, "created": CREATED, **data}
    assert yaml.safe_load(block or "") == expected
    ours = frontmatter.load(block or "")
    assert ours == expected
    assert [type(value) for value in ours.values()] == [type(value) for value in expected.values()]
    if content is not None and not content.startswith(("---", "\ufeff")):
        assert rest.encode().startswith(b"\n" + content.encode())
        assert rest[1 + len(content) :] in ("", "\n", "\r\n")


@pytest.mark.slow
@settings(max_examples=examples(80), deadline=None)
@given(texts)
def test_text_stays_text_in_both_versions_of_yaml(value: str) -> None:
    for token in yaml.scan(frontmatter.split(composed(field=value))[0] or ""):
        if isinstance(token, yaml.ScalarToken) and token.plain:
            assert not CORE.fullmatch(token.value)
    assert fields(composed(field=value))["field"] == value


@pytest.mark.parametrize("value", AMBIGUOUS)
def test_text_that_looks_like_something_else_is_quoted(value: str) -> None:
    assert f"field: {json.dumps(value)}\n" in composed(field=value)
    assert f"list: [{json.dumps(value)}]\n" in composed(list=[value])


def test_numbers_and_truth_values_keep_their_types() -> None:
    text = composed(whole=3, negative=-1, real=1.0, small=1e-7, large=1e20, yes=True, no=False)
    found = fields(text)
    assert found | {"title": 0, "created": 0} == {
        "title": 0,
        "created": 0,
        "whole": 3,
        "negative": -1,
        "real": 1.0,
        "small": 1e-7,
        "large": 1e20,
        "yes": True,
        "no": False,
    }
    assert type(found["real"]) is float
    assert "small: 1.0e-07\nlarge: 1.0e+20\n" in text
    assert found["yes"] is True


def test_the_fields_are_lines_that_a_person_would_write() -> None:
    text = composed("Project Alpha", tags=["project", "active"], priority="high", n_of_it=2, due="2026-01-01")
    assert text == (
        f'---\ntitle: Project Alpha\ncreated: "{CREATED}"\ntags: [project, active]\npriority: high\nn_of_it: 2\n'
        'due: "2026-01-01"\n---\n\n# Project Alpha\n\n'
    )


def test_a_long_value_and_an_emoji_stay_in_one_readable_line() -> None:
    value = "🎉 über: " * 1250
    assert f'field: "{value}"\n' in composed(field=value)


def test_a_key_of_any_text_is_a_key() -> None:
    data = dict.fromkeys([*AMBIGUOUS, "a b", "a: b", "#", '"', "'", "k" * 2000, "日本", "- a", "{", "\ufeff"], "x")
    text = compose("A", written("A"), {}, None, data)
    assert {key: value for key, value in fields(text).items() if value == "x"} == data
    assert frontmatter.load(frontmatter.split(text)[0] or "") == fields(text)


def test_a_templates_own_fields_join_the_block() -> None:
    text = composed("Weekly", template="---\nstatus: todo\ntags:\n  - meeting\n---\n\n# {{title}}\n\nNotes\n")
    assert fields(text) == {"title": "Weekly", "created": CREATED, "status": "todo", "tags": ["meeting"]}
    assert body(text) == "\n# Weekly\n\nNotes\n"


def test_what_a_template_says_stays_as_it_was_written() -> None:
    block = (
        "due: 2026-01-01\nat: 2026-01-01T10:00:00+10:30\nmode: 0o644\nanswer: yes\nlong: |\n  a\n  b\nlist:\n  - 'x'\n"
    )
    assert block in composed(template=f"---\n{block}---\nBody\n")


def test_aliases_of_a_template_still_stand_for_the_same() -> None:
    text = composed(template="---\na: &x [1, 2]\nb: *x\nc:\n  <<: {d: 1}\n---\n")
    assert fields(text) | {"created": 0} == {"title": "A", "created": 0, "a": [1, 2], "b": [1, 2], "c": {"d": 1}}


def test_data_wins_over_content_over_the_cli_over_the_template() -> None:
    template = "---\ntitle: T\ncreated: 1999-01-01\na: template\nb: template\nc: template\n---\nT\n"
    content = "---\ntitle: C\nb: content\nc: content\n---\nC\n"
    found = fields(composed("Right", template=template, content=content, c="data"))
    assert found == {"title": "Right", "created": CREATED, "a": "template", "b": "content", "c": "data"}
    assert fields(composed(content="---\ncreated: '2020'\n---\n"))["created"] == "2020"
    assert fields(composed(content="---\ncreated: '2020'\n---\n", created="2021"))["created"] == "2021"


def test_content_replaces_the_body_of_a_template_and_not_its_fields() -> None:
    text = composed(template="---\nstatus: todo\n---\nTemplate\n", content="Given")
    assert fields(text)["status"] == "todo"
    assert body(text) == "\nGiven\n"


@pytest.mark.parametrize(
    "title", ["Fix: the bug", '"quoted"', "#1", "- x", "a\\b", "{x}", "true", "x: [y", "'", "🎉 x"]
)
@pytest.mark.parametrize(
    "line", ["title: {{title}}", 'title: "{{title}}"', "name: '{{title}}'", "a: Note {{title}} # c"]
)
def test_a_title_cannot_break_the_fields_of_a_template(title: str, line: str) -> None:
    found = fields(composed(title, template=f"---\n{line}\nstatus: todo\n---\n# {{{{title}}}}\n"))
    assert (found["title"], found["status"]) == (title, "todo")
    assert found.get("name", title) == title
    assert found.get("a", f"Note {title}") == f"Note {title}"


def test_a_title_stands_wherever_a_template_wants_it() -> None:
    template = "---\n{{title}}: [1, {{title}}]\nb:\n  c: |\n    {{title}}\n---\n"
    found = fields(composed("5", template=template))
    assert (found["5"], found["b"]) == ([1, "5"], {"c": "5\n"})
    assert "'5'" not in composed("5", template=template)


def test_a_title_takes_the_place_of_nothing_else() -> None:
    found = fields(composed("xxxx y", template="---\na: &x [x, '{{title}}']\nb: *x\nc: xxx\n---\n"))
    assert (found["a"], found["b"], found["c"]) == (["x", "xxxx y"], ["x", "xxxx y"], "xxx")


def test_a_field_that_is_named_by_the_title_stands_there_once() -> None:
    text = composed("Key", template="---\n{{title}}: template\n---\n", Key="data")
    assert text.count("Key: ") == text.count("title: ") == 1
    assert fields(text)["Key"] == "data"


@pytest.mark.parametrize("title", ["Fix: it", "y", "1e3"])
def test_a_title_in_a_template_is_quoted_as_every_other_text(title: str) -> None:
    assert f'name: "{title}"\n' in composed(title, template="---\nname: {{title}}\n---\n")


@pytest.mark.parametrize(
    "text", ["---\n", "---\nno mapping\n---\nx", "---\na: [\n---\nx", "--- a: 1", "\n---\na: 1\n---\n"]
)
def test_what_is_no_frontmatter_is_body(text: str) -> None:
    for note in (composed(content=text), composed(template=text)):
        assert set(fields(note)) == {"title", "created"}
        assert body(note).startswith(f"\n{text}")


@pytest.mark.parametrize(
    "block", ["a: " + "[" * 50_000, "&a [*a]", "a: &a [*a]", "x: !!python/object:os.system {}", "a: 2026-99-99"]
)
def test_a_hostile_block_of_yaml_never_costs_the_note_its_title(block: str) -> None:
    note = composed("Mine", content=f"---\n{block}\n---\nText\n")
    assert (frontmatter.load(frontmatter.split(note)[0] or "") or {})["title"] == "Mine"
    assert note.endswith("Text\n")


def test_a_second_block_of_a_content_is_body() -> None:
    note = composed(content="---\na: 1\n---\n---\nb: 2\n---\nText\n")
    assert set(fields(note)) == {"title", "created", "a"}
    assert body(note) == "\n---\nb: 2\n---\nText\n"


def test_line_breaks_stay_what_they_are_and_the_last_line_has_one() -> None:
    assert composed(content="a\r\nb").endswith("---\n\na\r\nb\r\n")
    assert composed(content="a\nb").endswith("---\n\na\nb\n")
    assert composed(content="---\r\nk: v\r\n---\r\n\r\na\r\n").endswith("k: v\n---\n\na\r\n")
    assert composed(content="\n\n  a\n\n").endswith("---\n\n\n\n  a\n\n")


def test_a_template_without_a_body_gives_a_note_without_one() -> None:
    assert composed(template="---\na: 1\n---\n").endswith("a: 1\n---\n")


def test_a_byte_order_mark_does_not_hide_frontmatter() -> None:
    assert fields(composed(content="\ufeff---\na: 1\n---\nx"))["a"] == 1
    assert composed(content="\ufeffText\n").endswith("---\n\nText\n")


@pytest.mark.slow
@pytest.mark.process
def test_fields_that_nobody_would_read_back_are_refused() -> None:
    with pytest.raises(ToolError) as refused:
        composed(field="x" * frontmatter.MAX_CHARS)
    assert refused.value.code == "INVALID_INPUT"
    with pytest.raises(ToolError):
        composed(field=["x"] * 30_000)
    most = frontmatter.MAX_CHARS - 200
    assert fields(composed(field="x" * most))["field"] == "x" * most


def test_frontmatter_of_the_cli_that_cannot_be_read_is_still_not_body() -> None:
    assert compose("A", "---\ntitle: a: b\n---\n\n# A\n", {}, None, {}) == "---\ntitle: A\n---\n\n# A\n"


def test_a_text_without_frontmatter_is_all_body() -> None:
    assert parse("Text\n") == ({}, "Text\n")
    assert parse(string.printable)[1] == string.printable


@pytest.mark.parametrize("style", ["|+", ">+", "|2+"])
def test_lines_that_keep_their_empty_ones_may_be_the_last_field(style: str) -> None:
    text = composed(content=f"---\nk: {style}\n  a\n\n\n---\n\nBody\n")
    assert fields(text)["k"] == "a\n\n\n"
    assert body(text) == "\nBody\n"
