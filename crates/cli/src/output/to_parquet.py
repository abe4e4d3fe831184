# Rewrites each table of the folder named by the first argument as Parquet. The folder's
# `columns.json` has the SQL types of the columns.
import json
import os
import sys

import duckdb

folder = sys.argv[1]
listed = os.path.join(folder, "columns.json")
database = duckdb.connect()
database.execute("SET memory_limit = '600MB'")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


with open(listed) as file:
    tables = json.load(file)
for name, columns in tables.items():
    rows, parquet = (os.path.join(folder, name + end) for end in (".csv", ".parquet"))
    types = ", ".join(f"{quoted(column)}: {quoted(kind)}" for column, kind in columns)
    read = f"read_csv({quoted(rows)}, header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', columns = {{{types}}})"
    database.execute(
        f"COPY (SELECT * FROM {read}) TO {quoted(parquet)} (FORMAT parquet, COMPRESSION zstd)"
    )
    os.remove(rows)
os.remove(listed)
