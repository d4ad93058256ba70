"""HTML whose shape is meant to stall or to swell whoever builds its tree, or writes it down."""

from collections.abc import Callable

from ferrule_testkit.hostile.case import NEEDLE, Case, page

HEAD = f"<!DOCTYPE html><title>Needle</title><p>{NEEDLE}</p>"
KB, MIB = 1_000, 1 << 20


def filled(unit: str, size: int, before: str = "", after: str = "") -> Callable[[], str]:
    """A page of about `size` characters, most of which are one unit again and again."""
    return lambda: f"{HEAD}{before}{unit * (size // len(unit))}{after}"


def numbered(unit: str, times: int, before: str = "", after: str = "") -> Callable[[], str]:
    """The same with a unit that has a number in it, `#`, so that no two are equal."""
    return lambda: HEAD + before + "".join(unit.replace("#", str(number)) for number in range(times)) + after


def shape(name: str, html: Callable[[], str], says: str = NEEDLE, never: str | tuple[str, ...] = ()) -> Case:
    """A page whose first sentence must come back."""
    return page(name, html, (NEEDLE, says), never)


NESTED = [
    shape(f"nests {size // KB} kB of <{unit.strip('<>').replace('><', '> <')}>", filled(unit, size))
    for unit, size in [
        ("<div>", 50 * KB),
        ("<div>", 200 * KB),
        ("<div>", 1_000 * KB),
        ("<ul><li>", 50 * KB),
        ("<ul><li>", 1_000 * KB),
        ("<ol><li>", 500 * KB),
        ("<dl><dd>", 50 * KB),
        ("<dl><dd>", 1_000 * KB),
        ("<blockquote>", 500 * KB),
        ("<b>", 500 * KB),
        ("<i><b>", 500 * KB),
        ("<a>", 170 * KB),
        ("<a href=x>", 500 * KB),
        ("<a><b>", 200 * KB),
        ("<nobr>", 200 * KB),
        ("<font>", 200 * KB),
        ("<span>", 500 * KB),
        ("<table>", 200 * KB),
        ("<table><tr><td>", 500 * KB),
        ("<table><a>", 200 * KB),
        ("<select>", 200 * KB),
        ("<button>", 200 * KB),
        ("<form>", 200 * KB),
        ("<svg>", 500 * KB),
        ("<math><mi>", 500 * KB),
        ("<svg><foreignObject>", 500 * KB),
        ("<template>", 500 * KB),
        ("<ruby><rt>", 500 * KB),
        ("<details><summary>", 500 * KB),
        ("<h1><h2>", 500 * KB),
        ("<p><b>", 200 * KB),
        ("<pre>", 200 * KB),
        ("<code>", 200 * KB),
        ("<object>", 200 * KB),
        ("<marquee>", 200 * KB),
        ("<caption>", 200 * KB),
    ]
]

MISNESTED = [
    shape("closes what was never opened", filled("</p>", 500 * KB)),
    shape("closes paragraphs within 50 kB of open elements", filled("</p>", 50 * KB, "<div>" * 10_000)),
    shape("opens and closes in the wrong order", filled("<a><b></a></b>", 200 * KB)),
    shape("crosses links and blocks", filled("<a><p>x</a>", 200 * KB)),
    shape("crosses emphasis and blocks", filled("<b><div></b>x", 200 * KB)),
    shape("reopens ever more fonts", numbered("<font size=#><p>x", 5_000)),
    shape("never closes 5,000 different fonts", numbered("<font color=#>", 5_000, after="<p>x" * 5_000)),
    shape("closes a link before every block", filled("</a><div><a>", 200 * KB)),
    shape("puts text between the cells of a table", filled("<tr>x<td>", 200 * KB, "<table>")),
    shape("has paragraphs between the rows of a table", filled("<p>x", 200 * KB, "<table>")),
    shape("opens frames within a body", filled("<frameset>", 200 * KB)),
    shape("opens many bodies with attributes", numbered("<body a#=1>", 20_000)),
    shape("opens many html elements with attributes", numbered("<html a#=1>", 20_000)),
    shape("closes formatting 1,000 levels deep", filled("</b>", 20 * KB, "<b>" * 500 + "<div>" * 500)),
]

