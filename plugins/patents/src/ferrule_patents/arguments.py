"""What the arguments of both tools may be, beyond what their schemas say, and how they are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import ferrule_websearch as web

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

OFFICES = ("US", "EP", "WO", "JP", "CN", "KR")
DEFAULT_RESULTS = 10
_TERMS = ("query", "assignee", "inventor", "number")
_CPC = re.compile(r"[A-HY](?:\d{2}(?:[A-Z](?:\s?\d{1,4}(?:/\d{2,6})?)?)?)?")
_KIND = re.compile(r"(?<=\d)[A-Z]\d?\Z")  # such as B2
_NUMBER = re.compile(r"[A-Z]{2}\d[\dA-Z]{2,14}")


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call."""
    found = []
    if not any(text_of(arguments, name) for name in _TERMS):
        found.append(f"query: one of {', '.join(_TERMS)} is needed")
    code = text_of(arguments, "cpc_code").upper()
    if code and not _CPC.fullmatch(code):
        found.append(f"cpc_code: {code[:20]!r} is no symbol of the CPC, write it as G06F or G06F16/245")
    number = number_of(arguments)
    if number and not _NUMBER.fullmatch(number):
        found.append(f"number: {number[:20]!r} is no number of a patent, write it as EP1234567B1")
    if arguments.get("year_from", 0) > arguments.get("year_to", 9999):
        found.append("year_from: it is later than year_to")
    return found


def text_of(arguments: JSONMapping, name: str) -> str:
    """A text without blanks around it and without double quotes, which would end a phrase; "" where it is not there."""
    return " ".join(str(arguments.get(name) or "").replace('"', " ").split())


def number_of(arguments: JSONMapping) -> str:
    """The number of a patent in capitals, without blanks, dots, dashes and slashes."""
    return re.sub(r"[\s.,/-]", "", text_of(arguments, "number")).upper()


def number_without_kind(arguments: JSONMapping) -> str:
    """The number of a patent without the letter and digit at its end, which say what was published."""
    return _KIND.sub("", number_of(arguments))


def query_of(arguments: JSONMapping, text: str) -> web.Query:
    """A query in an office's own language, for as many results as the arguments say."""
    return web.Query(text, 0, arguments.get("count", DEFAULT_RESULTS))


def date_of(text: object) -> str:
    """`2018-03-14` from that or from `20180314`; "" for what is no date."""
    digits = text.replace("-", "")[:8] if isinstance(text, str) else ""
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}" if len(digits) == 8 and digits.isdecimal() else ""
