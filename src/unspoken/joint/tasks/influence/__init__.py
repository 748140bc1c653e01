"""Which records move a joint regression, told to their owners alone (vcz2006 section 5.1.2)."""
