"""The release, its key, its guarantee, and how methods describe themselves."""
