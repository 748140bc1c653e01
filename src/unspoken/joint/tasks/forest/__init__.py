"""Random forests over rows or columns of several owners."""
