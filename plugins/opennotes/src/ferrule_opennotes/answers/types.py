"""The shapes of what the six tools answer. Import it under TYPE_CHECKING."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject


class NotebookName(TypedDict):
    """A notebook. path: absolute."""

    name: str
    path: str


class NotebookInfo(NotebookName):
    """A notebook as a list has it. source: `explicit`, `registered` or `ancestor`."""

    source: str
    noteCount: int


class NoteSummary(TypedDict, total=False):
    """A note in a list; what it does not say is left out. path: relative to the root. created, modified: ISO 8601."""

    path: str
    title: str
    tags: list[str]
    created: str
    modified: str


class NoteContent(TypedDict, total=False):
    """A note of its own. path: relative to the root. frontmatter: left out where it is too large."""

    path: str
    content: str
    title: str
    frontmatter: JSONObject
    wordCount: int


class NewNote(TypedDict):
    """A note that has been written. path: relative to the root."""

    path: str
    absolutePath: str
    title: str


class ParameterInfo(TypedDict):
    """A parameter of a view. type: `string`, `list`, `date`, `bool` or `number`."""

    name: str
    type: str
    required: bool
    default: NotRequired[str]
    description: NotRequired[str]


class ViewInfo(TypedDict):
    """A view in a list. origin: `built-in`, `global` or `notebook`."""

    name: str
    origin: str
    description: NotRequired[str]
    parameters: NotRequired[list[ParameterInfo]]


class Pagination(TypedDict):
    """Which part of the results an answer has. page: from 1. nextOffset: if there is more."""

    total: int
    returned: int
    page: int
    pageSize: int
    hasMore: bool
    nextOffset: NotRequired[int]


class Execution(TypedDict):
    """How a search was carried out. type: `text`, `fuzzy`, `boolean` or `sql`."""

    type: str
    executed: str


class Answer(TypedDict):
    """What every answer may have: a sentence that says what to do next."""

    _guidance: NotRequired[str]


class SearchAnswer(Answer):
    """results: a NoteSummary each, or the rows of a statement."""

    results: Sequence[JSONMapping]
    pagination: Pagination
    query: Execution


class ListAnswer(Answer):
    """notes: a NoteSummary each."""

    notes: Sequence[JSONMapping]
    notebook: NotebookName
    pagination: Pagination


class GetAnswer(Answer):
    """pagination: counted in lines, where not all of the note is in the answer."""

    note: NoteContent
    notebook: NotebookName
    pagination: NotRequired[Pagination]


class CreateAnswer(Answer):
    """What `opennotes_create` answers."""

    created: NewNote
    notebook: NotebookName


class NotebooksAnswer(Answer):
    """current: the notebook of the context; None outside of every notebook."""

    notebooks: Sequence[NotebookInfo]
    current: NotebookInfo | None


class ViewListAnswer(Answer):
    """What `opennotes_views` answers without a view."""

    views: Sequence[ViewInfo]
    notebook: NotebookName


class ViewAnswer(Answer):
    """view: its `name` and `description`. results: a NoteSummary each, with what the view says besides, or its rows."""

    view: dict[str, str]
    results: Sequence[JSONMapping]
    pagination: Pagination
    notebook: NotebookName
