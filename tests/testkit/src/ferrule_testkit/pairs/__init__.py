"""Every two settings of a machine together, with every way of calling a tool, and every kind of result.

`table` has the settings and the rows, `household` sets a machine up as a row says, `ways` makes the call, and `oracle`
says what must come of it.
"""
