"""Experiments of vcz2006: supports estimated from randomised baskets."""
