"""Running text: white space, emphasis, links and code of a paragraph, settled once the paragraph is complete."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable

from ferrule_fetch.markdown import delimiter_runs, escapes, fast_path, sentinels
from ferrule_fetch.markdown.attributes import one_line
from ferrule_fetch.markdown.delimiter_runs import LETTER, PUNCTUATION, SPACE
from ferrule_fetch.markdown.links import Target

_BREAKS = re.compile(f" ?{sentinels.BREAK} ?")
_BLANK_OR_BREAK = f" {sentinels.BREAK}"

_LENGTH = {sentinels.EMPHASIS: 1, sentinels.STRONG: 2, sentinels.DELETED: 2}
_MAX_ALIKE = 3  # elements of a kind within each other that are written


class Inline:
    """Turns collected text into lines of markdown. What has not ended with a paragraph goes on in the next one.

    insets: what the marks LINK (a Target) and ATOM (markdown) in the text stand for, in their order.
    """

    def __init__(self) -> None:
        self.insets: deque[Target | str] = deque()
        self._open: list[_Span] = []
        self._unwritten: dict[str, int] = {}  # how many are open of each kind that are too many to be written
        self._in_code = 0
        self._out: list[str] = []
        self._pending: list[_Span] = []  # what has begun, but holds nothing yet
        self._linking = False  # whether a link is open
        self._plain = True  # whether nothing in the paragraph has to be escaped
        self._gap = ""  # a blank, or a line feed, that comes before whatever comes next
        self._guarded = False  # whether a letter would undo the delimiter before it
        self._closed: _Span | None = None  # the span that ended last, if nothing was written after it
        self._code = ""  # the code that was written last, if nothing was written after it
        self._handlers: dict[str, Callable[[], None]] = {
            sentinels.LINK: self._begin_link,
            sentinels.END_LINK: self._end_link,
            sentinels.ATOM: lambda: self._put(str(self.insets.popleft())),
            sentinels.CODE: self._begin_code,
            sentinels.END_CODE: self._end_code,
            sentinels.BREAK: self._break,
        }
        for end, begin in sentinels.ENDS.items():
            self._handlers[begin] = self._beginner(begin)
            self._handlers[end] = self._ender(begin)

    @property
    def is_open(self) -> bool:
        """Whether something has begun and not ended."""
        return bool(self._open or self._in_code)

    def pass_block(self) -> None:
        """A block comes that is no running text: a link around it is not empty."""
        for span in self._open:
            span.used = True

    def settle(self, text: str) -> list[str]:
        """The lines of a paragraph, not yet escaped for where a line begins; [] where there is nothing to see."""
        text = one_line(text)
        if not self._open and not self._in_code:
            broken = _BREAKS.sub("\n", text.strip(_BLANK_OR_BREAK)) if sentinels.BREAK in text else text
            escaped = escapes.outside_code(broken)
            if fast_path.is_simple(escaped):
                written = fast_path.settle(escaped, self.insets)
                return written.split("\n") if "\n" in written else [written] if written else []
        return self._settle(text)

    def _settle(self, text: str) -> list[str]:
        self._pending = self._open.copy()
        self._plain = escapes.is_plain(text)
        parts = sentinels.SPLIT.split(text)
        self._text(parts[0])
        for mark, following in zip(parts[1::2], parts[2::2], strict=True):
            self._handlers[mark]()
            if following:
                self._text(following)
        return self._finish()

    def _finish(self) -> list[str]:
        for span in reversed(self._open):
            if span.written:
                self._close(span)
                span.written = False
        out, self._out = self._out, []
        self._gap, self._guarded, self._code, self._closed = "", False, "", None
        return "".join(out).split("\n") if out else []

    def _text(self, text: str) -> None:
        if self._in_code:
            self._put_code(text)
            return
        if text[:1] == " ":
            self._gap = self._gap or " "
            text = text[1:]
        words = text[:-1] if text[-1:] == " " else text
        if not words:
            return
        if self._linking or not self._plain:
            words = escapes.part(words, in_link=self._linking)
        if words[0] == "(" and not self._gap and self._last().endswith("]"):
            words = f"\\{words}"  # or words in brackets would become a link
        self._put(words)
        if words is not text and text[-1:] == " ":
            self._gap = " "

    def _last(self) -> str:
        return self._out[-1] if self._out else ""

    def _put(self, text: str) -> None:
        """Write something that is not empty, and before it what has been waiting for it."""
        if self._gap:
            if self._out:
                self._out.append(self._gap)
            self._gap, self._guarded, self._closed = "", False, None
        if self._pending:
            text = self._open_pending(text)
        if self._guarded:
            self._guarded = False
            if delimiter_runs.kind(text[0]) == LETTER and not self._put_brackets_behind():
                text = delimiter_runs.entity(text[0]) + text[1:]
        self._code, self._closed = "", None
        self._out.append(text)

    def _break(self) -> None:
        self._gap = "\n"

    # -- emphasis ------------------------------------------------------------------------------------------------

    def _beginner(self, kind: str) -> Callable[[], None]:
        def begin() -> None:
            if self._in_code or sum(span.kind == kind for span in self._open) >= _MAX_ALIKE:
                self._unwritten[kind] = self._unwritten.get(kind, 0) + 1
            else:
                self._begin(_Span(kind))

        return begin

    def _ender(self, kind: str) -> Callable[[], None]:
        def end() -> None:
            if self._unwritten.get(kind):
                self._unwritten[kind] -= 1
            else:
                self._end(kind)

        return end

    def _begin(self, span: _Span) -> None:
        self._open.append(span)
        self._pending.append(span)
        self._linking = self._linking or span.target is not None

    def _end(self, kind: str) -> None:
        """End the span of a kind that began last, if there is one."""
        span = next((span for span in reversed(self._open) if span.kind == kind), None)
        if span is None:
            return
        self._open.remove(span)
        self._linking = self._linking and kind != sentinels.LINK
        if span.written:
            self._close(span)
        else:
            self._pending.remove(span)

    def _open_pending(self, text: str) -> str:
        """Write the delimiters of what has begun; returns the text that follows, so that they are read as such."""
        if self._joins_the_last(self._pending[0]):
            self._pending.pop(0)
        if not self._pending:
            return text
        text = self._put_brackets_before(text)
        for span in self._pending:
            span.delimiter = self._delimiter(span)
            span.written = span.used = True
            span.start = len(self._out)
            self._out.append(span.delimiter)
        spans, self._pending = self._pending, []
        if delimiter_runs.kind(text[0]) == SPACE and spans[-1].target is None:
            text = delimiter_runs.entity(text[0]) + text[1:]
        following = text[0]
        for span in reversed(spans):
            self._check_before(span, following)
            following = span.delimiter[0]
        return text

    def _put_brackets_before(self, text: str) -> str:
        """Write East Asian punctuation at the beginning of emphasis before it; returns the rest of the text.

        There are no blanks in such text, so it stands between letters, where it would undo the emphasis.
        """
        rest = text.lstrip(delimiter_runs.EAST_ASIAN)
        if rest in ("", text) or delimiter_runs.kind(self._last()[-1:]) != LETTER or self._pending[-1].target:
            return text
        self._out.append(text[: -len(rest)])
        return rest

    def _put_brackets_behind(self) -> bool:
        """Write East Asian punctuation at the end of emphasis behind it; returns whether there is any."""
        text = self._out[-2] if self._closed else ""
        rest = text.rstrip(delimiter_runs.EAST_ASIAN)
        if rest == text or delimiter_runs.kind(rest[-1:]) != LETTER:
            return False
        self._out[-2] = rest
        self._out.append(text[len(rest) :])
        return True

    def _joins_the_last(self, span: _Span) -> bool:
        """Take back the end of a span that a like one follows at once: a reader sees no difference."""
        last = self._closed
        if last is None or last.kind != span.kind or span.target is not None or self._out[-1] != last.delimiter:
            return False
        self._out.pop()
        span.delimiter, span.start, span.written, span.used = last.delimiter, last.start, True, True
        self._guarded, self._closed = False, None
        return True

    def _delimiter(self, span: _Span) -> str:
        if span.target is not None:
            return "["
        if span.kind == sentinels.DELETED:
            return "~~"
        letter = "_" if self._is_taken("*", span) and not self._is_taken("_", span) else "*"
        return letter * _LENGTH[span.kind]

    def _is_taken(self, letter: str, span: _Span) -> bool:
        """Whether a delimiter would run together with the one before it, or be taken for the end of another."""
        before = self._last()
        around = next((other for other in reversed(self._open) if other.written and other is not span), None)
        within_other = any(o.written and o.kind == span.kind and o.delimiter[0] == letter for o in self._open)
        if within_other or not before.startswith(letter):
            return within_other
        # "***" is read as emphasis around strong emphasis, so only that may be written with it
        touches_outer = around is not None and around.start == len(self._out) - 1
        return not touches_outer or span.kind == sentinels.EMPHASIS

    def _check_before(self, span: _Span, following: str) -> None:
        """See to it that a delimiter opens, by what stands before it."""
        index = span.start - 1
        before = self._out[index] if index >= 0 else ""
        if span.target is not None:
            if before.endswith("!"):
                self._out[index] = f"{before[:-1]}\\!"  # or the link would become an image
            return
        if before.startswith(span.delimiter[0]) and before == before[0] * len(before):
            return  # a run with the delimiter before it, where it is looked at
        if delimiter_runs.kind(before[-1:]) != LETTER:
            return
        if delimiter_runs.kind(following) == PUNCTUATION or span.delimiter[0] == "_":
            self._out[index] = before[:-1] + delimiter_runs.entity(before[-1])

    def _close(self, span: _Span) -> None:
        before = self._last()
        if span.target is not None:
            self._out[span.start :] = [span.target.around("".join(self._out[span.start + 1 :]))]
            self._guarded, self._code, self._closed = False, "", None
            return
        if delimiter_runs.kind(before[-1]) == SPACE:
            self._out[-1] = before[:-1] + delimiter_runs.entity(before[-1])
            before = self._out[-1]
        if before != before[0] * len(before) or before[0] != span.delimiter[0]:  # else they are one run
            self._guarded = delimiter_runs.kind(before[-1]) == PUNCTUATION
        self._guarded |= span.delimiter[0] == "_"
        self._code = ""
        self._closed = span
        self._out.append(span.delimiter)

    # -- links ---------------------------------------------------------------------------------------------------

    def _begin_link(self) -> None:
        target = self.insets.popleft()
        if isinstance(target, Target):
            self._begin(_Span(sentinels.LINK, target))

    def _end_link(self) -> None:
        span = next((span for span in reversed(self._open) if span.target), None)
        if span is None:
            return
        self._end(sentinels.LINK)
        if span.target and not span.used and not span.target.here:
            label = escapes.part(span.target.label, in_link=True)
            self._put(span.target.around(label))

    # -- code ----------------------------------------------------------------------------------------------------

    def _begin_code(self) -> None:
        self._in_code += 1

    def _end_code(self) -> None:
        self._in_code -= 1

    def _put_code(self, text: str) -> None:
        if not text:
            return
        if self._code and not self._gap and not self._pending:
            text = self._code + text  # side by side, the backticks of two would run together
            self._out[-1] = escapes.code(text)
        else:
            self._put(escapes.code(text))
        self._code = text


class _Span:
    """An element of running text that has begun. target: of a link. start: where its delimiter stands."""

    __slots__ = ("delimiter", "kind", "start", "target", "used", "written")

    def __init__(self, kind: str, target: Target | None = None) -> None:
        self.kind = kind
        self.target = target
        self.delimiter = ""
        self.start = 0
        self.written = False
        self.used = False  # in this paragraph or an earlier one
