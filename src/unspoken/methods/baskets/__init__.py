"""Randomised baskets (vcz2006 section 6.1): the operators, their guarantee, the release."""
