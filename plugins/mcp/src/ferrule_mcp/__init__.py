"""Servers of the Model Context Protocol as tools of ferrule: one executable for each of their tools."""
