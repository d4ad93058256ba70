"""Names of files and folders, and the arguments that no note can have."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule import ToolError
from ferrule_opennotes.create.arguments import find_problems
from ferrule_opennotes.create.file_name import choose_file_name, split_destination
from ferrule_testkit.effort import examples


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("日本語のメモ", "日本語のメモ.md"),
        ("नमस्ते दुनिया", "नमस्ते-दुनिया.md"),
        ("Привет, мир!", "привет-мир.md"),
        ("Cafe\u0301 Ω", "café-ω.md"),
        ("🎉", "party-popper.md"),
        ("❤️ 👩‍💻", "heavy-black-heart-woman-personal-computer.md"),
        ("?!", "question-mark-exclamation-mark.md"),
        ("...", "full-stop.md"),
        ("\ue000", "u-e000.md"),
    ],
)
def test_a_title_that_the_cli_has_no_name_for_gets_one(title: str, name: str) -> None:
    assert choose_file_name(title, None) == name


def test_the_name_that_the_cli_chose_holds() -> None:
    assert choose_file_name("Café", "caf.md") == "caf.md"


def test_a_long_name_is_cut() -> None:
    assert choose_file_name("four " * 20_000, None) == "four-" * 50 + "fo.md"
    assert choose_file_name("x" * 252 + " y", None) == "x" * 252 + ".md"


def test_a_long_name_is_never_cut_inside_a_character() -> None:
    assert choose_file_name("第" * 1000, None) == "第" * 84 + ".md"
    assert choose_file_name("ab" + "第" * 1000, None) == "ab" + "第" * 83 + ".md"
    assert choose_file_name("a " + "é" * 1000, None) == "a-" + "é" * 125 + ".md"


@settings(max_examples=examples(120), deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400))
def test_every_title_that_is_allowed_has_a_name_that_is_one(title: str) -> None:
    if find_problems({"title": title}):
        return
    name = choose_file_name(title, None)
    stem = name.removesuffix(".md")
    assert 0 < len(stem.encode()) <= 252
    assert not set(name) & set('/\\\0\n "')
    assert stem[0] not in ".-~"
    assert stem[-1] not in ".- "


@pytest.mark.parametrize(
    ("path", "parts", "name"),
    [
        ("", [], None),
        (".", [], None),
        ("tasks", ["tasks"], None),
        ("tasks/", ["tasks"], None),
        ("./tasks//sub/.", ["tasks", "sub"], None),
        ("tasks/one.md", ["tasks"], "one.md"),
        ("one.md", [], "one.md"),
        ("one.md/", ["one.md"], None),
        ("-rf/", ["-rf"], None),
    ],
)
def test_a_path_names_a_folder_or_a_note(path: str, parts: list[str], name: str | None) -> None:
    assert split_destination(path) == (parts, name)
    assert find_problems({"title": "A", "path": path}) == []


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../x",
        "a/../b",
        "a/..",
        "/etc",
        "/",
        "~",
        "~/x",
        "~root/",
        "a\\b",
        "..\\x",
        "C:/x",
        "c:x",
        "../x.md",
    ],
)
def test_a_path_that_could_lead_out_is_blocked(path: str) -> None:
    assert find_problems({"title": "A", "path": path}) == []
    with pytest.raises(ToolError) as blocked:
        split_destination(path)
    assert blocked.value.code == "PATH_TRAVERSAL"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a\nb", "U+000A"),
        ("x" * 256, "longer than 255 bytes"),
        ("日" * 86 + "/", "longer than 255 bytes"),
        ("a /b", "a blank"),
        (" a", "a blank"),
        ("tasks./", "a dot"),
        (".../", "a dot"),
        (".md", "no name for a note"),
        ("a/..md", "no name for a note"),
    ],
)
def test_a_path_that_not_every_system_has_is_refused(path: str, reason: str) -> None:
    found = find_problems({"title": "A", "path": path})
    assert len(found) == 1
    assert found[0].startswith("path: ")
    assert reason in found[0]


@pytest.mark.parametrize("title", [" ", "\u2003", "\u200b", "a\nb", "a\0", "\x1b[1m", "a\u2028b", "a\uffff"])
def test_a_title_is_one_line_that_can_be_seen(title: str) -> None:
    found = find_problems({"title": title})
    assert found
    assert all(each.startswith("title: ") for each in found)


def test_a_title_may_be_long() -> None:
    assert find_problems({"title": "x" * 65_535}) == []
    assert "65,536 bytes long" in find_problems({"title": "x" * 65_536})[0]


@pytest.mark.parametrize("title", ["-", "--help", "---", "🎉", "a: b", "$(x)", "'\"`", "%s", "../../etc", "x" * 5000])
def test_a_title_of_any_other_text_is_a_title(title: str) -> None:
    assert find_problems({"title": title}) == []


def test_data_is_text_numbers_truth_values_and_lists_of_text() -> None:
    data = {"a": "", "b": 1, "c": 1.5, "d": True, "e": [], "f": ["x", ""], "g": -(2**63) + 1, "a\u00a0b": "x\n\0"}
    assert find_problems({"title": "A", "data": data}) == []


@pytest.mark.parametrize(
    ("data", "finding"),
    [
        ({"k": None}, "data.k: null is neither text, nor a number, nor true or false, nor a list of text"),
        ({"k": {}}, "data.k: {} is neither text, nor a number, nor true or false, nor a list of text"),
        ({"k": ["a", 1]}, "data.k[1]: 1 is not text; a list holds text only"),
        ({"k": [None]}, "data.k[0]: null is not text; a list holds text only"),
        ({"k": [True]}, "data.k[0]: true is not text; a list holds text only"),
        ({"k": [["a"]]}, 'data.k[0]: ["a"] is not text; a list holds text only'),
        ({"k": 2**63}, "data.k: it is a whole number of more than 64 bits; give it as text"),
        ({"": "x"}, "data: a field has no name"),
        ({"a\nb": 1}, "data: the name of the field 'a\\nb' holds the control character U+000A at position 2"),
        ({"title": "B"}, "data.title: it is another one than 'title', which is the note's title"),
    ],
)
def test_other_data_is_refused_with_its_place(data: dict[str, object], finding: str) -> None:
    assert find_problems({"title": "A", "data": data}) == [finding]


def test_a_title_in_data_may_say_the_same() -> None:
    assert find_problems({"title": "A", "data": {"title": "A"}}) == []


@pytest.mark.parametrize("path", ["Q: when?.md", "~draft.md", "Q: when?/x", "a/~b/c:d.md"])
def test_a_sign_in_a_name_is_no_way_out(path: str) -> None:
    folder, name = split_destination(path)
    assert "/".join([*folder, *([name] if name else [])]) == path


def test_of_a_path_the_first_name_that_cannot_be_is_told() -> None:
    assert len(find_problems({"title": "A", "path": " /" * 1000})) == 1
