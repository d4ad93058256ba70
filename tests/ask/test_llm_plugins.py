"""Models of llm's plugins: the real llm, and a plugin of the test's own that is installed as any other."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule_testkit.machine import Finished

pytestmark = [pytest.mark.process, pytest.mark.slow]

FERRULE = Path(sys.executable).parent / "ferrule"
PLUGIN = """
import json, os
import llm

class Common:
    supports_tools = True
    can_stream = False

    class Options(llm.Options):
        max_tokens: int | None = None

    def reply(self, prompt, response):
        seen = {"prompt": prompt.prompt, "system": prompt.system, "most": prompt.options.max_tokens,
                "results": [one.output for one in prompt.tool_results], "tools": [one.name for one in prompt.tools]}
        with open(os.environ["SEEN"], "a") as file:
            file.write(json.dumps(seen) + "\\n")
        response.set_usage(input=20, output=10)
        if prompt.prompt == "fail":
            error = RuntimeError("the key is hidden-0123")
            error.status_code = 429 if os.path.getsize(os.environ["SEEN"]) < 1000 else None
            raise error
        if prompt.tools and not prompt.tool_results:
            response.add_tool_call(llm.ToolCall("example", {"city": "Oslo"}, tool_call_id="call-1"))
            return ""
        return "It is cold."

class Blocking(Common, llm.Model):
    model_id = "blocking"
    def execute(self, prompt, stream, response, conversation):
        yield self.reply(prompt, response)

class Waiting(Common, llm.AsyncModel):
    model_id = "waiting"
    async def execute(self, prompt, stream, response, conversation):
        yield self.reply(prompt, response)

class Base(Common, llm.Model):
    model_id = "waiting"
    def execute(self, prompt, stream, response, conversation):
        raise AssertionError("there is an asynchronous one")

class Plain(llm.Model):
    model_id = "plain"
    def execute(self, prompt, stream, response, conversation):
        yield json.dumps({"value": 95}) if "fits this schema" in (prompt.system or "") else "Plain."

class Keyed(llm.KeyModel):
    model_id = "keyed"
    needs_key = "cold-maker"
    def execute(self, prompt, stream, response, conversation, key):
        yield "never"

@llm.hookimpl
def register_models(register):
    register(Blocking(), aliases=("b",))
    register(Base(), Waiting())
    register(Plain())
    register(Keyed())
