"""What a request imports, and what is put off."""

import subprocess
import sys
from pathlib import Path

import pytest

from ferrule_dev.testing import Server

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ferrule_environment")]


def _imported_by(server: Server, *paths: str) -> set[str]:
    """What a process has imported after requests for the paths by one client."""
    script = (
        "import sys, time, ferrule.http\n"
        "with ferrule.http.Client(time.monotonic() + 60) as client:\n"
        "    for url in sys.argv[1:]:\n"
        "        client.open('GET', url).close()\n"
        "print(*sys.modules)"
    )
    urls = [server.url + path for path in paths]
    done = subprocess.run([sys.executable, "-c", script, *urls], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_request_imports_no_httpx(server: Server) -> None:
    server.page("/", "", headers={"Set-Cookie": "seen=1"})
    imported = _imported_by(server, "/")
    assert "httpcore" in imported
    assert imported.isdisjoint({"httpx", "http.cookiejar", "idna", "click", "jsonschema", "asyncio", "email.utils"})
    assert "encodings.idna" not in imported


def test_httpcore_finds_the_certifi_that_is_not_imported_with_it() -> None:
    script = (
        "import sys, ferrule.http; ferrule.http.Client; import httpcore\n"
        "print('certifi' in sys.modules)\n"
        "print(httpcore.default_ssl_context().cert_store_stats()['x509_ca'] > 0, 'certifi' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue True\n"


def test_what_is_for_documentation_and_errors_alone_is_found_once_it_is_wanted() -> None:
    script = (
        "import sys, ferrule.http; ferrule.http.Client\n"
        "print({'inspect', 'traceback'} & set(sys.modules))\n"
        "import dataclasses, logging\n"
        "Later = dataclasses.make_dataclass('Later', [('number', int)])\n"
        "import inspect, traceback\n"
        "print(Later.__doc__, inspect.signature(Later), type(inspect).__name__, type(traceback).__name__)\n"
        "try:\n"
        "    1 / 0\n"
        "except ZeroDivisionError:\n"
        "    logging.exception('wrong')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\nLater(number: int) (number: int) -> None module module\n"
    assert "ZeroDivisionError: division by zero" in done.stderr


def test_a_module_that_is_imported_with_httpcore_gets_what_it_takes_from_inspect_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "trio.py").write_text("import taker\nraise ImportError")
    (tmp_path / "taker.py").write_text("from inspect import get_annotations, signature")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import ferrule.http; ferrule.http.Client\n"
        "import inspect, taker\n"
        "print(taker.signature is inspect.signature, taker.get_annotations is inspect.get_annotations)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


def test_another_thread_that_imports_what_is_put_off_gets_it_whole(tmp_path: Path) -> None:
    # httpcore looks for trio, and goes on without it: meanwhile another thread does its own imports
    (tmp_path / "trio.py").write_text("import __main__\n__main__.meet()\nraise ImportError")
    script = (
        "import sys, threading\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "met = []\n"
        "def other():\n"
        "    import anyio, certifi\n"
        "    from anyio.abc import ByteStream\n"
        "    met.extend([anyio.sleep.__name__, certifi.where(), ByteStream.__name__])\n"
        "def meet():\n"
        "    thread = threading.Thread(target=other)\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "from ferrule.http import Client\n"
        "Client\n"
        "import anyio, certifi\n"
        "print(met[0], met[1] == certifi.where(), met[2], type(sys.modules['anyio']).__name__, anyio.sleep is not None)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "sleep True ByteStream module True\n"


def test_a_cookie_that_goes_back_imports_no_httpx(server: Server) -> None:
    server.page("*", "", headers={"Set-Cookie": "seen=1"})
    imported = _imported_by(server, "/", "/")
    assert "http.cookiejar" in imported
    assert imported.isdisjoint({"httpx", "idna", "click", "asyncio"})
    assert [request.headers.get("cookie") for request in server.requests] == [None, "seen=1"]
