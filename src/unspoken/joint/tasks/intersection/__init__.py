"""How many ids all owners have in common (vcz2006 section 6.2.2)."""
