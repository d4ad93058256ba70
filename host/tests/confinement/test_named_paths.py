"""Which paths are found in the words of programs."""

import pytest

from ferrule.confinement.named_paths import find_paths, find_relative, speaks_of_refusal

SAID = {
    "PermissionError: [Errno 13] Permission denied: '/srv/notes.txt'": ["/srv/notes.txt"],
    "Error: EACCES: permission denied, open '/srv/a b.txt'": ["/srv/a"],
    "open /srv/notes.txt: permission denied.": ["/srv/notes.txt"],
    "const P='/srv/notes.txt';require('fs').readFileSync(P)": ["/srv/notes.txt"],
    "--config=/srv/a.toml:/srv/b.toml": ["/srv/a.toml", "/srv/b.toml"],
    "I read /srv/notes/ and then /srv/notes.": ["/srv/notes"],
    "https://example.org/a and one/two and ~/notes and / and s/a/b/": [],
    "": [],
}


@pytest.mark.parametrize("text", SAID)
def test_absolute_paths_are_found_in_what_was_said(text: str) -> None:
    assert find_paths([text]) == SAID[text]


def test_so_many_paths_are_looked_at() -> None:
    assert len(find_paths(f"/a{number}" for number in range(1000))) == 100
    assert len(find_relative(f"a{number}" for number in range(1000))) == 100


def test_words_that_can_be_paths_from_the_working_folder() -> None:
    assert find_relative(["-c", "notes.txt", "", "/srv/notes.txt", "print()\nprint()", "."]) == ["notes.txt", "."]


@pytest.mark.parametrize(
    ("said", "speaks"),
    [
        ("PermissionError: [Errno 13] Permission denied: '/a'", True),
        ("Error: EACCES, open '/a'", True),
        ("Operation not permitted", True),
        ("No such file or directory: '/a'", False),
        ("", False),
    ],
)
def test_words_that_speak_of_a_refusal(said: str, speaks: bool) -> None:
    assert speaks_of_refusal(said) is speaks
