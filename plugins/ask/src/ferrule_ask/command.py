"""Ask a model, which may call a tool."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from ferrule.cli import complete, json_option, note, print_json
from ferrule_ask import rows_command
from ferrule_ask.answer import Answer, Plan
from ferrule_ask.piped_text import read_all, read_pipe
from ferrule_ask.terminal.answers import print_answer, print_plan, print_prices, tool_warning
from ferrule_ask.terminal.events import Events, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypedDict, Unpack

    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.batches.batches import Batches
    from ferrule_ask.client import Client, OnToolError
    from ferrule_ask.cost.limits import Limits

    class _ClientOptions(TypedDict):
        """What the options of the command make of a client."""

        tools: Sequence[str] | None
        event: Callable[[str, JSONMapping], None]
        on_tool_error: OnToolError | None
        limits: Limits
        remember: str | None
        max_calls: int | None
        usual_max_calls: int
        system: str | None
        concurrency: int
        batches: Batches | None
        budgets: Sequence[float] | None
        stream: bool


_CONCURRENCY = 8
_USUAL_CALLS = 4  # of tools, for a question on a terminal


@click.command("ask")
@click.argument("prompt", metavar="QUESTION", required=False)
@click.option(
    "--context",
    "sources",
    multiple=True,
    metavar="FILE",
    help="A file with what the question is about; - is stdin. May be repeated.",
)
@click.option(
    "--rows",
    metavar="FILE",
    help="Ask each row of a file: .csv, .tsv, .jsonl, .parquet, .xlsx; - is stdin. Needs --out.",
)
@click.option("--files", metavar="PATTERN", help="Ask each file that fits, as a row with name and text; needs --out.")
@click.option("--out", metavar="FILE", help="Where the rows go, with their answers.")
@click.option("--context-column", metavar="NAME", help="The column of --rows with what the question is about.")
@click.option("--type", "shape", metavar="TYPE", help="The type of the answer: of SQL, or a JSON schema.")
@click.option("--remember", metavar="TIME", help="Keep good answers for 30d, 12h, 90m; with --rows it is 30d.")
@click.option(
    "--max-spend", "--max-cost", type=click.FloatRange(min=0), metavar="DOLLARS", help="Spend no more than this."
)
@click.option(
    "--tool", "tools", multiple=True, metavar="NAME", shell_complete=complete, help="Offer this tool; may be repeated."
)
@click.option("--no-tools", is_flag=True, help="Offer no tool.")
@click.option("--model", metavar="NAME", help="The model to ask.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="The most that the model may write.")
@click.option(
    "--on-tool-error",
    type=click.Choice(["answer", "null"]),
    help="Where the tool fails: have the model answer from what it knows, or give no answer.",
)
@click.option(
    "--max-calls", type=click.IntRange(min=1), metavar="N", help="Calls of tools in a question; 4, or 1 with --rows."
)
@click.option("--system", metavar="TEXT", help="What the model gets with each question, before it.")
@click.option("--concurrency", type=click.IntRange(min=1), metavar="N", help="Questions that are asked at once; 8.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="For each request and each call."
)
@click.option("--batch", "is_batch", is_flag=True, help="Ask --rows in batches: half the price, within a day.")
@click.option("--plan", "is_plan", is_flag=True, help="Say what the question would take, and send nothing.")
@click.option("--prices", "is_prices", is_flag=True, help="Print what each model costs, and ask nothing.")
@json_option
# Long by its help and by a parameter for each option, of which each is passed on by name.
def command(
    prompt: str | None,
    sources: tuple[str, ...],
    rows: str | None,
    files: str | None,
    out: str | None,
    context_column: str | None,
    shape: str | None,
    remember: str | None,
    max_spend: float | None,
    tools: tuple[str, ...],
    no_tools: bool,
    model: str | None,
    max_tokens: int | None,
    on_tool_error: OnToolError | None,
    max_calls: int | None,
    system: str | None,
    concurrency: int | None,
    timeout: float | None,
    is_batch: bool,
    is_plan: bool,
    is_prices: bool,
    as_json: bool,
) -> int:
    """Put a QUESTION to a model, and print its answer on stdout.

    --model names a model of Anthropic, or one of another provider after that one's name: openai/NAME, openai-chat/NAME,
    gemini/NAME, openrouter/NAME, ollama/NAME, llm/NAME, or of one that [ask.providers] of config.toml describes.

    The model may call tools, up to --max-calls times; stderr shows each call as it happens. Offered is web_search,
    where it is installed and a search provider has its keys, else the first of the tools web_search_*, by name, that
    has its keys; --tool names others. Each call takes one request more to the model. Where a tool fails, the model
    answers from what it knows, and a warning says so; --on-tool-error null has it give no answer then.

    What is piped into the command is what the question is about. With --rows, each row of a file is asked: QUESTION, or
    the row's column `question`, about the column that --context-column names, else about its column `context`, else
    about all of its columns. --files makes a row of each file that fits a pattern. Good answers are kept for 30 days,
    so the same command goes on where it was interrupted. What failed for a reason that may pass, such as the network,
    is asked once more at the end; the file is written with what there is, and the exit code is 1.

    With --batch, the rows are sent as batches of Anthropic or OpenAI, which answer within 24 hours at half the price.
    The command waits for them. Ended at any time, and run again, it goes on with the same batches: their ids are in a
    file next to --out.

    The model's key is looked up in ANTHROPIC_API_KEY, in the credentials file, and in ~/.stps/anthropic_api_key; that
    of another provider in OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY, and in the same way.

    \b
    Examples:
      ferrule ask "Who won yesterday's match in Oslo?"
      ferrule ask "What is this about?" --context notes.txt --no-tools
      git diff | ferrule ask "Is there a defect in this?" --plan
      ferrule ask "What does it cost?" --type "STRUCT(price DOUBLE, as_of DATE)"
      ferrule ask "What is on its first page?" --model openai/gpt-5
      ferrule ask "In which country is it?" --rows cities.csv --out answers.csv
      ferrule ask "What was decided?" --files 'notes/**/*.md' --out decisions.csv

    Exit code: 0 where the model has answered, 1 where it has not or its answer was cut off.
    """
    if is_prices:
        print_prices(as_json=as_json)
        return 0
    if no_tools and tools:
        raise click.UsageError("--tool and --no-tools exclude each other.")
    if rows is not None and files is not None:
        raise click.UsageError("--rows and --files exclude each other.")
    table = rows if files is None else files
    _check_rows(prompt, sources, table, out, context_column, is_plan=is_plan)
    if is_batch and table is None:
        raise click.UsageError("--batch needs --rows or --files.")
    from ferrule_ask import Client, Limits

    offered = () if no_tools else tools or None
    limits, kept = Limits(spend=max_spend), remember or ("30d" if table else None)
    with (
        closing(Events(is_quiet=table is not None)) as event,
        _client(
            Client,
            tools=offered,
            event=event,
            on_tool_error=on_tool_error,
            limits=limits,
            remember=kept,
            max_calls=max_calls,
            usual_max_calls=1 if table else _USUAL_CALLS,
            system=system,
            concurrency=concurrency or _CONCURRENCY,
            batches=rows_command.open_batches(out) if is_batch else None,
            budgets=None if timeout is None else (timeout,) * 3,
            stream=is_terminal(sys.stdout) and not (as_json or is_plan or table or shape),
        ) as client,
    ):
        if table is not None:
            asked: dict[str, object] = {"source": table, "target": out, "question": prompt, "context": context_column}
            asked |= {"type": shape, "model": model, "max_tokens": max_tokens, "is_pattern": files is not None}
            return rows_command.run(client, asked, is_plan=is_plan, as_json=as_json)
        context = read_all(sources) if sources else read_pipe()
        ask = client.plan if is_plan else client.ask
        reply = ask(context, prompt or "", model=model, max_tokens=max_tokens, schema=_schema(shape))
        left_out, variable = client.left_out, client.key_variable(model)
    if isinstance(reply, Answer) and reply.code is None and _is_of_sql(shape):
        reply = rows_command.duckdb_part("sql_types").cast_answer(reply, shape)
    if isinstance(reply, Answer) and reply.tool_outcome == "failed" and reply.code is None:
        event("warning", {"message": tool_warning(reply)})
    for name, reason in left_out if tools or is_terminal(sys.stderr) else ():
        note(f"{name} is not offered: {reason}")
    if as_json:
        omissions = [{"tool": name, "reason": reason} for name, reason in left_out]
        print_json({**reply._asdict(), "left_out": omissions, "warnings": event.warnings})
    elif isinstance(reply, Plan):
        print_plan(reply)
    else:
        print_answer(reply, event, variable)
    return int(isinstance(reply, Answer) and reply.code is not None)


def _check_rows(
    prompt: str | None,
    sources: Sequence[str],
    rows: str | None,
    out: str | None,
    context_column: str | None,
    *,
    is_plan: bool,
) -> None:
    """Raises UsageError for arguments that do not fit together."""
    if prompt is not None and not prompt.strip():
        raise click.UsageError("QUESTION is blank.")
    if rows is None and prompt is None:
        raise click.UsageError("Missing argument 'QUESTION'.")
    if rows is None and (out is not None or context_column is not None):
        raise click.UsageError("--out and --context-column need --rows.")
    if rows is not None and out is None and not is_plan:
        raise click.UsageError("--rows needs --out, the file for the answers.")
    if rows is not None and sources:
        raise click.UsageError("--rows and --context exclude each other.")


def _client(kind: type[Client], **options: Unpack[_ClientOptions]) -> Client:
    try:
        return kind(**options)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None


def _is_of_sql(shape: str | None) -> bool:
    """Whether an answer is to be of a type of SQL, and not of a JSON schema."""
    return shape is not None and not shape.lstrip().startswith("{")


def _schema(shape: str | None) -> JSONMapping | None:
    """The JSON schema of the answer, from one or from a type of SQL. Raises FerruleError, and UsageError."""
    if shape is None:
        return None
    if _is_of_sql(shape):
        schema: JSONMapping = rows_command.duckdb_part("sql_types").shape_of(shape).schema
        return schema
    try:
        document: JSONMapping = json.loads(shape)
    except ValueError:
        raise click.UsageError("--type is no JSON schema: it is not JSON.") from None
    return document
