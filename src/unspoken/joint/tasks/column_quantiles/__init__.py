"""Quantiles of columns over all owners, on a public grid."""
