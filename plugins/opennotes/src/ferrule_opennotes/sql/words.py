"""The words of SQL that the guard has to know, by what they mean to it."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text that spaces part."""
    return frozenset(text.split())


# Statements, and clauses that write, configure or show. As names they have to be quoted.
STATEMENTS = words("""
    alter analyse analyze attach begin call checkpoint copy create deallocate delete describe
    detach do drop execute explain export import insert install into load merge pivot pivot_longer pivot_wider
    pragma prepare replace reset returning set show summarize table
    truncate unpivot update use vacuum
    """)

# What has to be told apart from a name for the guard to know where it is. All of them are reserved in DuckDB.
JOINS = frozenset(("join", "lateral"))
SET_OPERATIONS = frozenset(("union", "intersect", "except"))
ENDS_OF_FROM = frozenset(("where", "group", "having", "window", "qualify", "order", "limit", "offset", "fetch", "for"))
CLAUSES = frozenset(("select", "from", "with", "on", "using")) | JOINS | SET_OPERATIONS | ENDS_OF_FROM

# Words behind a table that are no alias.
BESIDE_TABLES = words("""
    anti asof cross full inner left natural outer positional right semi tablesample on using as with where group having
    window qualify order limit offset fetch for union intersect except join
    """)

# What may stand before a parenthesis without being a function: clauses, operators, types, and what samples rows.
BEFORE_PARENTHESES = (
    words("""
        all and any array as asc bernoulli between by case cube distinct else end escape exclude exists filter ilike
        in is key like limit materialized not offset on or over qualify recursive rename reservoir rollup sample
        select sets similar some system tablesample then to using values when where having group within
        bit bpchar char character dec decimal float interval numeric time timestamp varchar columns lambda desc
        """)
    | SET_OPERATIONS
)

# Functions whose arguments are parted by FROM.
PARTED_BY_FROM = frozenset(("extract", "substring", "trim", "overlay"))

AFTER_WITH = frozenset(("ordinality", "ties", "time"))  # WITH ORDINALITY, LIMIT ... WITH TIES, TIMESTAMP WITH TIME ZONE
