"""A node: one process per organisation that agrees on studies with others and runs them."""
