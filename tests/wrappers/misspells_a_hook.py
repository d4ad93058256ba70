"""Has a hook that there is none of."""

from ferrule import hookimpl


@hookimpl(wrapper=True)
def exceute():
    return (yield)
