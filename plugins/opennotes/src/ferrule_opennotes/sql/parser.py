"""One pass over the tokens of a statement: what stands where a table stands, and what is called."""

from __future__ import annotations

from ferrule_opennotes.errors import invalid_sql
from ferrule_opennotes.sql import patterns, tokens
from ferrule_opennotes.sql.frames import Call, Frame
from ferrule_opennotes.sql.functions import COMPUTING, TABLES
from ferrule_opennotes.sql.tokens import MARK, QUOTED, STRING, WORD, Token, ascii_lower, is_mark
from ferrule_opennotes.sql.words import (
    AFTER_WITH,
    BEFORE_PARENTHESES,
    BESIDE_TABLES,
    CLAUSES,
    ENDS_OF_FROM,
    PARTED_BY_FROM,
    SET_OPERATIONS,
    STATEMENTS,
)

READER = "read_markdown"
OPTIONS = frozenset(("include_filepath", "filename"))
DEEPEST = 100  # nested parentheses

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_ASSIGNING = frozenset((":=", "=>", "="))
_TABLES_ALLOWED = (
    "read_markdown('**/*.md'), a subquery, the name of a WITH, unnest(...), range(...) or generate_series(...)"
)
CATALOGUE = ("duckdb_", "pragma_", "sqlite_", "pg_", "information_schema")


