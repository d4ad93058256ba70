"""Has a function of the right name and does not say that it is a hook."""


def execute():
    yield
