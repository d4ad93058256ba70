"""Two wrappers that write down when their turn is."""

from ferrule import hookimpl


class Outer:
    @staticmethod
    @hookimpl
    def order():
        return -5

    @staticmethod
    @hookimpl(wrapper=True)
    def execute():
        result = yield
        return {**result, "turns": [*result.get("turns", []), "outer"]}


class Inner:
    @staticmethod
    @hookimpl
    def order():
        return 5

    @staticmethod
    @hookimpl(wrapper=True)
    def execute():
        result = yield
        return {**result, "turns": [*result.get("turns", []), "inner"]}
