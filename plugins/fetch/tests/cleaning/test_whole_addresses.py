"""Addresses are whole, by whichever way they are resolved."""

from urllib.parse import urljoin

import pytest

from ferrule_fetch.cleaning.addresses import make_whole
from ferrule_fetch.tree import nodes

BASES = (
    "https://site.example",
    "https://site.example/page",
    "http://site.example:80/guide/part/page.html?from=a/b#here",
    "https://site.example/guide/part/",
    "https://site.example/guide;v=1/page",
    "https://site.example/guide/../part/page",
    "https://site.example/guide//page",
)
ADDRESSES = (
    "next.html",
    "next.html#part",
    "part/",
    "./next",
    "../next",
    "../../../../next",
    "part/../next",
    "part/./next",
    "..",
    ".",
    "/next",
    "/part/next?to=c/../d:e&f#g",
    "/part//next",
    "//other.example/next",
    "//other.example",
    "?to=c",
    "next?",
    "/wiki/File:Next.png",
    "next;v=2",
    "größe/nächste",
)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses_are_resolved_as_the_standard_library_does(base: str, address: str) -> None:
    tree = nodes.parse(f'<p><a href="{address}">next</a> <img src="{address}" alt="next"></p>')
    make_whole(tree, base)
    link, image = tree.select_one("a"), tree.select_one("img")
    assert link is not None
    assert image is not None
    assert (link.attr("href"), image.attr("src")) == (urljoin(base, address),) * 2


def test_the_base_of_a_page_counts() -> None:
    tree = nodes.parse('<base href="/other/"><p><a href="next">next</a> <a href="#here">here</a></p>')
    make_whole(tree, "https://site.example/guide/page")
    assert [link.attr("href") for link in tree.select("a")] == ["https://site.example/other/next", "#here"]


def test_a_link_without_an_address_leads_to_the_page() -> None:
    tree = nodes.parse('<p>The <a href="">dialog</a>.</p>')
    make_whole(tree, "https://site.example/guide/page")
    assert tree.select("a")[0].attr("href") == "https://site.example/guide/page"
