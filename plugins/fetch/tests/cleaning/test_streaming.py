"""What a server streams in after its place stands where it belongs."""

from collections.abc import Callable

Write = Callable[[str], str]

BEGIN = (
    '<main><h1>Orders</h1><!--$?--><template id="B:0"></template><p>Loading…</p><!--/$--><footer>End</footer></main>'
)


def test_a_boundary_of_react_is_completed(write: Write) -> None:
    html = f'{BEGIN}<div hidden id="S:0"><p>Two orders</p></div><script>$RC("B:0","S:0")</script>'
    assert write(html) == "# Orders\n\nTwo orders\n\nEnd"


def test_a_boundary_whose_script_is_elsewhere_is_completed(write: Write) -> None:
    assert write(f'{BEGIN}<div hidden id="S:0"><p>Two orders</p></div>') == "# Orders\n\nTwo orders\n\nEnd"


def test_the_script_decides_which_content_goes_where(write: Write) -> None:
    html = (
        '<main><!--$?--><template id="B:0"></template><i>…</i><!--/$--><!--$?--><template id="B:1"></template><i>…</i><!--/$--></main>'  # noqa: E501 - a page's own line
        '<div hidden id="S:0"><p>second</p></div><script>$RC("B:1","S:0")</script>'
        '<div hidden id="S:1"><p>first</p></div><script>$RR("B:0","S:1",[["/a.css"]])</script>'
    )
    assert write(html) == "first\n\nsecond"


def test_boundaries_within_boundaries_and_segments(write: Write) -> None:
    html = (
        f'{BEGIN}<div hidden id="S:0"><p>Two orders</p><template id="P:2"></template>'
        '<!--$?--><template id="B:1"></template><p>Wait…</p><!--/$--></div>'
        '<div hidden id="S:2"><p>a segment</p></div><script>$RS("S:2","P:2")</script>'
        '<script>$RC("B:0","S:0")</script>'
        '<div hidden id="S:1"><p>with details</p></div><script>$RC("B:1","S:1")</script>'
    )
    assert write(html) == "# Orders\n\nTwo orders\n\na segment\n\nwith details\n\nEnd"


def test_a_boundary_that_never_came_keeps_what_it_shows(write: Write) -> None:
    assert "Loading…" in write(BEGIN)


def test_a_shadow_root_is_shown(write: Write) -> None:
    html = "<x-card><template shadowrootmode=open><p>inside</p></template></x-card><template><p>not</p></template>"
    assert write(html) == "inside"
