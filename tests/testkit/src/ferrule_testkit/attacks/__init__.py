"""Attacks of malicious tools, put through a host, and judged by what somebody sees who stands outside."""
