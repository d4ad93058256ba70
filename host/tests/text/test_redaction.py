"""No spelling of a secret gets through, what is JSON stays JSON, and nothing gets longer."""

import base64
import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ferrule.text import strict_json
from ferrule.text.occurrences import MAX_PLACES
from ferrule.text.redaction import Redaction, redact, redact_json, redact_value

QUICK = settings(deadline=None, database=None)
SECRET = "hunter2-very-secret"
ODD = 'quote" back\\slash é😀 +/=%41&?'
# A mask beside a letter could spell a secret that has the mask's own characters in it.
SECRETS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0*[]"), min_size=4, max_size=12)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


def basic(secret: str, user: str = "") -> str:
    return base64.b64encode(f"{user}:{secret}".encode()).decode()


SPELLINGS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "json": lambda secret: json.dumps(secret, ensure_ascii=False),
    "json-ascii": json.dumps,
    "json-in-json": lambda secret: json.dumps({"body": json.dumps({"key": secret})}),
    "python": repr,
    "percent": lambda secret: quote(secret, safe=""),
    "percent-lower": lambda secret: "".join(f"%{byte:02x}" if byte > 127 else chr(byte) for byte in secret.encode()),
    "percent-path": quote,
    "percent-all": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "percent-some": lambda secret: quote(secret, safe="/&=?\"'"),
    "plus": quote_plus,
    "query": lambda secret: urlencode({"q": "x", "key": secret}),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64-url": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("secret", [SECRET, ODD, "abcd", "ключ-ключ"], ids=["plain", "odd", "short", "cyrillic"])
def test_a_secret_is_replaced_in_each_spelling(secret: str, spelling: Callable[[str], str]) -> None:
    shown = redact(f"before {spelling(secret)} after".encode(), [secret]).decode()
    assert ("[redacted]" in shown) or ("****" in shown)
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    core = spelling(secret).strip("\"'")
    assert core not in shown


@QUICK
@given(secret=SECRETS, before=TEXTS, after=TEXTS, spelling=st.sampled_from(sorted(SPELLINGS)))
def test_whatever_the_secret_is_it_is_not_in_the_text_and_the_text_is_not_longer(
    secret: str, before: str, after: str, spelling: str
) -> None:
    data = f"{before}{SPELLINGS[spelling](secret)}{after}".encode()
    shown = redact(data, [secret])
    assert secret.encode() not in shown
    assert len(shown) <= len(data)
    assert shown.decode() == redact(shown, [secret]).decode()


@pytest.mark.parametrize("user", ["", "u", "us", "user"], ids=len)
def test_a_secret_inside_of_something_longer_in_base64_is_replaced(user: str) -> None:
    shown = redact(f"Authorization: Basic {basic(SECRET, user)}".encode(), [SECRET]).decode()
    header = shown.removeprefix("Authorization: Basic ")
    assert "[redacted]" in header
    first, _, last = header.partition("[redacted]")
    assert len(first) <= len(base64.b64encode(f"{user}:".encode()))
    assert len(last) <= 4


@pytest.mark.parametrize("secret", ["", "a", "abc", "é"])
def test_a_secret_of_fewer_than_four_characters_is_left_alone(secret: str) -> None:
    assert redact(b"abc abc a \xc3\xa9", [secret]) == b"abc abc a \xc3\xa9"
    assert redact_json(b'{"abc":"a"}', [secret]) == b'{"abc":"a"}'


def test_a_secret_that_is_a_part_of_another_one_leaves_nothing_of_it() -> None:
    for secrets in (["hunter2-", "hunter2-very-secret"], ["hunter2-very-secret", "hunter2-"]):
        assert redact(b"<hunter2-very-secret> <hunter2-x>", secrets) == b"<[redacted]> <****x>"


def test_text_without_a_secret_is_the_same() -> None:
    text = '100 % of naïve + text, \\u0041 "quoted" aHVudGVy 😀\xff'.encode("latin-1", "replace")
    assert redact(text, [SECRET, ODD]) == text


def test_bytes_that_are_not_utf_8_are_kept() -> None:
    assert redact(b"\xff\xfe " + SECRET.encode() + b" \xff", [SECRET]) == b"\xff\xfe [redacted] \xff"


def test_html_around_a_plain_key_does_not_hide_it() -> None:
    page = html.escape(f'<a href="?key={SECRET}&q=1">').encode()
    assert SECRET.encode() not in redact(page, [SECRET])


STRICT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *(leaf for inner in value.values() for leaf in leaves(inner))]
    return [leaf for inner in value for leaf in leaves(inner)] if isinstance(value, list) else [value]


