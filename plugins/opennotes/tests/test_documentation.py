"""What the pages about these tools show is what they do."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "reference" / "opennotes.md"


def statements():
    return re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_shows_a_statement():
    assert statements()


@pytest.mark.process
@pytest.mark.parametrize("number", range(len(statements())))
def test_a_statement_of_the_page_gives_rows(opennotes, notebook, answer, number):
    folder = notebook / ".notes" / "projects" / "a"
    folder.mkdir(parents=True)
    (folder / "one.md").write_text("---\ntags: [work, home]\nstatus: todo\n---\nThe budget.\n")
    (folder / "two.md").write_text("---\ntags: [home]\n---\nThe budget.\n")
    document = answer("search", sql=statements()[number], notebook=str(notebook))
    assert [row["file_path"] for row in document["results"]] == ["projects/a/one.md"]
    assert document["results"][0]["status"] == "todo"


@pytest.mark.process
def test_the_example_of_the_readme_has_the_shape_of_an_answer(opennotes, notebook, answer):
    for name in ("a", "b"):
        (notebook / ".notes" / f"{name}.md").write_text("---\ntitle: A\ntags: [project]\n---\nA meeting.\n")
    text = (ROOT / "plugins" / "opennotes" / "README.md").read_text()
    arguments, shown = re.search(r"\$ echo '(.*?)' \| opennotes-search-tool\n(.*?)\n\n", text, re.DOTALL).groups()
    expected = json.loads(" ".join(shown.split()))
    document = answer("search", json.loads(arguments), notebook=str(notebook))
    assert document.keys() == expected.keys()
    assert document["results"][0].keys() == expected["results"][0].keys()
    assert document["pagination"].keys() == expected["pagination"].keys()
    assert document["query"] == expected["query"]
    assert document["_guidance"] == expected["_guidance"]
