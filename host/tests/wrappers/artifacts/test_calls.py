"""Large results of third-party tools reach the client by handle, and through the handle byte for byte."""

import hashlib
import json
import os
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ferrule_testkit import PROJECT, ikigai
from ferrule_testkit.corpus import Site
from ferrule_testkit.programs.redis_server import RedisServer
from ferrule_testkit.runs import Run, run, run_forked

pytestmark = pytest.mark.process


BULK = PROJECT / "tests/testkit/bulk"
THRESHOLD = 24_576
CLIENT = 65_534
FERRULE = Path(sys.executable).parent / "ferrule"
READER = Path(sys.executable).parent / "artifact-read-tool"
SECRET = "k3y/with+odd=letters"
WAYS = pytest.mark.parametrize("way", ["console-script", "link", "ferrule-run", "client"])

sys.path.append(str(BULK))


class Place(NamedTuple):
    """Where the tools are installed, and what they are started with."""

    site: Site
    environment: dict[str, str]
    state: Path

    def files(self) -> list[Path]:
        return [path for path in (self.state / "artifacts").glob("tools/*/??/*") if path.is_file()]


Ask = Callable[..., Run]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The tools, installed and linked, for all tests of a worker, none of which changes what is there."""
    root = tmp_path_factory.mktemp("bulk")
    site = Site(root / "installed").install(BULK)
    site.link(["bulk", "bulk_inline", "artifact_read"], {"PATH": os.environ["PATH"], "HOME": str(root)})
    return site


@pytest.fixture
def place(site: Site, tmp_path: Path) -> Place:
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    plain = {"PATH": os.environ["PATH"], "HOME": str(home), "FERRULE_STATE": str(state)}
    return Place(site, {**plain, "PYTHONPATH": str(site.path), "FERRULE_WRAPPERS": "artifacts"}, state)


@pytest.fixture
def ask(place: Place) -> Ask:
    """Call a tool: `ask("bulk", bytes=70_000)`; what the way adds is taken off again.

    A console script is a fork of a process that has the host; a link is started, as is `ferrule run`.
    """

    def ask(tool: str, way: str = "console-script", environ: dict[str, str] | None = None, **arguments: Any) -> Run:
        file = tool.replace("_", "-") + "-tool"
        document = json.dumps(arguments).encode()
        environment = {**place.environment, **(environ or {})}
        if way == "ferrule-run":
            return run([FERRULE, "run", "--json", tool], document, environment=environment)
        if way == "client":
            client = [sys.executable, ikigai.__file__, "call", tool, document.decode(), "--folder", place.site.links]
            return run(list(map(str, client)), environment=environment)
        if way == "link":
            return run([place.site.links / file], document, environment=environment)
        scripts = READER.parent if tool == "artifact_read" else place.site.scripts
        return run_forked(scripts / file, document, environment=environment, cwd=place.site.path.parent)

    return ask


def shown(way: str, done: Run) -> dict[str, Any]:
    """The result, as it is shown in that way."""
    document = json.loads(done.stdout)
    if way == "client":
        assert document["tool_success"] is True, document
        return document["result"]
    return document


def body_of(size: int, **arguments: Any) -> bytes:
    """The compact JSON of what the tool returns."""
    import bulk

    document = bulk.result({"bytes": size, **arguments})
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    assert len(body) == size
    return body


def whole(ask: Ask, way: str, resource: str) -> bytes:
    """The artifact, read by pages."""
    text, offset = "", 0
    while offset is not None:
        document = shown(way, ask("artifact_read", way, resource=resource, offset=offset))
        text += document["content"]
        offset = document.get("next_offset")
    return text.encode()


# What a letter takes is counted before any way is gone, so one way is gone with each of them.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "letter"),
    [
        *(("console-script", letter) for letter in ["x", "é", "😀", '"', "\\", "\u2028"]),
        *((way, "é") for way in ["link", "ferrule-run", "client"]),
    ],
)
def test_a_result_is_linked_from_the_threshold_on(way: str, letter: str, ask: Ask, place: Place) -> None:
    below = ask("bulk", way, bytes=THRESHOLD - 1, letter=letter)
    assert shown(way, below) == json.loads(body_of(THRESHOLD - 1, letter=letter))
    assert place.files() == []

    linked = shown(way, ask("bulk", way, bytes=THRESHOLD, letter=letter))
    body = body_of(THRESHOLD, letter=letter)
    assert linked["resource"] == f"research://artifact/{hashlib.sha256(body).hexdigest()}"
    assert whole(ask, way, linked["resource"]) == body


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "size"),
    [("console-script", 1_000_000), ("link", 70_000), ("ferrule-run", 150_000), ("client", 70_000)],
)
def test_a_result_larger_than_the_client_reads_comes_whole_in_pages(way: str, size: int, ask: Ask) -> None:
    linked = shown(way, ask("bulk", way, bytes=size, letter="ü"))
    assert linked["bytes"] == size
    assert whole(ask, way, linked["resource"]) == body_of(size, letter="ü")


@pytest.mark.slow
def test_twenty_million_bytes_are_stored_and_every_part_of_them_is_reached(ask: Ask, place: Place) -> None:
    linked = ask("bulk", bytes=20_000_000).document
    body = body_of(20_000_000)
    assert place.files()[0].read_bytes() == body
    for offset in (0, 1, 9_999_999, 19_999_000, 19_999_999):
        page = ask("artifact_read", resource=linked["resource"], offset=offset, limit=50_000).document
        assert page["content"].encode() == body[offset : offset + len(page["content"])]
        assert page["total"] == 20_000_000
    (match,) = ask("artifact_read", resource=linked["resource"], grep='"more".*').document["matches"]
    assert body[match["offset"] :].decode() == '"more":["",1]}'


def test_the_summary_is_exactly_what_the_specification_says(ask: Ask, place: Place) -> None:
    before = int(time.time())
    linked = ask("bulk", bytes=70_000).document
    expires = linked.pop("expiresAt")
    assert linked == {
        "success": True,
        "resource": f"research://artifact/{hashlib.sha256(body_of(70_000)).hexdigest()}",
        "bytes": 70_000,
        "mimeType": "application/json",
        "summary": "Bulk. A first sentence. Keys: success, title (4 characters), text (69,945 characters), "
        "more (2 items). Read it with artifact_read.",
        "linked": True,
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", expires)
    told = int(subprocess.check_output(["date", "-u", "-d", expires, "+%s"]))
    assert before + 1800 <= told <= time.time() + 1800
    assert int(place.files()[0].stat().st_mtime) == told


def test_equal_results_are_one_artifact_however_they_come_about(ask: Ask, place: Place) -> None:
    first = ask("bulk", bytes=30_000).document
    second = ask("bulk", "link", bytes=30_000).document
    assert first["resource"] == second["resource"]
    assert len(place.files()) == 1


def test_what_changes_with_each_call_stands_beside_the_link_and_not_in_the_body(ask: Ask, place: Place) -> None:
    first, second = (ask("bulk", bytes=30_000, meta=True).document for _ in range(2))
    assert first["_meta"]["took"] != second["_meta"]["took"]
    assert first["resource"] == second["resource"]
    assert place.files()[0].read_bytes() == body_of(30_000)


def test_of_a_tool_that_says_nothing_only_what_is_too_large_is_linked(ask: Ask, place: Place) -> None:
    assert ask("bulk_inline", bytes=CLIENT).document == json.loads(body_of(CLIENT))
    assert place.files() == []
    linked = ask("bulk_inline", bytes=CLIENT + 1).document
    assert (linked["linked"], linked["bytes"]) == (True, CLIENT + 1)
    assert whole(ask, "console-script", linked["resource"]) == body_of(CLIENT + 1)
    unstored = ask("bulk_inline", environ={"FERRULE_STATE": "/proc/no"}, bytes=70_000)
    assert "more than the 65,534" in unstored.document["error"]
    assert b"artifact_not_stored" in unstored.stderr


def test_without_the_wrapper_everything_is_inline(ask: Ask, place: Place) -> None:
    off = {"FERRULE_WRAPPERS": ""}
    assert ask("bulk", environ=off, bytes=60_000).document == json.loads(body_of(60_000))
    assert "more than the 65,534" in ask("bulk", environ=off, bytes=70_000).document["error"]
    assert place.files() == []


def test_a_file_switches_the_wrapper_on_and_sets_threshold_and_seconds(ask: Ask, place: Place, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[wrappers.artifacts]\nenabled = true\nthreshold = 5000\nseconds = 100\n")
    environ = {"FERRULE_CONFIG": str(config)}
    place.environment.pop("FERRULE_WRAPPERS")
    assert "linked" not in ask("bulk", environ=environ, bytes=4_999).document
    before = time.time()
    assert ask("bulk", environ=environ, bytes=5_000).document["linked"] is True
    assert before + 99 <= place.files()[0].stat().st_mtime <= time.time() + 100
    over = {**environ, "FERRULE_ARTIFACTS_THRESHOLD": "6000"}
    assert "linked" not in ask("bulk", environ=over, bytes=5_999).document


def test_the_reader_is_named_as_the_client_knows_it(place: Place, tmp_path: Path) -> None:
    site = Site(tmp_path / "lab").install(BULK)
    site.link(["bulk"], place.environment, names='{"artifact_read": "lab_artifact_read", "bulk": "lab_bulk"}')
    done = run([site.links / "lab-bulk-tool"], b'{"bytes": 30000}', environment=place.environment)
    assert done.document["summary"].endswith("Read it with lab_artifact_read.")


@pytest.mark.parametrize(("fault", "code"), [("error", "HTTP_ERROR"), ("crash", "INTERNAL_ERROR")])
def test_failures_of_the_tool_go_through_unchanged(fault: str, code: str, ask: Ask) -> None:
    wrapped = ask("bulk", bytes=70_000, fault=fault)
    assert wrapped.document["error_code"] == code
    assert wrapped.document == ask("bulk", environ={"FERRULE_WRAPPERS": ""}, bytes=70_000, fault=fault).document


@pytest.mark.parametrize("fault", ["nan", "list"])
def test_a_result_that_is_no_result_is_the_hosts_to_refuse(fault: str, ask: Ask, place: Place) -> None:
    wrapped = ask("bulk", bytes=70_000, fault=fault)
    assert wrapped.document == ask("bulk", environ={"FERRULE_WRAPPERS": ""}, bytes=70_000, fault=fault).document
    assert wrapped.document["error_code"] == "INTERNAL_ERROR"
    assert b"wrapper_failed" not in wrapped.stderr
    assert place.files() == []


@pytest.mark.slow
def test_a_credential_reaches_neither_the_artifact_nor_the_summary(ask: Ask, place: Place) -> None:
    environ = {"BULK_KEY": SECRET}
    linked = ask("bulk", environ=environ, bytes=70_000, leak=True)
    assert linked.document["linked"] is True
    (file,) = place.files()
    stored = file.read_bytes()
    assert b"[redacted]" in stored
    assert file.name == hashlib.sha256(stored).hexdigest()
    for text in (stored, linked.stdout, linked.stderr):
        assert SECRET.encode() not in text
    assert whole(ask, "console-script", linked.document["resource"]) == stored


def test_a_result_that_is_small_without_its_secrets_stays_inline(ask: Ask, place: Place) -> None:
    inline = ask("bulk", environ={"BULK_KEY": SECRET}, bytes=THRESHOLD, leak=True).document
    assert "linked" not in inline
    assert "[redacted]" in inline["text"]
    assert place.files() == []


def test_files_and_folders_are_for_their_owner_alone(ask: Ask, place: Place) -> None:
    ask("bulk", bytes=70_000)
    for path in [place.state, *place.state.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize(
    "state",
    ["{file}", *(pytest.param(one, marks=pytest.mark.slow) for one in ("{file}/below", "/proc/ferrule", "/dev/null"))],
)
def test_where_nothing_can_be_stored_results_are_inline_or_too_large(state: str, ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    environ = {"FERRULE_STATE": state.format(file=tmp_path / "file")}
    small = ask("bulk", environ=environ, bytes=60_000)
    assert small.document == json.loads(body_of(60_000))
    event = json.loads(small.first_line)
    assert (event["event"], event["wrapper"], event["tool"]) == ("artifact_not_stored", "artifacts", "bulk")
    assert str(tmp_path) not in small.stderr.decode()
    large = ask("bulk", environ=environ, bytes=70_000)
    assert (large.exit_code, large.document["success"]) == (1, False)
    assert "65,534" in large.document["error"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
def test_on_a_full_disk_results_are_inline_and_nothing_is_left(ask: Ask, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("only root outside of a container can make a small disk")
    try:
        environ = {"FERRULE_STATE": str(disk)}
        assert ask("bulk", environ=environ, bytes=30_000).document["linked"] is True
        room = os.statvfs(disk)
        (disk / "filling").write_bytes(bytes(room.f_bavail * room.f_frsize - (72 << 10)))
        assert ask("bulk", environ=environ, bytes=64_000, letter="y").document["linked"] is True
        full = ask("bulk", environ=environ, bytes=60_000)
        assert full.document == json.loads(body_of(60_000))
        assert json.loads(full.first_line)["reason"] == "Artifacts cannot be kept: No space left on device."
        assert len([path for path in disk.rglob("*") if len(path.name) == 64]) == 2
    finally:
        subprocess.run(["umount", disk], check=True)


def test_where_a_redis_does_not_answer_files_are_used_and_its_url_is_unsaid(ask: Ask, place: Place) -> None:
    pytest.importorskip("hiredis", reason="hiredis is not installed")
    done = ask("bulk", environ={"FERRULE_REDIS": "redis://me:hunter2@127.0.0.1:1/0"}, bytes=60_000)
    assert done.document["linked"] is True
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == ["state_unavailable"]
    assert b"hunter2" not in done.stderr + done.stdout
    assert len(place.files()) == 1


def test_a_redis_that_accepts_and_says_nothing_is_asked_once_in_a_call(ask: Ask, place: Place) -> None:
    pytest.importorskip("hiredis", reason="hiredis is not installed")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        done = ask("bulk", environ={"FERRULE_REDIS": url}, bytes=60_000)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert done.document["linked"] is True
    assert done.stderr.count(b"Redis cannot be used") == 1
    assert len(place.files()) == 1


@pytest.mark.slow
@WAYS
def test_a_redis_keeps_what_every_machine_can_read(way: str, ask: Ask, place: Place, tmp_path: Path) -> None:
    pytest.importorskip("hiredis", reason="hiredis is not installed")
    with RedisServer(tmp_path) as server:
        environ = {"FERRULE_REDIS": server.url}
        linked = shown(way, ask("bulk", way, environ=environ, bytes=300_000))
        (key,) = map(bytes.decode, server.ask("KEYS", "*"))
        assert key == f"ferrule:artifact:v1:{linked['resource'].rpartition('/')[2]}"
        assert 1790 <= server.ask("TTL", key) <= 1800
        elsewhere = {**environ, "FERRULE_STATE": str(tmp_path / "another-machine")}
        page = shown(way, ask("artifact_read", way, environ=elsewhere, resource=linked["resource"], offset=299_000))
        assert page["content"].encode() == body_of(300_000)[299_000:]
        server.ask("DEL", key)
        gone = shown(way, ask("artifact_read", way, environ=environ, resource=linked["resource"]))
        assert gone["error"] == f"artifact not found (it may have expired): {linked['resource']}"
    assert place.files() == []


def test_the_cache_keeps_the_result_and_not_the_handle(ask: Ask, place: Place) -> None:
    both = {"FERRULE_WRAPPERS": "cache,artifacts"}
    first = ask("bulk", environ=both, bytes=30_000, meta=True).document
    place.files()[0].unlink()
    second = ask("bulk", environ=both, bytes=30_000, meta=True).document
    assert second["_meta"]["took"] == first["_meta"]["took"], "the second call was answered from the cache"
    assert second["_meta"]["cache"]["cached"] is True
    # The same result, be its members in the same order or not.
    assert json.loads(whole(ask, "console-script", second["resource"])) == json.loads(body_of(30_000))


def test_a_result_that_stays_inline_costs_no_more_than_a_look(place: Place) -> None:
    script = (
        "import sys\nfrom ferrule import ResultPolicy\nfrom ferrule.wrappers.artifacts import wrapper\n"
        "from ferrule import Context, WrapperContext\nimport types\n"
        "context = WrapperContext(Context('bulk', 0.0))\npolicy = ResultPolicy(linkable=True)\n"
        "context.call = types.SimpleNamespace(result_policy=policy)\n"
        "flow = wrapper.execute({}, context)\nnext(flow)\n"
        "try:\n    flow.send({'text': 'small'})\nexcept StopIteration as stop:\n    print(stop.value)\n"
        "names = 'hashlib json ferrule.wrappers.artifacts.summary hiredis'.split()\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], env=place.environment, capture_output=True, text=True)
    assert done.stdout == "{'text': 'small'}\n[]\n", done.stderr


@pytest.mark.slow
def test_an_artifact_is_gone_after_its_seconds_and_storing_it_again_brings_it_back(ask: Ask, place: Place) -> None:
    resource = ask("bulk", bytes=70_000).document["resource"]
    os.utime(place.files()[0], (time.time() - 1, time.time() - 1))
    gone = ask("artifact_read", resource=resource).document
    assert gone["error"] == f"artifact not found (it may have expired): {resource}"
    assert ask("bulk", bytes=70_000).document["resource"] == resource
    assert whole(ask, "console-script", resource) == body_of(70_000)


@pytest.mark.slow
def test_processes_at_once_store_the_same_and_different_results(ask: Ask, place: Place) -> None:
    sizes = (200_000, 200_000, 250_000, 300_000)
    calls = [_started(place, size) for size in sizes]
    for size, process in zip(sizes, calls, strict=True):
        output, _ = process.communicate(timeout=60)
        assert whole(ask, "link", json.loads(output)["resource"]) == body_of(size)
    assert len(place.files()) == 3


def _started(place: Place, size: int) -> "subprocess.Popen[bytes]":
    """A call that has its arguments, and is not waited for."""
    arguments = place.state.parent / f"arguments-{size}"
    arguments.write_text(json.dumps({"bytes": size}))
    with arguments.open() as stdin:
        command = [place.site.links / "bulk-tool"]
        return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, env=place.environment)
