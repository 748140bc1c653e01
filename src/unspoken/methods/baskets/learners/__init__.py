"""Frequent itemsets and rules, from baskets as they are or randomised."""
