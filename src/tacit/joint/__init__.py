"""Several owners, one result."""
