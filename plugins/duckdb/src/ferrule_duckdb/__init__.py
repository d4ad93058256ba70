"""SQL functions for DuckDB that ask a model, which may call one installed tool.

import duckdb
import ferrule_duckdb

con = duckdb.connect()
ferrule_duckdb.register(con)
con.sql("SELECT stps_ask_ai('Bitcoin', 'What is the current price?')")
"""

from __future__ import annotations

from ferrule_duckdb.batch import AskFailed
from ferrule_duckdb.progress import Progress
from ferrule_duckdb.registration import Registration, register

__all__ = ["AskFailed", "Progress", "Registration", "register"]