ATTRIBUTES = [
    shape("has an element with 50,000 attributes", numbered(" a#=1", 50_000, "<p", f">{NEEDLE}")),
    shape("has an element with 500,000 attributes", numbered(" a#", 500_000, "<p", f">{NEEDLE}")),
    shape("has an element with one attribute 100,000 times", filled(" a=1", 400 * KB, "<p", f">{NEEDLE}")),
    shape("has an attribute of 5 MB", filled("x", 5_000 * KB, '<p title="', f'">{NEEDLE}')),
    shape("has an attribute of entities", filled("&amp;", 1_000 * KB, '<p title="', f'">{NEEDLE}')),
    shape("has an attribute that never ends", filled("x", 1_000 * KB, '<p title="')),
    shape("has a tag name of 1 MB", filled("x", 1_000 * KB, "<x", f">{NEEDLE}")),
    shape("has a tag that never ends", filled(" x", 1_000 * KB, "<p")),
    shape("has slashes for attributes", filled("/", 1_000 * KB, "<p ", f">{NEEDLE}")),
    shape("has equals signs for attributes", filled("=", 500 * KB, "<p ", f">{NEEDLE}")),
    shape("has a class of 100,000 names", numbered("c# ", 100_000, '<p class="', f'">{NEEDLE}')),
    shape("has a style of 1 MB", filled("color:red;", 1_000 * KB, '<p style="', f'">{NEEDLE}')),
    shape("has a link of 5 MB", filled("x", 5_000 * KB, '<a href="', '">link</a>')),
    shape(
        "has a long base and many links",
        filled('<a href="y">x</a>', 1_000 * KB, f'<base href="http://h/{"b" * 8_000}/">'),
    ),
    shape(
        "has a long base and many images",
        filled('<img src="y" alt="z">', 1_000 * KB, f'<base href="http://h/{"b" * 8_000}/">'),
    ),
    shape(
        "has an image of data of 5 MB",
        filled("QUJD", 5_000 * KB, '<img alt="z" src="data:image/png;base64,', '">'),
        never="QUJDQUJD",
    ),
    shape("has a thousand bases", numbered('<base href="http://h/#/">', 1_000)),
]

TOKENS = [
    shape("is less-than signs", filled("<", 1_000 * KB)),
    shape("is ampersands", filled("&", 1_000 * KB)),
    shape("is entities", filled("&amp;", 2_500 * KB)),
    shape("is entities without an end", filled("&notit", 1_000 * KB)),
    shape("is the longest entity", filled("&CounterClockwiseContourIntegral;", 1_000 * KB)),
    shape("has a character reference of 100,000 digits", filled("9", 100 * KB, "&#", ";")),
    shape("has a character reference of a million zeros", filled("0", 1_000 * KB, "&#x", "41;")),
    shape("has references to no characters", filled("&#xD800;&#xFFFE;&#x110000;&#0;", 200 * KB)),
    shape("is null characters", filled("\0", 500 * KB)),
    shape("is comments", filled("<!---->", 1_000 * KB)),
    shape("is comments without an end", filled("<!--", 1_000 * KB)),
    shape("has a comment of dashes", filled("-", 1_000 * KB, "<!--", "-->")),
    shape("has a comment that nearly ends", filled("--!", 1_000 * KB, "<!--")),
    shape("is bogus comments", filled("<?x>", 500 * KB)),
    shape("is CDATA sections", filled("<![CDATA[x]]>", 500 * KB)),
    shape("has a CDATA section without an end", filled("]]", 500 * KB, "<svg><![CDATA[")),
    shape("has a doctype of 1 MB", lambda: "<!DOCTYPE " + "x" * MIB + ">" + HEAD),
    shape("has a script that never ends", filled("<!--<script>", 500 * KB, "<script>")),
    shape("has a script that nearly ends", filled("</scrip", 500 * KB, "<script>", f"</script>{NEEDLE}")),
    shape("has a style that nearly ends", filled("</styl", 500 * KB, "<style>", f"</style>{NEEDLE}")),
    shape("has a title of 1 MB", filled("x", 1_000 * KB, "<title>", f"</title>{NEEDLE}")),
    shape("has a title that never ends", filled("<", 500 * KB, "<title>")),
    shape("has a textarea that never ends", filled("<p>", 500 * KB, "<textarea>")),
    shape("is plain text from here on", filled("<p>", 500 * KB, "<plaintext>")),
    shape("has a noscript of noscripts", filled("<noscript>", 200 * KB)),
    shape("has a word of 1 MB", filled("x", 1_000 * KB)),
    shape("has 1 MB of white space", filled(" \t\n", 1_000 * KB, "a", "b")),
    shape("has 1 MB of white space in pre", filled(" \n", 1_000 * KB, "<pre>a", "b</pre>")),
    shape("has 1 MB of no-break spaces", filled("\xa0", 500 * KB)),
    shape("has 1 MB of combining marks", filled("\u0301", 500 * KB, "e")),
    shape("has 1 MB of zero-width spaces", filled("x\u200b", 500 * KB), never="\u200b"),
]

