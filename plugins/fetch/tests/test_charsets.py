"""Pages in any character set that the web knows."""

import codecs
from collections.abc import Callable
from typing import Any

import pytest
from loopback import Server

from ferrule_fetch.decoding import decode

RUSSIAN, JAPANESE, CHINESE, KOREAN = "Привет, мир", "日本語 ①㈱髙", "中文字符 镕", "한국어 똠"

Fetch = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("naïve café €", "utf-8"),
        ("naïve café €", "windows-1252"),
        ("naïve café €", "iso-8859-1"),  # the web reads it as windows-1252
        (RUSSIAN, "windows-1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        ("日本語", "euc-jp"),
        ("日本語", "iso-2022-jp"),
        (CHINESE, "gbk"),
        (CHINESE, "gb2312"),
        (CHINESE, "gb18030"),
        ("中文", "big5"),
        (KOREAN, "euc-kr"),
    ],
)
@pytest.mark.parametrize("told_by", ["header", "meta", "http-equiv"])
def test_a_page_is_decoded(server: Server, fetch: Fetch, text: str, charset: str, told_by: str) -> None:
    wider = {"iso-8859-1": "cp1252", "shift_jis": "cp932", "gbk": "gb18030", "gb2312": "gb18030", "euc-kr": "cp949"}
    meta = {
        "header": "",
        "meta": f"<meta charset={charset}>",
        "http-equiv": f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">',
    }
    content_type = f"text/html; charset={charset.upper()}" if told_by == "header" else "text/html"
    body = f"{meta[told_by]}<title>{text}</title><p>{text}".encode(wider.get(charset, charset))
    answer = fetch(server.page("/", body, content_type))
    assert (answer["title"], answer["content"]) == (text, text)


@pytest.mark.parametrize(
    ("mark", "codec"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_a_byte_order_mark_goes_before_everything(mark: bytes, codec: str) -> None:
    assert decode(mark + RUSSIAN.encode(codec), "windows-1252", html=True) == RUSSIAN


def test_the_header_goes_before_the_page() -> None:
    body = b"<meta charset=windows-1252>" + RUSSIAN.encode("windows-1251")
    assert decode(body, "windows-1251", html=True).endswith(RUSSIAN)


@pytest.mark.parametrize("charset", ["base64", "rot13", "unicode_escape", "idna", "undefined", "nonsense", "hex"])
def test_a_charset_that_the_web_does_not_know_is_passed_over(charset: str) -> None:
    assert decode(b"caf\xc3\xa9", charset, html=False) == "café"


def test_without_a_word_on_it_a_page_is_utf_8_or_else_windows_1252() -> None:
    assert decode("café".encode(), "", html=False) == "café"
    assert decode(b"\x80 caf\xe9", "", html=False) == "€ café"


def test_utf_8_that_was_cut_within_a_character_is_still_utf_8() -> None:
    assert decode("café".encode()[:-1], "", html=False, complete=False) == "caf"


def test_a_meta_element_in_a_comment_says_nothing() -> None:
    body = b"<!-- <meta charset=windows-1251> -->caf\xc3\xa9"
    assert decode(body, "", html=True).endswith("café")


def test_a_meta_element_that_says_utf_16_means_utf_8() -> None:
    assert decode("<meta charset=utf-16>café".encode(), "", html=True).endswith("café")


def test_xml_says_its_encoding_itself() -> None:
    body = f'<?xml version="1.0" encoding="windows-1251"?><a>{RUSSIAN}</a>'.encode("windows-1251")
    assert RUSSIAN in decode(body, "", html=False)
