"""The contract of adversaries and the measures of disclosure that families share."""
