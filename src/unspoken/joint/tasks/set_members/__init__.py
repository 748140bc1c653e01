"""Which ids all owners have, or any of them, out of a public list (vcz2006 section 6.2)."""
