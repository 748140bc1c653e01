"""Protocols on words of the ring: own words and masks go in, own words come out."""