class Reading:
    """One pass. statement: the text. read: its tokens, without the semicolon at the end."""

    def __init__(self, statement: str, read: list[Token]) -> None:
        self._statement = statement
        self._tokens = read
        self._place = 0
        self._frames: list[Frame] = []
        self._calls: list[Call] = []

    def calls(self) -> list[Call]:
        """Read all of it; the calls of read_markdown. Raises ToolError INVALID_SQL for what is not allowed."""
        self._inside(Frame(), None)
        return self._calls

    # One pair of parentheses

    def _inside(self, frame: Frame, closing: str | None) -> None:
        """Read up to and with the mark that closes; None: up to the statement's end."""
        if len(self._frames) >= DEEPEST:
            raise invalid_sql(f"parentheses are nested more than {DEEPEST} deep")
        self._frames.append(frame)
        if self._at_word("with"):
            self._with(frame)
        elif self._at_word("from") and not frame.parting:
            raise self._refused("a query that starts with FROM is refused; start it with SELECT")
        while not (closing and self._at_mark(closing)):
            if self._place >= len(self._tokens):
                if closing:
                    raise invalid_sql(f"a {closing!r} is missing at the end")
                break
            self._one(frame)
        if frame.expects_table:
            raise self._refused("a table is missing", at=self._place - 1)
        self._place += 1
        self._frames.pop()

    def _one(self, frame: Frame) -> None:
        token = self._now()
        if frame.expects_table:
            self._table(frame)
        elif token.kind == WORD and not self._is_label():
            self._word(frame, token)
        elif token.kind == QUOTED or token.kind == WORD:
            self._name(frame, token)
        elif token.kind == MARK:
            self._mark(frame, token)
        else:
            frame.alias_may_follow = False
            self._place += 1

    def _mark(self, frame: Frame, token: Token) -> None:
        if token.text == ";":
            raise self._refused("a second statement is refused; one statement is all that may be written")
        if token.text in _CLOSING.values():
            raise self._refused(f"a {token.text!r} closes nothing")
        frame.alias_may_follow = False
        self._place += 1
        if token.text in _CLOSING:
            self._inside(Frame(), _CLOSING[token.text])
        elif token.text == "," and frame.in_from:
            frame.expects_table = True

    # Words

    def _word(self, frame: Frame, token: Token) -> None:
        if token.text in CLAUSES:
            self._clause(frame, token)
        elif token.text in STATEMENTS and not self._is_harmless(token):
            name = token.text.upper()
            raise self._refused(f'{name} is refused; if it is a name, write it in double quotes: "{token.text}"')
        else:
            self._name(frame, token)

    def _is_harmless(self, token: Token) -> bool:
        """`replace(x, 'a', 'b')` computes, and so does `* REPLACE (...)`."""
        return token.text == "replace" and self._mark_follows("(")

    def _clause(self, frame: Frame, token: Token) -> None:
        """A word that structures a query: it moves the frame on."""
        frame.alias_may_follow = False
        word = token.text
        if word == "from":
            self._from(frame)
            return
        if word == "with":
            self._with_behind(frame)
            return
        if word == "select":
            self._select(frame)
        elif word in SET_OPERATIONS and not self._mark_follows("("):  # which may be * EXCEPT (...)
            frame.is_query = frame.in_from = False
        elif word in ENDS_OF_FROM and not self._is_within_group():
            frame.in_from = False
        elif word in ("join", "lateral"):
            if not frame.in_from:
                raise self._refused(f"{word.upper()} stands outside of FROM")
            frame.expects_table = True
        self._place += 1
        if self._at_mark("(") and not frame.expects_table:
            self._parenthesis_behind(word)

    def _select(self, frame: Frame) -> None:
        if frame.is_query:
            raise self._refused(
                "a second SELECT stands in one query; join queries with UNION, or put it in parentheses"
            )
        frame.is_query, frame.in_from = True, False

    def _is_within_group(self) -> bool:
        before = self._peek(-1)
        return self._at_word("group") and before is not None and before.kind == WORD and before.text == "within"

    def _from(self, frame: Frame) -> None:
        if self._is_distinct_from():
            self._place += 1
            return
        if frame.parting and not frame.is_query:
            frame.parting = False
            self._place += 1
            return
        if not frame.is_query or frame.in_from:
            raise self._refused("FROM stands where no SELECT precedes it; write SELECT ... FROM ...")
        frame.in_from = frame.expects_table = True
        self._place += 1

    def _is_distinct_from(self) -> bool:
        """IS DISTINCT FROM and IS NOT DISTINCT FROM compare."""
        before = [
            token.text if token.kind == WORD else "" for token in self._tokens[max(0, self._place - 4) : self._place]
        ]
        start = -3 if before[-2:] == ["not", "distinct"] else -2
        is_operator = before[start:] in (["is", "distinct"], ["is", "not", "distinct"])
        return is_operator and not self._is_label(back=-start)

    def _with_behind(self, frame: Frame) -> None:
        following = self._peek(1)
        if following is None or following.kind != WORD or following.text not in AFTER_WITH:
            raise self._refused("WITH stands in the middle of a query; put it in front")
        self._place += 2
        if following.text == "ordinality":
            self._alias(frame)

    # Names, and what is called

    def _name(self, frame: Frame, token: Token) -> None:
        if self._mark_follows("("):
            self._called(frame, token)
            return
        if self._is_label() and token.kind == WORD and token.text in CLAUSES:
            raise self._refused(f'{token.text.upper()} as a name has to be quoted: "{token.text}"')
        frame.alias_may_follow = False
        self._place += 1

    def _called(self, frame: Frame, token: Token) -> None:
        """A name with a parenthesis behind it: an alias with its columns, a function, or a word of SQL."""
        self._place += 1
        if frame.alias_may_follow and token.text not in BESIDE_TABLES:
            frame.alias_may_follow = False
            self._columns()
            return
        frame.alias_may_follow = False
        self._parenthesis_behind(token.text, may_be_word=token.kind == WORD)

    def _parenthesis_behind(self, word: str, may_be_word: bool = True) -> None:
        name = ascii_lower(word)
        if not (may_be_word and name in BEFORE_PARENTHESES) and name not in COMPUTING:
            raise self._refused(self._why_not(name), at=self._place - 1)
        self._place += 1
        self._inside(Frame(parting=name in PARTED_BY_FROM), ")")

    def _why_not(self, name: str) -> str:
        if name == READER or name in TABLES:
            return f"{name}(...) stands where no table stands; write it behind FROM or JOIN"
        return f"{name}(...) is refused: it is not among the functions that compute from their arguments alone"

    def _columns(self) -> None:
        """(a, b): names and nothing else."""
        self._place += 1
        while not self._at_mark(")"):
            token = self._peek(0)
            is_name = token is not None and (token.kind == QUOTED or (token.kind == WORD and token.text not in CLAUSES))
            if not (is_name or self._at_mark(",")):
                raise self._refused(
                    "the parenthesis behind a table's alias must hold names of columns, and nothing else"
                )
            self._place += 1
        self._place += 1

    # Tables

    def _table(self, frame: Frame) -> None:
        """What stands behind FROM, JOIN or a comma of FROM."""
        frame.expects_table = False
        token = self._now()
        if self._at_mark("("):
            self._place += 1
            self._inside(self._tables_or_query(), ")")
        elif token.kind == WORD and token.text == "lateral":
            self._place += 1
            frame.expects_table = True
            return
        elif self._mark_follows("("):
            self._table_function(token)
        elif token.kind in (WORD, QUOTED) and ascii_lower(token.text) in self._declared():
            self._alone()
        else:
            raise self._refused(self._why_no_table(token))
        self._alias(frame)

    def _alias(self, frame: Frame) -> None:
        """Behind a table. The name of a clause behind AS would end FROM for us, and not for the database."""
        frame.alias_may_follow = True
        if self._at_word("as"):
            self._place += 1
            token = self._now()
            if token.kind == WORD and token.text in CLAUSES:
                raise self._refused(f'{token.text.upper()} as a name has to be quoted: "{token.text}"')

    def _tables_or_query(self) -> Frame:
        frame = Frame()
        token = self._now()
        if not (token.kind == WORD and token.text in ("select", "with", "values")):
            frame.in_from = frame.expects_table = not self._at_word("from")
        return frame

    def _alone(self) -> None:
        """The name of a WITH: not part of a longer name, and not an alias for what follows."""
        self._place += 1
        for mark in (".", ":"):
            if self._at_mark(mark):
                raise self._refused(f"{mark!r} stands behind the name of a table; {_TABLES_ALLOWED} may stand here")

    def _table_function(self, token: Token) -> None:
        name = ascii_lower(token.text)
        if name == READER:
            self._reader()
        elif name in TABLES:
            self._place += 2
            self._inside(Frame(), ")")
        else:
            raise self._refused(f"{name}(...) is refused as a table; {_TABLES_ALLOWED} may stand here")

    def _why_no_table(self, token: Token) -> str:
        if token.kind in (WORD, QUOTED) and not self._mark_follows("."):
            return f"there is no table {token.text!r}; {_TABLES_ALLOWED} may stand here"
        return f"{tokens.shown(self._statement, token)} is refused as a table; {_TABLES_ALLOWED} may stand here"

    def _reader(self) -> None:
        """read_markdown('pattern'[, include_filepath := true][, filename := true])"""
        first = self._place
        self._place += 2
        token = self._now()
        self._place += 1
        if token.kind != STRING or not (self._at_mark(",") or self._at_mark(")")):
            raise self._refused(f"{READER} takes one pattern in single quotes, like '**/*.md'", at=self._place - 1)
        while self._at_mark(","):
            self._option()
        if not self._at_mark(")"):
            raise self._refused(
                f"{READER} takes a pattern, include_filepath := true and filename := true, nothing else"
            )
        self._calls.append(Call(patterns.checked(token.text), first, self._place))
        self._place += 1

    def _option(self) -> None:
        name, mark, value = (self._peek(step) for step in (1, 2, 3))
        if (
            name is None
            or name.kind != WORD
            or name.text not in OPTIONS
            or not (mark and mark.kind == MARK and mark.text in _ASSIGNING)
            or not (value and value.kind == WORD and value.text in ("true", "false"))
        ):
            raise self._refused(
                f"{READER} takes a pattern, include_filepath := true and filename := true, nothing else"
            )
        self._place += 4

    # WITH

    def _with(self, frame: Frame) -> None:
        """WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), ..."""
        self._place += 1
        if self._at_word("recursive"):
            self._place += 1
        while True:
            self._declared_query(frame)
            if not self._at_mark(","):
                break
            self._place += 1
        if not (self._at_word("select") or self._at_mark("(")):
            raise self._refused("behind WITH ... AS (...) only SELECT may stand")

    def _declared_query(self, frame: Frame) -> None:
        frame.names.add(self._new_name())
        if self._at_mark("("):
            self._columns()
        if self._at_word("using") and self._mark_follows("(", step=2):
            self._place += 2
            self._columns()
        self._expect_word("as")
        if self._at_word("not"):
            self._place += 1
            self._expect_word("materialized")
        elif self._at_word("materialized"):
            self._place += 1
        if not self._at_mark("("):
            raise self._refused("a '(' is missing behind AS")
        self._place += 1
        if not (self._at_word("select") or self._at_word("with") or self._at_word("values") or self._at_mark("(")):
            raise self._refused("WITH ... AS (...) may hold a SELECT, and nothing else")
        self._inside(Frame(), ")")

    def _new_name(self) -> str:
        token = self._now()
        name = ascii_lower(token.text)
        if token.kind not in (WORD, QUOTED) or token.text in CLAUSES | STATEMENTS:
            raise self._refused("a name is missing behind WITH")
        if not name.replace("_", "a").isalnum() or name.startswith(CATALOGUE):
            raise self._refused(f"the name {token.text!r} is refused for a WITH; use letters, digits and '_'")
        self._place += 1
        return name

    def _declared(self) -> set[str]:
        return {name for frame in self._frames for name in frame.names}

    # Looking around

    def _now(self) -> Token:
        if self._place >= len(self._tokens):
            raise invalid_sql("the statement ends too early")
        return self._tokens[self._place]

    def _peek(self, step: int) -> Token | None:
        place = self._place + step
        return self._tokens[place] if 0 <= place < len(self._tokens) else None

    def _at_mark(self, mark: str) -> bool:
        return is_mark(self._peek(0), mark)

    def _at_word(self, word: str) -> bool:
        token = self._peek(0)
        return token is not None and token.kind == WORD and token.text == word

    def _mark_follows(self, mark: str, step: int = 1) -> bool:
        return is_mark(self._peek(step), mark)

    def _expect_word(self, word: str) -> None:
        if not self._at_word(word):
            raise self._refused(f"{word.upper()} is missing")
        self._place += 1

    def _is_label(self, back: int = 0) -> bool:
        """Behind '.' and AS stands a name, whatever it is."""
        before = self._peek(-1 - back)
        return is_mark(before, ".") or (before is not None and before.kind == WORD and before.text == "as")

    def _refused(self, reason: str, at: int | None = None) -> Exception:
        place = min(self._place if at is None else at, len(self._tokens) - 1)
        return invalid_sql(f"{reason} (at {tokens.position(self._statement, self._tokens[place].start)})")
