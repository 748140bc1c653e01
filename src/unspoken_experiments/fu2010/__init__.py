"""fu2010: trees that stay in an anonymised table, what else is learned from it, and run times."""
