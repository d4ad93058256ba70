"""What stands in a file of exchanges, and when two requests count as the same."""

import gzip
import json
import re
from base64 import b64decode, b64encode
from pathlib import Path

import pytest

from ferrule_dev.testing.exchanges import file
from ferrule_dev.testing.exchanges.recorded import UNRECORDED, Writer, body_of, comparable

KEY = "k3y-of-the-tests-0123"
URL = "https://api.example/search"
FORM = {"content-type": "application/x-www-form-urlencoded"}
NONE: frozenset[str] = frozenset()


def same(
    one: tuple[str, dict[str, str], bytes],
    other: tuple[str, dict[str, str], bytes],
    headers: frozenset[str] = UNRECORDED,
    parameters: frozenset[str] = NONE,
) -> bool:
    """Whether two requests count as the same, given by URL, headers and body; the second one with a shorter key."""
    requests = [Writer([key]).request("POST", *request) for key, request in ((KEY, one), ("sh0rt", other))]
    first, second = (comparable(request, headers, parameters) for request in requests)
    return first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((f"{URL}?a=1&b=2", {}, b""), (f"{URL}?b=2&a=1", {}, b""), id="order-of-parameters"),
        pytest.param((f"{URL}?k={KEY}", {}, b""), (f"{URL}?k=sh0rt", {}, b""), id="key-in-the-query"),
        pytest.param((f"{URL}/{KEY}/x", {}, b""), (f"{URL}/sh0rt/x", {}, b""), id="key-in-the-path"),
        pytest.param((URL, {"x-q": f"k={KEY}"}, b""), (URL, {"x-q": "k=sh0rt"}, b""), id="key-in-a-header"),
        pytest.param(
            (URL, {"authorization": "Basic eDp5"}, b""), (URL, {"authorization": "Basic eA"}, b""), id="login"
        ),
        pytest.param((URL, {"user-agent": "httpx/1"}, b""), (URL, {"user-agent": "httpx/2"}, b""), id="library"),
        pytest.param((URL, {}, b'{"a": 1, "b": 2}'), (URL, {}, b'{"b":2,"a":1}'), id="spelling-of-json"),
        pytest.param((URL, {}, b'["%s"]' % KEY.encode()), (URL, {}, b'["sh0rt"]'), id="key-in-json"),
        pytest.param((URL, FORM, b"token=first&q=1"), (URL, FORM, b"token=second&q=1"), id="token-in-a-form"),
        pytest.param(
            (URL, {"content-type": "multipart/form-data; boundary=abc1"}, b"--abc1\r\n\r\nx\r\n--abc1--"),
            (URL, {"content-type": "multipart/form-data; boundary=def2"}, b"--def2\r\n\r\nx\r\n--def2--"),
            id="boundary",
        ),
    ],
)
def test_requests_are_the_same_that_differ_in_nothing_of_the_tools(
    one: tuple[str, dict[str, str], bytes], other: tuple[str, dict[str, str], bytes]
) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((f"{URL}?a=1", {}, b""), (f"{URL}?a=2", {}, b""), id="parameter"),
        pytest.param((f"{URL}?a=1&a=2", {}, b""), (f"{URL}?a=1", {}, b""), id="repeated-parameter"),
        pytest.param((f"{URL}?a=", {}, b""), (URL, {}, b""), id="blank-parameter"),
        pytest.param((URL, {}, b""), (f"{URL}/", {}, b""), id="path"),
        pytest.param((URL, {"accept": "a/b"}, b""), (URL, {"accept": "a/c"}, b""), id="header"),
        pytest.param((URL, {"authorization": "Bearer x"}, b""), (URL, {}, b""), id="no-login"),
        pytest.param((URL, {}, b'{"a": 1}'), (URL, {}, b'{"a": "1"}'), id="type-in-json"),
        pytest.param((URL, {}, b"[1, 2]"), (URL, {}, b"[2, 1]"), id="order-in-json"),
        pytest.param((URL, {}, b"text"), (URL, {}, b"Text"), id="text"),
        pytest.param((URL, {}, b"\xff\x00"), (URL, {}, b"\xff\x01"), id="bytes"),
    ],
)
def test_every_other_difference_counts(
    one: tuple[str, dict[str, str], bytes], other: tuple[str, dict[str, str], bytes]
) -> None:
    assert not same(one, other)


