"""A study from proposal to ledger: identities, parties, runs, and what each received."""
