"""Distance-preserving releases: rotation, pairs of columns, projection, outsourced search."""
