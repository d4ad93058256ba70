"""From what a search asks for to what one provider can be asked: its own words, what is emulated, what it cannot do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule.errors import ToolError
from ferrule_websearch.domains import DomainFilter
from ferrule_websearch.manifest import ENGINE, QUERY, RESULTS, SITE, Declaration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SPARE = 3  # results more than were asked for, since some may be the same page twice
_TERM = re.compile(r'"([^"]*)"|(\S+)')
_VALUES = ("time_range", "safe", "language", "country")


class Wanted(NamedTuple):
    """A search in the words of no provider. What is empty is not asked for.

    limit: results. sites: domains, of which each result has to be on one. time_range: day, week, month or year. safe:
    off, medium or high. language: ISO 639-1 in small letters. country: ISO 3166-1 alpha-2 in capitals. exact_terms: a
    phrase. exclude_terms: words, and phrases in quotes. engine: an engine of the provider's own, which then has the
    sites.
    """

    text: str
    limit: int
    sites: Sequence[str] = ()
    time_range: str = ""
    safe: str = ""
    language: str = ""
    country: str = ""
    exact_terms: str = ""
    exclude_terms: str = ""
    engine: str = ""


class Question(NamedTuple):
    """One query. parameters: in the provider's words. domains: what its results are held against."""

    text: str
    limit: int
    parameters: Mapping[str, Any]
    domains: DomainFilter


class Translation(NamedTuple):
    """questions: whose results are merged. ignored: name and reason. emulated: names of what stands in the query."""

    questions: Sequence[Question]
    ignored: Sequence[tuple[str, str]]
    emulated: Sequence[str]


class _Draft:
    """A translation that is being made."""

    def __init__(self, declared: Declaration, wanted: Wanted) -> None:
        self.declared = declared
        self.wanted = wanted
        self.text = wanted.text
        self.parameters: dict[str, Any] = {}
        self.ignored: list[tuple[str, str]] = []
        self.emulated: list[str] = []

    def hand_on(self, name: str, value: str) -> bool:
        """Say it with the provider's own parameter; False where it has none, or no word for the value."""
        parameter = self.declared.parameters.get(name)
        if parameter is None or not parameter.takes(value):
            return False
        self.parameters[parameter.name] = parameter.value(value)
        return True

    def emulate(self, name: str, words: str) -> None:
        """Say it in the query, where the provider reads that and it fits."""
        if not words.strip('"- '):
            return
        if not self.declared.operators:
            self.ignored.append((name, f"{self.declared.name} has nothing that would do this"))
        elif not self.declared.fits(f"{self.text} {words}"):
            self.ignored.append((name, f"{self.declared.name} takes {self.declared.longest} at most in a query"))
        else:
            self.text = f"{self.text} {words}"
            self.emulated.append(name)


def translate(declared: Declaration, wanted: Wanted) -> Translation:
    """What to ask this provider.

    Raises ToolError INVALID_INPUT where it cannot be asked at all: its queries are shorter, or an engine is asked for
    that only another provider has, without sites that would do instead.
    """
    if not declared.fits(wanted.text):
        raise ToolError("INVALID_INPUT", f"query: {declared.name} takes {declared.longest} at most.")
    draft = _Draft(declared, wanted)
    for name in _VALUES:
        value = str(getattr(wanted, name))
        if value and not draft.hand_on(name, value):
            draft.ignored.append((name, _no_word_for(declared, name, value)))
    if wanted.exact_terms and not draft.hand_on("exact_terms", wanted.exact_terms):
        draft.emulate("exact_terms", f'"{" ".join(wanted.exact_terms.replace(chr(34), " ").split())}"')
    if wanted.exclude_terms and not draft.hand_on("exclude_terms", wanted.exclude_terms):
        draft.emulate("exclude_terms", excluded(wanted.exclude_terms))
    sites = _sites(draft)
    questions = [_question(draft, group) for group in (_groups(draft, sites) if sites else [()])]
    return Translation(questions, draft.ignored, draft.emulated)


def excluded(terms: str) -> str:
    """Terms in the words of a query: `a "b c"` is `-a -"b c"`.

    >>> excluded('python "monty hall"')
    '-python -"monty hall"'
    """
    found = ((" ".join(phrase.split()), word.strip('"').lstrip("-")) for phrase, word in _TERM.findall(terms))
    return " ".join(f'-"{phrase}"' if phrase else f"-{word}" for phrase, word in found if phrase or word)


def _no_word_for(declared: Declaration, name: str, value: str) -> str:
    if name not in declared.parameters:
        return f"{declared.name} cannot be asked for it"
    return f"{declared.name} does not know {value!r}"


def _sites(draft: _Draft) -> Sequence[str]:
    """The sites that are left to ask for, once the engine is named."""
    wanted = draft.wanted
    if not wanted.engine or draft.hand_on(ENGINE, wanted.engine):
        return () if wanted.engine else wanted.sites
    if not wanted.sites:
        raise ToolError("INVALID_INPUT", f"lens: {draft.declared.name} has no engine of this kind.")
    return wanted.sites


def _groups(draft: _Draft, sites: Sequence[str]) -> list[tuple[str, ...]]:
    """The sites in groups that one query takes, none left out; all at once where no query can name any of them."""
    declared = draft.declared
    if not _can_name(draft, sites):
        return [tuple(sites)]
    parameter = declared.parameters.get(SITE)
    is_own = declared.provider is None and parameter is not None
    most = 1 if is_own and parameter and not parameter.is_list else declared.sites
    groups: list[tuple[str, ...]] = []
    for site in sites:
        grown = (*groups[-1], site) if groups else (site,)
        text = draft.text if is_own else f"{draft.text} {DomainFilter(grown).operators()}"
        if groups and len(grown) <= most and declared.fits(text):
            groups[-1] = grown
        else:
            groups.append((site,))
    return groups


def _can_name(draft: _Draft, sites: Sequence[str]) -> bool:
    """Whether the provider can be told of at least one site; else there is one query, and its results to filter."""
    declared = draft.declared
    if declared.provider is None and SITE in declared.parameters:
        return True
    is_read = declared.operators or declared.provider is not None
    return is_read and any(declared.fits(f"{draft.text} {DomainFilter((site,)).operators()}") for site in sites)


def _question(draft: _Draft, sites: tuple[str, ...]) -> Question:
    declared, domains = draft.declared, DomainFilter(sites)
    spare = 0 if sites and declared.provider else _SPARE
    limit = min(draft.wanted.limit + spare, max(declared.results, draft.wanted.limit if declared.provider else 1))
    if declared.provider is not None:
        return Question(draft.text, limit, draft.parameters, domains)
    return _question_to_a_tool(draft, domains, limit)


def _question_to_a_tool(draft: _Draft, domains: DomainFilter, limit: int) -> Question:
    """The whole of the tool's arguments, with the sites in its own words or in the query."""
    declared, parameters, text = draft.declared, dict(draft.parameters), draft.text
    site = declared.parameters.get(SITE)
    if domains.allowed and site:
        parameters[site.name] = list(domains.allowed) if site.is_list else site.value(domains.allowed[0])
    elif domains.allowed and declared.operators and declared.fits(f"{text} {domains.operators()}"):
        text = f"{text} {domains.operators()}"
    if RESULTS in declared.parameters:
        parameters[declared.parameters[RESULTS].name] = limit
    parameters[declared.parameters[QUERY].name] = text
    return Question(text, limit, parameters, domains)
