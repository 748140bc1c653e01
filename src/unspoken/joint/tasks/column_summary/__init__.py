"""Numbers that describe columns over all owners: known, missing, mean, variance."""
