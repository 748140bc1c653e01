"""Experiments of as2000: trees from noisy records, and reconstructed densities."""
