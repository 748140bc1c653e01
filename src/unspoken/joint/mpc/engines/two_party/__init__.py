"""Two holders without a dealer: everything by oblivious transfer between the two."""
