"""ID3 over rows or columns of several owners (vcz2006 sections 4.3 and 4.4)."""
