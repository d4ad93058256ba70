"""What must come of a call, by the kind of its result, the way that was taken, and what is switched on."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ferrule_testkit.model.server import MODEL_KEY
from ferrule_testkit.pairs.household import SECRET, Household
from ferrule_testkit.pairs.table import ASKED, SERVED
from ferrule_testkit.pairs.ways import CITY, SAID, Told
from ferrule_testkit.runs import wait_for

_PNG = b"\x89PNG\r\n\x1a\n" + bytes(300)
_LARGE = {"city": CITY, "text": "x" * 70_000}
_HALF = {"event": "progress", "progress": 1, "total": 2, "message": f"Half of {CITY}"}
_WAYS = {"link": "executable", "execute": "executable", "run": "run", "ask": "ask", "sql": "ask"}
_KEPT = ("object", "text", "large", "events")  # by the cache: neither files nor this failure


class Oracle:
    """Holds what callers were told on one machine against what is documented."""

    def __init__(self, household: Household) -> None:
        self._household, self._row = household, household.row
        self._key = "[redacted]" if self._row.credentials in ("file", "variable") else "none"

    def check(self, told: list[Told]) -> None:
        """Raise AssertionError where the callers should have got anything else. told: of calls in turn, all equal."""
        for number, one in enumerate(told):
            self._check_harmless(one)
            is_known = self._keeps and number > 0
            if self._row.way in SERVED:
                self._check_served(one, is_known)
            elif self._row.way in ASKED:
                self._check_asked(one, is_known)
            elif self._row.way == "run_tool":
                self._check_opened(one)
            else:
                self._check_executed(one, is_known)
        self._check_journal(len(told))

    def check_refusal(self, told: list[Told], reason: str) -> None:
        """Raise AssertionError where a call was made, or where the caller is not told why none was."""
        (one,) = told
        assert SECRET not in f"{one}", one
        assert MODEL_KEY not in f"{one}", one
        assert CITY not in f"{one.stdout}{one.result}", one  # which every result has
        # A query says no more than that there is no answer; in Python, what is raised is a traceback.
        if self._row.way != "sql":
            assert "Traceback" not in f"{one}", one
            assert reason in f"{one.stdout}{one.stderr}{one.refused}{one.result}", one
        if self._row.way in ("link", "run", "execute"):
            assert (one.exit_code, one.document["success"]) == (1, False), one
        if self._row.way in SERVED:
            assert one.refused or one.result["isError"] is True, one
        if self._row.way == "run_tool":
            assert one.document["failure"], one
        if self._row.way in ASKED and one.stdout:
            assert json.loads(one.stdout).get("tool_outcome", "none") == "none", one

    def _check_harmless(self, one: Told) -> None:
        text = f"{one}"
        assert SECRET not in text, text
        assert MODEL_KEY not in text, text
        assert base64.b64encode(SECRET.encode()).decode().rstrip("=") not in text, text
        assert "Traceback" not in text, text

    # ---- what is expected

    @property
    def _links(self) -> bool:
        """Whether what is large is linked."""
        if not self._row.can_store:
            return False
        if self._row.way in SERVED:
            return self._household.serves_artifacts
        return self._household.has_wrapper("artifacts") and self._row.way not in (*ASKED, "run_tool")

    @property
    def _keeps(self) -> bool:
        """Whether a second call is answered by the cache."""
        may = self._row.form == "hooks" or self._row.config == "full"
        return may and self._household.has_wrapper("cache") and self._row.kind in _KEPT and self._row.way != "run_tool"

    @property
    def _failure(self) -> tuple[str, str] | None:
        """Code and message of the failure that comes, None if there is none."""
        if self._row.kind == "failure":
            return "NO_LUCK", f"No wind in {CITY}, key {self._key}."
        if self._row.kind in ("image", "file") and not self._row.can_store:
            return "RESULT_NOT_STORED", ""
        if self._row.kind == "large" and not self._links and self._row.way != "run_tool":
            return "INTERNAL_ERROR", "kinds 1.0: The tool's result takes 70,035 bytes, more than the 65,534"
        return None

    def _events(self, is_known: bool) -> list[Mapping[str, Any]]:
        note = {"event": "note", "content": f"Key {self._key} for {CITY}"}
        return [_HALF, note] if self._row.kind == "events" and not is_known else []

    # ---- executables, and what starts them

    def _check_executed(self, one: Told, is_known: bool) -> None:
        self._check_document(one.document, is_known)
        # The interface for Python says failed or not, whoever asks, and gives no events.
        is_forgiven = self._row.agent == "set" and self._row.way != "execute"
        assert one.exit_code == (1 if self._failure and not is_forgiven else 0), one
        if self._row.way == "execute" or self._row.stderr == "closed":
            assert one.stderr == "", one
        elif self._failure:
            assert one.stderr.startswith(f"{self._row.tool}: {': '.join(self._failure)}") or is_forgiven, one
            assert one.stderr.count("\n") == (not is_forgiven), one
        else:
            self._check_lines(one.stderr.splitlines(), is_known)

    def _check_lines(self, lines: list[str], is_known: bool) -> None:
        """What an executable that has answered says on stderr: events, and that it could not write the journal."""
        if not self._row.can_store:
            assert self._row.journal == "off" or any("journal" in line for line in lines), lines
            lines = [line for line in lines if line.startswith("{")]
        assert [json.loads(line) for line in lines] == self._events(is_known)

    def _check_opened(self, one: Told) -> None:
        document = one.document
        assert (one.exit_code, one.stderr) == (0, ""), one
        if self._failure:
            facts = document["failure"]
            assert facts["code"] == self._failure[0], one
            assert facts["message"].startswith(self._failure[1]), one
            assert document["result"] is None, one
        else:
            assert document["failure"] is None, one
            self._check_document(document["result"], is_known=False)
        assert document["events"] == self._events(is_known=False), one

    def _check_document(self, document: Any, is_known: bool) -> None:
        """One document, as an executable prints it."""
        if self._failure:
            code, message = self._failure
            assert document["success"] is False, document
            assert document["error_code"] == code, document
            assert document["error"].startswith(message), document
            return
        document = dict(document)
        self._check_notes(document.pop("_meta", {}), is_known)
        match self._row.kind:
            case "object" | "events":
                assert document == {"city": CITY, "key": self._key}
            case "large" if self._links:
                assert document["linked"] is True, document
                assert document["resource"].startswith("research://artifact/"), document
            case "large":
                assert document == _LARGE
            case _:
                assert document.keys() == {"success", "content"}, document
                assert document["success"] is True, document
                self._check_items(document["content"])

    def _check_notes(self, meta: Mapping[str, Any], is_known: bool) -> None:
        is_executed = self._row.way != "run_tool"
        is_timed = self._household.has_wrapper("timing") and is_executed and not is_known
        assert ("timing" in meta) == is_timed, meta
        if self._keeps:
            assert meta["cache"]["cached"] is is_known, meta

    def _check_items(self, items: list[Any]) -> None:
        *texts, last = items
        if self._row.kind == "text":
            assert items == [{"type": "text", "text": self._text}]
            return
        assert texts == ([{"type": "text", "text": self._text}] if self._row.kind == "file" else [])
        label = (last["type"], last["mimeType"], last["name"], last["bytes"])
        assert label == (self._row.kind, self._media_type, f"wind.{self._media_type[-3:]}", len(self._body)), last
        assert Path(last["path"]).read_bytes() == self._body

    @property
    def _text(self) -> str:
        return f"The table of {CITY}." if self._row.kind == "file" else f"Wind in {CITY}, key {self._key}."

    @property
    def _media_type(self) -> str:
        return "image/png" if self._row.kind == "image" else "text/csv"

    @property
    def _body(self) -> bytes:
        return _PNG if self._row.kind == "image" else f"city,key\n{CITY},{self._key}\n".encode()

    # ---- `ferrule serve`

    def _check_served(self, one: Told, is_known: bool) -> None:
        assert (one.exit_code, one.stdout, one.refused) == (0, "", ""), one
        self._check_what_serve_says(one)
        assert one.result["isError"] is bool(self._failure), one.result
        blocks = one.result["content"]
        if self._row.kind in ("text", "image", "file") and not self._failure:
            self._check_blocks(blocks)
        else:
            document = json.loads(blocks[0]["text"])
            self._check_document(document, is_known)
            # A failure need not fit the schema of results, and clients check what is there.
            assert one.result.get("structuredContent", document) == document, one.result
            assert "structuredContent" in one.result or self._failure, one.result
            assert [block["type"] for block in blocks[1:]] == ["resource_link"] * (one.read is not None), blocks
        if self._row.kind == "large" and self._links:
            assert json.loads(one.read or "") == _LARGE
        self._check_notifications(one.notifications, is_known)

    def _check_what_serve_says(self, one: Told) -> None:
        lines = one.stderr.splitlines()
        if self._row.stderr == "closed":
            assert not lines, one
            return
        assert sum(line.startswith("Serving ") for line in lines) == 1, one
        others = [line for line in lines if not line.startswith("Serving ")]
        if self._row.can_store:  # the host's own tool is not locked
            assert [line[:27] for line in others] in ([], ["Not served: artifact_read ("]), one

    def _check_blocks(self, blocks: list[Any]) -> None:
        if self._row.kind == "image":
            (image,) = blocks
            assert (image["type"], image["mimeType"]) == ("image", "image/png"), image
            assert base64.b64decode(image["data"]) == self._body
            return
        assert (blocks[0]["type"], blocks[0]["text"]) == ("text", self._text), blocks
        if self._row.kind == "file":
            resource = blocks[1]["resource"]
            assert (blocks[1]["type"], resource["mimeType"]) == ("resource", "text/csv"), blocks
            assert resource["text"].encode() == self._body, blocks

    def _check_notifications(self, notifications: list[Any], is_known: bool) -> None:
        told = []
        for one in notifications:
            params = one["params"]
            if one["method"] == "notifications/progress":
                assert params.pop("progressToken") == "wind", one
                told.append({"event": "progress", **params})
            elif one["method"] == "notifications/message" and params["logger"] == self._row.tool:
                told.append(params["data"])
        assert told == self._events(is_known), notifications

    # ---- `ferrule ask`, and SQL

    def _check_asked(self, one: Told, is_known: bool) -> None:
        assert one.exit_code == 0, one
        assert one.asked is not None, one
        answer = json.loads(one.stdout)
        outcome = ("failed", self._failure[0]) if self._failure else ("ok", None)
        assert (answer["text"], answer["code"]) == (SAID, None), one
        assert (answer["tool_outcome"], answer["tool_code"]) == outcome, one
        assert one.asked.get("is_error", False) is bool(self._failure), one
        content = one.asked["content"]
        if self._failure:
            assert content.startswith(self._failure[1]), one
        elif self._row.kind in ("object", "events"):
            self._check_document(json.loads(content), is_known)
        else:
            self._check_read_by_a_model(content)

    def _check_read_by_a_model(self, content: str) -> None:
        text, _, file = content.rpartition("\n\n")
        if self._row.kind == "text":
            assert content == self._text
            return
        assert text == (self._text if self._row.kind == "file" else "")
        name = f"wind.{self._media_type[-3:]}"
        beginning = f"[{self._row.kind}: {name}, {self._media_type}, {len(self._body)} bytes, in "
        assert file.startswith(beginning), content
        assert Path(file.removeprefix(beginning).removesuffix("]")).read_bytes() == self._body

    # ---- the journal

    def _check_journal(self, calls: int) -> None:
        journal = self._household.journal
        if self._row.journal == "off" or self._row.way == "run_tool" or not self._row.can_store:
            assert not journal.exists()
            return
        wait_for(lambda: journal.exists() and journal.read_bytes().count(b"\n") == calls)
        assert SECRET not in journal.read_text()
        for line in map(json.loads, journal.read_text().splitlines()):
            assert line["tool"] == self._row.tool, line
            assert line["way"] == ("serve" if self._row.way in SERVED else _WAYS[self._row.way]), line
            assert line["outcome"] == (self._failure[0] if self._failure else "ok"), line
            assert line.get("agent") == ("agent-7" if self._row.agent == "set" else None), line
