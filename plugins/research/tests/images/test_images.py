"""What a search for images asks of its providers, and what it answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.search.kinds import BRAVE_IMAGES_PATH, brave_images, google_images, searxng_images, sends
from ferrule_testkit.search.server import GOOGLE_PATH, Hit
from ferrule_testkit.web.kinds_web import KindsWeb, ignored, kinds_web

pytestmark = pytest.mark.process

SEARXNG_PATH = "/searxng/search"
HITS = [Hit(f"Image {n}", f"https://cdn.example/{n}.jpg", "") for n in range(8)]


@pytest.fixture
def web(tmp_path: Path) -> Iterator[KindsWeb]:
    with kinds_web("image_search", tmp_path) as web:
        web.server.route(BRAVE_IMAGES_PATH, sends(brave_images(HITS)))
        web.server.route(GOOGLE_PATH, sends(google_images(HITS)))
        web.server.route(SEARXNG_PATH, sends(searxng_images(HITS)))
        yield web


def image(**more: Any) -> dict[str, Any]:
    """The first image, as all providers have it."""
    return {
        "title": "Image 0",
        "link": "https://cdn.example/0.jpg",
        "displayLink": "pages.example",
        "thumbnailLink": "https://imgs.example/0",
        "contextLink": "https://pages.example/0",
        "width": 1200,
        "height": 800,
        **more,
    }


@pytest.mark.slow
def test_the_link_is_the_image_and_not_its_page(web: KindsWeb) -> None:
    document = web.found(num_results=1)
    assert document == {
        "images": [image()],
        "query": "some words",
        "resultCount": 1,
        "trust": "untrusted-external-content",
        "_meta": {
            "routing": {
                "provider_used": "brave",
                "providers_attempted": ["brave"],
                "requests": {"brave": 1},
                "fallback": False,
            }
        },
    }
    assert web.asked(BRAVE_IMAGES_PATH) == [{"q": "some words", "count": "4", "safesearch": "strict"}]


def test_google_filters_and_what_brave_cannot_filter_is_told(web: KindsWeb) -> None:
    filters = {
        "size": "large",
        "type": "photo",
        "color_type": "color",
        "dominant_color": "teal",
        "file_type": "png",
        "country": "de",
        "language": "de",
        "safe": "off",
    }
    document = web.found(provider="google", num_results=1, **filters)
    assert document["images"] == [image(fileSize=123456)]
    assert ignored(document) == {}
    (asked,) = web.asked(GOOGLE_PATH)
    assert asked == {
        "q": "some words",
        "num": "4",
        "start": "1",
        "searchType": "image",
        "imgSize": "large",
        "imgType": "photo",
        "imgColorType": "color",
        "imgDominantColor": "teal",
        "fileType": "png",
        "gl": "de",
        "lr": "lang_de",
        "safe": "off",
    }
    told = ignored(web.found(provider="brave", **filters))
    assert told == dict.fromkeys(
        ("size", "type", "color_type", "dominant_color", "file_type"), "Brave Search cannot be asked for it"
    )


def test_searxng_is_asked_for_its_category_of_images(web: KindsWeb) -> None:
    document = web.found(provider="searxng", num_results=1)
    assert document["images"] == [image()]
    (asked,) = web.asked(SEARXNG_PATH)
    assert (asked["categories"], asked["format"], asked["safesearch"]) == ("images", "json", "1")


def test_an_address_without_a_scheme_gets_one_and_one_that_is_no_web_address_is_left_out(web: KindsWeb) -> None:
    page = searxng_images(HITS[:3])
    page["results"][0]["img_src"] = "//cdn.example/0.jpg"
    page["results"][1]["img_src"] = "data:image/png;base64,AAAA"
    page["results"][2] |= {"resolution": "large", "thumbnail_src": "javascript:alert(1)", "source": None}
    web.server.route(SEARXNG_PATH, sends(page))
    first, last = web.found(provider="searxng")["images"]
    assert first["link"] == "https://cdn.example/0.jpg"
    assert last == {
        "title": "Image 2",
        "link": "https://cdn.example/2.jpg",
        "displayLink": "pages.example",
        "contextLink": "https://pages.example/2",
    }


def test_a_provider_without_images_is_not_asked_and_not_answered_with_nothing(web: KindsWeb) -> None:
    failure = web.failed(provider="tavily")
    assert failure["kind"] == "validation"
    assert failure["error"].startswith("tavily does not search for images. Supported providers: brave, google, searxng")
    order = {"FERRULE_SEARCH_ROUTING": '{"images": ["tavily", "google"], "web": ["brave"]}'}
    done = web.run(environment=order)
    assert done.document["_meta"]["routing"]["providers_attempted"] == ["google"]
    assert b"not installed" not in done.stderr
    assert web.asked("/tavily") == []


def test_nothing_found_is_no_error_and_says_which_filters_may_be_why(web: KindsWeb) -> None:
    web.server.route(GOOGLE_PATH, sends({"kind": "customsearch#search", "queries": {}}))
    document = web.found(provider="google", dominant_color="teal", size="icon")
    assert (document["images"], document["resultCount"]) == ([], 0)
    assert document["hints"]["filtersApplied"] == ["dominant_color", "size"]
    assert document["hints"]["reason"] == "filters_too_restrictive"


def test_the_same_image_comes_once(web: KindsWeb) -> None:
    web.server.route(BRAVE_IMAGES_PATH, sends(brave_images([*HITS[:2], HITS[0]])))
    assert [one["link"] for one in web.found()["images"]] == [hit.url for hit in HITS[:2]]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": " "}, "query: it is blank"),
        ({"size": "enormous"}, "size"),
        ({"file_type": "exe"}, "file_type"),
        ({"safe": "strict"}, "safe"),
        ({"country": "Germany"}, "country"),
    ],
)
def test_an_argument_that_is_wrong_is_an_error_of_the_kind_validation(
    web: KindsWeb, arguments: dict[str, Any], told: str
) -> None:
    failure = web.failed(**arguments)
    assert (failure["error_code"], failure["kind"]) == ("INVALID_INPUT", "validation")
    assert told in failure["error"]
