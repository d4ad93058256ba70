"""What a server that runs calls itself may import of the host."""

import re
import subprocess
import sys

import pytest

from ferrule.calls import server_interface

MAX_NAMES = 20


def test_every_name_is_there_and_documented() -> None:
    documented = set(re.findall(r"\w+", server_interface.__doc__ or ""))
    for name in server_interface.__all__:
        assert getattr(server_interface, name) is not None
        assert name in documented


def test_its_names_are_few() -> None:
    assert len(server_interface.__all__) <= MAX_NAMES


@pytest.mark.process
def test_importing_it_imports_no_other_room_of_the_host() -> None:
    code = (
        "import sys, ferrule.calls.server_interface\n"
        "print(*(name for name in sys.modules if name.startswith('ferrule.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert set(done.stdout.split()) <= {"ferrule.calls", "ferrule.calls.server_interface", "ferrule.lazy"}


@pytest.mark.process
def test_modules_are_imported_ahead_though_one_of_them_fails() -> None:
    code = (
        "import sys\nfrom ferrule.calls.fork_server.child.imports import import_ahead\n"
        "import_ahead(['no.such.module', 'ferrule.wrappers.guard', 'colorsys'])\n"
        "assert {'ferrule.wrappers.guard', 'colorsys'} <= sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
