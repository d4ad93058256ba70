"""Schemas of tools: those that are shipped, those that hypothesis makes up, and what holds an answer against one."""
