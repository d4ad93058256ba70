"""Processes that can be ended: a supervised child, its channel, its signals and its descendants. Knows no tool."""
