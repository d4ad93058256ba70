"""Definitions keep their owner."""

from collections.abc import Callable

Write = Callable[[str], str]


def test_a_definition_of_several_paragraphs_stands_below_its_term(write: Write) -> None:
    html = "<dl><dt>cat<dd><p>An animal.</p><p>It purrs.</p><dt>dog<dd>Another.</dl><p>After</p>"
    lines = [line for line in write(html).split("\n") if line.strip()]
    assert lines == ["- cat", "  - An animal.", "    It purrs.", "- dog", "  - Another.", "After"]


def test_definitions_within_definitions_are_indented(write: Write) -> None:
    html = "<dl><dt>class A<dd><p>Base.</p><dl><dt>run()<dd><p>Starts.</p></dl></dd><dt>class B<dd>Other.</dl>"
    lines = [line for line in write(html).split("\n") if line.strip()]
    assert lines[0] == "- class A"
    assert lines[1] == "  - Base."
    assert any(line.startswith("    ") and "run()" in line for line in lines)
    assert any(line.startswith("      ") and "Starts." in line for line in lines) or "    : Starts." in lines
    assert "- class B" in lines


def test_code_in_a_definition_belongs_to_it(write: Write) -> None:
    html = "<dl><dt><code>-v</code><dd><p>Says more:</p><pre>run -v\n  more</pre></dl>"
    assert "- `-v`" in write(html)
    assert "    ```\n    run -v\n      more\n    ```" in write(html)


def test_short_definitions_stand_below_their_terms(shown: Write) -> None:
    assert shown("<dl><div><dt>a<dd>b</div><div><dt>c<dd><p>d</p></div></dl>") == "- a\n  - b\n- c\n  - d"


def test_blanks_between_the_words_of_a_definition_stay(write: Write) -> None:
    html = '<dl><dt>Karl</dt><dd> <b>Posts:</b> <a href="/s">128</a> </dd></dl>'
    assert write(html) == "- Karl\n  - **Posts:** [128](https://site.example/s)"
