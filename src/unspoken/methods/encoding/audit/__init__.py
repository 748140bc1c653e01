"""The audit of encodings: columns, subspaces, paths and sorting (bu2007 section 3.2)."""
