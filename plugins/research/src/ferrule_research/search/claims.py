"""Which sentence of a text bears most on a claim. Evidence to read, and never a verdict."""

from __future__ import annotations

import re

_STOP_WORDS = """
    a about after all also am an and any are as at be been before being but by can could did do does for from had has
    have he her his how i if in into is it its just may me might more most my no not of on or our she should so some
    such than that the their them then there these they this those to was we were what when where which who whom whose
    why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
# Words with which a text takes a side, or says that others do.
_CUES = re.compile(
    r"\b(?:however|but|although|despite|contrary|contradict\w*|disput\w*|den(?:y|ies|ied)|refut\w*|reject\w*|debunk\w*|"
    r"myth|false|falsely|mislead\w*|wrong|incorrect|untrue|no evidence|not|never|confirm\w*|support\w*|show(?:s|ed|n)?|"
    r"found|finds|prov(?:e|es|ed|en)|demonstrat\w*|evidence|according to|study|studies|report(?:s|ed)?|agree\w*)\b",
    re.I,
)
_BONUS = 1.5
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\W\d_a-zß-öø-ÿ]|\d)|(?<=[。！？])|\s\|\s|\s·\s")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")  # scripts that put no blanks between words


def find_claim_signal(claim: str, text: str) -> str:
    """The sentence of a text that has most of the claim's words, "" where none has any."""
    words, numbers = extract_words(claim), _numbers(claim)
    best, signal = 0.0, ""
    for sentence in _SENTENCE.split(text):
        score = _score(sentence, words, numbers)
        if score > best:
            best, signal = score, sentence.strip()
    return signal


def find_key_sentences(claim: str, text: str, limit: int) -> list[str]:
    """The sentences of a text that have most of the claim's words, at most `limit`, in the order of the text."""
    words, numbers = extract_words(claim), _numbers(claim)
    sentences = dict.fromkeys(" ".join(sentence.split()) for sentence in _SENTENCE.split(text))
    scored = [(_score(sentence, words, numbers), place, sentence) for place, sentence in enumerate(sentences)]
    best = sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1]))[:limit]
    return [sentence for _, _, sentence in sorted(best, key=lambda one: one[1])]


def _score(sentence: str, words: set[str], numbers: set[str]) -> float:
    shared = len(words & extract_words(sentence))
    has_number = bool(numbers & _numbers(sentence))
    if not shared and not has_number:
        return 0.0
    return shared + _BONUS * has_number + _BONUS * bool(_CUES.search(sentence))


def extract_words(text: str) -> set[str]:
    """The words of a text that mean something, in small letters and without a plural's ending.

    Of scripts that put no blanks between words, each two letters in a row. Numbers are no words.
    """
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            found.update(word[place : place + 2] for place in range(max(1, len(word) - 1)))
        elif word not in STOP_WORDS and not word.isdigit():
            found.add(_stem(word))
    return found


def _stem(word: str) -> str:
    """Enough that a plural or a possessive is the same word."""
    word = re.sub(r"['’]s$", "", word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(text)}
