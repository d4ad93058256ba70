"""What a manifest says of a kind of search, and how a request of that kind is handed on."""

from typing import Any

import pytest

from ferrule_websearch import SearchRequest, make_result
from ferrule_websearch.manifest import GROUPS, KIND_PARAMETERS, InvalidManifest, read_manifest
from ferrule_websearch.query_mapping import map_query

NEWS: dict[str, Any] = {
    "tool": "web_search_lighthouse",
    "name": "Lighthouse",
    "kind": "news",
    "provider": "lighthouse:News",
    "limits": {"results": 50, "served": 20, "characters": 30},
    "parameters": {
        "time_range": {"as": "since", "values": {"day": "24h", "week": "7d"}},
        "sort_by": {"as": "order", "values": {"date": "newest"}},
        "language": {"as": "lang", "values": ["de"], "operator": True},
    },
}


def test_each_kind_has_a_group_and_parameters_of_its_own() -> None:
    assert set(GROUPS) == set(KIND_PARAMETERS)
    assert len(set(GROUPS.values())) == len(GROUPS)
    assert read_manifest({"tool": "t", "provider": "m:P"}).kind == "web"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "videos"}, "kind: 'videos' is none of web, news, images, patents"),
        ({"kind": "images"}, "parameters: 'sort_by' is none of"),
        ({"parameters": {"size": "imgSize"}}, "parameters: 'size' is none of"),
        ({"warning": 5}, "warning is no text"),
        ({"limits": {"served": 0}}, "limits: 'served'"),
    ],
)
def test_a_manifest_of_a_kind_is_held_to_it(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidManifest, match=told.replace("(", r"\(")):
        read_manifest({**NEWS, **change})


def test_a_filter_of_the_kind_is_handed_on_or_told() -> None:
    manifest = read_manifest(NEWS)
    mapping = map_query(manifest, SearchRequest("q", 5, filters={"sort_by": "date"}))
    assert mapping.queries[0].parameters == {"order": "newest"}
    assert mapping.ignored == []
    mapping = map_query(manifest, SearchRequest("q", 5, filters={"sort_by": "size"}))
    assert mapping.ignored == [("sort_by", "Lighthouse does not know 'size'")]


def test_an_hour_is_a_day_where_there_is_no_shorter_time() -> None:
    mapping = map_query(read_manifest(NEWS), SearchRequest("q", 5, time_range="hour"))
    assert mapping.queries[0].parameters == {"since": "24h"}
    assert [name for name, _ in mapping.ignored] == ["time_range"]


def test_an_operator_stands_in_the_query_unless_it_is_too_long() -> None:
    mapping = map_query(read_manifest(NEWS), SearchRequest("some words", 5, language="de"))
    assert (mapping.queries[0].text, mapping.queries[0].parameters) == ("some words lang:de", {})
    mapping = map_query(read_manifest(NEWS), SearchRequest("w" * 29, 5, language="de"))
    assert mapping.queries[0].text == "w" * 29
    assert mapping.ignored == [("language", "Lighthouse takes 30 characters at most in a query")]


def test_more_results_than_there_are_for_a_query_are_told() -> None:
    assert map_query(read_manifest(NEWS), SearchRequest("q", 20)).ignored == []
    mapping = map_query(read_manifest(NEWS), SearchRequest("q", 21))
    assert mapping.ignored == [("num_results", "Lighthouse has 20 results at most for a query")]


def test_details_are_kept_where_they_are_of_their_kind() -> None:
    details: dict[str, object] = {
        "source": " The <b>Paper</b> ",
        "page": "ftp://pages.example/",
        "thumbnail": "https://imgs.example/1",
        "width": 0,
        "height": True,
        "bytes": 12,
    }
    result = make_result("t", "https://cdn.example/1.jpg", None, html=True, details=details)
    assert result is not None
    assert result.details == {"source": "The Paper", "thumbnail": "https://imgs.example/1", "bytes": 12}
    assert result.as_json()["bytes"] == 12
