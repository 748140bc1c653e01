"""What several tasks share: checks of columns, sizes, parameters and alignment."""
