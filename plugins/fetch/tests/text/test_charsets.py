"""Pages in any character set that the web knows."""

import codecs
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_fetch.text.charsets import decode
from ferrule_fetch.text.prescan import declared

RUSSIAN, JAPANESE, CHINESE, KOREAN = "Привет, мир", "日本語 ①㈱髙", "中文字符 镕", "한국어 똠"

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]


@pytest.mark.process
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


@pytest.mark.process
@pytest.mark.parametrize(("charset", "is_needed"), [("UTF-8", False), ("windows-1252", True), ("", True)])
def test_the_table_of_charsets_is_imported_only_where_it_is_needed(charset: str, is_needed: bool) -> None:
    script = (
        "import sys\nfrom ferrule_fetch.document import decode\n"
        f"print(ascii(decode(b'caf\\xc3\\xa9 \\xff', {charset!r}, html=True)), 'webencodings' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f" {is_needed}\n")
    assert ("caf\\xe9 \\ufffd" in done.stdout) == (charset == "UTF-8")


@pytest.mark.parametrize(
    ("mark", "codec"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_a_byte_order_mark_goes_before_everything(mark: bytes, codec: str) -> None:
    assert decode(mark + RUSSIAN.encode(codec), "windows-1252", html=True) == RUSSIAN


def test_the_header_goes_before_the_page() -> None:
    body = b"<meta charset=windows-1252>" + RUSSIAN.encode("windows-1251")
    assert decode(body, "windows-1251", html=True).endswith(RUSSIAN)


@pytest.mark.parametrize(
    "charset", ["base64", "rot13", "unicode_escape", "idna", "undefined", "nonsense", "hex", "utf-7"]
)
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


@pytest.mark.parametrize(
    ("page", "name"),
    [
        (b"<meta charset=koi8-r>", "koi8-r"),
        (b'<META CHARSET="KOI8-R"/>', "koi8-r"),
        (b"<meta/charset='koi8-r'>", "koi8-r"),
        (b"<meta charset = koi8-r >", "koi8-r"),
        (b"<meta name=a charset=koi8-r>", "koi8-r"),
        (b"<meta charset=koi8-r charset=gbk>", "koi8-r"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", "koi8-r"),
        (b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>", "koi8-r"),
        (b"<meta content='text/html; charset=\"koi8-r\"; x' http-equiv=Content-Type>", "koi8-r"),
        (b"<meta content='text/html; charset = koi8-r' http-equiv='CONTENT-TYPE'>", "koi8-r"),
        (b"<meta http-equiv=content-type content='charset=gbk' charset=koi8-r>", "koi8-r"),
        (b"<!-- > <meta charset=gbk> --><meta charset=koi8-r>", "koi8-r"),
        (b"<!--><meta charset=koi8-r>-->", "koi8-r"),
        (b"<!doctype html><?x <meta charset=gbk?><meta charset=koi8-r>", "koi8-r"),
        (b"<a title='<meta charset=gbk>'><meta charset=koi8-r>", "koi8-r"),
        (b"</a title='<meta charset=gbk>'><meta charset=koi8-r>", "koi8-r"),
        (b"a < b <3 <meta charset=koi8-r>", "koi8-r"),
        (b"<metadata charset=gbk><meta charset=koi8-r>", "koi8-r"),
        (b"<script>'<meta charset=koi8-r>'</script>", "koi8-r"),  # the prescan knows no scripts
        (b"<?xml version='1.0' encoding='koi8-r'?><html>", "koi8-r"),
        (b'<?xml version="1.0" encoding="gbk"?><meta charset=koi8-r>', "koi8-r"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=us-ascii>", "windows-1252"),
        (b"<meta charset=latin1>", "windows-1252"),
        (b"<\0?\0x\0m\0l\0", "utf-16le"),
        (b"\0<\0?\0x\0m\0l", "utf-16be"),
        (b" " * 1002 + b"<meta charset=koi8-r>", "koi8-r"),
    ],
)
def test_a_page_names_its_encoding(page: bytes, name: str) -> None:
    encoding = declared(page, html=True)
    assert encoding is not None
    assert encoding.name == name


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"<meta charset>",
        b"<meta charset=>",
        b"<meta charset=utf-7>",
        b"<meta charset=unicode_escape>",
        b"<meta charset='koi8-r>",
        b"<meta charset=koi8-r",
        b"<meta content='text/html; charset=koi8-r'>",
        b"<meta http-equiv=refresh content='text/html; charset=koi8-r'>",
        b"<meta http-equiv=content-type content='charset=koi8-r' charset=nonsense>",
        b"<meta http-equiv=content-type content='charset=\"koi8-r'>",
        b"<meta><p charset=koi8-r>",
        b"<!-- <meta charset=koi8-r>",
        b"<a title='<meta charset=koi8-r>",
        b" <?xml version='1.0' encoding='koi8-r'?>",
        b"<?xml version='1.0' encoding=koi8-r?>",
        b"<?xmlx encoding='koi8-r'?>",
        b" " * 1004 + b"<meta charset=koi8-r>",
    ],
)
def test_a_page_that_names_no_encoding(page: bytes) -> None:
    assert declared(page, html=True) is None


def test_only_html_has_meta_elements() -> None:
    assert declared(b"<meta charset=koi8-r>", html=False) is None


@pytest.mark.process
@pytest.mark.parametrize("label", ["iso-2022-kr", "hz-gb-2312", "ISO-2022-CN", "replacement"])
def test_an_encoding_that_browsers_refuse_is_an_error_that_names_it(server: Server, error: Error, label: str) -> None:
    message = "Failed to parse HTML: the page is written in {}, which browsers refuse to read"
    in_header = error(server.page("/", b"<p>~{", f"text/html; charset={label}"))
    assert in_header == ("PARSE_ERROR", message.format(label))
    in_page = error(server.page("/", f"<meta charset={label}>", "text/html"))
    assert in_page == ("PARSE_ERROR", message.format("a character set"))


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        ("shift_jis", b"\x87\x40\x87\x8a\xfb\xfc\x81\x60", "①㈱髙～"),
        ("euc-jp", b"\xad\xa1\xad\xea\xfc\xe2\xa1\xc1", "①㈱髙～"),
        ("iso-2022-jp", b"\x1b$B-!-j!A\x1b(B", "①㈱～"),
        ("euc-kr", b"\x8c\x63", "똠"),
        ("gbk", b"\x80\xe9\x46\x80", "€镕€"),
        ("gb18030", b"\x80 \x81\x30\x84\x36", "€ ¥"),
        ("big5", b"\xf9\xd6\xa1\x45\xa2\x46\x87\x40", "碁‧￠䏰"),
        ("windows-874", b"\xa1\x80", "ก€"),
        ("iso-8859-9", b"\xfd\x80", "ı€"),
        ("iso-8859-8-i", b"\xf9\xec", "של"),
        ("macintosh", b"\x8e", "é"),
        ("x-mac-cyrillic", b"\x80", "А"),
        ("x-user-defined", b"\x80", "\uf780"),
        ("koi8-u", b"\xa4", "є"),
        ("ibm866", b"\x80", "А"),
    ],
)
def test_letters_are_those_of_the_web(charset: str, body: bytes, text: str) -> None:
    pytest.importorskip("turbohtml", reason="elsewhere it can be installed")
    assert decode(body, charset, html=False).replace("\ufffd", "") == text


@pytest.mark.parametrize("charset", ["shift_jis", "euc-jp", "euc-kr", "gbk", "gb18030", "big5", "iso-2022-jp"])
def test_half_a_letter_swallows_no_markup(charset: str) -> None:
    assert decode(b"\x81<b>", charset, html=True).endswith("<b>")


@pytest.mark.parametrize("charset", ["utf-8", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr", "utf-16le"])
def test_a_letter_that_the_size_limit_cuts_is_left_out(charset: str) -> None:
    body = "ab字".encode(charset)
    for cut in range(len(body), 4 if charset.startswith("utf-16") else 2, -1):
        assert decode(body[:cut], charset, html=False, complete=False) in ("ab字", "ab")


def test_one_slip_does_not_make_utf_8_something_else() -> None:
    assert decode(("ünï" * 20).encode() + b"\xff!", "", html=False) == "ünï" * 20 + "\ufffd!"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Съешь же ещё этих мягких французских булок, да выпей чаю", "windows-1251"),
        ("Съешь же ещё этих мягких французских булок, да выпей чаю", "koi8-r"),
        ("いろはにほへと ちりぬるを わかよたれそ つねならむ", "shift_jis"),
        ("いろはにほへと ちりぬるを わかよたれそ つねならむ", "euc-jp"),
        ("天地玄黃宇宙洪荒日月盈昃辰宿列張", "big5"),
        ("天地玄黄宇宙洪荒日月盈昃辰宿列张", "gbk"),
        ("키스의 고유조건은 입술끼리 만나야 하고", "euc-kr"),
        ("Größe “quoted” — café, naïve coöperation", "windows-1252"),
        ("It’s 50£, or “50 quid”", "windows-1252"),
        ("Łódź jest ładna", "windows-1250"),
    ],
)
def test_what_nobody_declared_is_guessed_by_its_letters(text: str, codec: str) -> None:
    pytest.importorskip("turbohtml", reason="elsewhere it can be installed")
    assert decode(text.encode(codec), "", html=True) == text
    assert decode(text.encode(codec), "", html=True, url="http://host.example/") == text


@pytest.mark.parametrize(
    "url", ["", "http://127.0.0.1/", "http://[::1]/", "http://host.xn--p1ai./", "http://пример.рф/", "http://h/", "x"]
)
def test_any_url_may_help_to_guess(url: str) -> None:
    assert decode(b"caf\xe9", "", html=True, url=url) == "café"


@pytest.mark.process
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_xml_in_utf_16_needs_no_byte_order_mark(server: Server, fetch: Fetch, codec: str) -> None:
    text = f'<?xml version="1.0"?><a>{RUSSIAN}</a>'
    assert fetch(server.page("/", text.encode(codec), "text/xml"))["content"] == text


@pytest.mark.parametrize("label", ["\u212aoi8-r", "ｋｏｉ８-ｒ", "koi8\u2010r", "koi8-r\xa0", "ﬁso"])
def test_a_label_that_only_looks_like_one_is_none(label: str) -> None:
    assert decode("café".encode(), label, html=False) == "café"


@pytest.mark.parametrize(
    ("charset", "text"), [("euc-jp", "日本語"), ("big5", "中文"), ("iso-2022-jp", "日本語"), ("", "naïve café")]
)
def test_where_turbohtml_cannot_be_installed_python_decodes(
    monkeypatch: pytest.MonkeyPatch, charset: str, text: str
) -> None:
    monkeypatch.setitem(sys.modules, "turbohtml.detect", None)
    assert decode(text.encode(charset or "cp1252"), charset, html=True) == text
