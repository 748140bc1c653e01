"""K-anonymity, L-diversity and masking (fu2010, vcz2006 section 2.1)."""
