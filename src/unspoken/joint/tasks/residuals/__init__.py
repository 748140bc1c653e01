"""Residual plots that can be shared (vcz2006 section 5.3; Karr and others 2005)."""