"""


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    """What the models of the plugin were asked, a line of JSON each."""
    return tmp_path / "seen.jsonl"


@pytest.fixture
def environ(tmp_path: Path, seen: Path) -> dict[str, str]:
    """The environment of a user who has installed the plugin."""
    packages = tmp_path / "packages"
    facts = packages / "llm_cold-1.dist-info"
    facts.mkdir(parents=True)
    (packages / "llm_cold.py").write_text(PLUGIN)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-cold\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[llm]\ncold = llm_cold\n")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(packages),
        "SEEN": str(seen),
        "LLM_USER_PATH": str(tmp_path / "llm"),
        "FERRULE_STATE": str(tmp_path / "state"),
        "FERRULE_ASK_TOOLS": "none",
        "FERRULE_ASK_BUDGETS": "60 20 60",
    }


Ask = Callable[..., Finished]


@pytest.fixture
def ask(environ: dict[str, str], tmp_path: Path) -> Ask:
    def ask(*arguments: str, **more: str) -> Finished:
        done = subprocess.run(
            [FERRULE, "ask", *arguments], env={**environ, **more}, cwd=tmp_path, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        return Finished(done.returncode, done.stdout, done.stderr)

    return ask


def asked(seen: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in seen.read_text().splitlines()]


@pytest.mark.parametrize("name", ["blocking", "b", "waiting"])
def test_a_model_of_a_plugin_calls_a_tool_and_answers_from_it(name: str, ask: Ask, seen: Path) -> None:
    done = ask("How is it?", "--model", f"llm/{name}", "--tool", "example", "--max-tokens", "50", "--json")
    document = done.document
    assert (done.code, document["text"], document["tool"]) == (0, "It is cold.", "example")
    assert document["tool_input"] == {"city": "Oslo"}
    assert (document["input_tokens"], document["output_tokens"], document["cost"]) == (40, 20, None)
    assert document["model"] == ("waiting" if name == "waiting" else "blocking")
    first, second = asked(seen)
    assert (first["prompt"], first["most"], first["tools"], first["results"]) == ("How is it?", 50, ["example"], [])
    assert "Today is " in str(first["system"])
    (result,) = second["results"]  # type: ignore[misc] # a list of texts
    assert "Oslo" in result


def test_without_tools_there_is_one_request(ask: Ask, seen: Path) -> None:
    assert ask("How is it?", "--model", "llm/blocking") == (0, "It is cold.\n", "")
    assert [one["tools"] for one in asked(seen)] == [[]]


def test_an_answer_has_a_type_where_the_plugin_knows_no_schema(ask: Ask) -> None:
    schema = '{"type": "integer"}'
    assert ask("How much?", "--model", "llm/plain", "--type", schema, "--json").document["value"] == 95


@pytest.mark.parametrize(
    ("model", "question", "arguments", "code", "words"),
    [
        ("unheard-of", "?", (), "MODEL_NOT_FOUND", "llm has no model 'unheard-of'"),
        ("plain", "?", ("--tool", "example"), "INVALID_REQUEST", "--no-tools"),
        ("keyed", "?", (), "AUTH_MISSING", "llm keys set cold-maker"),
        ("blocking", "fail", (), "RATE_LIMIT", "RuntimeError"),
        ("waiting", "fail", (), "RATE_LIMIT", "HTTP 429"),
        ("blocking", "?", ("--max-cost", "1"), "PRICE_UNKNOWN", '"llm/blocking" = [3, 15]'),
    ],
)
def test_what_goes_wrong_is_said_with_what_to_do(
    model: str, question: str, arguments: tuple[str, ...], code: str, words: str, ask: Ask
) -> None:
    done = ask(question, "--model", f"llm/{model}", *arguments)
    assert (done.code, done.out) == (1, "")
    assert f"Error: {code}: " in done.err
    assert words in done.err
    assert "hidden-0123" not in done.err


def test_a_plugin_that_cannot_be_loaded_is_said(ask: Ask, environ: dict[str, str]) -> None:
    Path(environ["PYTHONPATH"], "llm_cold.py").write_text("import no_such_module")
    done = ask("?", "--model", "llm/blocking")
    assert done.code == 1
    assert "INVALID_REQUEST: llm, or a plugin of it, cannot be loaded (ModuleNotFoundError)" in done.err


def test_without_llm_it_is_said_how_to_have_it(ask: Ask, environ: dict[str, str]) -> None:
    Path(environ["PYTHONPATH"], "sitecustomize.py").write_text(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'llm':\n"
        "            raise ModuleNotFoundError(\"No module named 'llm'\", name='llm')\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    done = ask("?", "--model", "llm/blocking")
    assert done.err == (
        "Error: INVALID_REQUEST: llm is not installed here. Install it next to ferrule, with the plugin of the model.\n"
    )


def test_models_of_others_do_not_load_llm(environ: dict[str, str]) -> None:
    script = (
        "import sys\nfrom ferrule_ask import Client\n"
        "with Client(model='ollama/x', tools=(), budgets=(5, 5, 5)) as client:\n"
        "    print(client.ask(None, '?').code, sorted(name for name in sys.modules if name.split('.')[0] == 'llm'))\n"
    )
    known = {**environ, "OLLAMA_BASE_URL": "http://127.0.0.1:1"}
    done = subprocess.run([sys.executable, "-c", script], env=known, capture_output=True, text=True, check=True)
    assert done.stdout == "NETWORK_ERROR []\n"
