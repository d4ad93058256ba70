"""Numbers stay numbers."""

from collections.abc import Callable

import pytest

Write = Callable[[str], str]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("10<sup>−3</sup>", "10⁻³"),
        ("10<sup>-3</sup>", "10⁻³"),
        ("10<sup>1.5</sup>", "10^(1.5)"),
        ("2<sup>64−1</sup>", "2⁶⁴⁻¹"),
        ("x<sup>2/3</sup>", "x^(2/3)"),
        ("<i>x</i><sup>2</sup>", "*x*²"),
        ("(a+b)<sup>2</sup>", "(a+b)²"),
        ("x<sub>i,j</sub>", "x_(i,j)"),
        ("SO<sub>4</sub><sup>2−</sup>", "SO₄²⁻"),
        ("H<sub>2</sub>O", "H₂O"),
        ("<sup>14</sup>C", "¹⁴C"),
        ("<sub>92</sub><sup>238</sup>U", "₉₂²³⁸U"),
        ("<sup>238</sup><sub>92</sub>U", "²³⁸₉₂U"),
        ("22%<sup>a</sup>", "22%^a"),
        ("22%<sup>2</sup>", "22%²"),
        ("$19<sup>99</sup>", "$19.99"),
        ("<span>$</span><span>1,019</span><sup>99</sup> each", "$1,019.99 each"),
        ("e<sup>x<sup>2</sup></sup>", "e^(x²)"),
        ("2<sup>k</sup>", "2^k"),
        ("2<sup>n+1</sup>", "2ⁿ⁺¹"),
        ("2<sup>k+1</sup>", "2^(k+1)"),
        ("v<sub>total</sub>", "v_total"),
        ("3<sup>1</sup>/<sub>2</sub> cups", "3 1/2 cups"),
        ("1<sup>st</sup>", "1st"),
        ("a<sup>see below</sup>", "asee below"),
        ("word<sup>[1]</sup>", "word[1]"),
        ("Hume.<sup>1</sup>", "Hume.1"),
        ("word<sup><a href='#n'>1</a></sup>", "word[1](#n)"),
        ("<code>x<sup>2</sup></code>", "`x2`"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
        ("<abbr title=b>a</abbr> <abbr title=b>a</abbr>", "a (b) a"),
    ],
)
def test_raised_and_lowered_text_reads_as_what_it_is(write: Write, html: str, text: str) -> None:
    assert write(f"<p>{html}</p>").replace("\\", "") == text


def test_code_blocks_are_not_changed(write: Write) -> None:
    assert write("<pre>x<sup>2</sup></pre>") == "```\nx2\n```"


def test_tex_that_a_script_would_draw_is_a_formula(write: Write) -> None:
    html = r'<p>So <span class="math notranslate">\(x_1\)</span> is:</p><div class="arithmatex">\[ \{a\} \]</div>'
    assert write(html) == "So $`x_1`$ is:\n\n```math\n\\{a\\}\n```"


def test_a_binomial_coefficient_is_no_fraction_and_a_dot_no_exponent(write: Write) -> None:
    fraction = '<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>'
    html = f"<p><math>{fraction}</math> <math><mover><mi>x</mi><mo>˙</mo></mover></math></p>"
    assert write(html) == r"$`{n \atop k}`$ $`\dot{x}`$"
