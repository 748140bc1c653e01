"""What a study over rows must agree on first: all categories of a column, and where it ends."""
