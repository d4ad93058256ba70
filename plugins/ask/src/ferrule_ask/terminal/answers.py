"""What is printed at the end: an answer, a plan, or the prices."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from ferrule.cli import counted, note, plain, print_indented, print_json, print_table
from ferrule.errors import CredentialsMalformed
from ferrule_ask.terminal.events import Events, is_terminal

if TYPE_CHECKING:
    from ferrule_ask.answer import Answer, Plan


def print_answer(answer: Answer, event: Events, variable: str) -> None:
    """Print an answer, or why there is none. What is on the terminal already is not printed again.

    Args:
        variable: of the model's key.
    """
    if answer.text is not None and sys.stdout is not None:
        said = answer.text if answer.value is None else json.dumps(answer.value, ensure_ascii=False)
        if is_terminal(sys.stdout):
            event.text.complete(said)
            event.text.end_line()
            _print_sources(answer)
        else:
            sys.stdout.write(f"{said}\n")  # click would take colours out of it
            sys.stdout.flush()
    event.text.end_line()
    if answer.code is not None:
        note(f"Error: {answer.code}: {answer.error or 'The model has not answered.'}")
    owner = _owner_of_missing_key(variable) if answer.code == "AUTH_MISSING" else ""
    if owner:
        note(f"Run: ferrule credentials set {owner} api_key")


def tool_warning(answer: Answer) -> str:
    """The sentence on a tool that has failed."""
    code = f" ({answer.tool_code})" if answer.tool_code else ""
    said = (answer.tool_error or "It did not say why.").rstrip()
    return f"{answer.tool} failed{code}, so this is answered from what the model knows. {said}"


def _print_sources(answer: Answer) -> None:
    """What the answer rests on, as footnotes: what is cited where the provider says so, else all that was found."""
    cited = [one for one in answer.sources if one["cited"]]
    for number, one in enumerate(cited or answer.sources, 1):
        published = f" ({one['published']})" if one["published"] else ""
        _print(f"{chr(10) * (number == 1)}[{number}] {plain(one['title'] + published)}\n    {plain(one['url'])}")


def _owner_of_missing_key(variable: str) -> str:
    """Whose key is not set at all, rather than one that has to be fixed where it is; empty for such a key."""
    from ferrule_ask.keys import OWNERS, Keys

    try:
        return OWNERS.get(variable, "") if Keys().find(variable) is None else ""
    except CredentialsMalformed:
        return ""


def print_plan(plan: Plan) -> None:
    """Print a plan."""
    _print(f"At most {counted(plan.requests_max, 'request')}, and retries where the server fails.")
    print_indented(
        f"Tools offered:  {', '.join(plan.tools) or 'none'}",
        f"Input:          {plan.input_tokens:,} tokens in the first request, estimated",
        f"Output:         {plan.output_tokens_max:,} tokens at most",
        f"Cost:           {_cost(plan)}",
        f"Searches:       {_searches(plan)}",
    )


def print_prices(*, as_json: bool) -> None:
    """Print what each model costs, as far as it is known. Raises ConfigurationMalformed."""
    from ferrule_ask.cost.price_list import HEADINGS, list_prices
    from ferrule_ask.settings import AskOverrides, Reader

    reader = Reader(AskOverrides())
    prices = list(list_prices(reader.prices, reader.providers))
    if as_json:
        print_json({"prices": [one.facts() for one in prices]})
        return
    print_table(HEADINGS, [one.cells() for one in prices])
    note("US dollars for a million tokens.")


def _cost(plan: Plan) -> str:
    if plan.cost_min is None or plan.cost_max is None:
        return "not known: there is no price for this model"
    basis = "as the questions before" if plan.likely_from == "own questions" else "assumed"
    return f"{plan.cost_min:.5f} to {plan.cost_max:.5f} US dollars, likely {plan.cost_likely or 0.0:.5f} ({basis})"


def _searches(plan: Plan) -> str:
    if not plan.searches_max:
        return "none"
    if plan.search_cost_max is None:
        return f"{plan.searches_max} at most, at a price that [ask.search_prices] does not give"
    return f"{plan.searches_max} at most, {plan.search_cost_max:.5f} US dollars"


def _print(text: str) -> None:
    import click

    click.echo(text)
