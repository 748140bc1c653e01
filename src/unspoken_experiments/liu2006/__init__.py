"""liu2006: attacks on rotations, on the paper's own data."""
