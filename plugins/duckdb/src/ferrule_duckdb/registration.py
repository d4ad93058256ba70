"""Gives a connection the SQL functions, and keeps what the connections of one database share."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from itertools import count
from typing import TYPE_CHECKING, get_args

from ferrule.errors import FerruleError
from ferrule_ask.kept_answers import lifetime
from ferrule_duckdb import functions
from ferrule_duckdb.cursors import follow
from ferrule_duckdb.database import GROUP_TOKENS, Database, OnError, Options, Service
from ferrule_duckdb.interruption import listen

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ferrule_ask import Client, Keys
    from ferrule_ask.answer import Usage
    from ferrule_ask.client import OnToolError
    from ferrule_duckdb.progress import Report

_numbers = count(1)
# DuckDB calls functions of Python without keeping them alive, for as long as a database has any connection, and does
# not announce its end. So they are kept for good; what is heavy goes with the last connection.
_databases: dict[int, Database] = {}
_functions: list[functions.Bodies] = []


class Registration(AbstractContextManager["Registration"]):
    """A connection that has the functions. `close` takes them away from it; the connection itself stays open."""

    def __init__(self, database: Database, con: DuckDBPyConnection) -> None:
        self._database = database
        self._con = weakref.ref(con)

    @property
    def usage(self) -> Usage:
        """What has been used through this database since it was registered."""
        return self._database.service.client.usage

    def interrupt(self) -> None:
        """End the queries that are asking, on all connections of the database, with all that they are asking."""
        self._database.on_interrupt(None)

    def clear(self) -> int:
        """Forget all answers; how many. What is being asked goes on."""
        return self._database.clear()

    def close(self) -> None:
        """Take the functions away from the connection; the last one of a database ends what is being asked."""
        con = self._con()
        if con is None or not self._database.leave(con):
            return
        import duckdb

        with suppress(duckdb.Error):  # it is closed, or still busy: without anybody who asks, they only say so
            functions.drop_macros(con)

    unregister = close

    def __exit__(self, *_: object) -> None:
        self.close()


# Long by its parameters, which are all options of the SQL functions: each is explained, and passed on by name.
def register(
    con: DuckDBPyConnection,
    *,
    client: Client | None = None,
    model: str | None = None,
    max_tokens: int | None = None,
    tools: Sequence[str] | None = None,
    keys: Keys | None = None,
    on_error: OnError = "null",
    concurrency: int = 8,
    max_calls: int | None = None,
    max_spend: float | None = None,
    remember: float | str = 300.0,
    on_tool_error: OnToolError | None = None,
    timeout: float | None = None,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    progress: Report | bool | None = None,
    group_tokens: int = GROUP_TOKENS,
) -> Registration:
    """Give the connection `stps_ask_ai`, `ask_ai`, `ask_filter`, `ask_agg`, `ask_rank` and the other functions.

    Args:
        con: a DuckDBPyConnection. Its later cursors have the functions, too; other connections are registered by
            themselves. Those of one database share answers, account, limits and settings. Registering again without
            options changes nothing; with options they all count anew.
        client: asks the questions; else there is one with model, max_tokens, tools, keys, limits as
            `ferrule_ask.Client` has them.
        max_calls, max_spend: requests to the model and US dollars, which are never passed.
        on_error: what a question without an answer gives: NULL, the text 'ERROR: …' from `stps_ask_ai`, or an error
            that ends the query.
        concurrency: questions of one vector that are asked at once.
        remember: for how long a good answer counts in later statements; in the statement that asked it, it always does.
            A number of seconds keeps it in memory, a text such as "30d" on the disk, for later programs, too.
        on_tool_error: what a question gives whose tool has failed: the model's "answer" from what it knows, "null", or
            an error that ends the query.
        timeout: seconds for a whole statement, in which it waits for its turns as long as the provider wants; rows
            without an answer have the code TIMEOUT then. None for any number.
        requests_per_minute, tokens_per_minute: limits besides those that the provider tells.
        progress: called with a `Progress` about once a second; None for a line on a terminal, False for none.
        group_tokens: the most that the rows of one request of `ask_agg` and `ask_rank` have, about; a group with more
            is answered in parts.

    Raises:
        ToolUnknown, ConfigurationMalformed, FerruleError where a transaction is open that began before the database had
        the functions, and TypeError or ValueError for options that do not fit together.
    """
    import duckdb

    if not isinstance(con, duckdb.DuckDBPyConnection):
        raise TypeError("con has to be a connection, such as duckdb.connect() or duckdb.default_connection()")
    options = Options(client, model, max_tokens, tools, keys, on_error, concurrency, max_calls, max_spend, remember)
    options = options._replace(on_tool_error=on_tool_error, timeout=timeout, progress=progress)
    options = options._replace(group_tokens=group_tokens)
    options = options._replace(requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute)
    _check(options)
    number = functions.database_of(con)
    if number is None:
        number = next(_numbers)
        database = _databases[number] = Database(Service(options, None))
        bodies = database.bodies(number)
        _functions.append(bodies)
        functions.create(con, bodies)
    else:
        database = _databases[number]
        if options != Options() or not database.is_open:
            database.renew(Service(options, database.keys))
    if not functions.are_seen(con):
        raise FerruleError("The connection's transaction began before this. Commit or roll it back, then register.")
    functions.create_macros(con)
    database.enter(con, functions.connection_key(con))
    listen(database, con)
    follow(database, con)
    return Registration(database, con)


def _check(options: Options) -> None:
    if options.on_error not in get_args(OnError):
        raise ValueError('on_error has to be "null", "text" or "raise"')
    if options.concurrency < 1:
        raise ValueError("concurrency has to be a number from 1")
    if options.group_tokens < 1:
        raise ValueError("group_tokens has to be a number from 1")
    if options.timeout is not None and not options.timeout > 0:
        raise ValueError("timeout has to be None or a number of seconds")
    lifetime(options.remember)
    of_clients = [options.tools, options.keys, options.max_calls, options.max_spend, options.on_tool_error]
    of_clients += [options.requests_per_minute, options.tokens_per_minute]
    of_clients += [options.remember] * isinstance(options.remember, str)
    if options.client is not None and any(one is not None for one in of_clients):
        raise TypeError("a client has its own tools, keys, limits and memory: give these to it, or leave it out")
