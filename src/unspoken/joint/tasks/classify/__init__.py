"""Private classification: one side has the model, another the records (vcz2006 4.5)."""
