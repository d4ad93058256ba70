"""Which tools are taken, and their names."""

import pytest

from ferrule.errors import InputError
from ferrule_mcp.installation.selection import Selection, choose_names

ENDS = ["git_status", "git_log", "api_get_user"]
NAMES = ["git_status", "git_log", "API-get-user"]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), {"git_status": "git_status", "git_log": "git_log", "API-get-user": "git_api_get_user"}),
        (Selection(prefix="vc"), {name: f"vc_{end}" for name, end in zip(NAMES, ENDS, strict=True)}),
        (Selection(only=["git_l*"]), {"git_log": "git_log"}),
        (Selection(only=["git-api-*"]), {"API-get-user": "git_api_get_user"}),
        (Selection(excluded=["git_*"], only=["*"]), {}),
        (Selection(only=["API-get-user"], renamed={"API-get-user": "user"}), {"API-get-user": "user"}),
        (Selection(only=["git_log"], renamed={"git_log": "history"}), {"git_log": "history"}),
    ],
)  # fmt: skip
def test_names_are_chosen(selection: Selection, expected: dict[str, str]) -> None:
    assert choose_names("git", NAMES, selection) == expected


@pytest.mark.parametrize(
    "selection", [Selection(only=["x"]), Selection(excluded=["x*"]), Selection(renamed={"x": "y"})]
)
def test_what_fits_no_tool_is_refused_with_what_there_is(selection: Selection) -> None:
    with pytest.raises(InputError) as caught:
        choose_names("git", NAMES, selection)
    assert "git_status" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["Say It", "", "UPPER", "a-b"])
def test_a_new_name_is_one_that_a_tool_may_have(name: str) -> None:
    with pytest.raises(InputError):
        choose_names("git", NAMES, Selection(renamed={"git_log": name}))
