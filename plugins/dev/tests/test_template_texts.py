"""The texts of a template under another name."""

import ast
import json
import tomllib

import pytest

from ferrule_dev.creation.template_texts import Texts, fits

SENTENCE = "Greets a city."
TEXTS = Texts("new_hooks", "tide_table", SENTENCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ferrule_new_hooks.schema", "ferrule_tide_table.schema"),
        ("run new-hooks-tool now", "run tide-table-tool now"),
        ("FERRULE_NEW_HOOKS_URL", "FERRULE_TIDE_TABLE_URL"),
        ('"title": "New hooks"', '"title": "Tide table"'),
        ("ferrule new, the hooks, a new hook", "ferrule new, the hooks, a new hook"),
    ],
)
def test_a_name_is_replaced_in_each_spelling_and_nothing_else_is(old: str, new: str) -> None:
    assert TEXTS.renamed(old) == new


@pytest.mark.parametrize(
    "description",
    ["Tells the tides.", 'Says "ebb" or """flood""".', "A path such as C:\\new_hooks\\x.", "Ebbe, Größe."],
)
def test_a_description_arrives_as_it_was_typed_in_every_kind_of_file(description: str) -> None:
    texts = TEXTS._replace(description=description)
    source = texts.written(f'def f():\n    """{SENTENCE}\n\n    More.\n    """\n', "a.py")
    assert ast.get_docstring(ast.parse(source).body[0]) == f"{description}\n\nMore."
    assert json.loads(texts.written(f'{{"a": "{SENTENCE}"}}', "a.json")) == {"a": description}
    assert texts.written(f"It says: {SENTENCE}\n", "a.md") == f"It says: {description}\n"
    package = texts.written('[project]\nname = "x"\ndescription = "The tool new_hooks."\n', "pyproject.toml")
    assert tomllib.loads(package)["project"]["description"] == description


def test_a_description_is_one_line_of_code_at_most() -> None:
    longest = "x" * 110
    source = TEXTS._replace(description=longest).written(f'def f():\n    """{SENTENCE}"""\n', "a.py")
    assert max(map(len, source.splitlines())) == 120
    assert fits(longest)
    assert not any(map(fits, (longest + "x", '"' * 56, "two\nlines", "\x1b[1m")))


@pytest.mark.parametrize(
    ("author", "authors"),
    [
        ("Ann Smith", [{"name": "Ann Smith"}]),
        ("Ann <ann@example.org>", [{"name": "Ann", "email": "ann@example.org"}]),
        ("<ann@example.org>", [{"email": "ann@example.org"}]),
        ("", None),
    ],
)
def test_the_author_stands_in_the_package(author: str, authors: object) -> None:
    package = TEXTS._replace(author=author).written('description = "The tool new_hooks."\n', "pyproject.toml")
    assert tomllib.loads(package).get("authors") == authors
    assert tomllib.loads(package)["description"] == "The tool tide_table."
