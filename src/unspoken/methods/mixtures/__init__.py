"""A source sends a mixture model in place of its records (vcz2006 section 7.1.1)."""
