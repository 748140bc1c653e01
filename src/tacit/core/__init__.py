"""The nouns: schema, table, release, key, guarantee and the patterns that mining yields."""