STRUCTURES = [
    shape("has a cell that spans 10^9 columns", lambda: HEAD + "<table><tr><td colspan=1000000000>x<td>y</table>"),
    shape("has a cell that spans 65,534 rows", lambda: HEAD + "<table><tr><td rowspan=65534>x</table>" * 99),
    shape("has cells that span each other", filled("<tr><td colspan=1000 rowspan=65534>x", 50 * KB, "<table>")),
    shape("has a row of 100,000 cells", filled("<td>x", 500 * KB, "<table><tr>")),
    shape("has 100,000 rows of different lengths", filled("<tr><td>x<tr><td>y<td>z", 1_000 * KB, "<table>")),
    shape("has one long row and 20,000 short ones", filled("<tr><td>x", 180 * KB, "<table><tr>" + "<td>y" * 2_000)),
    shape(
        "has a column of 10^9 columns", lambda: HEAD + "<table><colgroup span=1000000000><col span=1000000000><tr><td>x"
    ),
    shape("has a list that begins at 10^40", lambda: HEAD + f"<ol start={'9' * 40}><li>x<li>y</ol>"),
    shape("has a list that begins at a million digits", lambda: HEAD + f"<ol start={'9' * MIB}><li>x<li>y</ol>"),
    shape("has items with impossible values", filled("<li value=-99999999999999999999>x", 200 * KB, "<ol reversed>")),
    shape("has 200,000 items", filled("<li>x", 1_000 * KB, "<ul>")),
    shape("has 200,000 line breaks", filled("<br>", 1_000 * KB)),
    shape("has 100,000 headings", filled("<h1>x</h1>", 1_000 * KB)),
    shape("has 100,000 rules", filled("<hr>", 400 * KB)),
    shape("has 100,000 backticks in code", filled("`", 100 * KB, "<code>", "</code>")),
    shape(
        "has ever longer fences in pre", lambda: HEAD + "<pre>" + "\n".join("`" * n for n in range(1_500)) + "</pre>"
    ),
    shape("has 200,000 asterisks", filled("*", 200 * KB)),
    shape("has 200,000 brackets", filled("[", 200 * KB)),
    shape("has asterisks and blanks", filled("* _ ", 400 * KB)),
    shape("has emphasis of single letters", filled("<b>x</b><i>y</i>", 1_000 * KB)),
    shape("has many identifiers", numbered("<p id=i#>x", 50_000)),
    shape("has definition lists of terms alone", filled("<dt>x", 500 * KB, "<dl>")),
]

LARGE = [
    shape(f"is 10 MiB of {what}", filled(unit, 10 * MIB, before))
    for what, unit, before in [
        ("links", "<a>", ""),
        ("links with text", "<a href=x>x</a>", ""),
        ("emphasis", "<b>x", ""),
        ("divisions", "<div>", ""),
        ("paragraphs", "<p>ab", ""),
        ("cells", "<td>1", "<table><tr>"),
        ("rows", "<tr><td>1<td>2", "<table>"),
        ("lists", "<ul><li>", ""),
        ("line breaks", "ab<br>", ""),
        ("comments", "<!-->", ""),
        ("entities", "&lt;", ""),
        ("words", "word ", ""),
        ("lines in pre", "ab\n", "<pre>"),
        ("smileys", "\U0001f600 ", ""),
    ]
] + [
    shape("is 10 MiB of tags and one wide character", filled("<p>ab", 10 * MIB - 40, "\U0001f600")),
    shape("is 10 MiB of attributes", numbered(" a#", 1_300_000, "<p", f">{NEEDLE}")),
    shape("is 6 MB of different fonts", numbered("<font size=#>", 400_000)),
]

CASES = [
    case._replace(group="shapes")
    for group in (NESTED, MISNESTED, ATTRIBUTES, TOKENS, STRUCTURES, LARGE)
    for case in group
]
