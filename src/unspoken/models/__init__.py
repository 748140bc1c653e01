"""What mining yields: trees, forests, rules, regressions, mixtures, networks, and their files."""
