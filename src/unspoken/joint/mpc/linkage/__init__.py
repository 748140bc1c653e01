"""Private record linkage: people who have no common id, by names, dates and codes with errors."""
