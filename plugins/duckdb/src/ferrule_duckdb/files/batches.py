"""The rows of a file, asked in batches: all questions are begun before the first is waited for."""

from __future__ import annotations

import math
from concurrent.futures import wait
from contextlib import closing
from typing import TYPE_CHECKING

import pyarrow as pa

from ferrule_ask.client import AskOptions
from ferrule_duckdb.sql_types import Casts, cast_when_done, shape_of
from ferrule_duckdb.vectors import make_answers

if TYPE_CHECKING:
    from concurrent.futures import Future

    from duckdb import DuckDBPyConnection

    from ferrule_ask import Client
    from ferrule_ask.answer import Answer

_LOOK_SECONDS = 0.2  # in which Ctrl-C is seen


def answer_in_batches(
    con: DuckDBPyConnection, client: Client, context: str, question: str, options: AskOptions, kind: str | None
) -> None:
    """Ask what the table `source` asks, into the table `batch_answers`: `c`, `q`, and `a` as `ask_ai` gives it.

    Args:
        context, question: expressions of SQL, for a row.
        options: model and max_tokens.
        kind: the type of the answers, or a JSON schema.
    """
    distinct = f"SELECT DISTINCT {context} AS c, {question} AS q FROM source"  # noqa: S608 - the user's own statement
    pairs = con.execute(f"SELECT c, q FROM ({distinct}) WHERE c IS NOT NULL AND q IS NOT NULL").fetchall()  # noqa: S608 - as above
    client.require_batches(options.get("model"))
    with closing(Casts()) as casts:
        answers = [future.result() for future in _ask(client, pairs, options, kind, casts)]
    columns = {"c": pa.array([c for c, _ in pairs], pa.string()), "q": pa.array([q for _, q in pairs], pa.string())}
    con.register("read_answers", pa.table({**columns, "a": make_answers(answers)}))
    con.execute("CREATE TEMP TABLE batch_answers AS FROM read_answers")
    con.unregister("read_answers")


def _ask(
    client: Client, pairs: list[tuple[str, str]], options: AskOptions, kind: str | None, casts: Casts
) -> list[Future[Answer]]:
    shape = None if kind is None else shape_of(kind)
    if client.batches is not None:
        client.batches.expect(len(pairs))
    given = AskOptions(**options, patience=math.inf, schema=shape.schema if shape else None)
    asked = [client.start(context, prompt, **given) for context, prompt in pairs]
    if shape is not None and shape.sql:
        asked = [cast_when_done(one, shape, casts.why_not) for one in asked]
    while wait(asked, _LOOK_SECONDS).not_done:
        pass  # a wait without an end would not be interrupted
    return asked
