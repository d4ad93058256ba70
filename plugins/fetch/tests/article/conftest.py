"""Pages in the shapes that sites have, and what find_article makes of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ferrule_fetch.article import find_article, split
from ferrule_fetch.tree.nodes import parse

Read = Callable[[str], str | None]

STORY = """
<p>The harbour of Lindvik was closed on Monday morning, after a storm had torn two ferries from their moorings,
and the town council met at noon to decide how the islands would be supplied during the week.</p>
<p>Nobody was hurt, the harbour master said, although three trucks, a crane and some forty containers went over the
quay. Divers are to look for them as soon as the wind allows it, which may take until Thursday.</p>
<p>Until then, the mail, the medicines and the milk are flown to the islands, twice a day, by an aeroplane that was
built to carry parachutists, and whose pilot has done the route for twenty years.</p>
<p>“We have had worse winters,” said the mayor, who had come by bicycle, “but never one in which the sea took the
crane, the trucks and the coffee machine of the harbour office in the same night.”</p>
"""


@pytest.fixture(scope="session")
def story() -> str:
    """Four paragraphs of a news story; the first speaks of Lindvik, the last of a coffee machine."""
    return STORY


@pytest.fixture(scope="session")
def read() -> Read:
    """The text of a page's article, white space collapsed; None where the page has none."""

    def text(html: str) -> str | None:
        tree = parse(html)
        article = find_article(tree)
        return None if article is None else " ".join(split(tree, article).article.text.split())

    return text


@pytest.fixture(autouse=True)
def _environment() -> None:
    """None of its own, which each of a thousand tests would make: no setting reaches what they call."""
