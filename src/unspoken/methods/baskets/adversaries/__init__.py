"""Adversaries against randomised baskets and published itemsets."""
