"""Where counting and row mapping run; the only room that imports duckdb, polars or pyspark."""
