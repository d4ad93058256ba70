"""Recorded exchanges: requests of a tool and their answers, written down once and given again in later runs.

The tool, whichever process it runs in, sends everything to a relay in the process of the test
(`ferrule.http.connections.relay`).
"""