def test_a_test_may_leave_out_headers_and_parameters() -> None:
    one, other = (f"{URL}?t=1&q=x", {"x-request-id": "1"}, b""), (f"{URL}?t=2&q=x", {"x-request-id": "2"}, b"")
    assert same(one, other, UNRECORDED | {"x-request-id"}, frozenset(["t"]))
    assert not same(one, other, UNRECORDED, frozenset(["t"]))
    assert not same(one, other, UNRECORDED | {"x-request-id"})


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("application/json", b'{"a": [1.5, null, "\xc3\xa9"]}', {"json": {"a": [1.5, None, "é"]}}),
        ("application/json", b'{"a": 1, "a": 2}', {"text": '{"a": 1, "a": 2}'}),  # which JSON would lose
        ("application/json", b"not JSON", {"text": "not JSON"}),
        ("text/plain", b"[1]", {"text": "[1]"}),
        ("image/png", b"\x89PNG\xff", {"base64": "iVBOR/8="}),
        ("text/plain", b"", {}),
    ],
)
def test_a_body_is_readable_and_comes_back(content_type: str, body: bytes, expected: dict[str, object]) -> None:
    written = Writer([]).answer(200, "OK", [("Content-Type", content_type)], body)
    assert {key: written[key] for key in ("json", "text", "base64") if key in written} == expected
    back = body_of(written)
    assert back == body or json.loads(back) == json.loads(body)


def test_an_answer_has_no_secret_in_headers_or_any_kind_of_body() -> None:
    headers = [("Set-Cookie", "session=hidden-1; Path=/"), ("X-Echo", KEY), ("Content-Length", "7")]
    bodies = [b'{"access_token": "hidden-2", "token_type": "x", "of": "%s"}', b"\xff%s\xff", b"text of %s"]
    for body, kind in zip(bodies, ("application/json", "image/png", "text/plain"), strict=True):
        body = body.replace(b"%s", KEY.encode())
        written = Writer([KEY]).answer(200, "OK", [*headers, ("Content-Type", kind)], body)
        text = json.dumps(written)
        assert KEY not in text
        assert "hidden" not in text
        assert KEY.encode() not in b64decode(written.get("base64", ""))
        assert ["Set-Cookie", "session=[redacted]; Path=/"] in written["headers"]
        assert "Content-Length" not in text
    assert b64encode(KEY.encode()).decode() not in text


def test_a_body_that_the_client_has_compressed_is_looked_into() -> None:
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    bodies = [gzip.compress(b'{"q": 1, "of": "%s"}' % KEY.encode(), mtime=time) for time in (1, 2)]
    first, second = (Writer([KEY]).request("POST", URL, headers, body) for body in bodies)
    assert first == second
    assert first["json"] == {"q": 1, "of": "[redacted]"}
    assert "base64" in Writer([KEY]).request("POST", URL, {"content-encoding": "gzip"}, b"\xff no gzip")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("X-Session-Token", "hidden-hidden-1234", "[redacted]"),
        ("Location", "/x?q=1&access_token=hidden", "/x?q=1&access_token=[redacted]"),
        ("X-RateLimit-Remaining-Tokens", "149984", "149984"),
        ("WWW-Authenticate", 'Bearer realm="a realm of some length"', 'Bearer realm="a realm of some length"'),
    ],
)
def test_a_header_of_an_answer_has_no_new_secret(name: str, value: str, shown: str) -> None:
    assert Writer([]).answer(200, "OK", [(name, value)], b"")["headers"] == [[name, shown]]


@pytest.mark.parametrize("name", ["accessToken", "refresh-token", "API_KEY", "clientSecret"])
def test_a_secret_field_is_known_however_its_words_are_joined(name: str) -> None:
    body = json.dumps({"in": [{name: "hidden"}]}).encode()
    assert "hidden" not in json.dumps(Writer([]).request("POST", f"{URL}?{name}=hidden", {}, body))


def test_a_file_in_which_a_secret_would_stand_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "exchanges/test_it/test_it.json"
    request = Writer([]).request("GET", f"{URL}?q={KEY}", {}, b"")
    answer = Writer([]).answer(200, "OK", [], b"")
    with pytest.raises(file.UnusableFile, match="a credential would stand in"):
        file.write(path, [{"request": request, "answer": answer}], [KEY])
    assert not path.exists()
    file.write(path, [{"request": request, "answer": answer}], [])
    assert file.read(path) == [{"request": request, "answer": answer}]
    assert list(path.parent.iterdir()) == [path]


def test_each_test_has_a_file_that_any_system_can_name(tmp_path: Path) -> None:
    names = ["test_it", "TestIt.test_it[a-1]", "test_it[a/b]", "test_it[a:b]", "test_it[" + "x" * 300 + "]"]
    paths = [file.path_of(tmp_path / "test_module.py", name) for name in names]
    assert len(set(paths)) == len(names)
    assert {path.parent for path in paths} == {tmp_path / "exchanges/test_module"}
    assert paths[0].name == "test_it.json"
    assert all(re.fullmatch(r"[\w.\[\]=,-]{1,200}", path.name) for path in paths)
