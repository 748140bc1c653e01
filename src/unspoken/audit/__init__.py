"""The audit: every adversary that applies, policies, and what several releases add up to."""
