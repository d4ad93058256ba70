"""Pages of one small app, each as a framework of today has built it: a spinner, and the story in its data.

Each app has the same story and shows it in the browser alone. `apollo` and `uneval` hold what these libraries wrote,
in a page by hand.
"""

from pathlib import Path

import pytest

from ferrule_fetch.embedded_data import find_text
from ferrule_fetch.markdown import convert

PAGES = Path(__file__).parent / "pages"
SOURCES = {
    "next-pages": "next-data",
    "next-flight": "next-stream",
    "next-props": "next-stream",
    "nuxt": "nuxt-data",
    "uneval": "nuxt-data",
    "sveltekit": "sveltekit",
    "sveltekit-later": "sveltekit",
    "react-router": "react-router",
    "react-router-later": "react-router",
    "apollo": "apollo",
}
STORY = """\
Four oak gates were lifted out of the river on Monday, a century after they were hung.

The oldest gate weighs **eleven tonnes** and had stood in the water since 1924.

## What comes next

- New gates of green oak arrive in March.
- The towpath stays closed until April."""
NOTES = ["Boats of more than two metres have to wait at the lower basin.", "A ferry crosses every half hour"]
OF_PROGRAMS = ["lock-gates", "weir.jpg", "4711", "en-GB", "This page could not be found", "dark blue", "__", "basin.js"]


def test_every_page_has_a_source() -> None:
    assert sorted(SOURCES) == sorted(path.stem for path in PAGES.iterdir())


@pytest.mark.parametrize("name", SOURCES)
def test_the_story_is_read_from_the_data_of_a_page_without_words(name: str) -> None:
    html = (PAGES / f"{name}.html").read_text()
    assert not convert(html, "https://courier.example/story").markdown
    source, text = find_text(html, "https://courier.example/story", "")
    note, heading, rest = text.split("\n\n", 2)
    assert source == SOURCES[name]
    assert note.startswith("[The HTML of this page has no words. What follows was read from its data")
    assert heading == "# The lock gates of Harrow Weir"
    assert STORY in rest
    assert ("Mira Oakes" in rest and all(one in rest for one in NOTES)) or name == "next-flight"
    assert rest.count("Four oak gates") == 1
    assert not [word for word in OF_PROGRAMS if word in rest]


def test_elements_in_a_stream_keep_their_links_and_emphasis() -> None:
    _, text = find_text((PAGES / "next-flight.html").read_text(), "https://courier.example/story", "")
    assert text.endswith("Read [the plans](https://courier.example/plans) before *the first* of March.")