@QUICK
@given(value=STRICT, secret=SECRETS, spelling=st.sampled_from(sorted(SPELLINGS)), text=TEXTS)
@example(value={}, secret="nabc", spelling="raw", text="\n")
@example(value={}, secret='":["', spelling="raw", text="")
@example(value={}, secret="u0001", spelling="raw", text="\x01")
def test_a_document_stays_one_without_the_secret_and_is_not_longer(
    value: Any, secret: str, spelling: str, text: str
) -> None:
    spelt = SPELLINGS[spelling](secret)
    document = strict_json.dumps({"value": value, text + spelt: [text + "abc", text + spelt, {"again": spelt + text}]})
    shown = redact_json(document, [secret])
    assert len(shown) <= len(document)
    for leaf in leaves(strict_json.loads(shown)):
        assert not isinstance(leaf, str) or secret not in leaf


@QUICK
@given(value=STRICT)
def test_a_document_without_a_secret_is_the_same_to_the_byte(value: Any) -> None:
    document = json.dumps(value, ensure_ascii=False, indent=1).encode()
    assert redact_json(document, ["hunter2-very-secret", "x" * 40]) == document


@pytest.mark.parametrize(
    ("document", "secret", "shown"),
    [
        pytest.param(rb'{"a":"\nabc"}', "nabc", rb'{"a":"\nabc"}', id="escape-before-the-rest-of-a-secret"),
        pytest.param(rb'{"a":"quote\" it"}', 'quote" it', rb'{"a":"****"}', id="escaped-inside"),
        pytest.param(rb'{"a":"\u0068unter2"}', "hunter2", rb'{"a":"****"}', id="written-in-escapes"),
        pytest.param(b'{"a":"b","c":"d"}', '","c', b'{"a":"b","c":"d"}', id="what-only-structure-spells"),
        pytest.param(b'{"a":12345678,"b":-1234.5}', "1234", b'{"a":null,"b":null}', id="numbers"),
        pytest.param(b'{"a":true,"b":null}', "true", b'{"a":true,"b":null}', id="words-of-json"),
        pytest.param(b'{"hunter2":1,"x":{"hunter2":2}}', "hunter2", b'{"****":1,"x":{"****":2}}', id="keys"),
        pytest.param(b'"hunter2"', "hunter2", b'"****"', id="top"),
        pytest.param(b"[[[[1]]]]", "hunter2", b"[[[[1]]]]", id="nothing"),
    ],
)
def test_a_document_is_redacted_by_its_values_and_not_by_its_bytes(document: bytes, secret: str, shown: bytes) -> None:
    assert redact_json(document, [secret]) == shown


def test_a_document_as_deep_as_can_be_read_is_redacted() -> None:
    levels = 400
    document = b"[" * levels + b'"hunter2-very-secret"' + b"]" * levels
    assert redact_json(document, [SECRET]) == b"[" * levels + b'"[redacted]"' + b"]" * levels


def test_a_full_answer_of_short_secrets_is_not_longer_than_it_was() -> None:
    document = strict_json.dumps({"a": "abcd" * 16_000, "b": [1234] * 100})
    shown = redact_json(document, ["abcd", "1234"])
    assert len(shown) <= len(document)
    assert strict_json.loads(shown) == {"a": "****" * 16_000, "b": [None] * 100}


def test_a_value_is_redacted_as_its_document_is() -> None:
    value = {"text": "hunter2-very-secret", "inner": [1, None, "x hunter2-very-secret"]}
    assert redact_value(value, ["hunter2-very-secret"]) == {"text": "[redacted]", "inner": [1, None, "x [redacted]"]}
    assert value["text"] == "hunter2-very-secret"
    assert redact_value(value, iter(())) is value


def test_signs_that_encode_nothing_stay_where_they_are() -> None:
    text = f"100% of %zz %4 {quote(SECRET[:5])}%{ord(SECRET[5]):02x}{SECRET[6:]} %"
    assert redact(text.encode(), [SECRET]) == b"100% of %zz %4 [redacted] %"


@pytest.mark.parametrize("secrets", [["aaaa"], ["aaaa", *(f"other-{number:03}" for number in range(100))]], ids=len)
def test_of_too_many_places_nothing_is_shown(secrets: list[str]) -> None:
    document = json.dumps({"many": "aaaa" * MAX_PLACES, "number": 1234, "word": "words", "a": [True, 12, "abc"]})
    shown = json.loads(redact_json(document.encode(), secrets))
    assert "aaaa" not in json.dumps(shown)
    assert shown["a"] == [True, 12, "abc"]
    assert len(json.dumps(shown)) <= len(document)


@pytest.mark.parametrize("number", [1234, -123, 12.5, 1e300, 99999])
def test_a_number_that_is_a_secret_is_replaced(number: float) -> None:
    assert redact_value({"n": [number, 7]}, [json.dumps(number)]) == {"n": [None, 7]}


def test_whoever_has_no_time_left_ends_the_search() -> None:
    calls = []

    def go_on() -> None:
        calls.append(None)
        if len(calls) > 2:
            raise TimeoutError

    document = json.dumps([f"text {number}" for number in range(20_000)]).encode()
    with pytest.raises(TimeoutError):
        Redaction([SECRET]).of_json(document, go_on)
    assert Redaction([SECRET]).of_json(document) == document
