"""The sum of columns over all owners (vcz2006 section 3.3.2)."""
