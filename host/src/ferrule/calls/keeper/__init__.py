"""Calls of executables that are answered by a process that stays: the keeper, which makes them in its `ForkServer`."""
