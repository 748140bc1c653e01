"""Where counting and row mapping run; nothing else imports duckdb or pyspark."""
