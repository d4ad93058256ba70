"""Questions about groups of rows: each is as many questions to the model as its rows need, and has one answer.

All groups of a vector go on together, so that what can be asked at once is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask.cost.prices import likely_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule_ask.answer import Answer
    from ferrule_duckdb.batch import AnswerOfRow
    from ferrule_duckdb.memo import Question

    Ask = Callable[[Sequence[Question | None]], Sequence[AnswerOfRow | None]]

_ROWS = "The context is a JSON array with one value for each row of a group."
_WHOLE = f"{_ROWS} Answer for all of its rows together."
_PART = (
    f"{_ROWS} It has rows {{}} to {{}} of {{}} only. Answer for these, briefly, with all names and numbers that are "
    "needed to answer for the whole group later."
)
_SUM = (
    "The context is a JSON array with the answers for parts of a group, each with its number of rows. Combine them "
    "into one answer for all rows together."
)
_RANKING = (
    "The context is a JSON object with a number for each value. Rank the values by the question, the best first: "
    "answer with the numbers of all {} values, each once."
)
_MOST_RANKED = 40  # values in one request: a model keeps track of no more


class Group(NamedTuple):
    """The rows of a group that are still to be asked, or the answers for its parts.

    question: about all of it. counts: for each item, how many rows it stands for. is_summed: whether the items are
    answers. paid: those answers.
    """

    question: Question
    items: list[object]
    counts: list[int]
    is_summed: bool = False
    paid: tuple[AnswerOfRow, ...] = ()


def ask_each(ask: Ask, questions: Sequence[Question | None], _: int) -> list[AnswerOfRow | None]:
    """The answer to each question by itself; None for None."""
    return list(ask(questions))


def answer_groups(ask: Ask, questions: Sequence[Question | None], tokens: int) -> list[AnswerOfRow | None]:
    """One answer for each group; None for None.

    More rows than fit into a request are answered in parts, and these are summed up, in parts again where they have to.

    Args:
        questions: each has the rows of its group as its context, a JSON array.
        tokens: the most that the rows of one request have, about; a row that has more is asked alone.
    """
    answers: list[AnswerOfRow | None] = [None] * len(questions)
    left = {number: _begin(question) for number, question in enumerate(questions) if question is not None}
    while left:
        asked = [(number, part) for number, group in left.items() for part in _parts(group, tokens)]
        found = _ask_distinct(ask, [part for _, part in asked])
        by_group: dict[int, list[AnswerOfRow]] = {}
        for (number, _), answer in zip(asked, found, strict=True):
            if answer is not None:
                by_group.setdefault(number, []).append(answer)
        for number, parts in by_group.items():
            group = left.pop(number)
            if len(parts) == 1 or any(answer.code is not None for answer, _ in parts):
                answers[number] = _whole(group, parts)
            else:
                left[number] = _sum_up(group, parts, tokens)
    return answers


def count_requests(question: Question, tokens: int) -> int:
    """The least number of requests that a group takes: one for each part of its rows, and one that sums these up.

    How many sum up depends on the length of the answers for the parts, which is not known before.
    """
    parts = len(_spans(_begin(question), tokens))
    return parts if parts == 1 else parts + 1


def rank_groups(ask: Ask, questions: Sequence[Question | None], tokens: int) -> list[list[int] | None]:
    """For each group the positions of its rows, from 1 on, the best first; None for None and without an answer.

    More rows than fit into a request are ranked from the last on, and the better half of each request is ranked again
    with those before it: the first places are as good as one request would have them, and the others nearly so.
    """
    orders = [None if one is None else list(range(len(_rows(one)))) for one in questions]
    places = {number: _windows(questions[number], order, tokens) for number, order in enumerate(orders) if order}
    while places:
        now = {number: next(windows, None) for number, windows in places.items()}
        places = {number: places[number] for number, window in now.items() if window is not None}
        asked = [(number, window) for number, window in now.items() if window is not None and orders[number]]
        rankings = [_ranking(questions[number], orders[number] or [], window) for number, window in asked]
        found = _ask_distinct(ask, rankings)
        for (number, (start, end)), answer in zip(asked, found, strict=True):
            order = orders[number] or []
            if answer is None or answer[0].code is not None or not isinstance(answer[0].value, list):
                orders[number] = None
                places.pop(number, None)
            else:
                order[start:end] = [order[start + int(place) - 1] for place in answer[0].value]
    return [None if order is None else [place + 1 for place in order] for order in orders]


def _ask_distinct(ask: Ask, parts: Sequence[Question | None]) -> list[AnswerOfRow | None]:
    """The answer to each part. Groups may have rows in common, and parts may have the same answers: so parts repeat."""
    distinct = list(dict.fromkeys(parts))
    found = dict(zip(distinct, ask(distinct), strict=True))
    return [found[part] for part in parts]


def _rows(question: Question) -> list[object]:
    rows: list[object] = json.loads(question.context)
    return rows


def _begin(question: Question) -> Group:
    rows = _rows(question)
    return Group(question, rows, [1] * len(rows))


def _size(item: object) -> int:
    return likely_tokens(len(_json(item).encode()))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spans(group: Group, tokens: int) -> list[tuple[int, int]]:
    """The beginnings and ends of the parts. Answers go at least two together: so they become fewer each time."""
    least = 2 if group.is_summed else 1
    spans, start, used = [], 0, 0
    for place, item in enumerate(group.items):
        size = _size(item)
        if place - start >= least and used + size > tokens:
            spans.append((start, place))
            start, used = place, 0
        used += size
    end = len(group.items)
    if spans and end - start < least:
        start = spans.pop()[0]
    return [*spans, (start, end)]


def _parts(group: Group, tokens: int) -> Iterator[Question]:
    spans = _spans(group, tokens)
    asked = group.question
    for start, end in spans:
        rows, before = sum(group.counts), sum(group.counts[:start])
        words = _SUM if group.is_summed else _WHOLE
        if len(spans) > 1 and not group.is_summed:
            words = _PART.format(before + 1, before + sum(group.counts[start:end]), rows)
        shape = asked.shape if len(spans) == 1 else None
        prompt = f"{asked.prompt}\n\n{words}"
        yield asked._replace(context=_json(group.items[start:end]), prompt=prompt, shape=shape)


def _sum_up(group: Group, parts: Sequence[AnswerOfRow], tokens: int) -> Group:
    counts = [sum(group.counts[start:end]) for start, end in _spans(group, tokens)]
    items: list[object] = [
        {"rows": count, "answer": answer.text} for count, (answer, _) in zip(counts, parts, strict=True)
    ]
    return Group(group.question, items, counts, is_summed=True, paid=(*group.paid, *parts))


def _whole(group: Group, parts: Sequence[AnswerOfRow]) -> AnswerOfRow:
    """The answer for the group, with what all of its answers have cost and rest on."""
    failed = next(((place, one) for place, (one, _) in enumerate(parts, 1) if one.code is not None), None)
    answer = parts[0][0] if failed is None else failed[1]
    if failed is not None and len(parts) > 1:
        sentence = f"Part {failed[0]} of {len(parts)} of the group has no whole answer. {answer.error or ''}".strip()
        answer = answer._replace(text=None, error=sentence)
    # What answers several parts is one object, and was paid once.
    every = list({id(one): one for one, _ in (*group.paid, *parts)}.values())
    return _with_sums(answer, every), all(is_remembered for _, is_remembered in (*group.paid, *parts))


def _with_sums(answer: Answer, every: Sequence[Answer]) -> Answer:
    costs = [one.cost for one in every]
    bad = next((one for one in every if one.tool_outcome == "failed"), answer)
    sources = {one["url"]: one for part in every for one in part.sources}
    return answer._replace(
        input_tokens=sum(one.input_tokens for one in every),
        output_tokens=sum(one.output_tokens for one in every),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
        ms=sum(one.ms for one in every),
        tool_outcome=bad.tool_outcome,
        tool_code=bad.tool_code,
        tool_error=bad.tool_error,
        tool_calls=tuple(call for one in every for call in one.tool_calls),
        sources=tuple(sources.values()),
    )


def _windows(question: Question | None, order: Sequence[int], tokens: int) -> Iterator[tuple[int, int]]:
    """The beginnings and ends of what is ranked in one request, from the last rows to the first ones."""
    if question is None or len(order) < 2:
        return
    largest = max(map(_size, _rows(question)))
    width = min(len(order), _MOST_RANKED, max(2, tokens // max(1, largest)))
    start = len(order) - width
    while True:
        yield start, start + width
        if start == 0:
            return
        start = max(0, start - max(1, width // 2))


def _ranking(question: Question | None, order: Sequence[int], window: tuple[int, int]) -> Question | None:
    if question is None:
        return None
    rows = _rows(question)
    values = {str(place): rows[one] for place, one in enumerate(order[slice(*window)], 1)}
    number = len(values)
    one = {"type": "integer", "minimum": 1, "maximum": number}
    shape = {"type": "array", "items": one, "minItems": number, "maxItems": number, "uniqueItems": True}
    prompt = f"{question.prompt}\n\n{_RANKING.format(number)}"
    return question._replace(context=_json(values), prompt=prompt, shape=_json(shape))
