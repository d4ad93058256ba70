"""Two wrappers that write down when their turn is."""

from ferrule import hookimpl


class Outer:
    ORDER = -5

    @staticmethod
    @hookimpl(wrapper=True)
    def execute():
        result = yield
        return {**result, "turns": [*result.get("turns", []), "outer"]}


class Inner:
    ORDER = 5

    @staticmethod
    @hookimpl(wrapper=True)
    def execute():
        result = yield
        return {**result, "turns": [*result.get("turns", []), "inner"]}
