"""Whether a text speaks of a claim: by words that both have, and never a verdict on whether it is true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_research.library import STOP_WORDS
from ferrule_scholar.works.titles import title_words

if TYPE_CHECKING:
    from ferrule import JSONObject

MAX_CLAIM_BYTES = 2000
_ADDRESSED = 0.6  # of the claim's terms, in one passage
_SENTENCES = 3  # of a passage
_MAX_PASSAGES, _PASSAGE_CHARS = 3, 400
_SPARSE_WORDS = 150
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_CONTRAST = frozenset(
    (
        *(
            "not",
            "no",
            "never",
            "however",
            "contrary",
            "contradict",
            "contradicts",
            "contradicted",
            "refute",
            "refuted",
        ),
        *("refutes", "disputed", "failed", "fails", "without", "neither", "nor", "unlike", "despite", "retracted"),
    )
)


def judge_claim(claim: str, text: str) -> JSONObject:
    """`claimSupport`, and of a text that speaks of it `claimEvidence`, `contrastSignal`; how long the text is."""
    terms = _terms(claim)
    passages = sorted(((_share(terms, one), one) for one in _passages(text)), key=lambda pair: -pair[0])
    best = passages[0][0] if passages else 0.0
    judged: JSONObject = {"claimSupport": "partially_addressed"}
    if not best:
        judged["claimSupport"] = "not_addressed"
    elif best >= _ADDRESSED:
        judged["claimSupport"] = "addressed"
    evidence = [one for share, one in passages if share and share >= best / 2][:_MAX_PASSAGES]
    if evidence:
        judged["claimEvidence"] = [_shorten(one) for one in evidence]
        if set(title_words(evidence[0])) & _CONTRAST and not set(title_words(claim)) & _CONTRAST:
            judged["contrastSignal"] = True
    judged["contentWords"] = len(text.split())
    if judged["contentWords"] < _SPARSE_WORDS:
        judged["sparsityNote"] = (
            "Little text could be read, such as an abstract: what is missing here may be in the rest."
        )
    return judged


def cut_claim(claim: str) -> str:
    """At most 2,000 bytes, and no half of a character."""
    return claim.encode()[:MAX_CLAIM_BYTES].decode(errors="ignore").strip()


def _terms(text: str) -> set[str]:
    return {word for word in title_words(text) if word not in STOP_WORDS}


def _share(terms: set[str], passage: str) -> float:
    return len(terms & set(title_words(passage))) / len(terms) if terms else 0.0


def _passages(text: str) -> list[str]:
    """Windows of three sentences, which overlap."""
    sentences = [one for one in _SENTENCE_END.split(" ".join(text.split())) if one]
    return [" ".join(sentences[start : start + _SENTENCES]) for start in range(0, len(sentences), 2)]


def _shorten(passage: str) -> str:
    return passage if len(passage) <= _PASSAGE_CHARS else passage[: _PASSAGE_CHARS - 1].rsplit(" ", 1)[0] + "…"
