"""The query service: statistics over HTTP for people who never hold the table."""
