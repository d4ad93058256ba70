"""A program for the interpreter of the installation: runs a statement of a page by DuckDB.

Arguments: what is run before it, and the file with the statement.
"""

import sys
from pathlib import Path

import duckdb

import ferrule_duckdb

connection = duckdb.connect()
ferrule_duckdb.register(connection)
connection.execute(sys.argv[1])
print(connection.execute(Path(sys.argv[2]).read_text()).fetchall())
